import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, type Home, makeHome } from './command.ts';
import { createCommandHost } from './command-host.ts';
import { type FakePlatform, startFakePlatform } from './fake-platform.ts';
import { browserCommand, readRecord } from './scripted-browser.ts';

const CLIENT_SECRET = 'canary-client-secret-0123456789';

/** Command lines of every process there is. */
function commandLines(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');
}

describe('No secret on stdout, stderr, in a kept file or in a command line', () => {
  const host = createCommandHost();
  let home: Home;
  let platform: FakePlatform;
  const sinks: { name: string; text: string }[] = [];
  const listen = ({ stdout, stderr }: Ended, name: string): void => {
    sinks.push({ name: `stdout of ${name}`, text: stdout });
    sinks.push({ name: `stderr of ${name}`, text: stderr });
  };

  beforeAll(async () => {
    home = makeHome(host);
    platform = await startFakePlatform();
    const record = join(home.path, 'record');
    const secret = {
      CORE_CREDENTIALS_CLIENT_ID: 'app',
      CORE_CREDENTIALS_CLIENT_SECRET: CLIENT_SECRET,
    };
    const endpoint = ['--endpoint', platform.url];

    const login = ['login', ...endpoint, '--flow', 'pkce', '--browser', browserCommand(record)];
    listen(await home.run(login), 'login');
    listen(await home.run([...login, '--json'], secret), 'login with credentials around');
    // The authorization code arrives in the browser's own address: that is how it works.
    const [opened, , again] = readRecord(record);
    sinks.push({ name: 'what the browser was given', text: JSON.stringify([opened, again]) });
    for (const args of [['status'], ['status', '--json'], ['whoami'], ['whoami', '--json']])
      listen(await home.run(args), args.join(' '));
    listen(await home.run(['status', '--json', ...endpoint], secret), 'status of an application');
    listen(await home.run(['whoami', ...endpoint], secret), 'whoami of an application');
    const refusal = ({ form, headers }: { form: URLSearchParams; headers: object }) => ({
      status: 400,
      // A server that repeats what it was sent.
      body: {
        error: 'invalid_client',
        error_description: `no ${form} ${JSON.stringify(headers)}`,
      },
    });
    platform.answers.set('/token', refusal);
    listen(await home.run(['token', ...endpoint], secret), 'a refused application');
    platform.answers.set('/revoke', refusal);
    listen(await home.run(['logout', '--json']), 'a refused logout');
    platform.answers.clear();
    const wrong = { ...secret, EAGER_API_KEY: `not-a-key-${CLIENT_SECRET}` };
    listen(await home.run(['token', '--json', ...endpoint], wrong), 'a wrong API key');

    platform.pollsUntilConfirmed = 1_000;
    const waiting = home.start(['login', ...endpoint, '--flow', 'device'], secret);
    await waiting.says('waiting until');
    sinks.push({ name: 'command lines', text: commandLines() });
    waiting.child.kill('SIGINT');
    listen(await waiting.ended, 'a device login');
    for (const text of home.texts().filter((each) => !each.startsWith('{"argv"')))
      sinks.push({ name: 'a kept file', text });
  });
  afterAll(async () => {
    host.stop();
    await platform.close();
    home.remove();
  });

  function leaks(from: readonly { name: string; text: string }[]): string[] {
    const secrets = [...platform.secrets, CLIENT_SECRET];
    return from.flatMap(({ name, text }) =>
      secrets
        .filter((secret) =>
          [
            secret,
            encodeURIComponent(secret),
            Buffer.from(`app:${secret}`).toString('base64'),
          ].some((spelling) => text.includes(spelling)),
        )
        .map((secret) => `${secret} in ${name}`),
    );
  }

  it('holds for every command, its failures included', () => {
    expect(platform.secrets.size).toBeGreaterThan(6);
    expect(sinks.length).toBeGreaterThan(25);
    expect(sinks.find(({ name }) => name === 'command lines')?.text).toContain('sallyport.js');
    expect(leaks(sinks)).toEqual([]);
  });

  it('would find one planted anywhere', () => {
    for (const { name, text } of sinks)
      expect(leaks([{ name, text: `${text} ${CLIENT_SECRET}` }])).not.toEqual([]);
  });
});
