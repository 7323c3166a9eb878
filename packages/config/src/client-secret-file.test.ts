import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainRefusedSecret, readClientSecretFile } from './client-secret-file.ts';
import { formatConfigProblem } from './problems.ts';
import { isStandInText, STAND_IN_TEXTS } from './stand-in-texts.ts';

const KEY = 'union.auth.clientSecretLocation';
const CANARY = 'c4n4ry';

/** A folder with these files, as a Secret is mounted; a name with `/` makes folders. */
function mount(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = createTemporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

/** Line of what is wrong with the file, the root left out; or the secret and the lines of its warnings. */
function read(root: string, path = '/client_secret'): string | readonly string[] {
  const result = readClientSecretFile({ path: join(root, path), key: KEY });
  const lineOf = (finding: Parameters<typeof formatConfigProblem>[0]): string =>
    formatConfigProblem(finding).replace(root, '');
  return result.ok
    ? [result.value.secret, ...result.value.warnings.map(lineOf)]
    : lineOf(result.error);
}

const at = (found: string, expected: string, path = '/client_secret'): string =>
  `${path}: ${KEY} (client_secret): found ${found}, expected ${expected}`;

describe('The file of a client secret', () => {
  it.each<[string, Readonly<Record<string, string | Uint8Array>>, string]>([
    [
      'an empty folder',
      { '..data/none': '' },
      at('no such file, in an empty folder', 'a mounted Secret that holds the key client_secret'),
    ],
    [
      'a folder that holds other keys',
      { app_secret: CANARY, 'tls.crt': CANARY, '..data/app_secret': CANARY },
      at('no such key beside app_secret, tls.crt', 'the key client_secret in the mounted Secret'),
    ],
    [
      'an ExternalSecret that has not synchronized: oidc_client_secret is there',
      { oidc_client_secret: CANARY, 'pass.txt': CANARY },
      at(
        'no such key beside oidc_client_secret',
        'the key client_secret, which the secret synchronization (ExternalSecret) adds: it has not completed',
      ),
    ],
    [
      'a control plane service secret with pass.txt alone',
      { 'pass.txt': CANARY },
      at(
        'no such key beside pass.txt, the database password',
        'the key client_secret added to the existing control plane service secret',
      ),
    ],
    [
      'an empty file',
      { client_secret: '' },
      at('an empty file', 'a file that holds client_secret'),
    ],
    [
      'a newline alone',
      { client_secret: '\n' },
      at('an empty file', 'a file that holds client_secret'),
    ],
    [
      'a byte order mark',
      { client_secret: `\ufeff${CANARY}` },
      at('a byte order mark (BOM) before the secret', 'the secret alone, in UTF-8 without one'),
    ],
    [
      'UTF-16, as PowerShell writes it',
      { client_secret: Buffer.from(`\ufeff${CANARY}`, 'utf16le') },
      at('a file that is not UTF-8 text', 'a file that holds client_secret'),
    ],
    [
      'a stand-in value of the chart',
      { client_secret: 'placeholder' },
      at(
        'a stand-in value, as a chart or an example has it',
        'the client secret of the service app',
      ),
    ],
    [
      'more than a secret',
      { client_secret: 'x'.repeat(65_537) },
      at('a file of 65537 bytes', 'a file that holds client_secret'),
    ],
    [
      'a folder in its place',
      { 'client_secret/key': CANARY },
      at('no regular file', 'a file that holds client_secret'),
    ],
  ])('%s is named as exactly that', (_, files, line) => {
    const root = mount(files);
    expect(read(root)).toBe(line);
    expect(line).not.toContain(CANARY);
    // Put right, it is read.
    rmSync(join(root, 'client_secret'), { recursive: true, force: true });
    writeFileSync(join(root, 'client_secret'), CANARY);
    expect(read(root)).toEqual([CANARY]);
  });

  it('no folder is named as exactly that', () => {
    expect(read(mount({}), '/union/client_secret')).toBe(
      at(
        'no folder to read it from',
        'a mounted Secret that holds the key client_secret',
        '/union/client_secret',
      ),
    );
  });

  it('a link that leads nowhere is named as exactly that', () => {
    const root = mount({ 'pass.txt': CANARY });
    symlinkSync('..data/client_secret', join(root, 'client_secret'));
    expect(read(root)).toBe(
      at(
        'a symbolic link to a file that is not there',
        'the key client_secret in the mounted Secret',
      ),
    );
  });

  it('another name than that of the key is named beside the keys that are there', () => {
    expect(read(mount({ client_secret: CANARY }), '/secret')).toBe(
      at(
        'no such key beside client_secret',
        'the key client_secret in the mounted Secret',
        '/secret',
      ),
    );
  });

  it.each([
    ['my secret', '"my secret"'],
    ['.hidden', '.hidden'],
    ['CLIENT_SECRET ', '"CLIENT_SECRET "'],
    ['a\u001b[2J\nb', '"a [2J b"'],
    ['x y'.repeat(60), `"${'x y'.repeat(20)}…"`],
  ])('beside %j alone is named as a near miss, printable and cut', (name, shown) => {
    expect(read(mount({ [name]: CANARY }))).toBe(
      at(`no such key beside ${shown}`, 'the key client_secret in the mounted Secret'),
    );
  });

  it.each([' ', '\t\n', '\n\n', ' \r\n \r\n'])('of white space alone (%j) is not used', (text) => {
    expect(read(mount({ client_secret: text }))).toBe(
      at('white space alone', 'a file that holds client_secret'),
    );
  });

  it('in a folder of many files eight names are shown, names of keys first', () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`key${n}`, CANARY]));
    const line = read(mount({ ...many, 'no key\u001b[2J': CANARY }));
    expect(line).toContain('beside key0, key1, key10, key11, key2, key3, key4, key5 and 5 more,');
  });

  it.each([
    ['a final newline', `${CANARY}\n`, CANARY, 'a newline at the end, which is left out'],
    [
      'a final newline of Windows',
      `${CANARY}\r\n`,
      CANARY,
      'a newline at the end, which is left out',
    ],
    ['a blank', ` ${CANARY}`, ` ${CANARY}`, 'white space around the secret, which is kept'],
    ['double quotes', `"${CANARY}"`, `"${CANARY}"`, 'quotes around the secret, which are kept'],
    ['single quotes', `'${CANARY}'`, `'${CANARY}'`, 'quotes around the secret, which are kept'],
  ])(
    'with %s around the secret it is used, with a warning that names that',
    (_, text, secret, found) => {
      const root = mount({ client_secret: text });
      expect(read(root)).toEqual([secret, at(found, 'the secret alone')]);
    },
  );

  it('with a secret alone gives it without a warning, whatever it is', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[!#-&(-~]{1,64}$/), (secret) => {
        fc.pre(!isStandInText(secret));
        expect(read(mount({ client_secret: secret }))).toEqual([secret]);
      }),
      { numRuns: 20 },
    );
  });
});

