import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Home, makeHome } from './command.ts';

let home: Home;
beforeAll(() => {
  home = makeHome();
});
afterAll(() => home.remove());

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;
const scripts = new Map<string, Promise<string>>();
/** The script of a shell, asked for once. */
function script(shell: string): Promise<string> {
  const asked = scripts.get(shell) ?? home.run(['completion', shell]).then(({ stdout }) => stdout);
  scripts.set(shell, asked);
  return asked;
}

describe('sallyport completion', () => {
  /** What bash's own completion would offer for a command line that ends in its last word. */
  async function completeInBash(words: readonly string[]): Promise<string[]> {
    const test = `${await script('bash')}
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
      _sallyport 2>/dev/null
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const said = execFileSync('bash', ['--norc', '-c', test], { encoding: 'utf8' });
    return said.split('\n').filter((line) => line !== '');
  }

  it.each([
    [
      ['sallyport', ''],
      ['up', 'serve', 'login', 'logout', 'whoami', 'status', 'token', 'recipe', 'completion'],
    ],
    [
      ['sallyport', 'log'],
      ['login', 'logout'],
    ],
    [
      ['sallyport', 'token', '--'],
      ['--header', '--min-ttl', '--no-login', '--json', '--help'],
    ],
    [
      ['sallyport', 'login', '--flow', ''],
      ['auto', 'pkce', 'device'],
    ],
    [['sallyport', 'login', '--flow', 'd'], ['device']],
    [
      ['sallyport', 'completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['sallyport', 'sessions', ''],
      ['list', 'revoke'],
    ],
    [['sallyport', 'recipe', ''], ['nginx']],
    [
      ['sallyport', 'apikey', ''],
      ['create', 'list', 'inspect', 'revoke'],
    ],
    [
      ['sallyport', 'apikey', 'create', '--'],
      ['--organization', '--cluster', '--endpoint', '--out', '--manifest', '--namespace', '--json'],
    ],
    [
      ['sallyport', 'recipe', 'nginx', '--'],
      ['--out', '--overwrite', '--claim', '--upstream', '--verdict-cache', '--json', '--help'],
    ],
    [
      ['sallyport', 'sessions', 'revoke', '--'],
      ['--subject', '--all', '--yes', '--config', '--json', '--help'],
    ],
  ])('bash completes %j', async (words, expected) => {
    expect(await completeInBash(words)).toEqual(expect.arrayContaining(expected));
  });

  it.each([
    [['sallyport', 'zzz']],
    [['sallyport', 'login', '--endpoint', '']],
    [['sallyport', 'token', '--qr']],
    [['sallyport', 'sessions', 'list', '--all']],
    [['sallyport', 'sessions', 'list', '--subject', '']],
    [['sallyport', 'sessions', '--subj']],
    [['sallyport', 'apikey', 'list', '--out']],
  ])('bash offers nothing for %j', async (words) => {
    expect(await completeInBash(words)).toEqual([]);
  });

  it.skipIf(!has('zsh'))('zsh takes its script (needs zsh)', async () => {
    const checked = spawnSync('zsh', ['-n'], { input: await script('zsh'), encoding: 'utf8' });
    expect([checked.status, checked.stderr]).toEqual([0, '']);
  });

  it.skipIf(!has('fish'))('fish completes a command and an option (needs fish)', async () => {
    const complete = async (line: string): Promise<string> => {
      const program = `${await script('fish')}\ncomplete -C '${line}'`;
      const { stdout, stderr } = spawnSync('fish', ['-c', program], { encoding: 'utf8' });
      expect(stderr).toBe('');
      return stdout;
    };
    expect(await complete('sallyport log')).toContain('login');
    expect(await complete('sallyport login --fl')).toContain('--flow');
    expect(await complete('sallyport sessions re')).toContain('revoke');
    expect(await complete('sallyport sessions revoke --a')).toContain('--all');
    expect(await complete('sallyport sessions list --a')).not.toContain('--all');
  });

  it('--json holds the same script', async () => {
    const { stdout } = await home.run(['completion', 'bash', '--json']);
    const json = JSON.parse(stdout) as { shell: string; script: string };
    expect(json).toEqual({ shell: 'bash', script: await script('bash') });
  });
});
