/**
 * `GetPublicClientConfig` over Connect and over gRPC.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../conformance/wire/process.ts';
import { CONNECTIONS, LOAD_CORE, median, startServerUnderLoad } from './server-under-load.ts';
import { load } from './wrk.ts';

const ROUNDS = 5;
const SECONDS = 3;
const PATH = '/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig';
/** Streams on each HTTP/2 connection. */
const STREAMS = 8;
const HTTP2_CONNECTIONS = 4;

/** Prints calls a second of both, in turn. */
export async function benchMetadata(): Promise<void> {
  const server = await startServerUnderLoad();
  const folder = temporaryFolder();
  const script = join(folder.path, 'connect.lua');
  writeFileSync(
    script,
    `wrk.method = "POST"
wrk.body = ""
wrk.headers["content-type"] = "application/proto"
wrk.headers["connect-protocol-version"] = "1"
`,
  );
  const body = join(folder.path, 'empty-message');
  writeFileSync(body, Buffer.alloc(5));
  const rates: { connect: number; grpc: number }[] = [];
  console.log('round  Connect/s    gRPC/s');
  for (let round = 0; round <= ROUNDS; round += 1) {
    const connect = await load(server.url + PATH, {
      core: LOAD_CORE,
      seconds: SECONDS,
      connections: CONNECTIONS,
      headers: {},
      script,
    });
    if (connect.failures > 0) throw new Error(`${connect.failures} Connect calls failed`);
    const grpc = await loadGrpc(server.url + PATH, body);
    if (round === 0) continue;
    rates.push({ connect: connect.requestsPerSecond, grpc });
    console.log(
      `${String(round).padStart(5)}  ${connect.requestsPerSecond.toFixed(0).padStart(9)}  ${grpc.toFixed(0).padStart(8)}`,
    );
  }
  console.log(
    `median: Connect ${median(rates.map(({ connect }) => connect)).toFixed(0)}/s, gRPC ${median(rates.map(({ grpc }) => grpc)).toFixed(0)}/s`,
  );
  folder.remove();
  await server.stop();
}

const run = promisify(execFile);

/** A load of h2load. @throws When a call fails. */
async function loadGrpc(url: string, body: string): Promise<number> {
  const { stdout } = await run('taskset', [
    '-c',
    String(LOAD_CORE),
    'h2load',
    `-D${SECONDS}`,
    `-c${HTTP2_CONNECTIONS}`,
    `-m${STREAMS}`,
    `-d${body}`,
    '-Hcontent-type: application/grpc',
    '-Hte: trailers',
    url,
  ]);
  const [, failed, errored] = /(\d+) failed, (\d+) errored/.exec(stdout) ?? [];
  if (Number(failed) + Number(errored) > 0) throw new Error(`gRPC calls failed:\n${stdout}`);
  return Number(/finished in [\d.]+s, ([\d.]+) req\/s/.exec(stdout)?.[1]);
}
