import { describe, expect, it } from 'vitest';
import { createClientAddress } from '../listener/client-address.ts';
import { auditOrigin, createOriginReader } from './audit-origin.ts';

const FROM_PROXY = { socket: { remoteAddress: '10.0.0.1' } };

describe('the origin of a request', () => {
  const originOf = createOriginReader(createClientAddress(['10.0.0.0/8']));

  it('is the client that a trusted proxy names, its browser, and the id of the answer', () => {
    const headers = {
      'x-forwarded-for': '192.0.2.7, 10.0.0.2',
      'user-agent': 'Firefox',
      'x-request-id': 'request-0001',
    };
    expect(originOf({ headers, source: FROM_PROXY })).toEqual({
      address: '192.0.2.7',
      browser: 'Firefox',
      request_id: 'request-0001',
    });
  });

  it('is the peer itself where that is no trusted proxy, whatever it says', () => {
    const headers = { 'x-forwarded-for': '192.0.2.7' };
    const source = { socket: { remoteAddress: '203.0.113.9' } };
    expect(originOf({ headers, source }).address).toBe('203.0.113.9');
  });

  it('has the id the door gave the request, and else one and the same each time', () => {
    const headers = {};
    expect(originOf({ headers, requestId: 'given-0001' }).request_id).toBe('given-0001');
    const { request_id } = originOf({ headers });
    expect(request_id).toMatch(/^[\da-f-]{36}$/);
    expect(originOf({ headers }).request_id).toBe(request_id);
    expect(originOf({ headers: {} }).request_id).not.toBe(request_id);
  });

  it('keeps 200 characters of a browser’s name', () => {
    const headers = { 'user-agent': 'x'.repeat(5_000) };
    expect(originOf({ headers }).browser).toHaveLength(200);
    const origin = auditOrigin({ headers, address: '192.0.2.7', requestId: 'request-0001' });
    expect(origin.browser).toHaveLength(200);
  });
});
