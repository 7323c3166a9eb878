/**
 * What the issuer publishes: its metadata document and its keys.
 *
 * @module
 */

import {
  type DocumentProblem,
  type IssuerDocument,
  listMetadataUrls,
  parseIssuerDocument,
  parseKeySet,
} from '@sallyport/server/issuer';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { broken, found, type Outcome, type Probe } from '../graph/probe.ts';
import {
  type Answer,
  type Ask,
  describeAnswer,
  describeNoAnswer,
  fixNoAnswer,
  isPage,
  readObject,
} from '../network/exchange.ts';

/** What the probes are about. */
export interface IssuerSubject {
  /** As configured, byte for byte, once `ready` has a value. */
  readonly issuer: Probe<string>;
  /** Where it may be; empty for the two registered places. */
  readonly metadataUrl: string;
  /** Has a value when HTTP can be spoken there. */
  readonly ready: Probe<URL>;
  /** The setting that names it. */
  readonly setting: string;
  readonly dangerouslyAllowPlainHttpTo: readonly string[];
}

/** The probes, and those that others need. */
export interface IssuerProbes {
  readonly all: readonly Probe[];
  readonly http: Probe<Answer>;
  readonly discovery: Probe<IssuerDocument>;
}

const NOT_FOUND = 404;
const SERVER_ERROR = 500;

