/**
 * Traces to a collector, where the configuration names one. What they need is loaded only then.
 *
 * @module
 */

import type { TracesConfig } from '@sallyport/config';
import type { Ports } from '../process/ports.ts';
import type { Traces } from './otel-traces.ts';

/**
 * Opens the traces.
 *
 * @returns `undefined` when no endpoint is configured: nothing is loaded then.
 * @throws {SallyportError} `SP_CONFIG_INVALID` when `observe.traces.headersFile` cannot be used.
 */
export async function openTraces(
  config: TracesConfig,
  ports: Pick<Ports, 'fetch' | 'schedule' | 'log'>,
): Promise<Traces | undefined> {
  if (config.endpoint === '') return undefined;
  const { startOtelTraces } = await import('./otel-traces.ts');
  return startOtelTraces(config, ports);
}
