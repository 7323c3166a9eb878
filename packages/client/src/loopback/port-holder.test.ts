import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findPortHolder } from './port-holder.ts';

const HEADER = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid';
const row = (local: string, state: string, inode: number): string =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1`;
const V6 = '00000000000000000000000001000000';

let proc: string;
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), 'proc-'));
  mkdirSync(join(proc, 'net'));
  mkdirSync(join(proc, '4711', 'fd'), { recursive: true });
  symlinkSync('socket:[99]', join(proc, '4711', 'fd', '5'));
  writeFileSync(join(proc, '4711', 'comm'), 'other\u001b\n');
});
afterEach(() => rmSync(proc, { recursive: true }));

function write(tcp: readonly string[], tcp6: readonly string[] = []): void {
  writeFileSync(join(proc, 'net', 'tcp'), [HEADER, ...tcp, ''].join('\n'));
  writeFileSync(join(proc, 'net', 'tcp6'), [HEADER, ...tcp6, ''].join('\n'));
}

describe('the holder of a port', () => {
  it('is the process with the listening socket, on IPv4', async () => {
    write([row('0100007F:D159', '0A', 99)]);
    expect(await findPortHolder(53_593, proc)).toEqual({ pid: 4711, name: 'other' });
  });

  it('is the process with the listening socket, on IPv6', async () => {
    write([], [row(`${V6}:D159`, '0A', 99)]);
    expect(await findPortHolder(53_593, proc)).toMatchObject({ pid: 4711 });
  });

  it.each([
    ['another port', '0100007F:D15A', '0A', 99],
    ['a connection, not a listener', '0100007F:D159', '01', 99],
    ['a socket of another user, whose descriptors cannot be read', '0100007F:D159', '0A', 98],
  ])('is not named for %s', async (_, local, state, inode) => {
    write([row(local, state, inode)]);
    expect(await findPortHolder(53_593, proc)).toBeUndefined();
  });

  it('is not named where there is no process file system', async () => {
    expect(await findPortHolder(53_593, join(proc, 'none'))).toBeUndefined();
  });
});
