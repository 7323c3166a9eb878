/**
 * Faults of the group: secrets.
 *
 * @module
 */

import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, service, withSecretText } from '../fault.ts';
import { IDS } from '../faulty-plane.ts';

/** A folder as a Secret is mounted, with these keys. */
function withMountedKeys(...keys: readonly string[]): Fault['make'] {
  return (plane) => {
    const folder = join(plane.folder, `mounted-${keys.join('-') || 'none'}`);
    mkdirSync(folder, { recursive: true });
    for (const key of keys) plane.write(join(`mounted-${keys.join('-')}`, key), 'a-value');
    return { config: service({ clientSecretLocation: join(folder, 'client_secret') }) };
  };
}

/** In this order in the table. */
export const SECRETS_FAULTS: readonly Fault[] = [
  {
    fault: 'the folder of clientSecretLocation is missing: the Secret is not mounted',
    cause: 'secret_folder_missing',
    ground: 'files',
    make: ({ folder }) => ({
      config: service({ clientSecretLocation: join(folder, 'nowhere', 'client_secret') }),
    }),
  },
  {
    fault: 'the mounted Secret is empty: the client_secret file is missing',
    cause: 'secret_file_missing',
    ground: 'files',
    make: withMountedKeys(),
  },
  {
    fault: 'the Secret lacks the key client_secret, and has clientSecret',
    cause: 'secret_key_missing',
    ground: 'files',
    make: withMountedKeys('clientSecret'),
  },
  {
    fault: 'the control plane service secret has its database password alone',
    cause: 'secret_database_password_only',
    ground: 'files',
    make: withMountedKeys('pass.txt'),
  },
  {
    fault: 'the secret synchronization has not completed',
    cause: 'secret_not_synchronized',
    ground: 'files',
    make: withMountedKeys('oidc_client_secret'),
  },
  {
    fault: 'the path is a link to nothing',
    cause: 'secret_link_broken',
    ground: 'files',
    make({ folder }) {
      const path = join(folder, 'broken', 'client_secret');
      mkdirSync(join(folder, 'broken'), { recursive: true });
      symlinkSync(join(folder, 'nothing'), path);
      return { config: service({ clientSecretLocation: path }) };
    },
  },
  {
    fault: 'a folder stands where the file should',
    cause: 'secret_unusable',
    ground: 'files',
    make: ({ folder }) => ({ config: service({ clientSecretLocation: folder }) }),
  },
  {
    fault: 'the file is empty',
    cause: 'secret_empty',
    ground: 'files',
    make: withSecretText(() => ''),
  },
  {
    fault: 'the file holds white space alone',
    cause: 'secret_blank',
    ground: 'files',
    make: withSecretText(() => ' \n'),
  },
  {
    fault: 'the file begins with a byte order mark',
    cause: 'secret_byte_order_mark',
    ground: 'files',
    make: withSecretText(({ serviceSecret }) => `\ufeff${serviceSecret}`),
  },
  {
    fault: 'the file holds a stand-in value',
    cause: 'secret_stand_in',
    ground: 'files',
    make: withSecretText(() => 'placeholder'),
  },
  {
    fault: 'the file ends with a newline',
    cause: 'secret_newline',
    ground: 'running plane',
    make: withSecretText(({ serviceSecret }) => `${serviceSecret}\n`),
  },
  {
    fault: 'white space stands around the secret',
    cause: 'secret_white_space',
    ground: 'running plane',
    make: withSecretText(({ serviceSecret }) => ` ${serviceSecret} `),
  },
  {
    fault: 'quotes stand around the secret',
    cause: 'secret_quotes',
    ground: 'running plane',
    make: withSecretText(({ serviceSecret }) => `"${serviceSecret}"`),
  },
  {
    fault: 'the secret is base64 twice',
    cause: 'secret_base64',
    ground: 'running plane',
    make: withSecretText(({ serviceSecret }) => Buffer.from(serviceSecret).toString('base64')),
  },
  {
    fault: 'the file holds a name and a value',
    cause: 'secret_assignment',
    ground: 'running plane',
    make: withSecretText(({ serviceSecret }) => `client_secret=${serviceSecret}`),
  },
  {
    fault: 'the file holds JSON',
    cause: 'secret_json',
    ground: 'running plane',
    make: withSecretText(({ serviceSecret }) => JSON.stringify({ serviceSecret })),
  },
  {
    fault: 'the file holds two lines',
    cause: 'secret_lines',
    ground: 'running plane',
    make: withSecretText(({ serviceSecret }) => `${serviceSecret}\nmore`),
  },
  {
    fault: 'a control character stands in the secret',
    cause: 'secret_control_character',
    ground: 'running plane',
    make: withSecretText(({ serviceSecret }) => `${serviceSecret}\u0007`),
  },
  {
    fault: 'every user of the machine can read the file',
    cause: 'secret_open_to_all',
    ground: 'files',
    make(plane) {
      const path = plane.write('open_client_secret', plane.serviceSecret);
      chmodSync(path, 0o644);
      return { config: service({ clientSecretLocation: path }) };
    },
  },
  {
    fault: 'data plane and control plane have different secrets of one application',
    cause: 'secrets_differ',
    ground: 'running plane',
    make: (plane) => ({
      clients: [
        {
          union: {
            auth: {
              clientId: IDS.service,
              clientSecretLocation: plane.write('client_secret', 'the-secret-before-the-rotation'),
              tokenUrl: `${plane.issuer}/idp/token`,
            },
          },
        },
      ],
    }),
  },
  {
    fault: "the service app's file holds the web app's secret",
    cause: 'secret_of_another_app',
    ground: 'running plane',
    make: withSecretText(({ webSecret }) => webSecret),
  },
];
