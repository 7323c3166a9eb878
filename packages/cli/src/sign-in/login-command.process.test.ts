import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { writeLoginCommand } from './login-command.ts';

describe('The command that signs in', () => {
  it('needs no option where none was given', () => {
    expect(writeLoginCommand({ json: true })).toBe('sallyport login');
  });

  it('says which platform is meant, as it was said before', () => {
    expect(
      writeLoginCommand({
        profile: 'staging',
        endpoint: 'dns:///p.example.com',
        caFile: '/etc/ca.pem',
        config: 'a.yaml',
      }),
    ).toBe(
      'sallyport login --config a.yaml --profile staging --endpoint dns:///p.example.com --ca-file /etc/ca.pem',
    );
  });

  it.each([['my files/ca.pem'], ["it's"], ['$(id)'], ['a;b'], ['']])(
    'quotes %j so that a shell reads it back',
    (caFile) => {
      const words = writeLoginCommand({ caFile }).replace('sallyport login', '');
      const read = execFileSync('sh', ['-c', `printf '%s\\n' ${words}`], { encoding: 'utf8' });
      expect(read).toBe(`--ca-file\n${caFile}\n`);
    },
  );
});
