import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accept, refuse } from '@sallyport/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConfigProblem, formatConfigProblem } from './problems.ts';
import { openKeyFile, openSecretFile, type SecretFile } from './secret-file.ts';

const KEY = 'auth.userAuth.openId.clientSecretFile';
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'secret-file-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Formats a problem without the temporary directory. */
function relative(problem: ConfigProblem): string {
  return formatConfigProblem(problem).replaceAll(directory, '');
}

function open(path: string) {
  const problems: string[] = [];
  const warnings: string[] = [];
  const changes: string[] = [];
  const rereads = new Set<() => void>();
  const result = openSecretFile({
    path,
    key: KEY,
    secretKey: 'oidc_client_secret',
    trigger: (reread) => {
      rereads.add(reread);
      return () => rereads.delete(reread);
    },
    onProblem: (problem) => problems.push(relative(problem)),
    onChange: () => changes.push(result.ok ? result.value.current() : ''),
    onWarning: (warning) => warnings.push(relative(warning)),
  });
  const problem = result.ok ? undefined : relative(result.error);
  const reread = (): void => {
    for (const call of rereads) call();
  };
  return { result, problem, problems, warnings, changes, reread, rereads };
}

function openGood(path: string) {
  const { result, ...rest } = open(path);
  if (!result.ok) throw new Error(rest.problem);
  const secret: SecretFile = result.value;
  return { secret, ...rest };
}

