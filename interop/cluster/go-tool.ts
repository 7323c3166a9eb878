/**
 * Programs of Kubernetes, as tests of this run ask for them.
 *
 * @module
 */

import { Agent, request } from 'undici';
import { inject } from 'vitest';
import type { GoToolName } from '../../tools/cluster/go-tools.ts';

/** How long a cold build of all of them may take. */
export const BUILD_TIMEOUT_MS = 1_500_000;

/** Path of a program; built first where it was not built before. @throws With the reason when it cannot be built. */
export function programPath(name: GoToolName): Promise<string> {
  return askPatiently(`${inject('goTools')}/${name}`);
}

/** Asks a server of this run whose answer may be minutes away. @throws With its text when it failed. */
export async function askPatiently(url: string): Promise<string> {
  const patient = new Agent({ headersTimeout: BUILD_TIMEOUT_MS });
  try {
    const answer = await request(url, { dispatcher: patient });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(text);
    return text;
  } finally {
    await patient.close();
  }
}
