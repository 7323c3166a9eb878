/**
 * Causes in configuration files, on the machine and in the cluster.
 *
 * @module
 */

/** By name, as `Cause` has them. */
export const CONFIGURATION_CAUSES = {
  config_invalid: {
    group: 'config',
    seen: 'The process does not start.',
    found: 'Reads file and environment by the rules of the program that they are for.',
    cure: 'Correct the key that is named.',
  },
  config_warning: {
    group: 'config',
    seen: 'Nothing yet, or a failure elsewhere.',
    found: 'Reads file and environment by the rules of the program that they are for.',
    cure: 'Correct the key that is named.',
  },
  auth_disabled: {
    group: 'config',
    seen: 'A browser is redirected in a loop: `/login`, `/callback` and `/me` are not registered.',
    found: '`server.security.useAuth` in the file.',
    cure: '`server.security.useAuth: true`.',
  },
  service_auth_disabled: {
    group: 'config',
    seen: 'Internal services get 401.',
    found: '`union.auth.enable` in the file.',
    cure: '`union.auth.enable: true`.',
  },
  scheduler_secret_not_enabled: {
    group: 'config',
    seen: 'The scheduler fails to start.',
    found: '`secrets.adminOauthClientCredentials.enabled` in the file.',
    cure: '`secrets.adminOauthClientCredentials.enabled: true`.',
  },
  data_plane_secret_not_enabled: {
    group: 'config',
    seen: 'Operator and propeller cannot authenticate.',
    found: '`secrets.admin.enable` in the file.',
    cure: '`secrets.admin.enable: true`.',
  },
  client_ids_differ: {
    group: 'config',
    seen: 'Operator and propeller cannot authenticate.',
    found:
      'Compares the service apps of all files, and `AUTH_CLIENT_ID` with `INTERNAL_CLIENT_ID`.',
    cure: 'One value on both sides; `auth.separateServiceApps: true` if two apps are meant.',
  },
  client_ids_equal: {
    group: 'config',
    seen: 'Sign-ins fail, or services get no token: an application is refused, or is served as another one.',
    found: 'Compares the client IDs of the web, the native and the service app.',
    cure: 'The client ID of each application at its own place.',
  },
  probe_unfinished: {
    group: 'config',
    seen: 'The doctor could not look at something in time.',
    found: 'The probe was ended.',
    cure: 'A longer `--timeout`, or `--skip`.',
  },
  probe_failed: {
    group: 'config',
    seen: 'The doctor could not look at something.',
    found: 'The probe failed.',
    cure: 'Report it: it is a defect.',
  },
  cluster_unreachable: {
    group: 'cluster',
    seen: 'The doctor cannot look into the cluster.',
    found: 'Lists the Secrets of both namespaces.',
    cure: 'Another `--context`; or `--manifests FILE`.',
  },
  secret_missing: {
    group: 'cluster',
    seen: 'The scheduler fails to start (`core-secret-auth`), or operator and propeller cannot authenticate (`cloud-secret-auth`).',
    found: 'Looks for the Secrets that the charts mount in their namespaces.',
    cure: '`kubectl create secret generic NAME -n NAMESPACE --from-file=client_secret=FILE`',
  },
  synchronization_incomplete: {
    group: 'cluster',
    seen: 'Internal services get 401 for up to an hour after the installation; `kubectl wait` says Ready.',
    found: 'Reads the reason of each ExternalSecret: anything but `SecretSynced`.',
    cure: 'Create the target Secret, or `creationPolicy: CreateOrMerge`; then force a synchronization.',
  },
  synchronization_stale: {
    group: 'cluster',
    seen: 'Services get 401 after a rotation.',
    found: 'Compares `refreshTime` with the interval: more than two of them.',
    cure: 'Look at the external-secrets operator.',
  },
  cache_key_incomplete: {
    group: 'proxy',
    seen: 'Nothing, or: one person sees what another may see.',
    found:
      'Reads the annotation `auth-cache-key` of each Ingress, and with `--nginx` the `proxy_cache_key` of what `auth_request` asks.',
    cure: 'The header of bearer tokens and the cookie in the key.',
  },
  redirect_port_taken: {
    group: 'machine',
    seen: '`sallyport login` says that its port is taken.',
    found: 'Listens on port 53593 of both loopback addresses for a moment.',
    cure: 'End the other program; `--flow device`.',
  },
  token_store_unsafe: {
    group: 'machine',
    seen: '`SP_TOKEN_STORE_UNUSABLE`.',
    found: 'Looks at owner and mode of the folder of tokens.',
    cure: '`chmod 700` on the folder that is named.',
  },
  keyring_unusable: {
    group: 'machine',
    seen: '`SP_TOKEN_STORE_UNUSABLE`.',
    found: 'Tries the keyring, where `SALLYPORT_TOKEN_STORE=keyring` asks for it.',
    cure: '`SALLYPORT_TOKEN_STORE=file`.',
  },
  proxy_for_this_machine: {
    group: 'machine',
    seen: 'A sign-in of another client ends at the proxy.',
    found: 'Reads `HTTP_PROXY` and `NO_PROXY`.',
    cure: '`localhost` in `NO_PROXY`.',
  },
  variable_overrides_login: {
    group: 'machine',
    seen: 'Commands act as an application although a person has signed in.',
    found: 'Reads the names of variables; their values are not shown.',
    cure: 'Unset the variables that are named.',
  },
  profiles_share_platform: {
    group: 'machine',
    seen: 'A sign-in counts for one profile and not for the other.',
    found: 'Compares the endpoints of all profiles.',
    cure: 'Remove one of the two.',
  },
} as const;
