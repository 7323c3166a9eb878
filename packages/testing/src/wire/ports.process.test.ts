import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort, isTaken } from './ports.ts';

/** More than one block has. */
const PORTS = 150;
const ASK = `
  const { freePort } = await import(${JSON.stringify(import.meta.resolve('./ports.ts'))});
  const ports = [];
  while (ports.length < ${PORTS}) ports.push(await freePort());
  console.log(JSON.stringify(ports));
  process.stdin.resume();
`;

/** A process that asks for ports and then stays. */
async function startAsker() {
  const child = spawn(process.execPath, ['--input-type=module', '-e', ASK], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [line] = await once(createInterface(child.stdout), 'line');
  const end = async (): Promise<void> => {
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
  };
  return { ports: JSON.parse(String(line)) as readonly number[], end };
}

describe('free ports of several processes', () => {
  it('are others for each, however many it asks for', async () => {
    const askers = await Promise.all([startAsker(), startAsker(), startAsker()]);
    const own: number[] = [];
    while (own.length < PORTS) own.push(await freePort());
    const all = [own, ...askers.map(({ ports }) => ports)].flat();
    expect(new Set(all).size).toBe(4 * PORTS);
  });

  it('come from a block that a process holds by its first port, and gives back as it ends', async () => {
    const { ports, end } = await startAsker();
    const first = Math.floor((ports[0] ?? 0) / 100) * 100;
    expect(await isTaken(first)).toBe(true);
    expect(await isTaken(ports[0] ?? 0)).toBe(false);
    await end();
    expect(await isTaken(first)).toBe(false);
  });
});
