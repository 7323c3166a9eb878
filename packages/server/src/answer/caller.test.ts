import { describe, expect, it } from 'vitest';
import {
  classifyCaller,
  isBackground,
  isFramed,
  isSubresource,
  selectTransport,
} from './caller.ts';

type Headers = Readonly<Record<string, string>>;

describe('classifyCaller', () => {
  it.each([
    ['GET', { 'sec-fetch-mode': 'navigate' }, 'a browser says so'],
    ['HEAD', { 'sec-fetch-mode': 'navigate' }, 'a browser says so'],
    ['GET', { 'sec-fetch-mode': 'navigate', accept: '*/*' }, 'a browser says so'],
    [
      'GET',
      { 'sec-fetch-mode': 'navigate', 'x-requested-with': 'XMLHttpRequest' },
      'a browser says so',
    ],
    ['GET', { accept: 'text/html' }, 'an older browser'],
    ['GET', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }, 'an older browser'],
    ['HEAD', { accept: 'text/html' }, 'an older browser'],
  ] as readonly (readonly [string, Headers, string])[])(
    '%s %j is a navigation (%s)',
    (method, headers) => {
      expect(classifyCaller({ method, headers })).toBe('navigation');
    },
  );

  it.each([
    ['GET', {}, 'says nothing'],
    ['GET', { accept: '*/*' }, 'curl'],
    ['GET', { accept: 'application/json' }, 'an API client'],
    ['GET', { 'sec-fetch-mode': 'cors', accept: 'text/html' }, 'fetch'],
    ['GET', { 'sec-fetch-mode': 'no-cors', accept: 'text/html' }, 'an asset'],
    ['GET', { 'sec-fetch-mode': 'same-origin', accept: 'text/html' }, 'fetch'],
    ['GET', { 'sec-fetch-mode': 'websocket' }, 'a WebSocket'],
    ['GET', { 'sec-fetch-mode': '', accept: 'text/html' }, 'an undefined value'],
    [
      'GET',
      { accept: 'text/html', 'x-requested-with': 'XMLHttpRequest' },
      'XHR in an older browser',
    ],
    ['GET', { accept: 'text/html', upgrade: 'websocket' }, 'a WebSocket'],
    ['GET', { 'sec-fetch-mode': 'navigate', upgrade: 'websocket' }, 'a WebSocket'],
    ['POST', { accept: 'text/html' }, 'a form: redirected, it would lose its body'],
    ['POST', { 'sec-fetch-mode': 'navigate' }, 'a form'],
    ['DELETE', { 'sec-fetch-mode': 'navigate' }, 'no read'],
    ['get', { accept: 'text/html' }, 'methods are case-sensitive'],
    [
      'POST',
      { 'content-type': 'application/json' },
      'unary Connect without its version, or any API call',
    ],
  ] as readonly (readonly [string, Headers, string])[])(
    '%s %j is a program (%s)',
    (method, headers) => {
      expect(classifyCaller({ method, headers })).toBe('program');
    },
  );

  it.each([
    'application/grpcish',
    'application/grpc-webby',
    'application/grpc-web-texts',
    'application/protobuf',
    'application/prototype',
  ])('content type %s is no RPC: it is answered like any other program', (contentType) => {
    expect(classifyCaller({ method: 'POST', headers: { 'content-type': contentType } })).toBe(
      'program',
    );
  });

  it.each([
    'application/grpc-web',
    'application/grpc-web+proto',
    'application/grpc-web-text',
    'application/grpc-web-text+proto',
    'application/grpc-web;charset=utf-8',
    'Application/gRPC-Web',
  ])('content type %s is gRPC-Web, whatever else is said', (contentType) => {
    const headers = {
      'content-type': contentType,
      accept: 'text/html',
      'connect-protocol-version': '1',
    };
    expect(classifyCaller({ method: 'POST', headers })).toBe('grpc-web');
  });

  it.each([
    'application/grpc',
    'application/grpc+proto',
    'application/grpc;charset=utf-8',
    'APPLICATION/GRPC+proto',
  ])('content type %s is gRPC, whatever else is said', (contentType) => {
    const headers = {
      'content-type': contentType,
      'sec-fetch-mode': 'navigate',
      accept: 'text/html',
      'connect-protocol-version': '1',
    };
    expect(classifyCaller({ method: 'POST', headers })).toBe('grpc');
    expect(classifyCaller({ method: 'GET', headers })).toBe('grpc');
  });

  it.each([
    { 'connect-protocol-version': '1', 'content-type': 'application/json' },
    { 'connect-protocol-version': '1', 'content-type': 'application/proto' },
    { 'content-type': 'application/connect+proto' },
    { 'content-type': 'application/proto' },
    { 'content-type': 'application/proto; charset=utf-8' },
    { 'connect-protocol-version': '1', accept: 'text/html' },
  ])('%j is a Connect call', (headers) => {
    expect(classifyCaller({ method: 'POST', headers })).toBe('connect');
  });
});

