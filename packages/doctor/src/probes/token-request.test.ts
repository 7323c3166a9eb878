import { accept } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { postGrant } from './token-request.ts';

/** What is shown of an answer to a client with this secret. */
async function lineFor(secret: string, error: string, words: string): Promise<string> {
  const text = JSON.stringify({ error, error_description: words });
  const answer = await postGrant(
    async (url) =>
      accept({ url, status: 400, headers: new Headers(), text, sentAt: 0, receivedAt: 0 }),
    'https://idp.example/token',
    { clientId: 'app', secret },
    { grant_type: 'client_credentials' },
  );
  return answer.ok ? answer.value.line : answer.error.code;
}

const reversed = (text: string): string => Array.from(text).toReversed().join('');

describe('What is shown of a refusal', () => {
  it.each(['k9', 'p@ss', 'käse/ö+1', 'a-long-secret-of-32-characters-00'])(
    'holds the secret %j in no spelling',
    async (secret) => {
      const spellings = [
        secret,
        reversed(secret),
        secret.toUpperCase(),
        encodeURIComponent(secret),
        Buffer.from(secret).toString('base64'),
        Buffer.from(secret).toString('base64url'),
        Buffer.from(`app:${secret}`).toString('base64'),
        Buffer.from(`a:${secret}`).toString('base64url'),
        Buffer.from(`xyz${secret}z`).toString('base64'),
        Buffer.from(secret).toString('hex'),
        Buffer.from(secret).toString('hex').replace(/../g, '%$&'),
      ];
      for (const spelling of spellings) {
        const line = await lineFor(secret, 'invalid_client', `xx ${spelling} xx`);
        expect([spelling, line]).toEqual([
          spelling,
          'https://idp.example/token answered 400 invalid_client: (words that repeat the secret are left out)',
        ]);
        const asCode = await lineFor(secret, spelling, 'xx');
        expect([spelling, asCode.includes(spelling)]).toEqual([spelling, false]);
      }
    },
  );

  it('holds the words of the server where they do not repeat it', async () => {
    expect(await lineFor('p@ss', 'invalid_client', 'no such application')).toBe(
      'https://idp.example/token answered 400 invalid_client: no such application',
    );
    expect(await lineFor('p@ss', 'own_code', 'see the log')).toContain('own_code: see the log');
  });

  it('holds a registered code although it contains a short secret', async () => {
    expect(await lineFor('client', 'invalid_client', 'x')).toContain(' invalid_client: x');
  });
});
