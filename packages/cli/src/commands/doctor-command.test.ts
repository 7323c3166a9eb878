import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { Stdio } from '../terminal/stdio.ts';
import { addListedCommand } from './command-list.ts';
import { declareDoctor } from './doctor-command.ts';

const STDIO: Stdio = {
  out: () => {},
  error: () => {},
  isTerminal: false,
  isInteractive: false,
  conceal: () => {},
  cleanse: (text) => text,
};

/** What the command line says of these words; empty where they are taken. Does not run the command. */
function refusalOf(...words: readonly string[]): string {
  let said = '';
  const program = new Command().exitOverride();
  const command = addListedCommand(program, 'doctor');
  declareDoctor(command, STDIO);
  const writeErr = (text: string): void => {
    said += text;
  };
  command
    .exitOverride()
    .configureOutput({ writeErr })
    .action(() => {});
  try {
    program.parse(['doctor', ...words], { from: 'user' });
  } catch (error) {
    expect(error).toMatchObject({ code: 'commander.invalidArgument' });
  }
  return said;
}

describe('sallyport doctor', () => {
  it.each(['ftp://x', 'file:///etc/x', 'ws://x', 'https:/x', 'mailto:a@b', 'https://a:b@x'])(
    'refuses %s, which is no address of a platform',
    (url) => {
      expect(refusalOf(url)).toContain('an address is written like https://platform.example.com');
    },
  );

  it.each(['https://x', 'HTTP://x:8080', 'x', 'localhost:8080', 'platform.example.com/console'])(
    'takes %s',
    (url) => {
      expect(refusalOf(url)).toBe('');
    },
  );

  it.each(['0s', '0ms', '0h0m0.0s', '-1s'])('refuses --timeout %s', (duration) => {
    expect(refusalOf(`--timeout=${duration}`)).toContain('longer than nothing');
  });

  it.each(['1ms', '0m3s', '90s'])('takes --timeout %s', (duration) => {
    expect(refusalOf('--timeout', duration)).toBe('');
  });
});
