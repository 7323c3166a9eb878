import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ask } from './question.ts';

const QUESTIONS = [{ text: 'Address' }, { text: 'Issuer' }, { text: 'Proxy', fallback: 'nginx' }];

function person(text: string, signal: AbortSignal = new AbortController().signal) {
  const input = new PassThrough();
  input.end(text);
  const said: string[] = [];
  const ports = { input, output: { write: (part: string) => said.push(part) }, signal };
  return { said, answers: ask(QUESTIONS, ports) };
}

describe('Questions', () => {
  it('are asked one after the other, with the answer of an empty line where there is one', async () => {
    const { said, answers } = person(' platform.example.com \nhttps://idp.example.com\n\n');
    expect(await answers).toEqual(['platform.example.com', 'https://idp.example.com', 'nginx']);
    expect(said).toEqual(['Address: ', 'Issuer: ', 'Proxy [nginx]: ']);
  });

  it('are asked again after an empty line that answers nothing', async () => {
    const { said, answers } = person('\n\na\nb\nnone\n');
    expect(await answers).toEqual(['a', 'b', 'none']);
    expect(said.filter((text) => text === 'Address: ')).toHaveLength(3);
  });

  it('have fewer answers when the input ends', async () => {
    expect(await person('a\n').answers).toEqual(['a']);
    expect(await person('').answers).toEqual([]);
  });

  it('are given up when the person interrupts', async () => {
    const controller = new AbortController();
    const input = new PassThrough();
    const waiting = ask(QUESTIONS, {
      input,
      output: { write: () => true },
      signal: controller.signal,
    });
    controller.abort(new Error('interrupted'));
    await expect(waiting).rejects.toThrow('interrupted');
  });

  it('that are none ask nothing', async () => {
    const input = new PassThrough();
    const signal = new AbortController().signal;
    expect(await ask([], { input, output: { write: () => true }, signal })).toEqual([]);
  });
});
