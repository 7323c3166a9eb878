/**
 * Faults of the group: metadata.
 *
 * @module
 */

import { type Fault, METADATA_PATHS } from '../fault.ts';
import { type Handler, json, page } from '../faulty-plane.ts';

function atMetadata(handler: Handler): Fault['make'] {
  return (plane) => {
    for (const path of METADATA_PATHS) plane.front.set(path, handler);
    return {};
  };
}

/** In this order in the table. */
export const METADATA_FAULTS: readonly Fault[] = [
  {
    fault: 'the AuthMetadataService routes sit behind the auth subrequest',
    cause: 'metadata_behind_sign_in',
    ground: 'running plane',
    make(plane) {
      for (const path of METADATA_PATHS) plane.closed.add(path);
      return {};
    },
  },
  {
    fault: 'one AuthMetadataService route alone sits behind the auth subrequest',
    cause: 'metadata_behind_sign_in',
    ground: 'running plane',
    make(plane) {
      plane.closed.add('/flyteidl.service.AuthMetadataService/GetOAuth2Metadata');
      return {};
    },
  },
  {
    fault: 'the platform has no metadata of its issuer yet',
    cause: 'metadata_unavailable',
    ground: 'running plane',
    make: atMetadata(json(503, { reason: 'metadata_unavailable' })),
  },
  {
    fault: 'the metadata is not routed',
    cause: 'metadata_not_served',
    ground: 'running plane',
    make: atMetadata(page(404)),
  },
  {
    fault: 'the metadata names no issuer',
    cause: 'metadata_invalid',
    ground: 'running plane',
    make: atMetadata(json(200, {})),
  },
  {
    fault: 'bearer tokens are configured of another issuer than the running service has',
    cause: 'metadata_issuer_differs',
    ground: 'running plane',
    make: ({ issuer }) => ({
      config: {
        auth: {
          appAuth: { externalAuthServer: { baseUrl: `${issuer}/other` } },
          userAuth: { subjectPrefix: 'people:' },
        },
        bearer: { subjectPrefix: 'programs:' },
      },
    }),
  },
  {
    fault: 'CLI_CLIENT_ID is another one at the running service',
    cause: 'metadata_client_differs',
    ground: 'running plane',
    make: () => ({
      config: {
        auth: { appAuth: { thirdPartyConfig: { flyteClient: { clientId: 'other-app' } } } },
      },
    }),
  },
  {
    fault: 'the redirect address of the native app is another one at the running service',
    cause: 'metadata_redirect_differs',
    ground: 'running plane',
    make: () => ({
      config: {
        auth: {
          appAuth: {
            thirdPartyConfig: { flyteClient: { redirectUri: 'http://localhost:53594/callback' } },
          },
        },
      },
    }),
  },
];
