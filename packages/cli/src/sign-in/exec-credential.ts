/**
 * The object Kubernetes clients take a token in.
 *
 * @module
 */

/** Kind and version that `kubectl` and its libraries read. */
const API_VERSION = 'client.authentication.k8s.io/v1';

/**
 * Builds an `ExecCredential`, so that a kubeconfig's `exec` user can run `sallyport token
 * --exec-credential`.
 *
 * @param expiresAt - Epoch milliseconds. Without it the caller asks again only after a 401.
 *
 * @see https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
 */
export function buildExecCredential(accessToken: string, expiresAt: number | undefined): object {
  return {
    apiVersion: API_VERSION,
    kind: 'ExecCredential',
    status: {
      ...(expiresAt === undefined
        ? {}
        : { expirationTimestamp: new Date(expiresAt).toISOString().replace(/\.\d{3}Z$/, 'Z') }),
      token: accessToken,
    },
  };
}