describe('isBackground', () => {
  it.each([
    ['GET', { 'sec-fetch-mode': 'cors' }],
    ['GET', { 'sec-fetch-mode': 'no-cors' }],
    ['GET', { 'sec-fetch-mode': 'websocket' }],
    ['GET', { 'x-requested-with': 'XMLHttpRequest' }],
    ['GET', { upgrade: 'websocket' }],
    ['GET', { 'content-type': 'application/grpc' }],
    ['GET', { 'connect-protocol-version': '1' }],
    ['GET', { 'content-type': 'application/grpc-web+proto' }],
    ['POST', {}],
  ] as readonly (readonly [string, Headers])[])(
    '%s %j was not made by a person',
    (method, headers) => {
      expect(isBackground({ method, headers })).toBe(true);
    },
  );

  it.each([
    ['GET', {}],
    ['HEAD', {}],
    ['GET', { accept: '*/*' }],
    ['GET', { accept: 'application/json' }],
    ['GET', { accept: 'text/html' }],
    ['GET', { 'sec-fetch-mode': 'navigate' }],
    ['POST', { 'sec-fetch-mode': 'navigate' }],
  ] as readonly (readonly [string, Headers])[])(
    '%s %j may have been: /login answers it with 302',
    (method, headers) => {
      expect(isBackground({ method, headers })).toBe(false);
    },
  );
});

describe('selectTransport', () => {
  it.each([
    'application/grpc',
    'application/grpc-web',
    'application/proto',
    'application/connect+json',
  ])(
    '%s carries its bearer in the header that the metadata names for clients, that of gRPC',
    (contentType) => {
      expect(selectTransport({ 'content-type': contentType })).toBe('grpc');
    },
  );

  it.each([{}, { 'content-type': 'application/json' }, { accept: 'application/grpc' }])(
    '%j carries it in that of HTTP',
    (headers) => {
      expect(selectTransport(headers)).toBe('http');
    },
  );
});

describe('What a browser says of a load', () => {
  it.each([
    [{ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, true, true],
    [{ 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }, true, true],
    [{ 'sec-fetch-mode': 'same-origin' }, true, false],
    [{ 'sec-fetch-mode': 'websocket' }, true, false],
    [{ 'sec-fetch-mode': '' }, true, false],
    [{ 'sec-fetch-mode': 'navigate', 'sec-purpose': 'prefetch' }, true, false],
    [{ 'sec-fetch-mode': 'navigate', 'sec-purpose': 'prefetch;prerender' }, true, false],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, false, true],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' }, false, true],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, false, false],
    [{ 'sec-fetch-mode': 'navigate' }, false, false],
    [{}, false, false],
  ] as readonly (readonly [Headers, boolean, boolean])[])(
    '%j: a part of a page %s, framed %s',
    (headers, isPart, isInFrame) => {
      expect([isSubresource(headers), isFramed(headers)]).toEqual([isPart, isInFrame]);
    },
  );
});
