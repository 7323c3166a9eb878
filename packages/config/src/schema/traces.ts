/**
 * Schema of `observe.traces.*`: distributed traces to a collector.
 *
 * @module
 */

import { integerKind, shareKind } from '../kinds/kind.ts';
import { orEmpty, pathKind, patternKind } from '../kinds/text.ts';
import { collectorKind } from '../kinds/url.ts';
import type { TracesConfig } from '../traces-config.ts';
import type { SchemaOf } from './setting.ts';

/** Schema of `observe.traces`. */
export const TRACES_SCHEMA: SchemaOf<TracesConfig> = {
  endpoint: {
    kind: orEmpty(collectorKind),
    fallback: '',
    variable: 'SALLYPORT_TRACES_ENDPOINT',
    meaning:
      'Where a collector takes OTLP over HTTP, with its whole path: `http://collector:4318/v1/traces`. Empty traces nothing, and costs nothing. See [tracing](tracing.md).',
  },
  sample: {
    kind: shareKind,
    fallback: 0.01,
    meaning:
      'Share of the requests that are traced, of those that come without a trace (`traceparent`): 0 none, 1 every one.',
  },
  continuedPerSecond: {
    kind: integerKind(0, 10_000),
    fallback: 100,
    meaning:
      'How many requests a second one process traces because they come with a trace that their caller records. Any client can send such a trace, hence the bound; 0 continues none.',
  },
  headersFile: {
    kind: orEmpty(pathKind),
    fallback: '',
    meaning:
      'File of the headers the collector asks for, one a line: `authorization: Bearer …`. Read again when it changes.',
  },
  serviceName: {
    kind: patternKind(
      'string',
      'a name of at most 128 letters, digits and . _ : / -',
      /^[A-Za-z0-9._:/-]{1,128}$/,
    ),
    fallback: 'sallyport',
    meaning: '`service.name` of the spans.',
  },
};