/** Makes `issuer.http`, `issuer.discovery`, `issuer.keys` and `issuer.pkce`. */
export function createIssuerProbes(subject: IssuerSubject, ask: Ask): IssuerProbes {
  const { issuer, ready, setting } = subject;
  const http: Probe<Answer> = {
    id: 'issuer.http',
    group: 'http',
    title: "an answer of the identity provider's",
    needs: [issuer, ready],
    run: (answers) => fetchDocument(answers.get(issuer), subject, ask),
  };
  const discovery: Probe<IssuerDocument> = {
    id: 'issuer.discovery',
    group: 'oidc',
    title: "the identity provider's metadata",
    needs: [issuer, http],
    run(answers) {
      const configured = answers.get(issuer);
      const answer = answers.get(http);
      const parsed = parseIssuerDocument(
        answer.text,
        configured,
        subject.dangerouslyAllowPlainHttpTo,
      );
      if (!parsed.ok) return broken(toDocumentFinding(parsed.error, configured, answer, setting));
      for (const member of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'])
        if (parsed.value[member] === undefined)
          return broken(
            toDocumentFinding({ member, problem: 'missing' }, configured, answer, setting),
          );
      return found(parsed.value);
    },
  };
  const keys: Probe = {
    id: 'issuer.keys',
    group: 'oidc',
    title: "the identity provider's signing keys",
    needs: [discovery],
    run: (answers) => judgeKeys(answers.get(discovery), ask),
  };
  const pkce: Probe = {
    id: 'issuer.pkce',
    group: 'oidc',
    title: 'PKCE at the identity provider',
    needs: [discovery],
    run(answers) {
      const methods = answers.get(discovery)['code_challenge_methods_supported'];
      if (!Array.isArray(methods) || methods.includes('S256')) return found(undefined);
      return found(undefined, [
        fail(
          'pkce_not_supported',
          `the identity provider ${answers.get(discovery).issuer} does not offer PKCE with S256`,
          'Switch S256 on at the authorization server; every sign-in sends it.',
          [`code_challenge_methods_supported: ${methods.join(' ')}`],
        ),
      ]);
    },
  };
  return { all: [http, discovery, keys, pkce], http, discovery };
}

async function fetchDocument(
  issuer: string,
  { metadataUrl, setting }: IssuerSubject,
  ask: Ask,
): Promise<Outcome<Answer>> {
  const evidence: string[] = [];
  for (const url of listMetadataUrls(issuer, metadataUrl)) {
    const asked = await ask(url, { headers: { accept: 'application/json' } });
    if (!asked.ok)
      return broken(
        fail(
          'no_http_answer',
          `the identity provider ${issuer} ${describeNoAnswer(asked.error)}`,
          fixNoAnswer(asked.error, 'Look at its log, and at a proxy in front of it.'),
          [`${url}: ${asked.error.code}`],
        ),
      );
    const { status } = asked.value;
    evidence.push(describeAnswer(asked.value));
    if (status === 200 && !isPage(asked.value)) return found(asked.value);
    if (status === 429 || status >= SERVER_ERROR)
      return broken(
        fail(
          'idp_fails',
          `the identity provider ${issuer} answers ${status}`,
          'Look at its log; it says of itself that it does not work.',
          evidence,
        ),
      );
    if (status !== NOT_FOUND && !isPage(asked.value)) break;
  }
  return broken(
    fail(
      'issuer_not_served',
      `there is no identity provider at ${issuer}: it publishes no metadata there`,
      `Correct ${setting}: the issuer is what stands before /.well-known/openid-configuration, with its path (Keycloak: /realms/NAME).`,
      evidence,
    ),
  );
}

function toDocumentFinding(
  { member, problem }: DocumentProblem,
  configured: string,
  answer: Answer,
  setting: string,
): Finding {
  const named = readObject(answer)?.['issuer'];
  const evidence = [describeAnswer(answer)];
  if (problem === 'issuer_differs_in_last_slash' && typeof named === 'string')
    return fail(
      'issuer_slash',
      `the issuer differs in a final slash: configured ${configured}, found ${named}`,
      `Set ${setting} to exactly ${named}`,
      evidence,
    );
  if (problem === 'foreign_issuer' && typeof named === 'string')
    return fail(
      'issuer_differs',
      `the identity provider is another issuer than the configured one: configured ${configured}, found ${named}`,
      `Set ${setting} to exactly ${named}, if that is the one that you trust.`,
      evidence,
    );
  const whats: Readonly<Record<DocumentProblem['problem'], string>> = {
    not_json: 'is no JSON object',
    foreign_issuer: 'names no issuer',
    issuer_differs_in_last_slash: 'names no issuer',
    missing: `lacks ${member}`,
    malformed: `has a ${member} that cannot be read`,
    not_https: `has a ${member} that is not https`,
    internal: `has a ${member} on an internal address`,
  };
  return fail(
    'discovery_invalid',
    `the metadata of the identity provider ${configured} ${whats[problem]}`,
    'Correct it at the identity provider, or compare the address: another server may answer there.',
    evidence,
  );
}

async function judgeKeys(document: IssuerDocument, ask: Ask): Promise<Outcome<undefined>> {
  const url = document.jwks_uri ?? '';
  const asked = await ask(url, { headers: { accept: 'application/json' } });
  const unusable = (what: string, evidence: string): Outcome<undefined> =>
    broken(
      fail(
        'keys_unusable',
        `the signing keys of ${document.issuer} cannot be used: ${what}`,
        'Look at the jwks_uri of the identity provider: tokens and sign-ins cannot be verified without it.',
        [evidence],
      ),
    );
  if (!asked.ok) return unusable('no answer', `${url}: ${asked.error.code}`);
  if (asked.value.status !== 200) return unusable('not served', describeAnswer(asked.value));
  const parsed = parseKeySet(asked.value.text);
  if (!parsed.ok) return unusable('no key set', describeAnswer(asked.value));
  const algorithms = document.id_token_signing_alg_values_supported ?? ['RS256'];
  const usable = algorithms.filter((name) => parsed.value.select(undefined, name).length > 0);
  if (usable.length > 0) return found(undefined);
  const evidence = `${parsed.value.keyIds.size} keys with an id, ${parsed.value.ignored} of them no key to verify with`;
  return unusable(`no key fits any of its algorithms (${algorithms.join(' ')})`, evidence);
}

const SKEW_FAIL_MS = 60_000;
const SKEW_WARN_MS = 5_000;

/** Compares a server's clock, as its `Date` header has it, with this machine's. */
export function createClockProbe(
  id: 'clocks.issuer' | 'clocks.platform',
  name: string,
  http: Probe<Answer>,
): Probe {
  return {
    id,
    group: 'clocks',
    title: `the clock of ${name}`,
    needs: [http],
    run(answers) {
      const { headers, sentAt, receivedAt, url } = answers.get(http);
      const theirs = Date.parse(headers.get('date') ?? '');
      if (Number.isNaN(theirs)) return found(undefined);
      // The header has whole seconds: it may be right at any moment of that second.
      const behind = Math.max(0, sentAt - (theirs + 1_000));
      const ahead = Math.max(0, theirs - receivedAt);
      const off = Math.max(behind, ahead);
      if (off < SKEW_WARN_MS) return found(undefined);
      const make = off >= SKEW_FAIL_MS ? fail : warn;
      const seconds = Math.round(off / 1_000);
      const { host } = new URL(url);
      return found(undefined, [
        make(
          'clock_differs',
          `the clocks differ by ${seconds} s: ${name} (${host}) is ${ahead > 0 ? 'ahead of' : 'behind'} this machine`,
          'Run NTP on both, for example: timedatectl set-ntp true',
          [`Date of ${host}: ${new Date(theirs).toISOString()}`],
        ),
      ]);
    },
  };
}
