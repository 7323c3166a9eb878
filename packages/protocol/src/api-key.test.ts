import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeApiKey, parseApiKey } from './api-key.ts';

const encode = (plain: string): string => Buffer.from(plain).toString('base64');

describe('API key', () => {
  it('is standard base64 of endpoint, client id, client secret and organisation', () => {
    expect(parseApiKey(encode('platform.example.com:service:s3cret:acme'))).toEqual({
      ok: true,
      value: {
        host: 'platform.example.com',
        clientId: 'service',
        clientSecret: 's3cret',
        organization: 'acme',
      },
    });
  });

  it.each([
    ['platform.example.com:a:b:', ''],
    ['platform.example.com:a:b:None', ''],
    ['platform.example.com:a:b:none', 'none'],
  ])('%s has the organisation "%s"', (plain, organization) => {
    expect(parseApiKey(encode(plain))).toMatchObject({ ok: true, value: { organization } });
  });

  it.each([
    ['empty text', '', 'not_base64'],
    ['a newline at the end', `${encode('h:a:b:')}\n`, 'not_base64'],
    ['missing padding', encode('h:a:b:cc').replace(/=+$/, ''), 'not_base64'],
    ['base64url', '__--', 'not_base64'],
    ['bits behind the last character', 'aDphOmI6YR==', 'not_base64'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0xfd]).toString('base64'), 'not_text'],
    ['three fields', encode('h:a:b'), 'not_four_fields'],
    ['a port', encode('h:8443:a:b:'), 'not_four_fields'],
    ['a scheme', encode('dns:///h:a:b:'), 'not_four_fields'],
    ['a path', encode('h/x:a:b:'), 'endpoint_not_a_host'],
    ['user information', encode('u@h:a:b:'), 'endpoint_not_a_host'],
    ['an empty host', encode(':a:b:'), 'endpoint_not_a_host'],
    ['an empty client id', encode('h::b:'), 'client_id_unusable'],
    ['an empty secret', encode('h:a::'), 'client_secret_unusable'],
    ['a newline in the secret', encode('h:a:b\n:'), 'client_secret_unusable'],
    ['a control character in the organisation', encode('h:a:b:\u0007'), 'organization_unusable'],
    ['more than 8,192 characters', 'A'.repeat(8_196), 'too_long'],
  ])('with %s is judged', (_, text, reason) => {
    const parsed = parseApiKey(text);
    expect(parsed.ok ? undefined : parsed.error).toBe(reason);
  });

  const credential = fc.stringMatching(/^[\x20-\x39\x3b-\x7e]{1,40}$/);
  const host = fc.stringMatching(/^[a-z0-9]{1,10}(?:\.[a-z0-9]{1,10}){0,3}$/);
  const organization = credential.filter((text) => text !== 'None');

  it('decodes to what was encoded', () => {
    fc.assert(
      fc.property(
        fc.record({ host, clientId: credential, clientSecret: credential, organization }),
        (key) => {
          const encoded = encodeApiKey(key);
          expect(encoded.ok && parseApiKey(encoded.value)).toEqual({ ok: true, value: key });
        },
      ),
    );
  });

  it('cannot be encoded from a field that would shift the others', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('host', 'clientId', 'clientSecret', 'organization'),
        credential,
        (field, text) => {
          const key = { host: 'h', clientId: 'a', clientSecret: 'b', organization: '' };
          expect(encodeApiKey({ ...key, [field]: `${text}:x` }).ok).toBe(false);
        },
      ),
    );
  });

  it('of any text is decoded or refused with a word that shows nothing of it', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String(),
          fc.array(fc.string(), { minLength: 3, maxLength: 5 }).map((all) => encode(all.join(':'))),
        ),
        (text) => {
          const parsed = parseApiKey(text);
          if (parsed.ok) expect(encodeApiKey(parsed.value).ok).toBe(true);
          else expect(parsed.error).toMatch(/^[a-z0-9_]+$/);
        },
      ),
    );
  });
});