function write(content: string | Uint8Array): string {
  const path = join(directory, 'oidc_client_secret');
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

describe('a secret file that every user of the machine can read', () => {
  it('is read, with a warning that says its mode and what to do', () => {
    const path = write('hunter2');
    chmodSync(path, 0o644);
    const { secret, warnings } = openGood(path);
    expect(secret.current()).toBe('hunter2');
    expect(warnings).toEqual([
      `/oidc_client_secret: ${KEY} (oidc_client_secret): found a file that every user of this machine can read (mode 0644), expected mode 0600 or 0640: chmod o-rwx /oidc_client_secret`,
    ]);
  });

  it.each([0o600, 0o640, 0o400])('is not one of mode %o', (mode) => {
    const path = write('hunter2');
    chmodSync(path, mode);
    expect(openGood(path).warnings).toEqual([]);
  });

  it('is not one of a mounted Kubernetes Secret, whose mode is that of a volume', () => {
    const path = join(directory, 'data');
    writeFileSync(path, 'hunter2', { mode: 0o644 });
    symlinkSync('data', join(directory, 'oidc_client_secret'));
    expect(openGood(join(directory, 'oidc_client_secret')).warnings).toEqual([]);
  });
});

describe('the value of a secret file', () => {
  it.each([
    ['hunter2', 'hunter2', []],
    ['hunter2\n', 'hunter2', ['a newline at the end, which is left out']],
    ['hunter2\r\n', 'hunter2', ['a newline at the end, which is left out']],
    [
      'hunter2\n\n',
      'hunter2\n',
      ['a newline at the end, which is left out', 'white space around the secret, which is kept'],
    ],
    [' hunter2', ' hunter2', ['white space around the secret, which is kept']],
    ['\ufeffhunter2', '\ufeffhunter2', ['white space around the secret, which is kept']],
    ['hun ter2', 'hun ter2', []],
  ])('of %j is %j, with a warning for each white space around it', (content, value, found) => {
    const { secret, warnings } = openGood(write(content));
    expect(secret.current()).toBe(value);
    expect(warnings).toEqual(
      found.map(
        (what) =>
          `/oidc_client_secret: ${KEY} (oidc_client_secret): found ${what}, expected the secret alone`,
      ),
    );
  });

  it.each([
    ['', 'an empty file'],
    ['\n', 'an empty file'],
    [new Uint8Array([0xff, 0xfe, 0x41]), 'a file that is not UTF-8 text'],
    ['x'.repeat(65_537), 'a file of 65537 bytes'],
  ])('is refused: %j', (content, found) => {
    expect(open(write(content)).problem).toBe(
      `/oidc_client_secret: ${KEY} (oidc_client_secret): found ${found}, expected a file that holds oidc_client_secret`,
    );
  });

  it('is refused without a file, naming path and key', () => {
    expect(open(join(directory, 'missing')).problem).toBe(
      `/missing: ${KEY} (oidc_client_secret): found no such file, expected a file that holds oidc_client_secret`,
    );
    expect(open(directory).problem).toContain('found no regular file');
  });
});

describe('a secret file that changes', () => {
  it('is read again after the symlink swap of a Kubernetes volume', () => {
    for (const [name, value] of [
      ['..1', 'first'],
      ['..2', 'second'],
    ] as const) {
      mkdirSync(join(directory, name));
      writeFileSync(join(directory, name, 'oidc_client_secret'), value);
    }
    symlinkSync('..1', join(directory, '..data'));
    symlinkSync('..data/oidc_client_secret', join(directory, 'oidc_client_secret'));
    const { secret, reread, problems } = openGood(join(directory, 'oidc_client_secret'));
    reread();
    expect(secret.current()).toBe('first');

    symlinkSync('..2', join(directory, '..data_tmp'));
    renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
    expect(secret.current()).toBe('first');
    reread();
    expect(secret.current()).toBe('second');
    expect(problems).toEqual([]);
  });

  it('is read again when it is written in place with the same length', () => {
    const path = write('first');
    const { secret, reread } = openGood(path);
    writeFileSync(path, 'other');
    reread();
    expect(secret.current()).toBe('other');
  });

  it('keeps the last good value while it cannot be read, and says so once for each reason', () => {
    const path = write('first');
    const { secret, reread, problems } = openGood(path);
    rmSync(path);
    reread();
    reread();
    expect(secret.current()).toBe('first');
    write('');
    reread();
    reread();
    expect(secret.current()).toBe('first');
    expect(problems.map((line) => /found (.*), expected/.exec(line)?.[1])).toEqual([
      'no such file',
      'an empty file',
    ]);
    write('second');
    reread();
    expect(secret.current()).toBe('second');
    write('');
    reread();
    expect(problems).toHaveLength(3);
  });

  it('warns of a newline once for each value', () => {
    const path = write('first\n');
    const { reread, warnings } = openGood(path);
    reread();
    expect(warnings).toHaveLength(1);
    writeFileSync(path, 'second\n');
    reread();
    expect(warnings).toHaveLength(2);
  });

  it('is no longer followed once closed', () => {
    const path = write('first');
    const { secret, reread, rereads } = openGood(path);
    secret.close();
    expect(rereads.size).toBe(0);
    writeFileSync(path, 'second');
    reread();
    expect(secret.current()).toBe('first');
  });

  it('never shows its value in a problem or warning', () => {
    const path = write(' CANARY\n');
    const { reread, problems, warnings } = openGood(path);
    writeFileSync(path, new Uint8Array([...Buffer.from('CANARY'), 0xff]));
    reread();
    expect([...problems, ...warnings]).toHaveLength(3);
    expect([...problems, ...warnings].join()).not.toContain('CANARY');
  });
});

describe('a key file', () => {
  /** Opens a file whose key is its number. */
  function openNumber(path: string) {
    const problems: string[] = [];
    let parses = 0;
    let reread = (): void => {};
    const result = openKeyFile({
      path,
      key: 'auth.userAuth.openId.privateKeyLocation',
      secretKey: 'oidc_private_key',
      trigger: (call) => {
        reread = call;
        return () => {};
      },
      onProblem: (problem) => problems.push(relative(problem)),
      parse: (text) => {
        parses += 1;
        const number = Number(text);
        return Number.isNaN(number)
          ? refuse({ found: 'no number', expected: 'a number' })
          : accept({ number });
      },
    });
    return { result, problems, reread: () => reread(), parses: () => parses };
  }

  function openGoodNumber(path: string) {
    const { result, ...rest } = openNumber(path);
    if (!result.ok) throw new Error(relative(result.error));
    return { key: result.value, ...rest };
  }

  it('is read once for each text, the new key used once it changes', () => {
    const path = write('7\n');
    const { key, reread, problems, parses } = openGoodNumber(path);
    const first = key.current();
    reread();
    expect(key.current()).toBe(first);
    expect(parses()).toBe(1);
    writeFileSync(path, '8');
    reread();
    expect(key.current()).toEqual({ number: 8 });
    expect(problems).toEqual([]);
  });

  it('without a usable key is refused, naming path, key and reason', () => {
    const { result } = openNumber(write('canary'));
    expect(result.ok ? '' : relative(result.error)).toBe(
      '/oidc_client_secret: auth.userAuth.openId.privateKeyLocation (oidc_private_key): found no number, expected a number',
    );
    const missing = openNumber(join(directory, 'missing')).result;
    expect(missing.ok ? '' : relative(missing.error)).toContain(
      'found no such file, expected a file that holds oidc_private_key',
    );
  });

  it('keeps the last good key while a changed file holds none, and says so once for each reason', () => {
    const path = write('7');
    const { key, reread, problems } = openGoodNumber(path);
    for (const text of ['canary', 'canary again', '']) {
      writeFileSync(path, text);
      reread();
      reread();
    }
    expect(key.current()).toEqual({ number: 7 });
    expect(problems.map((line) => /found (.*), expected/.exec(line)?.[1])).toEqual([
      'no number',
      'an empty file',
    ]);
    writeFileSync(path, '9');
    reread();
    expect(key.current()).toEqual({ number: 9 });
    expect(problems.join()).not.toContain('canary');
  });
});

describe('a change', () => {
  it('is reported once, when the new value is in use; a file that stays, and one that cannot be used, is none', () => {
    const { reread, changes } = openGood(write('one'));
    reread();
    write('two');
    reread();
    reread();
    write('');
    reread();
    write('two');
    reread();
    write('three');
    reread();
    expect(changes).toEqual(['two', 'three']);
  });
});
