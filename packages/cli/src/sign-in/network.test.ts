import { describe, expect, it } from 'vitest';
import { createFetch } from './network.ts';

/** Sends a request over the network of a command. @returns What was kept out of all talk before it left. */
async function concealedOf(init: RequestInit): Promise<readonly string[]> {
  const concealed: string[] = [];
  let atSending: readonly string[] = [];
  const made = await createFetch(
    { caCertFilePath: '', insecureSkipVerify: false, endpoint: '' },
    {},
    (secret) => void concealed.push(secret),
    () => async () => {
      atSending = [...concealed];
      return new Response();
    },
  );
  if (!made.ok) throw new Error(made.error.description);
  await made.value('https://idp.example.com/token', { method: 'POST', ...init });
  return atSending;
}

const FORM = {
  grant_type: 'password',
  client_id: 'admin-cli',
  username: 'administrator',
  password: 'canary',
};

describe('The network of a command', () => {
  it.each([
    ['a text', new URLSearchParams(FORM).toString()],
    ['a form', new URLSearchParams(FORM)],
  ])('conceals the secrets of %s before it is sent, and no more', async (_, body) => {
    expect(await concealedOf({ body })).toEqual(['canary']);
  });

  it('conceals a bearer token, and both parts of what a Basic header holds', async () => {
    expect(await concealedOf({ headers: { authorization: 'Bearer canary' } })).toEqual(['canary']);
    const pair = Buffer.from('web:can%2Bary').toString('base64');
    expect(await concealedOf({ headers: { authorization: `Basic ${pair}` } })).toEqual([
      pair,
      'can%2Bary',
      'can+ary',
    ]);
  });

  it('conceals nothing of a JSON text, whose members it does not know', async () => {
    expect(await concealedOf({ body: '{"a":"b"}' })).toEqual([]);
  });
});
