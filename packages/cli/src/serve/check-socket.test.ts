import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatConfigProblem, loadConfig } from '@sallyport/config';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it } from 'vitest';
import { checkSocket } from './check-socket.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
};

function warnings(server: Readonly<Record<string, string>>): readonly string[] {
  const flags = Object.fromEntries(
    Object.entries(server).map(([name, value]) => [`server.${name}`, value]),
  );
  const loaded = loadConfig({ env: ENV, flags }, 'serve');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return checkSocket(loaded.value, undefined).map(formatConfigProblem);
}

/** A folder of this user alone. */
function makeFolder(): string {
  const folder = join(createTemporaryFolder(), 'run');
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

describe('The check of a Unix socket before the start', () => {
  it('warns of nothing where the service listens on a port', () => {
    expect(warnings({})).toEqual([]);
  });

  it('warns of nothing where folder and group are there, links included, and makes nothing', () => {
    const folder = makeFolder();
    const link = join(createTemporaryFolder(), 'link');
    symlinkSync(folder, link);
    for (const place of [folder, link])
      expect(warnings({ listen: `unix:${place}/s`, socketGroup: 'root' })).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('names a folder that is not there', () => {
    expect(warnings({ listen: `unix:${makeFolder()}/none/s` })).toEqual([
      expect.stringMatching(/^flag: server\.listen: found "unix:.*none\/s".*ENOENT/),
    ]);
  });

  it('names a folder that others may write to', () => {
    const folder = makeFolder();
    chmodSync(folder, 0o777);
    expect(warnings({ listen: `unix:${folder}/s` })).toEqual([
      expect.stringContaining(`others may write to ${folder}`),
    ]);
  });

  it('names what lies in the place of the socket and is none', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 's'), '');
    expect(warnings({ listen: `unix:${folder}/s` })).toEqual([
      expect.stringContaining('something else than a socket has this name'),
    ]);
  });

  it('names a group that this machine does not have, beside a folder that is not there', () => {
    const socketGroup = 'no-such-group';
    expect(warnings({ listen: `unix:${makeFolder()}/none/s`, socketGroup })).toEqual([
      expect.stringContaining('server.listen: found'),
      expect.stringMatching(/^flag: server\.socketGroup: found "no-such-group".*has no such group/),
    ]);
  });
});
