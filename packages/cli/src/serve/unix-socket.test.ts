import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { prepareUnixSocket } from './unix-socket.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-socket-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const prepare = (path: string, mode = '0660', group = '') =>
  prepareUnixSocket({ path, mode, group });

async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen({ path }, resolve));
  onTestFinished(() => void server.close());
  return server;
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
  });
}

/** A socket whose process is gone: bound, shown elsewhere, and closed. */
async function leaveBehind(path: string): Promise<void> {
  const left = prepare(path);
  const server = await listen(left.bindPath);
  await left.publish();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

const inode = (path: string) => lstatSync(path).ino;

describe('the file of a Unix socket', () => {
  it.each([
    ['0600', 0o600],
    ['0660', 0o660],
    ['0666', 0o666],
  ])('is in its place with its permissions, or not there at all: %s', async (mode, bits) => {
    const path = join(makeFolder(), 's');
    const socket = prepare(path, mode);
    await listen(socket.bindPath);
    expect(existsSync(path)).toBe(false);
    expect(lstatSync(join(socket.bindPath, '..')).mode & 0o777).toBe(0o700);
    await socket.publish();
    expect(lstatSync(path).mode & 0o777).toBe(bits);
    expect(await answers(path)).toBe(true);
    expect(existsSync(socket.bindPath)).toBe(false);
  });

  it('is taken over from a process that is gone, with what that one left beside it', async () => {
    const folder = makeFolder();
    const path = join(folder, 's');
    await leaveBehind(path);
    const before = inode(path);
    expect(await answers(path)).toBe(false);
    const socket = prepare(path);
    await listen(socket.bindPath);
    await socket.publish();
    expect(inode(path)).not.toBe(before);
    expect(await answers(path)).toBe(true);
    socket.remove();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('leaves what other programs have beside it: another name, another content, one that answers', async () => {
    const folder = makeFolder();
    const path = join(folder, 's');
    const [longer, random] = [prepare(join(folder, 's-2')), join(folder, '.s-Abc123')];
    await listen(longer.bindPath);
    mkdirSync(random);
    writeFileSync(join(random, 'precious'), '');
    writeFileSync(join(folder, '.s-notes'), 'precious');
    writeFileSync(join(folder, '.s-Notes1'), 'precious');
    mkdirSync(join(folder, '.s-dir'));
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync('elsewhere', join(folder, '.s-Linked'));
    const starting = prepare(path);
    await listen(starting.bindPath);
    const before = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
    const socket = prepare(path);
    await listen(socket.bindPath);
    await socket.publish();
    socket.remove();
    expect(readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual(before);
    expect(await answers(longer.bindPath)).toBe(true);
    expect(await answers(starting.bindPath)).toBe(true);
  });

  it.each(['s', 'taken'])('removes what a killed process left unpublished: %s', async (name) => {
    const folder = makeFolder();
    const path = join(folder, 's');
    const dead = join(folder, '.s-Dead01');
    mkdirSync(dead);
    // Moved away, it stays when its listener closes, as after a kill.
    const server = await listen(join(folder, 'bound'));
    renameSync(join(folder, 'bound'), join(dead, name));
    await new Promise<void>((resolve) => server.close(() => resolve()));
    mkdirSync(join(folder, '.s-Empty1'));
    const socket = prepare(path);
    await listen(socket.bindPath);
    await socket.publish();
    socket.remove();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is never taken from one who answers', async () => {
    const path = join(makeFolder(), 's');
    await listen(path);
    const before = inode(path);
    const socket = prepare(path);
    await listen(socket.bindPath);
    await expect(socket.publish()).rejects.toMatchObject({ code: 'SP_PORT_IN_USE' });
    socket.remove();
    expect(inode(path)).toBe(before);
    expect(await answers(path)).toBe(true);
  });

  it('has one winner of several that take it over at once', async () => {
    const path = join(makeFolder(), 's');
    await leaveBehind(path);
    const sockets = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const socket = prepare(path);
        await listen(socket.bindPath);
        return socket;
      }),
    );
    const outcomes = await Promise.allSettled(sockets.map((socket) => socket.publish()));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await answers(path)).toBe(true);
  });

  it('is not thought to be in its place by one whose folder was tidied up', async () => {
    const path = join(makeFolder(), 's');
    const [first, second] = [prepare(path), prepare(path)];
    await listen(first.bindPath);
    await listen(second.bindPath);
    await first.publish();
    await expect(second.publish()).rejects.toMatchObject({ code: 'SP_PORT_IN_USE' });
  });

  it('is shown once for workers that begin to listen at once', async () => {
    const path = join(makeFolder(), 's');
    await leaveBehind(path);
    const socket = prepare(path);
    await listen(socket.bindPath);
    await Promise.all([socket.publish(), socket.publish(), socket.publish()]);
    expect(await answers(path)).toBe(true);
  });

  it('does nothing when it is published again without a new socket, and shows a new one', async () => {
    const path = join(makeFolder(), 's');
    const socket = prepare(path);
    const first = await listen(socket.bindPath);
    await socket.publish();
    const before = inode(path);
    await socket.publish();
    expect(inode(path)).toBe(before);
    await new Promise<void>((resolve) => first.close(() => resolve()));
    await listen(socket.bindPath);
    await socket.publish();
    expect(await answers(path)).toBe(true);
  });

  it.each([
    ['a file', (path: string) => writeFileSync(path, 'precious')],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a link to a socket', (path: string) => symlinkSync('elsewhere', path)],
  ])('is not made where %s has its name, which stays', (_, make) => {
    const folder = makeFolder();
    const path = join(folder, 's');
    make(path);
    expect(() => prepare(path)).toThrow(/SP_LISTEN_FAILED .* something else than a socket/);
    expect(readdirSync(folder)).toEqual(['s']);
  });

  it('is not made in a folder that others may write to, sticky or not', () => {
    const folder = makeFolder();
    for (const mode of [0o777, 0o1777]) {
      chmodSync(folder, mode);
      expect(() => prepare(join(folder, 's'))).toThrow(/SP_LISTEN_FAILED .* others may write to/);
    }
    chmodSync(folder, 0o755);
    expect(() => prepare(join(folder, 's'))).not.toThrow();
  });

  it('is made where a link leads to, judged by the folder there', () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'open'));
    chmodSync(join(folder, 'open'), 0o777);
    mkdirSync(join(folder, 'own'), { mode: 0o755 });
    symlinkSync('open', join(folder, 'to-open'));
    symlinkSync('own', join(folder, 'to-own'));
    expect(() => prepare(join(folder, 'to-open', 's'))).toThrow(/others may write to/);
    const { bindPath } = prepare(join(folder, 'to-own', 's'));
    expect(bindPath.startsWith(join(folder, 'own'))).toBe(true);
  });

  it.each([
    ['a folder that is not there', 'none/s', '', 'cannot be entered (ENOENT)'],
    ['a group that is not known', 's', 'no-such-group', 'server.socketGroup: this machine'],
  ])('says what is wrong with %s', (_, name, group, said) => {
    expect(() => prepare(join(makeFolder(), name), '0660', group)).toThrow(said);
  });

  it.runIf(process.getuid?.() === 0)('belongs to the group that is asked for', async () => {
    const path = join(makeFolder(), 's');
    const socket = prepare(path, '0660', 'daemon');
    await listen(socket.bindPath);
    await socket.publish();
    expect(lstatSync(path).gid).not.toBe(process.getgid?.());
  });

  it('is removed by the process that it belongs to, and by no other', async () => {
    const path = join(makeFolder(), 's');
    const socket = prepare(path);
    await listen(socket.bindPath);
    await socket.publish();
    rmSync(path);
    await listen(path);
    socket.remove();
    expect(await answers(path)).toBe(true);
  });
});
