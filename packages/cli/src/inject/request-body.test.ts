import { Readable } from 'node:stream';
import type { HttpRequest } from '@sallyport/server/listener';
import { describe, expect, it } from 'vitest';
import { createBodyReader } from './request-body.ts';

/** A request whose body comes in these pieces. */
function request(pieces: Iterable<string>, headers: Readonly<Record<string, string>> = {}) {
  const body = Readable.from(Array.from(pieces, (piece) => Buffer.from(piece)));
  return Object.assign(body, { headers }) as unknown as HttpRequest;
}

describe('The body of a review', () => {
  it('is read whole, also where a piece ends within a character', async () => {
    const [first, second] = [Buffer.from('ü').subarray(0, 1), Buffer.from('ü').subarray(1)];
    const body = Object.assign(Readable.from([first, second]), { headers: {} });
    const read = createBodyReader(10, 100);
    expect(await read(body as unknown as HttpRequest)).toEqual({ ok: true, value: 'ü' });
  });

  it('is refused beyond its limit, by what comes and by what was announced', async () => {
    const read = createBodyReader(10, 100);
    expect(await read(request(['12345', '67890']))).toMatchObject({ ok: true });
    expect(await read(request(['12345', '678901']))).toEqual({ ok: false, error: 'too_large' });
    const announced = request([], { 'content-length': '11' });
    expect(await read(announced)).toEqual({ ok: false, error: 'too_large' });
  });

  it('is refused while others take the room there is, and read once they are done', async () => {
    const read = createBodyReader(10, 15);
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.from('1234567890');
      await held;
    }
    const first = read(
      Object.assign(Readable.from(slow()), { headers: {} }) as unknown as HttpRequest,
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(await read(request(['123456']))).toEqual({ ok: false, error: 'too_many' });
    release();
    expect(await first).toMatchObject({ ok: true });
    expect(await read(request(['123456']))).toMatchObject({ ok: true });
  });

  it('is refused when it breaks off', async () => {
    async function* broken() {
      yield Buffer.from('1');
      throw new Error('aborted');
    }
    const body = Object.assign(Readable.from(broken()), { headers: {} });
    expect(await createBodyReader()(body as unknown as HttpRequest)).toEqual({
      ok: false,
      error: 'broken_off',
    });
  });
});
