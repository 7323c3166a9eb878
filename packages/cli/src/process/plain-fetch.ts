/**
 * What sends the requests of a person's commands. In a file of its own: it is loaded with the first request.
 *
 * @module
 */

import { createPlainFetch } from '@sallyport/server/issuer';
import { systemSchedule } from './system-schedule.ts';

/** Creates it, for the proxies that are set by now. */
export function createCommandFetch(): typeof fetch {
  return createPlainFetch(systemSchedule);
}
