import { Readable } from 'node:stream';
import type { HttpRequest } from '@sallyport/server/listener';
import { describe, expect, it } from 'vitest';
import { createBodyReader } from './request-body.ts';

/** A request whose body comes in these pieces. */
function request(pieces: readonly string[]) {
  return Readable.from(pieces.map((piece) => Buffer.from(piece))) as unknown as HttpRequest;
}

describe('The body of a review', () => {
  it('is read whole, also where a piece ends within a character', async () => {
    const [first, second] = [Buffer.from('ü').subarray(0, 1), Buffer.from('ü').subarray(1)];
    const body = Readable.from([first, second]);
    const read = createBodyReader(10, 100);
    expect(await read(body as unknown as HttpRequest)).toEqual({
      ok: true,
      value: Buffer.from('ü'),
    });
  });

  it('is refused beyond its limit, once all of it has come', async () => {
    const read = createBodyReader(10, 100);
    expect(await read(request(['12345', '67890']))).toMatchObject({ ok: true });
    expect(await read(request(['12345', '678901']))).toEqual({ ok: false, error: 'too_large' });
    const long = request(Array.from({ length: 100 }, () => '12345'));
    expect(await read(long)).toEqual({ ok: false, error: 'too_large' });
    expect((long as unknown as Readable).readableEnded).toBe(true);
    // It has given its room back.
    expect(await read(request(['1234567890']))).toMatchObject({ ok: true });
  });

  it('is refused while others take the room there is, and read once they are done', async () => {
    const read = createBodyReader(10, 15);
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.from('1234567890');
      await held;
    }
    const first = read(Readable.from(slow()) as unknown as HttpRequest);
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
    const body = Readable.from(broken());
    expect(await createBodyReader()(body as unknown as HttpRequest)).toEqual({
      ok: false,
      error: 'broken_off',
    });
  });
});
