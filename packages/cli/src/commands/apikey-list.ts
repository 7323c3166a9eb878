/**
 * `sallyport apikey list`: which API keys there are.
 *
 * @module
 */

import type { ApiKeyClient } from '@sallyport/idp/api-keys';
import { type IssuerOptions, openIssuer } from '../api-keys/open-issuer.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

const HEADINGS = ['CLIENT ID', 'ORGANIZATION', 'CLUSTER', 'CREATED'];

/** Lists the keys, the oldest first: columns on a terminal, fields between tabs elsewhere. Nothing in it is secret. */
export async function listApiKeys(options: IssuerOptions, stdio: Stdio): Promise<ExitCode> {
  const isJson = options.json === true;
  const opened = await openIssuer(options, stdio);
  if (!opened.ok) return reportFailure(opened.error, isJson, stdio);
  const clients = await opened.value.issuer.list();
  const rows = clients.map(toRow);
  if (isJson) {
    const keys = clients.map((client) => ({ ...client, createdAt: toIso(client) }));
    stdio.out(JSON.stringify({ ok: true, keys }));
  } else if (stdio.isTerminal) {
    for (const line of rows.length === 0 ? [] : alignColumns([HEADINGS, ...rows])) stdio.out(line);
  } else {
    for (const row of rows) stdio.out(row.join('\t'));
  }
  if (!isJson && rows.length === 0) stdio.error('no API keys');
  return EXIT.ok;
}

const toIso = ({ createdAt }: ApiKeyClient): string => new Date(createdAt).toISOString();

const toRow = (client: ApiKeyClient): readonly string[] => [
  client.clientId,
  client.organization,
  client.cluster,
  toIso(client),
];

function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = HEADINGS.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
