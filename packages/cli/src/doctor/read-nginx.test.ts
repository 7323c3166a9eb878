import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it } from 'vitest';
import { readNginx } from './read-nginx.ts';

/** Reads the first of these files, in a folder of their own: how many servers, or why not. */
function read(files: Readonly<Record<string, string>>): number | string {
  const folder = createTemporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const [main = ''] = Object.keys(files);
  const result = readNginx(join(folder, main));
  return result.ok
    ? result.value.sites.length
    : result.error.description.replaceAll(`${folder}/`, '').replace(/, expected .*/, '');
}

const SERVER = 'server { }';

describe('A configuration of nginx in files', () => {
  it.each([
    ['beside it', { 'nginx.conf': 'include sites/a.conf;', 'sites/a.conf': SERVER }],
    ['one folder above', { 'conf.d/site.conf': 'include own/a.conf;', 'own/a.conf': SERVER }],
    ['by a pattern', { 'nginx.conf': 'http { include sites/*.conf; }', 'sites/a.conf': SERVER }],
  ])('is read with what it includes %s', (_, files) => {
    expect(read(files)).toBe(1);
  });

  it('may have patterns that match nothing, and lists of types that are not there', () => {
    expect(read({ 'nginx.conf': `include none/*.conf; include mime.types; ${SERVER}` })).toBe(1);
  });

  it.each([
    [{ 'nginx.conf': 'include none.conf;' }, 'nginx.conf: found none.conf: no such file'],
    [
      { 'nginx.conf': 'include nginx.conf;' },
      'nginx.conf: found nginx.conf, which includes itself',
    ],
    [{ 'nginx.conf': 'a;\nb' }, 'nginx.conf: found nginx.conf, line 2: b without a semicolon'],
  ])('%j is refused: %s', (files, words) => {
    expect(read(files)).toBe(words);
  });

  it('that multiply by including each other are refused', () => {
    const files = Object.fromEntries(
      Array.from({ length: 25 }, (_, at): [string, string] => [
        `${at}.conf`,
        at === 24 ? SERVER : `include ${at + 1}.conf; include ${at + 1}.conf;`,
      ]),
    );
    expect(read(files)).toContain('files that include each other too often');
  });

  it('are read from what nginx -T writes, and from nowhere else', () => {
    const dump = `# configuration file /etc/nginx/nginx.conf:
http { include conf.d/*.conf; include /etc/other.conf; }
# configuration file /etc/nginx/conf.d/site.conf:
${SERVER}
# configuration file /etc/other.conf:
${SERVER}
`;
    expect(read({ dump })).toBe(2);
    expect(read({ dump: dump.replace('include /etc/other.conf', 'include /etc/passwd') })).toBe(
      'dump: found /etc/passwd: no such file in it',
    );
  });
});
