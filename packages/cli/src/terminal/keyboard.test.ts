import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { readKeyboard } from './keyboard.ts';

class Terminal extends EventEmitter {
  isRaw = false;
  isFlowing = false;
  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
  }
  resume(): void {
    this.isFlowing = true;
  }
  pause(): void {
    this.isFlowing = false;
  }
}

function open() {
  const terminal = new Terminal();
  const heard: string[] = [];
  const close = readKeyboard(terminal, {
    onKey: (key) => heard.push(`key ${key}`),
    onLine: (line) => heard.push(`line ${line}`),
    onInterrupt: () => heard.push('interrupt'),
  });
  return {
    terminal,
    heard,
    close,
    type: (text: string) => terminal.emit('data', Buffer.from(text)),
  };
}

describe('Keys while a sign-in is waited for', () => {
  it('one key is enough, without Enter', () => {
    const { heard, type } = open();
    type('D');
    expect(heard).toEqual(['key d']);
  });

  it('a pasted address is taken whole, with or without Enter, also when it has a d in it', () => {
    const url = 'http://localhost:53593/callback?code=d&state=x';
    const { heard, type } = open();
    type(url);
    type(`${url}\r`);
    type(`\u001b[200~${url}\u001b[201~`);
    expect(heard).toEqual([`line ${url}`, `line ${url}`, `line ${url}`]);
  });

  it('a line that is typed is heard at Enter, and can be corrected', () => {
    const { heard, type } = open();
    for (const character of '//xy\u007f\r') type(character);
    expect(heard).toEqual(['line //x']);
  });

  it('Ctrl-C is heard, because the terminal does not send the signal in raw mode', () => {
    const { heard, type } = open();
    type('\u0003');
    expect(heard).toEqual(['interrupt']);
  });

  it('gives the terminal back as it was, and hears nothing more', () => {
    const { terminal, heard, close, type } = open();
    expect([terminal.isRaw, terminal.isFlowing]).toEqual([true, true]);
    close();
    close();
    type('d');
    expect([terminal.isRaw, terminal.isFlowing, heard]).toEqual([false, false, []]);
  });
});
