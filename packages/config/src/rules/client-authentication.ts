/**
 * How the web app proves itself: by a secret or by a key, never by both.
 *
 * @module
 */

import type { Finding, Rule } from './rule.ts';

const METHOD = 'auth.userAuth.openId.clientAuthentication';
const SECRET = 'auth.userAuth.openId.clientSecretFile';
const KEY = 'auth.userAuth.openId.privateKeyLocation';

/**
 * The method needs its own file. A file of the other method gives a warning, because it is not used. The
 * secret's default path counts as not given.
 */
export const CLIENT_CREDENTIAL_RULE: Rule = {
  keys: [METHOD, SECRET, KEY],
  check: ({ config, originOf }) => {
    const { clientAuthentication, privateKeyLocation } = config.auth.userAuth.openId;
    if (clientAuthentication === 'client_secret') {
      return privateKeyLocation === ''
        ? []
        : [
            {
              key: KEY,
              found: 'a private key beside clientAuthentication client_secret',
              expected: 'none, or clientAuthentication: private_key_jwt',
            },
          ];
    }
    const findings: Finding[] = [];
    if (privateKeyLocation === '') {
      findings.push({
        key: KEY,
        found: 'nothing',
        expected: 'a path that begins with /, ./ or ../, which private_key_jwt needs',
      });
    }
    if (originOf(SECRET) !== 'default') {
      findings.push({
        key: SECRET,
        found: 'a client secret beside clientAuthentication private_key_jwt',
        expected: 'none: the key in privateKeyLocation takes its place',
      });
    }
    return findings;
  },
};
