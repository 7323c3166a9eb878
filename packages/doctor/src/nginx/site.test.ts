import { describe, expect, it } from 'vitest';
import { parseNginx } from './parse-nginx.ts';
import { findLocation, listChecks, listSites, type Site, wordsOf } from './site.ts';
import { listVariables } from './variables.ts';

function siteOf(text: string): Site {
  const parsed = parseNginx(text);
  const [site] = parsed.ok ? listSites(parsed.value) : [];
  if (site === undefined) throw new Error('no server');
  return site;
}

describe('The location of a path', () => {
  const site = siteOf(`http { server {
    location / { }
    location /a { location /a/b { } }
    location = /a { }
    location ^~ /fixed { }
    location ~ ^/fixed { }
    location ~* \\.PNG$ { }
    location ~ "^/x(?:y|z)$" { }
    location @named { }
  } }`);

  it.each([
    ['/', '/'],
    ['/other', '/'],
    ['/a', '= /a'],
    ['/ab', '/a'],
    ['/a/b/c', '/a/b'],
    ['/fixed/x', '^~ /fixed'],
    ['/a/picture.png', '~* \\.PNG$'],
    ['/xy', '~ ^/x(?:y|z)$'],
  ])('%s is %s, as nginx selects it', (path, title) => {
    expect(findLocation(site, path)?.title).toBe(title);
  });

  it('is not known behind a regular expression of another language', () => {
    const pcre = siteOf('server { location / { } location ~ "^/(?i)a$" { } }');
    expect(findLocation(pcre, '/a')).toBeUndefined();
  });
});

describe('A directive', () => {
  it('counts from the innermost level that has it, the last one there', () => {
    const site = siteOf(
      `http { size 1; server { size 2; size 3; location /a { } location /b { size 4; } } }`,
    );
    const at = (path: string) => wordsOf(findLocation(site, path) ?? { levels: [] }, 'size');
    expect([at('/a'), at('/b')]).toEqual([['3'], ['4']]);
    expect(wordsOf(site, 'other')).toBeUndefined();
  });
});

describe('The paths that a server asks', () => {
  it('are those of every level, without those that are off', () => {
    const text = `http { auth_request /h; server { location / { auth_request /check; } location /o { auth_request off; } } }`;
    expect(listChecks(siteOf(text))).toEqual(['/h', '/check']);
  });
});

describe('What a text depends on', () => {
  it('is followed through maps and sets, in a circle too', () => {
    const site = siteOf(`http {
      map "$one:$two" $key { default ""; "GET:" $three; }
      map $key $one { default 1; }
      server { set $mine "\${http_x}-$key"; location / { } }
    }`);
    const location = findLocation(site, '/') ?? { levels: [] };
    expect([...listVariables('"$mine"', location)].toSorted()).toEqual(
      ['http_x', 'key', 'mine', 'one', 'three', 'two'].toSorted(),
    );
  });
});
