import { isTaken } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from './browser.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type MovedClock, startMovedClock } from './moved-clock.ts';
import { type RotatingIdp, startRotatingIdp } from './rotating-idp.ts';

let clock: MovedClock;
let idp: RotatingIdp;
beforeAll(async () => {
  clock = await startMovedClock();
  idp = await startRotatingIdp({ clock });
});
afterAll(async () => {
  await idp.close();
  await clock.close();
});

describe('A fleet that cannot start', () => {
  it('says why, and leaves no process behind', async () => {
    const started = startFleet({ processes: 2, idp, file: ['session:', '  unknown: key'] });
    await expect(started).rejects.toThrow('session.unknown');
    expect(await isTaken(Number(new URL(idp.publicUrl).port))).toBe(false);
  });
});

describe('A fleet of three', () => {
  let fleet: Fleet;
  const all = [0, 1, 2];
  const statuses = (cookie: string) =>
    Promise.all(all.map(async (index) => (await fleet.me(index, cookie)).status));

  beforeAll(async () => {
    fleet = await startFleet({
      processes: 3,
      idp,
      clock,
      environment: { SALLYPORT_LOG_LEVEL: 'debug' },
      file: ['session:', '  idleTimeout: 20m'],
    });
  });
  afterAll(() => fleet.stop());

  it('is of processes that each answer on a port of their own, for one public URL', () => {
    expect(fleet.urls[0]).toBe(fleet.publicUrl);
    expect(new Set(fleet.urls).size).toBe(3);
    expect(new Set(all.map((index) => fleet.running(index).pid)).size).toBe(3);
    expect(clock.pids()).toEqual(
      expect.arrayContaining(all.map((index) => fleet.running(index).pid)),
    );
  });

  it('knows in each process the person that one process has signed in, and no other person', async () => {
    const cookie = await fleet.signIn(new Browser(), 'grace');
    for (const index of all) {
      const { status, body } = await fleet.me(index, cookie);
      expect(status).toBe(200);
      expect(body).toContain('grace');
    }
    expect(await statuses(`core_session=${'A'.repeat(50)}`)).toEqual([401, 401, 401]);
    await expect(fleet.asker(1, 2).ask('/me', [{ cookie }, { cookie }, {}])).resolves.toEqual([
      200, 200, 401,
    ]);
  });

  it('reads the same configuration file and environment everywhere, on the same clock', async () => {
    const cookie = await fleet.signIn(new Browser());
    await clock.advance(21 * 60_000);
    expect(await statuses(cookie)).toEqual([401, 401, 401]);
    for (const index of all) expect(fleet.running(index).stderr()).not.toBe('');
  });

  it('goes on without a process that was killed, and takes it back on its port', async () => {
    const cookie = await fleet.signIn(new Browser());
    await fleet.kill(1);
    await expect(fleet.me(1, cookie)).rejects.toThrow('ECONNREFUSED');
    expect((await fleet.me(2, cookie)).status).toBe(200);
    await fleet.restart(1);
    expect(await statuses(cookie)).toEqual([200, 200, 200]);
    await fleet.restart(0);
    expect(await statuses(cookie)).toEqual([200, 200, 200]);
  });
});
