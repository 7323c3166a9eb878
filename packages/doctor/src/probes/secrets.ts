/**
 * Secret files: what is wrong with one, and whether two are the same.
 *
 * @module
 */

import { createHmac, randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import type { ClientSecretSource } from '@sallyport/client';
import {
  explainRefusedSecret,
  findReaders,
  formatConfigProblem,
  readClientSecretFile,
  type SecretFinding,
  type SecretFindingCode,
  type SecretPlace,
} from '@sallyport/config';
import type { CauseCode } from '../finding/causes.ts';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { broken, found, type Probe } from '../graph/probe.ts';

/** An application with a secret. */
export interface SecretUse {
  /** Unique; part of the ids of its probes. */
  readonly id: string;
  /** Completes "the secret of …": the application, and which configuration names it. */
  readonly name: string;
  readonly clientId: string;
  readonly source: ClientSecretSource;
}

/** A secret for the probes of one run. MUST NOT get into a finding. */
export interface HeldSecret {
  readonly use: SecretUse;
  readonly text: string;
  /** What is odd about its text. */
  readonly oddities: readonly SecretFinding[];
}

/** The probes of all secrets. */
export interface SecretProbes {
  readonly all: readonly Probe[];
  /** By the id of the use. */
  readonly held: ReadonlyMap<string, Probe<HeldSecret>>;
}

/**
 * Makes one probe for each secret, and `secrets.compare`.
 *
 * Secrets are compared by HMAC-SHA-256 under a key that is made for this run and kept nowhere. Nothing of a secret is
 * shown: no part, no length, no digest.
 *
 * @param isAsked - Whether the identity provider is asked whether they work. White space, quotes and what looks like
 *   base64 may belong to a secret; where it can be tried, only a refusal makes them a fault.
 */
export function createSecretProbes(uses: readonly SecretUse[], isAsked: boolean): SecretProbes {
  const held = new Map(uses.map((use) => [use.id, toProbe(use, isAsked)]));
  const compare: Probe = {
    id: 'secrets.compare',
    group: 'secrets',
    title: 'secrets beside each other',
    needs: [],
    after: [...held.values()],
    run(answers) {
      const secrets = [...held.values()].flatMap((probe) => answers.find(probe) ?? []);
      return found(undefined, compareSecrets(secrets, isAsked));
    },
  };
  return { all: [...held.values(), ...(uses.length > 1 ? [compare] : [])], held };
}

function toProbe(use: SecretUse, isAsked: boolean): Probe<HeldSecret> {
  const { source, name } = use;
  return {
    id: `secrets.${use.id}`,
    group: 'secrets',
    title: `the secret of ${name}`,
    needs: [],
    run() {
      if (source.from === 'text') return found({ use, text: source.secret.reveal(), oddities: [] });
      const place = { ...source, secretKey: basename(source.path) };
      const read = readClientSecretFile(place);
      if (!read.ok) return broken(toSecretFinding(use, read.error, 'fail'));
      const { secret, warnings } = read.value;
      const oddities = merge([...warnings, ...explainRefusedSecret(secret, place)]);
      const findings = oddities
        .filter(({ code }) => code === 'newline' || !isAsked)
        .map((oddity) => toSecretFinding(use, oddity, 'warn'));
      return found({ use, text: secret, oddities }, [...findings, ...judgeReaders(use, place)]);
    },
  };
}

/** What `serve` warns of, too. */
function judgeReaders({ name }: SecretUse, { path, key }: SecretPlace): readonly Finding[] {
  const open = findReaders(path);
  if (open === undefined) return [];
  return [
    warn(
      'secret_open_to_all',
      `the secret of ${name} can be read by others: found ${open.found}`,
      `chmod o-rwx ${path}; where others have an account here, replace the secret, too.`,
      [formatConfigProblem({ file: path, line: undefined, key, ...open })],
    ),
  ];
}

function merge(findings: readonly SecretFinding[]): readonly SecretFinding[] {
  return findings.filter(
    ({ code }, at) => findings.findIndex((other) => other.code === code) === at,
  );
}

/** What a text's oddity says of the secret, and how it is put right. */
export function toSecretFinding(
  use: SecretUse,
  problem: SecretFinding,
  severity: Finding['severity'],
): Finding {
  const make = severity === 'fail' ? fail : warn;
  return make(
    codeOf(problem.code),
    `the secret of ${use.name} ${toPredicate(problem.code, severity)}: found ${problem.found}`,
    `${toWritingFix(use, problem.code) ?? FIXES[problem.code] ?? `Put there ${problem.expected}`}.`,
    [formatConfigProblem(problem)],
  );
}

/** A warning is about a secret that is used all the same. */
function toPredicate(code: SecretFindingCode, severity: Finding['severity']): string {
  if (code === 'folder_missing' || HAS_NO_SECRET.has(code)) return 'is missing';
  return severity === 'warn' ? 'is not written as expected' : 'is not usable as it is';
}

/** The name of the cause of a wrong text. */
function codeOf(code: SecretFindingCode): CauseCode {
  return `secret_${code}`;
}

/** Where nothing stands that could be corrected. */
const HAS_NO_SECRET: ReadonlySet<SecretFindingCode> = new Set([
  'file_missing',
  'key_missing',
  'empty',
  'blank',
]);

/** What is to be done where there is no secret yet: on a machine a file, in a pod a key of a Secret. */
function toWritingFix(
  { name, clientId, source }: SecretUse,
  code: SecretFindingCode,
): string | undefined {
  if (source.from !== 'file' || source.path === '') return undefined;
  const { path, key } = source;
  const file = `Write the client secret of ${clientId === '' ? name : clientId} into ${path}`;
  if (code === 'folder_missing')
    return `${file}, or correct ${key}; in a pod, mount the Secret there`;
  return HAS_NO_SECRET.has(code)
    ? `${file}; in a pod, that is the key ${basename(path)} of the mounted Secret`
    : undefined;
}

const FIXES: Partial<Record<SecretFindingCode, string>> = {
  not_synchronized:
    'Look at the ExternalSecret: kubectl get externalsecret -A; its reason must be SecretSynced',
  newline: 'Write it without one: printf %s SECRET > FILE, or kubectl create secret --from-literal',
  quotes: 'Write it without quotes: printf %s SECRET > FILE',
  base64: 'Encode it once for data of a Secret, and not at all for stringData',
  byte_order_mark: 'Save it as UTF-8 without a byte order mark',
  stand_in: "Replace the stand-in by the application's client secret",
  unreadable: 'Let the user of the process read it: fsGroup of the pod, defaultMode of the volume',
};

function compareSecrets(secrets: readonly HeldSecret[], isAsked: boolean): readonly Finding[] {
  const key = randomBytes(32);
  const marked = secrets.map(({ use, text }) => ({
    use,
    mark: createHmac('sha256', key).update(text).digest('base64'),
  }));
  const findings: Finding[] = [];
  for (const [at, one] of marked.entries())
    for (const other of marked.slice(at + 1)) {
      const isSameClient = one.use.clientId === other.use.clientId;
      const isSameSecret = one.mark === other.mark;
      if (isSameClient === isSameSecret) continue;
      // Where it can be tried, the provider's answer says which of the two is wrong.
      if (isAsked && isSameSecret) continue;
      findings.push(toPairFinding(one.use, other.use, isSameClient));
    }
  return findings;
}

function toPairFinding(one: SecretUse, other: SecretUse, isSameClient: boolean): Finding {
  const evidence = [placeOf(one), placeOf(other)];
  return isSameClient
    ? fail(
        'secrets_differ',
        `${one.name} and ${other.name} are one application (${one.clientId}) with two different secrets`,
        'Write the same secret to both places; one of them was not updated after a rotation.',
        evidence,
      )
    : warn(
        'secret_of_another_app',
        `${one.name} (${one.clientId}) and ${other.name} (${other.clientId}) have the same secret`,
        'Give each its own: the secret of one application stands where that of the other belongs.',
        evidence,
      );
}

/** Where a secret stands. */
export function placeOf({ name, source }: SecretUse): string {
  return source.from === 'file' ? `${name}: ${source.path}` : `${name}: in the environment`;
}
