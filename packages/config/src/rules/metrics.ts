/**
 * Where metrics are served.
 *
 * @module
 */

import { describeFound } from '../problems.ts';
import type { Rule } from './rule.ts';

const METRICS_PORT = 'observe.metrics.port';

/** Metrics are no part of what an ingress forwards: they have a port of their own. */
export const METRICS_PORT_RULE: Rule = {
  keys: [METRICS_PORT, 'listen.port', 'server.listen'],
  check: ({ config: { listen, observe, server } }) =>
    observe.metrics.port === 0 || server.listen !== '' || observe.metrics.port !== listen.port
      ? []
      : [
          {
            key: METRICS_PORT,
            found: describeFound(observe.metrics.port),
            expected: 'another port than listen.port',
          },
        ],
};
