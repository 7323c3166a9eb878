/**
 * Ingress objects: which routes ask `/me`, and by which key an answer is cached.
 *
 * @module
 */

import {
  at,
  type ClusterSubject,
  type KubeKind,
  type KubeObject,
  listAt,
  textAt,
} from '../cluster.ts';
import { type Finding, fail } from '../finding/finding.ts';
import { found, type Outcome, type Probe } from '../graph/probe.ts';

type List = (
  subject: ClusterSubject,
  kind: KubeKind,
  namespace: string,
) => Promise<Outcome<readonly KubeObject[]>>;

/** Routes that need no credential (requirement, "Endpoints"). */
const OPEN_PATH =
  /AuthMetadataService|^\/(?:me|login|callback|logout|\.well-known|config)(?:[/(.$]|$)/;

/** Makes `cluster.ingress`. */
export function createIngressProbe(
  subject: ClusterSubject,
  access: Probe,
  header: string,
  list: List,
): Probe {
  return {
    id: 'cluster.ingress',
    group: 'cluster',
    title: 'the annotations of Ingress objects',
    needs: [access],
    async run() {
      const listed = await list(subject, 'ingresses.networking.k8s.io', subject.controlPlane);
      if (listed.kind !== 'value') return listed;
      return found(
        undefined,
        listed.value.flatMap((object) => judgeIngress(object, header)),
      );
    },
  };
}

function judgeIngress(object: KubeObject, header: string): readonly Finding[] {
  const name = `${textAt(object, 'metadata', 'namespace')}/${textAt(object, 'metadata', 'name')}`;
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
