import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it } from 'vitest';
import { makeTaskPod } from '../../../../../examples/platform/task-pod.ts';
import { readContainerEnvironment } from './container-environment.ts';

const OPTED_IN = { 'sallyport/api-key-injection': 'true' };

/** The task pod that the executor makes with this configuration. */
function podWith(text: string, labels: Readonly<Record<string, string>> = OPTED_IN): object {
  const made = makeTaskPod({ path: 'executor.yaml', text }, labels);
  if (!made.ok) throw new Error(made.error);
  return made.value.pod;
}

function createSecret(name: string, key: string): string {
  const platform = createTemporaryFolder();
  const folder = join(platform, 'secrets', 'cloud', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, key), 'the-key');
  return platform;
}

describe('The environment of the task pod', () => {
  it('holds the API key from the Secret that unionAuth.secretName means', () => {
    const platform = createSecret('eager-api-key', 'EAGER_API_KEY');
    expect(readContainerEnvironment(platform, podWith(''))).toEqual({
      ok: true,
      value: { EAGER_API_KEY: 'the-key' },
    });
    const other = createSecret('tasks-key', 'TASKS_KEY');
    expect(readContainerEnvironment(other, podWith('unionAuth: {secretName: TASKS_KEY}'))).toEqual({
      ok: true,
      value: { EAGER_API_KEY: 'the-key' },
    });
  });

  it('is not to be had without the Secret: the container is not started, and both names are said', () => {
    const platform = createSecret('another', 'EAGER_API_KEY');
    expect(readContainerEnvironment(platform, podWith(''))).toEqual({
      ok: false,
      error:
        'CreateContainerConfigError: no key EAGER_API_KEY in the Secret eager-api-key of the namespace cloud',
    });
  });

  it.each([
    ['with injectSecret false', 'unionAuth: {injectSecret: false}', OPTED_IN],
    ['in a namespace that has not opted in', '', {}],
  ])('has no key %s', (_, text, labels) => {
    const platform = createSecret('eager-api-key', 'EAGER_API_KEY');
    expect(readContainerEnvironment(platform, podWith(text, labels))).toEqual({
      ok: true,
      value: {},
    });
  });
});
