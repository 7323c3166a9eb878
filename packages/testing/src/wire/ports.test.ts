import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePort, isChosen, isTaken } from './ports.ts';

describe('a free port', () => {
  it('lies below the ports that a system gives by itself and above those that fetch refuses, and is another one each time', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, freePort));
    expect(new Set(ports).size).toBe(50);
    expect(Math.max(...ports)).toBeLessThan(32_768);
    expect(Math.min(...ports)).toBeGreaterThan(10_080);
    expect(ports.every(isChosen)).toBe(true);
    expect(isChosen(0)).toBe(false);
  });

  it('is taken while something listens there, and not before', async () => {
    const port = await freePort();
    expect(await isTaken(port)).toBe(false);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    expect(await isTaken(port)).toBe(true);
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
});
