/**
 * Schema of `bearer.*`: whose bearer tokens are accepted, and how they are read.
 *
 * @module
 */

import {
  type BearerConfig,
  type BearerIssuerConfig,
  SIGNATURE_ALGORITHMS,
} from '../bearer-config.ts';
import { booleanKind, enumKind, integerKind, listKind, notEmpty } from '../kinds/kind.ts';
import { recordListKind } from '../kinds/record.ts';
import {
  claimNameKind,
  clientIdKind,
  orEmpty,
  pathKind,
  scopeKind,
  subjectPrefixKind,
  textKind,
} from '../kinds/text.ts';
import { endpointKind, issuerKind } from '../kinds/url.ts';
import type { SchemaOf } from './setting.ts';

/** Symmetric algorithms and `none` are not among them and cannot be: a verifier would be a forger. */
const algorithms = {
  kind: notEmpty(
    listKind(
      enumKind(SIGNATURE_ALGORITHMS, {
        none: 'a token without a signature proves nothing',
        HS256: 'every party that can verify such a signature can also make it',
        HS384: 'every party that can verify such a signature can also make it',
        HS512: 'every party that can verify such a signature can also make it',
      }),
      'signature algorithms',
    ),
  ),
  fallback: SIGNATURE_ALGORITHMS,
  meaning: 'Signature algorithms that are accepted.',
};

const claimNames = notEmpty(listKind(claimNameKind, 'names of claims'));

const clientIdClaims = {
  kind: claimNames,
  fallback: ['client_id', 'azp', 'cid', 'appid'],
  meaning: 'Claims that name the client, the first that is there counts.',
};

const scopeClaims = {
  kind: claimNames,
  fallback: ['scope', 'scp'],
  meaning:
    'Claims that hold scopes, as a text with blanks or as a list, taken together. `[scp, roles]` at Entra, where applications have roles.',
};

const subjectClaim = {
  kind: claimNameKind,
  fallback: 'sub',
  meaning: 'Claim that names the subject.',
};

const issuers = recordListKind<BearerIssuerConfig>(
  {
    issuer: { kind: issuerKind, meaning: 'The issuer, exactly as its tokens spell `iss`.' },
    metadataUrl: {
      kind: orEmpty(endpointKind),
      fallback: '',
      meaning:
        'Its metadata document; empty asks where OpenID Connect Discovery and then RFC 8414 put it.',
    },
    audiences: {
      kind: listKind(textKind({ name: 'string', expected: 'an audience' }), 'audiences'),
      fallback: [],
      meaning: 'Audiences that are accepted; empty means `publicUrl` alone.',
    },
    algorithms,
    clientIdClaims,
    scopeClaims,
    subjectClaim,
    subjectPrefix: {
      kind: orEmpty(subjectPrefixKind),
      fallback: '',
      meaning:
        'Text that stands before its subjects where backends see them. Needed: the same subject of two issuers is two people.',
    },
    emailTrusted: {
      kind: booleanKind,
      fallback: false,
      meaning: 'As the key `emailTrusted`, for this issuer.',
    },
  },
  'issuers, each a mapping',
);

/** Schema of `bearer`. */
export const BEARER_SCHEMA: SchemaOf<BearerConfig> = {
  onlyConfiguredHeader: {
    kind: booleanKind,
    fallback: false,
    meaning:
      'Reads bearer tokens from the configured headers alone. By default `authorization` is read beside them, because real SDKs send it.',
  },
  requiredScopes: {
    kind: listKind(scopeKind, 'scopes'),
    fallback: ['all'],
    meaning:
      'Scopes a bearer token must have, all of them; without one it is answered 403 `insufficient_scope`. Empty asks for none and gives a warning.',
  },
  algorithms,
  clientIdClaims,
  scopeClaims,
  subjectClaim,
  subjectPrefix: {
    kind: orEmpty(subjectPrefixKind),
    fallback: '',
    meaning:
      'Text that stands before subjects of `auth.appAuth.externalAuthServer` where backends see them. Needed with `bearer.issuers`, and when people sign in at another issuer; see `auth.userAuth.subjectPrefix`.',
  },
  issuers: {
    kind: issuers,
    fallback: [],
    meaning:
      'Further issuers of bearer tokens, beside `auth.appAuth.externalAuthServer`. The keys above are about that one; each of these has its own.',
  },
  introspection: {
    endpoint: {
      kind: orEmpty(endpointKind),
      fallback: '',
      meaning:
        'Introspection endpoint (RFC 7662) of `auth.appAuth.externalAuthServer`, which is asked about bearer tokens that are no JWTs. Without it they are refused. The answer must name an audience and a client and say that it is an access token.',
    },
    clientId: {
      kind: orEmpty(clientIdKind),
      fallback: '',
      meaning: 'Client ID that the endpoint is asked with. Needed with the endpoint.',
    },
    clientSecretFile: {
      kind: orEmpty(pathKind),
      fallback: '',
      meaning:
        "File that holds that client's secret. Needed with the endpoint. Read again when it changes.",
    },
    requestsPerSecond: {
      kind: integerKind(1, 10_000),
      fallback: 50,
      meaning:
        'Most requests to the endpoint in a second; beyond them and a short queue, callers are answered 503 `issuer_unavailable`.',
    },
  },
};