describe('Stand-in texts', () => {
  it.each([
    ...STAND_IN_TEXTS,
    'PLACEHOLDER',
    '"changeme"',
    ' todo ',
    '<your-client-secret>',
    '{{ .Values.clientSecret }}',
    ['$', '{CLIENT_SECRET}'].join(''),
  ])('%s stands in for a secret', (text) => expect(isStandInText(text)).toBe(true));

  it.each(['placeholder1', 'a<b>', '$x', 'hunter2', '{}', ''])('%j does not', (text) =>
    expect(isStandInText(text)).toBe(false),
  );
});

describe('A secret that the identity provider refused', () => {
  const explain = (secret: string): readonly string[] =>
    explainRefusedSecret(secret, { path: '/client_secret', key: KEY }).map(formatConfigProblem);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');

  it('that looks like base64 of a secret is named as that', () => {
    const line = at(
      'what looks like base64 of a secret',
      'the secret itself: encode it once for data of a Secret, and not at all for stringData',
    );
    expect(explain(base64('s3cret-of-the-app'))).toEqual([line]);
    expect(explain(base64('s3cret-of-the-app\n'))).toEqual([line]);
  });

  it.each([
    ['short', base64('abc')],
    [
      'base64 of other bytes',
      Buffer.from([1, 200, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]).toString('base64'),
    ],
    ['hexadecimal', '9f86d081884c7d659a2feaa0c55ad015'],
    ['no base64', 'kF8~Q.something-long_enough'],
  ])('that is %s is not called base64', (_, secret) => {
    expect(explain(secret)).toEqual([]);
  });

  it.each([
    ['with a NUL inside', `${CANARY}\0${CANARY}`, 'a control character in the secret'],
    ['with an ESC inside', `${CANARY}\u001b[2J`, 'a control character in the secret'],
    ['of two lines', `${CANARY}\n${CANARY}`, 'more than one line'],
    ['that is JSON', `{"client_secret":"${CANARY}"}`, 'what looks like JSON'],
    ['with its name', `client_secret=${CANARY}`, 'what looks like a name and a value'],
    ['with its name, in YAML', `clientSecret: ${CANARY}`, 'what looks like a name and a value'],
  ])('%s is named as that, and never quoted', (_, secret, found) => {
    expect(explain(secret)).toEqual([at(found, 'the secret alone')]);
    expect(explain(secret).join()).not.toContain(CANARY);
  });

  it.each(['{abc', '[x]y', 'abc=def', 'a:b', 'secret', 'x~é'])(
    '%j is not called any of these',
    (secret) => {
      expect(explain(secret)).toEqual([]);
    },
  );

  it('with quotes or white space around it is named as that', () => {
    expect(explain(`"${CANARY}"`)).toEqual([
      at('quotes around the secret, which are kept', 'the secret alone'),
    ]);
    expect(explain(`${CANARY}\n`)).toEqual([
      at('white space around the secret, which is kept', 'the secret alone'),
    ]);
  });
});
