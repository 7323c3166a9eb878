/**
 * The client secrets in the Secrets of the requirement's table.
 *
 * @module
 */

import { createHmac, randomBytes } from 'node:crypto';
import { judgeClientSecret } from '@sallyport/config';
import { at, type ClusterSubject, type KubeObject, textAt } from '../cluster.ts';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { toSecretFinding } from './secrets.ts';

/** A client secret in a Secret. */
interface ExpectedKey {
  readonly key: string;
  /** What fails without it. */
  readonly effect: string;
  /** With this key in the same Secret it need not be there. */
  readonly unless?: string;
}

interface ExpectedSecret {
  readonly name: string;
  readonly side: 'controlPlane' | 'dataPlane';
  /** The service app's secret is the first. */
  readonly keys: readonly [service: ExpectedKey, ...further: ExpectedKey[]];
}

const KEY = 'client_secret';

const EXPECTED: readonly ExpectedSecret[] = [
  {
    name: 'core-admin-secrets',
    side: 'controlPlane',
    keys: [
      { key: KEY, effect: 'the admin service obtains no token' },
      { key: 'oidc_client_secret', effect: 'nobody can sign in', unless: 'oidc_private_key' },
    ],
  },
  {
    name: 'core-secret-auth',
    side: 'controlPlane',
    keys: [{ key: KEY, effect: 'the scheduler fails to start' }],
  },
  {
    name: 'cloud-secret-auth',
    side: 'dataPlane',
    keys: [{ key: KEY, effect: 'operator and propeller cannot authenticate' }],
  },
];
const NO_SOURCE = { from: 'file', path: '', key: 'Secret' } as const;

/** Finds what is missing or no secret, and service secrets that differ. Shows nothing of them. */
export function judgeSecrets(
  byNamespace: ReadonlyMap<string, readonly KubeObject[]>,
  subject: ClusterSubject,
): readonly Finding[] {
  const findings: Finding[] = [];
  const hmacKey = randomBytes(32);
  const marks = new Map<string, string>();
  for (const { name, side, keys } of EXPECTED) {
    const namespace = subject[side];
    const object = byNamespace
      .get(namespace)
      ?.find((each) => textAt(each, 'metadata', 'name') === name);
    if (object === undefined) {
      const files = keys.map(({ key }) => ` --from-file=${key}=FILE`).join('');
      findings.push(
        fail(
          'secret_missing',
          `the Secret ${name} is missing in ${namespace}: ${keys[0].effect}`,
          `kubectl create secret generic ${name} -n ${namespace}${files}`,
        ),
      );
      continue;
    }
    const who = `${namespace}/${name}`;
    for (const expected of keys) {
      const judged = judgeKey(object, who, expected);
      findings.push(...judged.findings);
      if (expected.key === KEY && judged.secret !== undefined)
        marks.set(who, createHmac('sha256', hmacKey).update(judged.secret).digest('base64'));
    }
  }
  if (new Set(marks.values()).size > 1)
    findings.push(
      warn(
        'secrets_differ',
        'the Secrets of the service app hold different client secrets',
        'Write the same secret to all of them, unless control plane and data plane have a service app each.',
        [...marks.keys()],
      ),
    );
  return findings;
}

interface Judged {
  readonly findings: readonly Finding[];
  /** MUST NOT get into a finding. */
  readonly secret?: string;
}

function judgeKey(object: KubeObject, who: string, { key, effect, unless }: ExpectedKey): Judged {
  const text = readKey(object, key);
  if (text === undefined) {
    const keys = [...new Set([...names(at(object, 'data')), ...names(at(object, 'stringData'))])];
    if (unless !== undefined && keys.includes(unless)) return { findings: [] };
    const [namespace] = who.split('/');
    const finding = fail(
      'secret_key_missing',
      `the Secret ${who} lacks the key ${key}: ${effect}`,
      `Add the key ${key} to it; with an ExternalSecret, look at its reason: kubectl get externalsecret -n ${namespace}`,
      [keys.length === 0 ? 'it has no key' : `its keys: ${keys.slice(0, 8).join(', ')}`],
    );
    return { findings: [finding] };
  }
  const name = key === KEY ? `the Secret ${who}` : `${key} of the Secret ${who}`;
  const use = { id: who, name, clientId: '', source: NO_SOURCE };
  const judged = judgeClientSecret(text, { path: who, key: 'Secret' });
  if (!judged.ok) return { findings: [toSecretFinding(use, judged.error, 'fail')] };
  const { secret, warnings } = judged.value;
  return { secret, findings: warnings.map((oddity) => toSecretFinding(use, oddity, 'warn')) };
}

function names(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

/** The value of a key, of `data` or `stringData`; `undefined` where there is none. */
function readKey(object: KubeObject, key: string): string | undefined {
  const plain = at(object, 'stringData', key);
  if (typeof plain === 'string') return plain;
  const encoded = at(object, 'data', key);
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : undefined;
}
