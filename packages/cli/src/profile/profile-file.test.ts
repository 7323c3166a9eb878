import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseProfileFile, parseProjectFile, writeProfile } from './profile-file.ts';

const TEXT = `# mine
profile: staging
admin:
  endpoint: dns:///default.example
  scopes: [all]
profiles:
  # the other one
  staging:
    admin:
      endpoint: dns:///staging.example   # note
      clientId: cli
  other: { admin: { endpoint: dns:///other.example } }
`.replace(/ {2}other: .*\n/, '');

function read(text: string) {
  const parsed = parseProfileFile({ path: '/c.yaml', text });
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

describe("A person's file of profiles", () => {
  it('names its profiles, the admin block at the top being "default"', () => {
    expect(read(TEXT).names).toEqual(['default', 'staging']);
    expect(read(TEXT).selected).toEqual({ name: 'staging', origin: '/c.yaml:2' });
  });

  it('gives the settings of one profile alone, each on the line it stands on', () => {
    const staging = read(TEXT).settingsOf('staging').text;
    expect(parse(staging)).toEqual({
      admin: { endpoint: 'dns:///staging.example', clientId: 'cli' },
    });
    expect(staging.split('\n').findIndex((line) => line.includes('clientId'))).toBe(
      TEXT.split('\n').findIndex((line) => line.includes('clientId')),
    );
    const top = read(TEXT).settingsOf('default').text;
    expect(parse(top)).toEqual({ admin: { endpoint: 'dns:///default.example', scopes: ['all'] } });
    expect(read(TEXT).settingsOf('nosuch').text).toBe('');
  });

  it("takes an existing client's file as it is, also one in braces", () => {
    const text = '{"admin": {"endpoint": "dns:///x.example", "authType": "Pkce"}}';
    expect(read(text).names).toEqual(['default']);
    expect(read(text).settingsOf('default').text).toBe(text);
  });

  it('finds nothing in an empty file', () => {
    for (const text of ['', '\n', '# only a note\n']) expect(read(text).names).toEqual([]);
  });

  it.each([
    ['profile: [a]', '/c.yaml:1'],
    ['a: 1\na: 2', '/c.yaml:2'],
    ['- list', '/c.yaml:1'],
    ['profiles:\n  "a b":\n    admin: {}', '/c.yaml:2'],
    ['profiles:\n  a:\n', '/c.yaml:2'],
    ['profiles:\n  a: {admin: {}}', '/c.yaml:2'],
    ['admin:\n  endpoint: x\nprofiles:\n  default:\n    admin: {}', '/c.yaml:4'],
    ['admin: [', '/c.yaml:1'],
    ['profiles:\n  a:\n    admin: {}\n  a:\n    admin: {}', '/c.yaml:4'],
    [`a: 1\nb: ${'['.repeat(9_000)}`, '/c.yaml:2: found deep nesting'],
    ['a: &x 1\nb: *x', '/c.yaml:1: found an anchor'],
    [`#${'x'.repeat(131_072)}`, '/c.yaml: found 131073 characters'],
  ])('refuses %j at %s', (text, place) => {
    const parsed = parseProfileFile({ path: '/c.yaml', text });
    expect(parsed.ok ? '' : parsed.error).toContain(place);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseProfileFile({ path: '/c.yaml', text });
        if (parsed.ok) for (const name of parsed.value.names) parsed.value.settingsOf(name);
      }),
    );
  });
});

describe("A project's file picks a profile and says nothing else", () => {
  it('names one', () => {
    const text = '# here\nprofile: staging\n';
    expect(parseProjectFile({ path: '/p', text })).toEqual({
      ok: true,
      value: { name: 'staging', origin: '/p:2' },
    });
  });

  it.each([
    'admin:\n  endpoint: evil.example',
    'profile: a\nprofiles: {}',
    'admin: {command: [id]}',
  ])('a cloned repository cannot say where tokens go or what is run: %j', (text) => {
    const parsed = parseProjectFile({ path: '/p', text });
    expect(parsed.ok ? '' : parsed.error).toContain('may only name a profile');
  });

  it.each([
    'CANARY: 1',
    'profile: [CANARY]',
    'profile: CA NARY',
    '? [CANARY]\n: 1',
    'a: @CANARY',
    '- CANARY',
    'CANARY',
  ])('nothing of it is repeated: %j', (text) => {
    const parsed = parseProjectFile({ path: '/p', text });
    expect(parsed.ok ? 'CANARY' : parsed.error).not.toMatch(/CANARY|CA NARY/);
  });

  it('nothing of it is repeated, whatever it is', () => {
    const piece = fc.constantFrom(
      'CANARY',
      ': ',
      '- ',
      '\n',
      ' ',
      '[',
      '"',
      '&',
      '*',
      '!',
      '? ',
      '#',
      '%',
      '@',
      '\u001b',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const parsed = parseProjectFile({ path: '/p', text: pieces.join('') });
        if (!parsed.ok) expect(parsed.error).not.toContain('CANARY');
      }),
    );
  });
});

describe('Writing a profile', () => {
  it('keeps what else is there, comments included', () => {
    const written = writeProfile(TEXT, 'staging', { 'admin.endpoint': 'dns:///new.example' });
    expect(written).toContain('# mine');
    expect(written).toContain('# the other one');
    expect(read(written).names).toEqual(['default', 'staging']);
    expect(parse(read(written).settingsOf('staging').text)).toEqual({
      admin: { endpoint: 'dns:///new.example', clientId: 'cli' },
    });
    expect(read(written).selected?.name).toBe('staging');
  });

  it('a first profile becomes the one that is used, a further one does not', () => {
    const first = writeProfile('', 'a', { 'admin.endpoint': 'dns:///a.example' });
    expect(read(first).selected?.name).toBe('a');
    const second = writeProfile(first, 'b', { 'admin.endpoint': 'dns:///b.example' });
    expect(read(second).selected?.name).toBe('a');
    expect(read(second).names).toEqual(['a', 'b']);
  });

  it('"default" stands at the top', () => {
    const written = writeProfile('', 'default', { 'admin.endpoint': 'dns:///a.example' });
    expect(parse(written)).toEqual({ admin: { endpoint: 'dns:///a.example' } });
  });

  it('whatever is written is read again', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string()), { minLength: 1, maxLength: 4 }), (all) => {
        let text = '';
        for (const [profile, value] of all)
          text = writeProfile(text, profile, { 'admin.endpoint': value });
        for (const [profile, value] of new Map(all))
          expect(parse(read(text).settingsOf(profile).text)).toEqual({
            admin: { endpoint: value },
          });
      }),
    );
  });
});
