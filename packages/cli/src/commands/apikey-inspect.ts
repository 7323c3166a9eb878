/**
 * `sallyport apikey inspect`: what an API key says, without its secret.
 *
 * @module
 */

import { readBoundedFile } from '@sallyport/config/files';
import {
  accept,
  describeApiKeyRefusal,
  parseApiKey,
  type Result,
  refuse,
} from '@sallyport/protocol';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export interface ApiKeyInspectOptions {
  readonly file?: string;
  readonly json?: boolean;
}

const MAX_BYTES = 16_384;
const TERMS = { maxBytes: MAX_BYTES, mayBeLink: true, owner: 'any_user' } as const;

/**
 * Decodes a key; one line feed at its end is taken off, as files have it. Asks no server: whether the key is still
 * good, `apikey list` shows.
 *
 * @param stdin - Read when no file is named.
 */
export async function inspectApiKey(
  { file, json = false }: ApiKeyInspectOptions,
  stdin: AsyncIterable<Buffer | string>,
  stdio: Stdio,
): Promise<ExitCode> {
  const fail = (error: string, description: string): ExitCode =>
    reportFailure({ error, description, hint: '', exitCode: EXIT.failure }, json, stdio);
  const text = file === undefined ? await readAll(stdin) : readFile(file);
  if (!text.ok) return fail('key_unreadable', text.error);
  const parsed = parseApiKey(text.value.replace(/\r?\n$/, ''));
  if (!parsed.ok) {
    const { found, expected } = describeApiKeyRefusal(parsed.error);
    return fail(parsed.error, `found ${found}, expected ${expected}`);
  }
  const { host, clientId, organization } = parsed.value;
  if (json) {
    stdio.out(JSON.stringify({ ok: true, endpoint: host, clientId, organization }));
    return EXIT.ok;
  }
  stdio.out(`endpoint       ${host}, port 443 with TLS`);
  stdio.out(`client ID      ${clientId}`);
  stdio.out(`client secret  there, not shown`);
  stdio.out(`organization   ${organization === '' ? 'none' : organization}`);
  return EXIT.ok;
}

function readFile(file: string): Result<string, string> {
  const read = readBoundedFile(file, TERMS);
  return read.ok ? read : refuse(`--file: found ${read.error.found}, expected a file with a key`);
}

async function readAll(stdin: AsyncIterable<Buffer | string>): Promise<Result<string, string>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > MAX_BYTES) return refuse(`found more than ${MAX_BYTES} bytes, expected a key`);
    chunks.push(buffer);
  }
  return accept(Buffer.concat(chunks).toString('utf8'));
}
