import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { accept, refuse } from '@sallyport/protocol';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { freePort } from '@sallyport/testing/wire/ports';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMachineProbes, type Machine } from './machine-probes.ts';

const NO_ANSWERS = {
  get: () => {
    throw new TypeError('needs nothing');
  },
  find: () => undefined,
};

/** The codes that one probe finds, and what it says. */
async function look(name: string, changed: Partial<Machine> = {}) {
  const machine: Machine = {
    environment: {},
    tokens: '/nowhere/tokens',
    profiles: undefined,
    port: await freePort(),
    openKeyring: () => {
      throw new TypeError('no keyring is asked for');
    },
    ...changed,
  };
  const probe = createMachineProbes(machine).find(({ id }) => id === `machine.${name}`);
  const outcome = await probe?.run(NO_ANSWERS, new AbortController().signal);
  const findings = outcome === undefined || outcome.kind === 'skip' ? [] : outcome.findings;
  return {
    kind: outcome?.kind,
    codes: findings.map(({ code }) => code),
    text: JSON.stringify(findings),
  };
}

function profilesOf(texts: Readonly<Record<string, string>>): NonNullable<Machine['profiles']> {
  return {
    names: Object.keys(texts),
    selected: {} as never,
    settingsOf: (name) => ({ path: 'config.yaml', text: texts[name] ?? '' }),
  };
}

describe('The machine of a person', () => {
  it('has nothing wrong where there is nothing', async () => {
    for (const name of ['port', 'store', 'keyring', 'proxy', 'variables', 'profiles'])
      expect([name, (await look(name)).codes]).toEqual([name, []]);
  });

  it.each(['127.0.0.1', '::1'])(
    'a port that is taken at %s alone is redirect_port_taken',
    async (host) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, host, resolve));
      onTestFinished(() => void server.close());
      const { port } = server.address() as { readonly port: number };
      const { codes, text } = await look('port', { port });
      expect(codes).toEqual(['redirect_port_taken']);
      expect(text).toContain(`taken at ${host}`);
    },
  );

  it('a folder of tokens that others can open is token_store_unsafe, and a private one is not', async () => {
    const folder = join(createTemporaryFolder(), 'tokens');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    expect((await look('store', { tokens: folder })).codes).toEqual(['token_store_unsafe']);
    chmodSync(folder, 0o700);
    expect((await look('store', { tokens: folder })).codes).toEqual([]);
    symlinkSync(folder, `${folder}-link`);
    expect((await look('store', { tokens: `${folder}-link` })).codes).toEqual([
      'token_store_unsafe',
    ]);
    writeFileSync(`${folder}-file`, '', { mode: 0o600 });
    expect((await look('store', { tokens: `${folder}-file` })).text).toContain('is no folder');
  });

  it('a keyring is tried only where it is asked for, and closed again; one that fails is keyring_unusable', async () => {
    expect((await look('keyring')).kind).toBe('skip');
    const environment = { SALLYPORT_TOKEN_STORE: 'keyring' };
    let closed = 0;
    const close = () => {
      closed += 1;
    };
    const broken = () => ({ probe: async () => refuse('it is locked'), close });
    const failed = await look('keyring', { environment, openKeyring: broken });
    expect(failed.codes).toEqual(['keyring_unusable']);
    expect(failed.text).toContain('it is locked');
    const working = () => ({ probe: async () => accept(undefined), close });
    expect((await look('keyring', { environment, openKeyring: working })).codes).toEqual([]);
    expect(closed).toBe(2);
  });

  it.each<readonly [Readonly<Record<string, string>>, readonly string[]]>([
    [{ http_proxy: 'http://p' }, ['proxy_for_this_machine']],
    [{ HTTP_PROXY: 'http://p', NO_PROXY: 'example.com' }, ['proxy_for_this_machine']],
    [{ HTTP_PROXY: 'http://p', NO_PROXY: 'example.com, localhost' }, []],
    [{ http_proxy: 'http://p', no_proxy: '*' }, []],
  ])('the environment %j gives %j', async (environment, codes) => {
    expect((await look('proxy', { environment })).codes).toEqual(codes);
  });

  it('credentials in the environment are variable_overrides_login, by name and not by value', async () => {
    const environment = { EAGER_API_KEY: 'canary-key', CORE_CREDENTIALS_CLIENT_SECRET: 'canary' };
    const { codes, text } = await look('variables', { environment });
    expect(codes).toEqual(['variable_overrides_login']);
    expect(text).toContain('EAGER_API_KEY, CORE_CREDENTIALS_CLIENT_SECRET');
    expect(text).not.toContain('canary');
    expect((await look('variables', { environment: { EAGER_API_KEY: '' } })).codes).toEqual([]);
  });

  it('two profiles for one platform are profiles_share_platform, and for two are not', async () => {
    const one = 'admin:\n  endpoint: dns:///one.example\n';
    const two = 'admin:\n  endpoint: dns:///two.example\n';
    const shared = await look('profiles', { profiles: profilesOf({ a: one, b: two, c: one }) });
    expect(shared.codes).toEqual(['profiles_share_platform']);
    expect(shared.text).toContain('the profiles a and c');
    expect((await look('profiles', { profiles: profilesOf({ a: one, b: two }) })).codes).toEqual(
      [],
    );
  });
});
