import { execFileSync, fork, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';

async function listen(port: number): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : Number.NaN;
}

describe('A unit test', () => {
  it.each<[string, () => unknown]>([
    ['spawn', () => spawn(process.execPath, ['-v'])],
    ['fork', () => fork('nowhere.js')],
    ['execFileSync', () => execFileSync(process.execPath, ['-v'])],
  ])('starts no process: %s', (_, start) => {
    expect(start).toThrow('*.process.test.ts');
  });

  it('does not listen on a fixed port', async () => {
    await expect(listen(53_593)).rejects.toThrow('port 53593');
  });

  it('listens on a port that the system chooses', async () => {
    expect(await listen(0)).toBeGreaterThan(0);
  });
});
