/**
 * The agent's configuration: read at the start, and again when it is asked to.
 *
 * @module
 */

import {
  type ClientBlock,
  type ClientSettings,
  type LoadedClientSettings,
  loadClientSettings,
} from '@sallyport/client';
import type { ConfigProblem } from '@sallyport/config';
import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import { type Result, refuse, withoutUnprintable } from '@sallyport/protocol';
import { BLOCKS } from './blocks.ts';

/** The operator's own: may be a link, as in a mounted volume. */
const CONFIGURATION_TERMS: FileTerms = { maxBytes: 524_288, mayBeLink: true, owner: 'any_user' };
const DEFAULT_BLOCK: ClientBlock = 'union.auth';
/** Ways to a token that ask a person, whom the agent cannot ask. */
const PERSONAL: ReadonlySet<ClientSettings['authType']> = new Set(['Pkce', 'DeviceFlow']);

/**
 * Reads the file and the environment.
 *
 * @param block - `undefined`: `union.auth`, unless the file gives client ID or secret in another block alone.
 * @returns Otherwise everything that is wrong. A way to tokens that asks a person is wrong, too, and so is
 *   `union.auth.enable: false`, with which there is no token.
 */
export function readAgentSettings(
  path: string,
  block: ClientBlock | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Result<LoadedClientSettings, readonly ConfigProblem[]> {
  const read = readBoundedFile(path, CONFIGURATION_TERMS);
  const shown = withoutUnprintable(path);
  if (!read.ok)
    return refuse([
      {
        file: shown,
        line: undefined,
        key: '--config',
        found: read.error.found,
        expected: `a regular file of at most ${CONFIGURATION_TERMS.maxBytes} bytes`,
      },
    ]);
  const sources = { env: environment, flags: {}, file: { path: shown, text: read.value } };
  const selected = block ?? selectBlock(sources);
  const loaded = loadClientSettings({ ...sources, block: selected });
  if (!loaded.ok) return loaded;
  const { settings } = loaded.value;
  if (!settings.isEnabled)
    return refuse([problem(shown, `${selected}.enable`, 'false', 'true: else there is no token')]);
  if (PERSONAL.has(settings.authType))
    return refuse([
      problem(
        shown,
        'admin.authType',
        settings.authType,
        'a way that asks no person: ClientSecret, ServiceAccountToken, ExternalCommand, or an API key',
      ),
    ]);
  return loaded;
}

/** The only block in which the file names a client or its secret; a file that has a problem is judged with the default. */
function selectBlock(sources: Parameters<typeof loadClientSettings>[0]): ClientBlock {
  const filled = BLOCKS.filter((block) => {
    const loaded = loadClientSettings({ ...sources, block });
    if (!loaded.ok) return false;
    const isGiven = (member: string): boolean =>
      loaded.value.origins.get(`${block}.${member}`)?.origin === 'file';
    return isGiven('clientId') || isGiven('clientSecretLocation');
  });
  const [only] = filled;
  return filled.length === 1 && only !== undefined ? only : DEFAULT_BLOCK;
}

function problem(file: string, key: string, found: string, expected: string): ConfigProblem {
  return { file, line: undefined, key, found, expected };
}
