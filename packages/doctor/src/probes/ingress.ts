/**
 * Ingress objects: which routes ask `/me`, by which key an answer is cached, and what room a sign-in has.
 *
 * @module
 */

import { at, type ClusterSubject, type KubeObject, listAt, nameOf, textAt } from '../cluster.ts';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { found, type Probe } from '../graph/probe.ts';
import { listObjects } from './list-objects.ts';
import { isRoomEnough } from './proxy-buffers.ts';

/** Routes that need no credential (requirement, "Endpoints"). */
const OPEN_PATH =
  /AuthMetadataService|^\/(?:me|login|callback|logout|\.well-known|config)(?:[/(.$]|$)/;

const SIGN_IN_PATH = /^\/(?:callback|login)(?:[/(.$]|$)/;

/** Makes `cluster.ingress`. */
export function createIngressProbe(subject: ClusterSubject, access: Probe, header: string): Probe {
  return {
    id: 'cluster.ingress',
    group: 'cluster',
    title: 'the annotations of Ingress objects',
    needs: [access],
    async run() {
      const listed = await listObjects(
        subject,
        'ingresses.networking.k8s.io',
        subject.controlPlane,
      );
      if (listed.kind !== 'value') return listed;
      return found(
        undefined,
        listed.value.flatMap((object) => [
          ...judgeIngress(object, header),
          ...judgeBuffers(object),
        ]),
      );
    },
  };
}

function judgeIngress(object: KubeObject, header: string): readonly Finding[] {
  const name = nameOf(object);
  const url = annotation(object, 'auth-url');
  if (url === '') return [];
  const findings: Finding[] = [];
  const open = listPaths(object).filter((path) => OPEN_PATH.test(path));
  const metadata = open.filter((path) => /AuthMetadataService|well-known|config/.test(path));
  const [first] = metadata.length > 0 ? metadata : open;
  if (first !== undefined)
    findings.push(
      fail(
        metadata.length > 0 ? 'metadata_behind_sign_in' : 'me_redirects',
        `${first} is on the protected Ingress ${name}, and needs no credential`,
        `Move ${open.join(', ')} to an Ingress without the annotation auth-url.`,
        [`auth-url of ${name}: ${url}`],
      ),
    );
  const key = annotation(object, 'auth-cache-key').toLowerCase();
  const variable = `$http_${header.replaceAll('-', '_')}`;
  const lacking = [variable, '$http_cookie'].filter((part) => !key.includes(part));
  if (key !== '' && lacking.length > 0)
    findings.push(
      fail(
        'cache_key_incomplete',
        `the Ingress ${name} caches answers of /me by a key without ${lacking.join(' and ')}: one person gets the access of another`,
        `Set its annotation auth-cache-key to ${variable}$http_cookie; of gRPC routes $http_authorization${variable}$http_cookie.`,
        [`auth-cache-key of ${name}: ${key}`],
      ),
    );
  return findings;
}

/** Without the annotation the setting of the whole controller counts, which stands in no Ingress. */
function judgeBuffers(object: KubeObject): readonly Finding[] {
  const [path] = listPaths(object).filter((each) => SIGN_IN_PATH.test(each));
  const size = annotation(object, 'proxy-buffer-size');
  if (path === undefined || !isForNginx(object) || (size !== '' && isRoomEnough(size))) return [];
  const name = nameOf(object);
  return [
    warn(
      'proxy_buffers_small',
      `the Ingress ${name} has ${size === '' ? 'no proxy-buffer-size, where nginx takes 4k,' : `a proxy-buffer-size of ${size}`} for ${path}: a sign-in with a long deep link is answered 502`,
      `Set its annotation proxy-buffer-size to 16k, unless the ConfigMap of the controller has proxy-buffer-size: kubectl annotate ingress -n ${name.replace('/', ' ')} nginx.ingress.kubernetes.io/proxy-buffer-size=16k`,
    ),
  ];
}

function isForNginx(object: KubeObject): boolean {
  const annotations = Object.keys(Object(at(object, 'metadata', 'annotations')));
  return (
    /nginx/.test(textAt(object, 'spec', 'ingressClassName')) ||
    annotations.some((key) => /nginx/.test(key))
  );
}

function annotation(object: KubeObject, suffix: string): string {
  const annotations = at(object, 'metadata', 'annotations');
  const [, value] =
    Object.entries(Object(annotations)).find(([name]) => name.endsWith(`/${suffix}`)) ?? [];
  return typeof value === 'string' ? value : '';
}

function listPaths(object: KubeObject): readonly string[] {
  return listAt(object, 'spec', 'rules').flatMap((rule) =>
    listAt(rule, 'http', 'paths').map((path) => textAt(path, 'path')),
  );
}
