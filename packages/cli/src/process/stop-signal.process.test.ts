import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const MODULE = new URL('./stop-signal.ts', import.meta.url).href;

it('a signal that came before, and is not dispatched yet, stops the command: it is not lost with the listener before', () => {
  const program = `
    const { stopSignal } = await import(${JSON.stringify(MODULE)});
    process.on('SIGTERM', () => console.log('the one before'));
    const late = setTimeout(() => console.log('lost'), 10_000);
    process.kill(process.pid, 'SIGTERM');
    console.log(await stopSignal());
    clearTimeout(late);`;
  const args = ['--conditions=source', '--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('SIGTERM\n');
});
