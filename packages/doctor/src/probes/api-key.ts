/**
 * The API key that task pods call back with.
 *
 * @module
 */

import {
  API_KEY_VARIABLE,
  describeApiKeyRefusal,
  findApiKeySecret,
  parseApiKey,
} from '@sallyport/protocol';
import { at, type ClusterSubject, type KubeObject, textAt } from '../cluster.ts';
import { type Finding, fail } from '../finding/finding.ts';
import { found, type Probe, skipped } from '../graph/probe.ts';

/** Makes `secrets.api-key`: the key in this environment. Nothing is said where there is none. */
export function createApiKeyProbe(key: string, platformUrl: string | undefined): Probe {
  return {
    id: 'secrets.api-key',
    group: 'secrets',
    title: `the API key in ${API_KEY_VARIABLE}`,
    needs: [],
    run: () => found(undefined, judgeKey(key, `the variable ${API_KEY_VARIABLE}`, platformUrl)),
  };
}

/** Makes `cluster.api-key`: the key in the Secret of each namespace that has one. */
export function createApiKeySecretProbe(
  { controlPlane, dataPlane }: ClusterSubject,
  secrets: Probe<ReadonlyMap<string, readonly KubeObject[]>>,
  secretName: string,
  platformUrl: string | undefined,
): Probe {
  return {
    id: 'cluster.api-key',
    group: 'cluster',
    title: 'the Secret of the API key',
    needs: [secrets],
    run(answers) {
      const place = findApiKeySecret(secretName);
      if (!place.ok) return skipped('unionAuth.secretName gives no name of a Secret');
      const { name, key } = place.value;
      const held = [...answers.get(secrets)].flatMap(([namespace, objects]) =>
        objects
          .filter((object) => textAt(object, 'metadata', 'name') === name)
          .map((object) => ({ namespace, encoded: at(object, 'data', key) })),
      );
      const side = [...new Set([controlPlane, dataPlane])].join(' and ');
      if (held.length === 0) return skipped(`no Secret ${name} in ${side}`);
      return found(
        undefined,
        held.flatMap(({ namespace, encoded }) => {
          const where = `the key ${key} of the Secret ${namespace}/${name}`;
          if (typeof encoded !== 'string') return [toInvalid(where, 'no such key')];
          const text = Buffer.from(encoded, 'base64').toString('utf8');
          return judgeKey(text, where, platformUrl);
        }),
      );
    },
  };
}

function judgeKey(
  text: string,
  where: string,
  platformUrl: string | undefined,
): readonly Finding[] {
  const parsed = parseApiKey(text);
  if (!parsed.ok) return [toInvalid(where, describeApiKeyRefusal(parsed.error).found)];
  const { hostname } = new URL(platformUrl ?? `https://${parsed.value.host}`);
  if (hostname === parsed.value.host) return [];
  return [
    fail(
      'api_key_other_platform',
      `the API key in ${where} is for ${parsed.value.host}, and the platform is ${hostname}`,
      'Put the key there that was issued for this platform.',
    ),
  ];
}

function toInvalid(where: string, what: string): Finding {
  return fail(
    'api_key_invalid',
    `${where} holds no API key: found ${what}`,
    'Put the key there as it was issued, whole and without white space: printf %s KEY',
  );
}
