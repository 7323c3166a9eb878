/**
 * `/me` with a bearer token: remembered, beside a session cookie; and never seen before.
 *
 * @module
 */

import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange } from '../conformance/wire/exchange.ts';
import { temporaryFolder } from '../conformance/wire/process.ts';
import { compare } from './compare.ts';
import {
  CONNECTIONS,
  LOAD_CORE,
  median,
  PUBLIC_URL,
  type ServerUnderLoad,
  startServerUnderLoad,
} from './server-under-load.ts';
import { load } from './wrk.ts';

const HEADER = 'core-authorization';
const WARM_UP_TOKENS = 30_000;
const WARM_UP_SECONDS = 1;
const COLD_TOKENS = 60_000;
const COLD_ROUNDS = 5;
const COLD_SECONDS = 3;
/** Seconds a token lives: longer than signing all of them takes. */
const TOKEN_LIFE_SECONDS = 3_600;

/** Prints the rates of a remembered bearer and of a cookie, and their ratio. */
export async function benchBearer(): Promise<void> {
  const server = await startServerUnderLoad();
  const cookie = await server.signIn();
  const bearer = `Bearer ${signer(server)(0)}`;
  await assertAdmitted(server, bearer);
  await compare(
    { name: 'bearer', url: `${server.url}/me`, headers: { [HEADER]: bearer } },
    { name: 'cookie', url: `${server.url}/me`, headers: { cookie } },
    0.8,
  );
  await server.stop();
}

/** Prints how many RS256 tokens a second are admitted when each request brings another one. */
export async function benchBearerCold(): Promise<void> {
  const server = await startServerUnderLoad();
  const folder = temporaryFolder();
  const token = signer(server);
  console.log(`signing ${WARM_UP_TOKENS + COLD_TOKENS} tokens`);
  const scriptFor = (name: string, from: number, count: number): string => {
    const file = join(folder.path, `${name}.tokens`);
    writeFileSync(
      file,
      Array.from({ length: count }, (_, index) => token(from + index)).join('\n'),
    );
    const script = join(folder.path, `${name}.lua`);
    writeFileSync(script, coldScript(file));
    return script;
  };
  const warmUp = scriptFor('warm-up', 0, WARM_UP_TOKENS);
  const cold = scriptFor('cold', WARM_UP_TOKENS, COLD_TOKENS);
  const rates: number[] = [];
  console.log('round  req/s   p99 ms');
  for (let round = 0; round <= COLD_ROUNDS; round += 1) {
    // Nothing remembered: the same tokens are new again. The first requests fetch the key set and have
    // the code compiled.
    await server.restart();
    await assertAdmitted(server, `Bearer ${token(WARM_UP_TOKENS + COLD_TOKENS)}`);
    const options = { core: LOAD_CORE, connections: CONNECTIONS, headers: {} };
    await load(`${server.url}/me`, { ...options, seconds: WARM_UP_SECONDS, script: warmUp });
    const { requestsPerSecond, failures, p99 } = await load(`${server.url}/me`, {
      ...options,
      seconds: COLD_SECONDS,
      script: cold,
    });
    if (failures > 0) throw new Error(`${failures} requests failed: out of tokens, or refused`);
    if (round === 0) continue;
    rates.push(requestsPerSecond);
    console.log(
      `${String(round).padStart(5)}  ${requestsPerSecond.toFixed(0)}  ${p99.toFixed(2).padStart(6)}`,
    );
  }
  console.log(`median: ${median(rates).toFixed(0)} req/s (wanted: at least 12000)`);
  folder.remove();
  await server.stop();
}

/** Signs the n-th token; synchronous and with the same key object, to sign many. */
function signer({ idp }: ServerUnderLoad): (n: number) => string {
  const key: KeyObject = createPrivateKey({ key: idp.privateJwk, format: 'jwk' });
  const now = Math.floor(Date.now() / 1_000);
  const header = encode({ alg: 'RS256', kid: 'k1', typ: 'at+jwt' });
  return (n) => {
    const payload = encode({
      iss: idp.issuer,
      sub: `user-${n}`,
      aud: PUBLIC_URL,
      scope: 'all',
      client_id: 'cli',
      jti: `token-${n}`,
      iat: now,
      exp: now + TOKEN_LIFE_SECONDS,
    });
    const signature = sign('sha256', Buffer.from(`${header}.${payload}`), key);
    return `${header}.${payload}.${signature.toString('base64url')}`;
  };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

async function assertAdmitted(server: ServerUnderLoad, bearer: string): Promise<void> {
  const answer = await exchange(`${server.url}/me`, { headers: { [HEADER]: bearer } });
  if (answer.status !== 200) throw new Error(`/me answered ${answer.status}: ${answer.body}`);
}

/** A token a request; past the last one requests go without, and fail. */
function coldScript(file: string): string {
  return `local tokens = io.lines("${file}")
function request()
  return wrk.format("GET", nil, { ["${HEADER}"] = "Bearer " .. (tokens() or "") })
end
`;
}
