/**
 * Traces: the collector's secret on a wire that can be read.
 *
 * @module
 */

import type { Rule } from './rule.ts';

const BLOCK = 'observe.traces';
/** Hosts that do not leave the machine. */
const LOOPBACK = /^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?:[:/?]|$)/i;

/** Headers for the collector are a secret, and are for a collector. */
export const TRACES_RULE: Rule = {
  keys: [`${BLOCK}.endpoint`, `${BLOCK}.headersFile`],
  check: ({ config: { observe } }) => {
    const { endpoint, headersFile } = observe.traces;
    if (headersFile === '') return [];
    if (endpoint === '')
      return [
        {
          key: `${BLOCK}.endpoint`,
          found: 'nothing',
          expected: `a collector, which ${BLOCK}.headersFile is for`,
          isWarning: true,
        },
      ];
    if (!endpoint.toLowerCase().startsWith('http:') || LOOPBACK.test(endpoint)) return [];
    return [
      {
        key: `${BLOCK}.endpoint`,
        found: 'a plain http URL',
        expected: `https: without TLS the headers of ${BLOCK}.headersFile can be read on the network`,
        isWarning: true,
      },
    ];
  },
};
