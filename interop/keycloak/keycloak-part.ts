/**
 * The Keycloak that the tests need, as a part that may be missing.
 *
 * @module
 */

import { inject } from 'vitest';
import { findKeptKeycloak } from '../../tools/keycloak/keycloak-folder.ts';
import { findPart, type Part, partAt } from '../parts.ts';

const NAME = 'keycloak';
/** What fetches it and unpacks it. */
const FETCHED_BY = ['mvn', 'python3'] as const;
const REASON_MAX = 300;

/** What it runs on, and it: kept from an earlier run, or fetched and built now. */
export const KEYCLOAK: Part = await findKeycloak();

/** Looks for it; fetches and builds it where it can be and is not there. */
export async function findKeycloak(): Promise<Part> {
  const java = findPart('java');
  if (java.path === undefined) return missing('java is not on PATH');
  const kept = findKeptKeycloak();
  if (kept !== undefined) return partAt(NAME, kept);
  const absent = FETCHED_BY.filter((name) => findPart(name).path === undefined);
  if (absent.length > 0)
    return missing(`no run has kept one, and ${absent.join(' and ')} to fetch it is not on PATH`);
  const answer = await fetch(`${inject('sharedKeycloak')}/folder`);
  const text = await answer.text();
  return answer.ok
    ? partAt(NAME, text)
    : missing(`it could not be fetched and built: ${text.slice(0, REASON_MAX)}`);
}

function missing(because: string): Part {
  return partAt(NAME, undefined, because);
}
