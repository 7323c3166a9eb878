/**
 * Writes docs/configuration.md from the configuration schema: `node --conditions=source
 * tools/generate-configuration-docs.ts`.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import type { RecordListKind } from '../packages/config/src/kinds/record.ts';
import {
  FOREIGN_BLOCKS,
  isWithin,
  type PlacedSetting,
  SETTINGS,
} from '../packages/config/src/schema/schema.ts';

/** Where the page lies. */
export const CONFIGURATION_DOCS: URL = new URL('../docs/configuration.md', import.meta.url);

const INTRODUCTION = `<!-- Made by tools/generate-configuration-docs.ts from the schema. Do not edit. -->

# Configuration

Look up every setting: type, default, environment variable and meaning. Sallyport reads one YAML file,
the environment and command-line flags. The first of these wins for each key: flag, environment
variable, file, default. An empty environment variable counts as not set.

All given values are validated before anything starts, also those that another source overrides or
another command reads. All problems are reported at once, each with file, line, key, found and
expected value. An unknown key is a problem; a variable that begins with \`SALLYPORT_\` and that nothing reads is a
warning.

## The shortest configuration

No file is needed. These variables and the secret files are complete:

\`\`\`sh
PUBLIC_URL=https://platform.example.com
OIDC_BASE_URL=https://idp.example.com
OIDC_CLIENT_ID=web-app
CLI_CLIENT_ID=native-app
INTERNAL_CLIENT_ID=service-app
AUTH_CLIENT_ID=service-app
AUTH_TOKEN_URL=https://idp.example.com/token
\`\`\`

The same as a file:

\`\`\`yaml
publicUrl: https://platform.example.com
auth:
  appAuth:
    thirdPartyConfig:
      flyteClient:
        clientId: native-app
  userAuth:
    openId:
      baseUrl: https://idp.example.com
      clientId: web-app
\`\`\`

## Secret files

| File | Key that names it | Holds |
|---|---|---|
| \`/etc/secrets/oidc_client_secret\` | \`auth.userAuth.openId.clientSecretFile\` | client secret of the web app |
| \`/etc/secrets/client_secret\` | \`admin.clientSecretLocation\` | client secret of the service app |
| none | \`auth.userAuth.openId.privateKeyLocation\` | private key of the web app, in place of its secret |

A secret file is UTF-8 text of at most 64 KiB and is read again when it changes; the symlink swap of
a Kubernetes volume counts as a change. One newline at its end is left out, with a warning. Any other
white space is kept, with a warning. So is a file that every user of the machine can read (mode 0644 and the like; a mounted
Kubernetes Secret is not meant). A missing or empty file is a problem at start. When a changed
file cannot be read, the last good secret stays in use and the problem is reported.

## The web app at the identity provider

Register a web application for the grant \`authorization_code\` with the redirect URI
\`<publicUrl>/callback\` and the sign-out redirect URI \`<publicUrl>/logout\`; if the provider supports
back-channel logout, also as [back-channel-logout.md](back-channel-logout.md) says. The application
authenticates in one of two ways.

- **By a secret**, the default. HTTP Basic is used where the provider supports it, else the body.
- **By a key** (\`private_key_jwt\`, RFC 7523), so that no secret is shared and an
  assertion expires after a minute. Register the application for \`private_key_jwt\` and give the provider
  the address \`<publicUrl>/auth/jwks\`, or the keys it shows.

\`\`\`yaml
auth:
  userAuth:
    openId:
      clientAuthentication: private_key_jwt
      privateKeyLocation: /etc/secrets/oidc_private_key
\`\`\`

The key decides the algorithm. In PEM (PKCS#8), RSA signs with RS256, RSASSA-PSS with PS256, P-256 with
ES256, Ed25519 with EdDSA. In a JWK, \`alg\` chooses where there is a choice: PS256 for RSA, \`Ed25519\`
for a provider that knows EdDSA by that name only. \`kid\` is the JWK's, or else the key's thumbprint
(RFC 7638). Each request has an assertion of its own: \`iss\` and \`sub\` are the client ID, \`aud\` is the
provider's issuer, it ends after a minute, and its \`jti\` is random. A provider that wants a
certificate's thumbprint in it (Entra ID) cannot be used so.

To replace the key, publish the next one first: the file may hold a set of JWKs, of which the first
signs and all are published. Write the present and the next key, wait five minutes, the time for which a
provider may cache \`/auth/jwks\`, and then write the next one alone. Replacing the file at once works if
the provider reads the keys again for an unknown key ID; otherwise sign-ins fail until it does. A
replaced key stays at \`/auth/jwks\` for five minutes, or until a restart.

The parameters of a sign-in can go to the provider directly, so that the browser carries a reference
only (\`auth.userAuth.openId.pushedAuthorization\`, RFC 9126). With \`always\`, or when the provider's
metadata requires it, and without an endpoint for it in the metadata, Sallyport is not ready and
sign-ins fail; the log says why. A failed push ends on an error page: the parameters are never sent
through the browser instead.

## Rules of the file

- At most 131,072 characters, one document, one mapping at the top, at most 32 levels of nesting.
- No aliases, anchors, merge keys or tags: a value stands where it is used.
- Every key once. \`true\` and \`false\` are the only booleans.
- Durations are numbers with the units \`ms\`, \`s\`, \`m\`, \`h\` and \`d\`, such as \`90s\` or \`1h30m\`.
- A relative path begins with \`./\` or \`../\`: in the file from the folder of the file, elsewhere from the working folder.
- In an environment variable or flag, the entries of a list are separated by commas.

## Keys
`;

