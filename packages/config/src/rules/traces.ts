/**
 * Traces: an address that is not whole, settings without a collector, and its secret on a wire that can be read.
 *
 * @module
 */

import type { Finding, Rule } from './rule.ts';

const BLOCK = 'observe.traces';
/** Hosts that do not leave the machine. */
const LOOPBACK = /^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?:[:/?]|$)/i;

/** Where collectors take OTLP over HTTP as a rule. */
const USUAL_PATH = '/v1/traces';

/** An address that is whole, and a collector for whatever is set about one; its headers are a secret. */
export const TRACES_RULE: Rule = {
  keys: ['endpoint', 'headersFile', 'sample'].map((name) => `${BLOCK}.${name}`),
  check({ config: { observe }, originOf }) {
    const { endpoint, headersFile, sample } = observe.traces;
    if (endpoint === '') {
      const isSampled = originOf(`${BLOCK}.sample`) !== 'default' && sample > 0;
      if (headersFile !== '') return [warnOf('nothing', forCollector('headersFile'))];
      return isSampled ? [warnOf('nothing', forCollector('sample'))] : [];
    }
    return [...findPathless(endpoint), ...findReadable(endpoint, headersFile)];
  },
};

/** The address is asked as it is: nothing is put behind it. */
function findPathless(endpoint: string): readonly Finding[] {
  const { pathname, origin } = new URL(endpoint);
  return pathname === '/'
    ? [warnOf('no path', `the whole address, usually ${origin}${USUAL_PATH}`)]
    : [];
}

function findReadable(endpoint: string, headersFile: string): readonly Finding[] {
  const isPlain = endpoint.toLowerCase().startsWith('http:') && !LOOPBACK.test(endpoint);
  return headersFile !== '' && isPlain
    ? [
        warnOf(
          'a plain http URL',
          `https: without TLS the headers of ${BLOCK}.headersFile can be read on the network`,
        ),
      ]
    : [];
}

function forCollector(name: string): string {
  return `a collector, which ${BLOCK}.${name} is for`;
}

function warnOf(found: string, expected: string): Finding {
  return { key: `${BLOCK}.endpoint`, found, expected, isWarning: true };
}
