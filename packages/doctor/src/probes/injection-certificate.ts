/**
 * The certificate of the webhook, and whether the API server will believe it.
 *
 * @module
 */

import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type ClusterSubject, type KubeObject, listAt, textAt } from '../cluster.ts';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { found, type Probe, skipped } from '../graph/probe.ts';
import { EXPIRES_SOON_MS } from './host.ts';
import type { Injection } from './injection.ts';
import { listObjects } from './list-objects.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const CHAIN_MAX = 5;
const DAY_MS = 86_400_000;

/**
 * Makes `cluster.injection.certificate`: `tls.crt` of the Secret that the webhook's Deployment mounts, by the authorities in
 * `caBundle`, the name that the API server asks for, and the time here.
 *
 * A running webhook may still serve an older one; `cluster.injection.trial` shows what the API server says.
 *
 * @returns Its value is whether all of it is well.
 */
export function createInjectionCertificateProbe(
  subject: ClusterSubject,
  injection: Probe<Injection>,
  secrets: Probe<ReadonlyMap<string, readonly KubeObject[]>>,
  now: () => number,
): Probe<boolean> {
  return {
    id: 'cluster.injection.certificate',
    group: 'cluster',
    title: 'the certificate of the webhook',
    needs: [injection, secrets],
    async run(answers) {
      const registered = answers.get(injection);
      if (registered.kind === 'policy') return found(true);
      const { namespace, service } = registered;
      const deployments = await listObjects(subject, 'deployments.apps', namespace);
      const deployment =
        deployments.kind === 'value'
          ? deployments.value.find((each) => textAt(each, 'metadata', 'name') === service)
          : undefined;
      const name = findSecretName(deployment) ?? `${service}-tls`;
      const secret = answers
        .get(secrets)
        .get(namespace)
        ?.find((each) => textAt(each, 'metadata', 'name') === name);
      if (secret === undefined) return skipped(`no Secret ${namespace}/${name} can be read`);
      const text = textAt(secret, 'stringData', 'tls.crt') || decode(secret, 'tls.crt');
      const findings = judge(parse(text), `${namespace}/${name}`, registered, now());
      return found(!findings.some(({ severity }) => severity === 'fail'), findings);
    },
  };
}

/** The Secret of the volume that the chart calls `tls`. */
function findSecretName(deployment: KubeObject | undefined): string | undefined {
  const volume = listAt(deployment, 'spec', 'template', 'spec', 'volumes').find(
    (each) => textAt(each, 'name') === 'tls',
  );
  return textAt(volume, 'secret', 'secretName') || undefined;
}

function decode(secret: KubeObject, key: string): string {
  return Buffer.from(textAt(secret, 'data', key), 'base64').toString('utf8');
}

function parse(pem: string): readonly X509Certificate[] {
  return [...pem.matchAll(CERTIFICATE)].slice(0, 20).flatMap(([block]) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}

function judge(
  [leaf, ...between]: readonly X509Certificate[],
  secret: string,
  { title, url, service, namespace, authorities }: Injection,
  now: number,
): readonly Finding[] {
  if (leaf === undefined)
    return [
      fail(
        'webhook_certificate_untrusted',
        `the Secret ${secret} holds no certificate in tls.crt for ${title}`,
        'Issue it again: with cert-manager look at kubectl describe certificate; else kubectl create secret tls',
      ),
    ];
  const named = URL.parse(url)?.hostname ?? `${service}.${namespace}.svc`;
  const host = named.replace(/^\[(.*)\]$/, '$1');
  const validTo = Date.parse(leaf.validTo);
  const evidence = [
    `Secret ${secret}: ${leaf.subjectAltName ?? 'no name'}`,
    `valid from ${toTime(leaf.validFrom)} to ${toTime(leaf.validTo)}`,
  ];
  if (now > validTo || now < Date.parse(leaf.validFrom))
    return [
      fail(
        'webhook_certificate_expired',
        `the certificate of ${title} is not valid at this time, and the API server does not ask it`,
        `Renew the certificate in the Secret ${secret}; the webhook reads it again by itself.`,
        evidence,
      ),
    ];
  const roots = parse(authorities);
  if (!isTrusted(leaf, between, roots, now))
    return [
      fail(
        'webhook_certificate_untrusted',
        roots.length === 0
          ? `${title} has no caBundle: the API server believes no certificate of it`
          : `the certificate of ${title} is of no authority in its caBundle: the API server does not believe it`,
        'Give the authority that signed it as injection.webhook.certificate.caBundle; with cert-manager look at whether its cainjector runs.',
        [
          ...evidence,
          `issued by ${toLine(leaf.issuer)}`,
          ...roots.map(({ subject }) => `caBundle: ${toLine(subject)}`),
        ],
      ),
    ];
  // The API server reads alternative names alone.
  const isFor = isIP(host) === 0 ? leaf.checkHost(host, { subject: 'never' }) : leaf.checkIP(host);
  if (isFor === undefined)
    return [
      fail(
        'webhook_certificate_other_name',
        `the certificate of ${title} is for another name than ${host}, by which the API server asks for it`,
        `Have it issued for ${host}.`,
        evidence,
      ),
    ];
  const days = Math.floor((validTo - now) / DAY_MS);
  return validTo - now > EXPIRES_SOON_MS
    ? []
    : [
        warn(
          'certificate_expires_soon',
          `the certificate of ${title} ends in ${days} ${days === 1 ? 'day' : 'days'}`,
          'Renew it, and look at why it was not renewed by itself.',
          evidence,
        ),
      ];
}

/** Whether a chain of signatures leads to one of the roots, or the certificate is one of them itself. */
function isTrusted(
  leaf: X509Certificate,
  between: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  now: number,
): boolean {
  let current = leaf;
  for (let length = 0; length < CHAIN_MAX; length += 1) {
    const signed = current;
    if (roots.some((root) => root.fingerprint256 === signed.fingerprint256)) return true;
    if (roots.some((root) => isIssuer(root, signed) && now <= Date.parse(root.validTo)))
      return true;
    const next = between.find((each) => isIssuer(each, signed) && each !== signed);
    if (next === undefined) return false;
    current = next;
  }
  return false;
}

function isIssuer(issuer: X509Certificate, signed: X509Certificate): boolean {
  return signed.checkIssued(issuer) && signed.verify(issuer.publicKey);
}

function toTime(date: string): string {
  return new Date(Date.parse(date)).toISOString();
}

/** A name of X.509 has its parts on lines. */
function toLine(name: string): string {
  return name.replaceAll('\n', ', ');
}