const OTHERS_INTRODUCTION = `
## Keys of other commands

\`serve\` checks these blocks and lists those it finds as not used.
`;

function isForeign({ key }: PlacedSetting): boolean {
  return FOREIGN_BLOCKS.serve.some((block) => isWithin(key, block));
}

/** Renders the page. */
export function renderConfigurationDocs(): string {
  return [
    INTRODUCTION,
    renderTable(SETTINGS.filter((placed) => !isForeign(placed))),
    OTHERS_INTRODUCTION,
    renderTable(SETTINGS.filter(isForeign)),
  ].join('\n');
}

function renderTable(settings: readonly PlacedSetting[]): string {
  const rows = settings.flatMap(withFields).map((placed) => {
    const { variable, meaning } = placed.setting;
    const cells = [
      `\`${placed.key}\``,
      renderType(placed),
      renderDefault(placed),
      variable === undefined ? '' : `\`${variable}\``,
      meaning,
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return `${['| Key | Type | Default | Variable | Meaning |', '|---|---|---|---|---|', ...rows].join('\n')}\n`;
}

/** A list of mappings has a row for itself and one for each key of its mappings. */
function withFields(placed: PlacedSetting): readonly PlacedSetting[] {
  const { key, path, setting } = placed;
  if (!('fields' in setting.kind)) return [placed];
  const { fields } = setting.kind as RecordListKind<object>;
  return [
    placed,
    ...Object.entries(fields).map(([name, { kind, fallback, meaning }]) => ({
      key: `${key}[].${name}`,
      path,
      setting: {
        kind,
        fallback: fallback ?? '',
        meaning,
        ...(fallback === undefined ? { required: 'with-block' as const } : {}),
      },
    })),
  ];
}

function renderType({ setting: { kind } }: PlacedSetting): string {
  return kind.values === undefined
    ? kind.name
    : kind.values.map((value) => `\`${value}\``).join(', ');
}

function renderDefault({ setting }: PlacedSetting): string {
  if (setting.required === 'always') return '**required**';
  if (setting.required === 'with-auth') return '**required** with `useAuth`';
  if (setting.required === 'with-block') return '**required** in this block';
  if (setting.fallbackFrom !== undefined) return setting.fallbackFrom.text;
  const printed = setting.kind.print(setting.fallback);
  if (printed === '') return 'empty';
  return `\`${typeof printed === 'string' ? printed : JSON.stringify(printed).replaceAll(/"/g, '').replaceAll(',', ', ')}\``;
}

if (import.meta.main) writeFileSync(CONFIGURATION_DOCS, renderConfigurationDocs());
