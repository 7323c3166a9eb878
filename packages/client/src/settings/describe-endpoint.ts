/**
 * The platform's address in the settings, judged together with `admin.insecure`.
 *
 * @module
 */

import { type ClientConfig, type ConfigProblem, describeFound } from '@sallyport/config';
import { type PlatformEndpoint, parseEndpoint } from './endpoint.ts';

const KEY = 'admin.endpoint';

/** What holds where no source names an address. */
export interface EndpointTerms {
  readonly isRequired: boolean;
  /** Taken then. */
  readonly byDefault?: string | undefined;
}

/**
 * Reads the address; adds what is wrong or weak about it.
 *
 * @returns `undefined` when there is none that can be used.
 */
export function describeEndpoint(
  { config: { admin }, unsound, placeOf }: ClientConfig,
  { isRequired, byDefault = '' }: EndpointTerms,
  problems: ConfigProblem[],
  warnings: ConfigProblem[],
): PlatformEndpoint | undefined {
  if (unsound.has(KEY)) return undefined;
  const report = (found: string, expected: string): undefined => {
    problems.push({ ...placeOf(KEY), key: KEY, found, expected });
    return undefined;
  };
  const endpoint = admin.endpoint === '' ? byDefault : admin.endpoint;
  if (endpoint === '')
    return isRequired
      ? report('nothing', 'the address of the platform, such as dns:///platform.example.com')
      : undefined;
  const parsed = parseEndpoint(endpoint, admin.insecure);
  const found = describeFound(endpoint);
  if (parsed.ok) {
    const { isInsecure, isLoopback } = parsed.value;
    if (isInsecure && !isLoopback)
      warnings.push({
        ...placeOf('admin.insecure'),
        key: 'admin.insecure',
        found: 'true',
        expected: 'false: tokens can be read on the way',
      });
    return parsed.value;
  }
  switch (parsed.error) {
    case 'not_an_endpoint':
      return report(found, 'an endpoint such as dns:///platform.example.com');
    case 'http_needs_insecure':
      return report(
        found,
        'https, or http on localhost, 127.0.0.1 or [::1]; admin.insecure: true allows it elsewhere',
      );
    case 'https_with_insecure':
      return report(found, 'no https:// together with admin.insecure: true');
  }
}
