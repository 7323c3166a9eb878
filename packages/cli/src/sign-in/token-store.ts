/**
 * Where this person's tokens are kept.
 *
 * @module
 */

import { selectTokenStore, type TokenStore, type TokenStoreChoice } from '@sallyport/client';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Environment } from '../profile/sources.ts';
import type { Failure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';

const VARIABLE = 'SALLYPORT_TOKEN_STORE';
/** `memory` is left out: a command that ends at once would forget what it was run for. */
const CHOICES = ['auto', 'keyring', 'file'] as const;

/**
 * Reads the choice: the variable, then the profile's `disableKeyring`, then the keyring where it works.
 */
export function readStoreChoice(
  environment: Environment,
  isKeyringDisabled: boolean,
): Result<TokenStoreChoice, Failure> {
  const given = environment[VARIABLE] ?? '';
  if (given === '') return accept(isKeyringDisabled ? 'file' : 'auto');
  const choice = CHOICES.find((known) => known === given);
  if (choice !== undefined) return accept(choice);
  return refuse({
    error: 'invalid_configuration',
    description: `${VARIABLE}: one of ${CHOICES.join(', ')}`,
    hint: '',
    exitCode: EXIT.failure,
  });
}

/**
 * Opens the store. A choice other than `file` tries the keyring.
 *
 * @param folder - Of the file store; absolute.
 * @param notice - Hears where tokens went when they are first written.
 */
export function openStore(
  choice: TokenStoreChoice,
  folder: string,
  notice: (sentence: string) => void,
): Promise<TokenStore> {
  return selectTokenStore(choice, { folder, notice: ({ message }) => notice(message) });
}
