import { describe, expect, it } from 'vitest';
import {
  formatConnectError,
  formatProblemDocument,
  formatRefusal,
  listGrpcStatus,
  RPC_CODES,
} from './problem-document.ts';

const REFUSAL = { reason: 'not_allowed', title: 'This request may not enter: 100 %' };

describe('A refusal', () => {
  it('is a problem document whose type is made of its reason', () => {
    expect(JSON.parse(formatProblemDocument({ ...REFUSAL, status: 403, requestId: 'r' }))).toEqual({
      type: 'urn:sallyport:problem:not_allowed',
      title: REFUSAL.title,
      status: 403,
      reason: 'not_allowed',
      request_id: 'r',
    });
  });

  it('names where to sign in only where it was given', () => {
    const document = { ...REFUSAL, status: 401, requestId: 'r' };
    expect(formatProblemDocument({ ...document, loginUrl: 'https://x/login' })).toContain(
      '"login_url":"https://x/login"',
    );
    expect(formatProblemDocument(document)).not.toContain('login_url');
  });

  it('is a Connect error with the name of its code', () => {
    expect(JSON.parse(formatConnectError(7, REFUSAL))).toEqual({
      code: 'permission_denied',
      message: 'This request may not enter: 100 % (not_allowed)',
    });
  });

  it('is a gRPC status whose message is percent-encoded', () => {
    const [status, message] = listGrpcStatus(14, REFUSAL);
    expect(status).toEqual(['grpc-status', '14']);
    expect(message?.[1]).toMatch(/^[A-Za-z0-9%()_.!~*'-]+$/);
    expect(decodeURIComponent(message?.[1] ?? '')).toBe(formatRefusal(REFUSAL));
  });

  it('has codes that Connect has a name for, each of its own', () => {
    expect(new Set(Object.values(RPC_CODES)).size).toBe(Object.keys(RPC_CODES).length);
  });
});
