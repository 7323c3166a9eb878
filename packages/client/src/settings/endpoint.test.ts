import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEndpoint } from './endpoint.ts';

describe('admin.endpoint', () => {
  it.each([
    ['dns:///platform.example.com', false, 'https://platform.example.com', 443],
    ['dns:///platform.example.com:8443', false, 'https://platform.example.com:8443', 8443],
    ['platform.example.com', false, 'https://platform.example.com', 443],
    ['Platform.Example.com:443', false, 'https://platform.example.com', 443],
    ['https://platform.example.com', false, 'https://platform.example.com', 443],
    ['https://platform.example.com/', false, 'https://platform.example.com', 443],
    ['dns:///[2001:db8::1]', false, 'https://[2001:db8::1]', 443],
    ['[2001:DB8:0::1]:8443', false, 'https://[2001:db8::1]:8443', 8443],
    ['10.0.0.7:81', true, 'http://10.0.0.7:81', 81],
    ['dns:///platform.example.com', true, 'http://platform.example.com', 80],
    ['http://platform.example.com', true, 'http://platform.example.com', 80],
    ['http://localhost:8080', false, 'http://localhost:8080', 8080],
    ['http://127.0.0.1', false, 'http://127.0.0.1', 80],
    ['http://[::1]:8080', false, 'http://[::1]:8080', 8080],
  ])('%s (insecure: %s) is %s', (text, isInsecure, origin, port) => {
    expect(parseEndpoint(text, isInsecure)).toMatchObject({ ok: true, value: { origin, port } });
  });

  it.each([
    ['http://platform.example.com', false, 'http_needs_insecure'],
    ['http://localhost.example.com', false, 'http_needs_insecure'],
    ['https://platform.example.com', true, 'https_with_insecure'],
    ['', false, 'not_an_endpoint'],
    ['dns://platform.example.com', false, 'not_an_endpoint'],
    ['https://platform.example.com/path', false, 'not_an_endpoint'],
    ['https://ada@platform.example.com', false, 'not_an_endpoint'],
    ['platform.example.com?x', false, 'not_an_endpoint'],
    ['platform.example.com:0x1bb', false, 'not_an_endpoint'],
    ['platform.example.com:99999', false, 'not_an_endpoint'],
    ['ftp://platform.example.com', false, 'not_an_endpoint'],
    ['plat form', false, 'not_an_endpoint'],
  ])('%s (insecure: %s) is refused: %s', (text, isInsecure, error) => {
    expect(parseEndpoint(text, isInsecure)).toEqual({ ok: false, error });
  });

  it('of any text is an origin that reads back as itself, or refused', () => {
    const text = fc.oneof(
      fc.string(),
      fc.webUrl(),
      fc.domain(),
      fc.ipV6().map((ip) => `[${ip}]`),
    );
    fc.assert(
      fc.property(text, fc.boolean(), (endpoint, isInsecure) => {
        const parsed = parseEndpoint(endpoint, isInsecure);
        if (!parsed.ok) return;
        expect(new URL(parsed.value.origin).origin).toBe(parsed.value.origin);
        expect(parsed.value.origin.startsWith('http:')).toBe(parsed.value.isInsecure);
        expect(parseEndpoint(parsed.value.origin, isInsecure)).toEqual(parsed);
      }),
    );
  });
});
