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

  it.each([
    ['in the body', clientSecretPost('app', 'abc/def+ x~é==')],
    ['by Basic', clientSecretBasic('app', 'abc/def+ x~é==')],
  ])('lose a secret sent %s when they repeat it percent-encoded', (_, by) => {
    const spellings = [
      'abc%2Fdef%2B+x%7E%C3%A9%3D%3D',
      'abc%2fdef%2b%20x~%c3%a9%3d%3d',
      'abc/def%2B x%7e%C3%A9==',
    ];
    for (const spelling of spellings)
      expect(withoutSecrets(`client_id=app&client_secret=${spelling}&x=y`, sent(by))).toBe(
        'client_id=app&client_secret=[secret]&x=y',
      );
  });

  it.each([
    ['as it is', 'app', SECRET],
    ['form-encoded', 'app+one', 'canary+s%26cret%2B%C3%A9'],
  ])(
    'about the attempt in the body lose the Basic credentials of the attempt before it, %s',
    (_, id, secret) => {
      const form = sent(clientSecretPost(id.replace('+', ' '), SECRET));
      const credentials = Buffer.from(`${id}:${secret}`).toString('base64');
      for (const spelling of [credentials, credentials.replaceAll('=', '%3D')])
        expect(withoutSecrets(`Basic ${spelling}`, form)).toBe('Basic [secret]');
      expect(withoutSecrets(credentials.replaceAll('=', ''), form)).toBe('[secret]');
      const other = Buffer.from('app:another secret').toString('base64');
      expect(withoutSecrets(other, form)).toBe(other);
    },
  );

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
