import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { confirm } from './confirmation.ts';

function ask(signal = new AbortController().signal) {
  const input = new PassThrough();
  let written = '';
  const output = { write: (text: string) => (written += text) };
  return { input, answer: confirm('End all?', { input, output, signal }), written: () => written };
}

describe('a question answered with yes or no', () => {
  it.each(['y', 'yes', 'Y', ' YES '])('takes %j for yes', async (text) => {
    const { input, answer, written } = ask();
    input.write(`${text}\n`);
    expect(await answer).toBe(true);
    expect(written()).toBe('End all? [y/N] ');
  });

  it.each(['', 'n', 'no', 'yep', 'y y', '1'])('takes %j for no', async (text) => {
    const { input, answer } = ask();
    input.write(`${text}\n`);
    expect(await answer).toBe(false);
  });

  it('takes the end of the input for no', async () => {
    const { input, answer, written } = ask();
    input.end();
    expect(await answer).toBe(false);
    expect(written()).toBe('End all? [y/N] \n');
  });

  it('gives up when it is interrupted', async () => {
    const controller = new AbortController();
    const { answer } = ask(controller.signal);
    controller.abort(new Error('interrupted'));
    await expect(answer).rejects.toThrow('interrupted');
  });
});
