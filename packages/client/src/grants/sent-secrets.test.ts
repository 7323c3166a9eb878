import { describe, expect, it } from 'vitest';
import { clientSecretBasic, clientSecretPost } from './client-authentication.ts';
import { withoutSecrets } from './sent-secrets.ts';

const SECRET = 'canary s&cret+é';

function sent(
  authenticate: (body: URLSearchParams, headers: Headers) => void,
  fields: Record<string, string> = {},
) {
  const body = new URLSearchParams(fields);
  const headers = new Headers();
  authenticate(body, headers);
  return { body, headers };
}

describe('The words of a server about a request', () => {
  it.each([
    ['in the body', clientSecretPost('app', SECRET)],
    ['by Basic', clientSecretBasic('app', SECRET)],
  ])('lose the client secret that was sent %s, in every spelling it was sent in', (_, by) => {
    const form = sent(by);
    const spellings = [
      SECRET,
      ...(form.headers.has('authorization')
        ? [
            new URLSearchParams([['', SECRET]]).toString().slice(1),
            (form.headers.get('authorization') ?? '').slice('Basic '.length),
          ]
        : []),
    ];
    for (const spelling of spellings)
      expect(withoutSecrets(`no client has <${spelling}>`, form)).toBe('no client has <[secret]>');
  });

  it('lose the code, its verifier and a refresh token', () => {
    const form = sent(() => {}, {
      code: 'code-1234',
      code_verifier: 'v-1234',
      refresh_token: 'r-1234',
    });
    expect(withoutSecrets('code-1234 v-1234 r-1234', form)).toBe('[secret] [secret] [secret]');
  });

  it('keep what is no secret', () => {
    const form = sent(clientSecretPost('client-app', SECRET), { scope: 'everything' });
    const words = 'client-app may not have everything';
    expect(withoutSecrets(words, form)).toBe(words);
  });
});
