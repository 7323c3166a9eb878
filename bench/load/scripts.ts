/**
 * Lua scripts that send another request each time.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import type { Ends } from '../process/ends.ts';

/** Name and value of the one header in which requests differ; without one, none is sent. */
export type OneHeader = readonly [name: string, value: string] | undefined;

/**
 * A script that sends requests in their order, each prepared before the load begins.
 *
 * @param after - What comes after the last: the first again, or requests without the header, which fail.
 */
export function requestsScript(
  ends: Ends,
  requests: readonly OneHeader[],
  after: 'the first again' | 'none',
): string {
  const folder = temporaryFolder();
  ends.add(() => folder.remove());
  const file = join(folder.path, 'requests');
  writeFileSync(file, requests.map((header) => `${(header ?? []).join('\t')}\n`).join(''));
  const index = after === 'none' ? 'n' : `(n - 1) % ${requests.length} + 1`;
  return `
local requests, n, none = {}, 0, ""
function init(args)
  for line in io.lines("${file}") do
    local name, value = line:match("^([^\\t]+)\\t(.*)$")
    local headers = {}
    for key, each in pairs(wrk.headers) do headers[key] = each end
    if name then headers[name] = value end
    requests[#requests + 1] = wrk.format("GET", nil, headers)
  end
  none = wrk.format("GET", nil, wrk.headers)
end
function request()
  n = n + 1
  return requests[${index}] or none
end
`;
}
