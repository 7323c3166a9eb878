/**
 * Faults of the group: proxy.
 *
 * @module
 */

import { type Fault, withNginx } from '../fault.ts';

/** In this order in the table. */
export const PROXY_FAULTS: readonly Fault[] = [
  {
    fault: 'the ingress takes 4k of headers from the admin service, as nginx by default',
    cause: 'proxy_buffers_small',
    probe: 'proxy.buffers',
    ground: 'running plane',
    make(plane) {
      plane.headersMaxBytes = 4_096;
      return {};
    },
  },
  {
    fault: 'the ingress takes request lines of 2k',
    cause: 'proxy_buffers_small',
    probe: 'proxy.buffers',
    ground: 'running plane',
    make(plane) {
      plane.urlMaxLength = 2_048;
      return {};
    },
  },
  {
    fault: 'the ingress keeps verdicts by the cookie, and not by the bearer header',
    cause: 'verdict_shared',
    ground: 'running plane',
    make(plane) {
      plane.verdictKey = ({ headers }) => headers.cookie ?? '';
      return {};
    },
  },
  {
    fault: 'the nginx file has no proxy_buffer_size at /login and /callback',
    cause: 'proxy_buffers_small',
    probe: 'proxy.nginx.buffers',
    ground: 'files',
    make: withNginx((text) => text.replace('proxy_buffer_size 16k;', '')),
  },
  {
    fault: 'the nginx file keeps verdicts by a key without the cookie',
    cause: 'cache_key_incomplete',
    probe: 'proxy.nginx.verdicts',
    ground: 'files',
    make: withNginx((text) => text.replace('$http_cookie', '')),
  },
  {
    fault: 'the nginx file keeps verdicts by a key whose variable lacks the bearer header',
    cause: 'cache_key_incomplete',
    probe: 'proxy.nginx.verdicts',
    ground: 'files',
    make: withNginx((text) => text.replaceAll('$http_core_authorization', '$request_method')),
  },
];
