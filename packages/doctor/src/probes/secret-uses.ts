/**
 * Which applications there are with a secret, by the configurations.
 *
 * @module
 */

import type { Subject } from '../subject.ts';
import type { SecretUse } from './secrets.ts';

/** The id of the web app. */
export const WEB_APP = 'web';

/** Lists the web app and each service app, in the order of the files. */
export function listSecretUses({
  server,
  clients,
}: Pick<Subject, 'server' | 'clients'>): readonly SecretUse[] {
  const openId = server?.loaded.config.auth.userAuth.openId;
  const hasSecret =
    openId !== undefined &&
    openId.clientAuthentication === 'client_secret' &&
    server?.loaded.config.server.security.useAuth === true;
  const web: readonly SecretUse[] = hasSecret
    ? [
        {
          id: WEB_APP,
          name: 'the web app',
          clientId: openId.clientId,
          source: {
            from: 'file',
            path: openId.clientSecretFile,
            key: 'auth.userAuth.openId.clientSecretFile',
          },
        },
      ]
    : [];
  return [
    ...web,
    ...clients.flatMap(({ settings, block, file }, at): readonly SecretUse[] =>
      settings?.clientSecret === undefined || !settings.isEnabled
        ? []
        : [
            {
              id: `client.${at + 1}`,
              name: `${block} of ${file}`,
              clientId: settings.clientId,
              source: settings.clientSecret,
            },
          ],
    ),
  ];
}
