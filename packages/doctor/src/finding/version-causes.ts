/**
 * Causes that lie in versions.
 *
 * @module
 */

/** By name, as `Cause` has them. */
export const VERSION_CAUSES = {
  kubernetes_too_old: {
    group: 'cluster',
    seen: 'The charts cannot be installed or upgraded.',
    found: 'Asks the API server for its version.',
    cure: 'Kubernetes 1.29 or later; 1.36 for `injection.mode: policy`.',
  },
  external_secrets_too_old: {
    group: 'cluster',
    seen: '`helm` knows no kind `ExternalSecret` in `external-secrets.io/v1`.',
    found: 'Reads the versions that the CustomResourceDefinition serves.',
    cure: 'Upgrade the external-secrets operator.',
  },
  ingress_controller_retired: {
    group: 'cluster',
    seen: 'Nothing yet.',
    found: 'Reads the controller of the IngressClass that the Ingress objects name.',
    cure: 'Move to an ingress that is maintained, such as nginx with the files of `sallyport recipe nginx`.',
  },
  image_version_differs: {
    group: 'cluster',
    seen: 'Settings have no effect, or pods do not start.',
    found: 'Compares the version in the labels of a Deployment with the tag of its image.',
    cure: 'Leave `image.tag` empty.',
  },
  chart_versions_differ: {
    group: 'cluster',
    seen: 'Nothing, or one plane lacks what the other expects.',
    found: 'Compares the version in the labels of the Deployments of both planes.',
    cure: 'Upgrade the older one.',
  },
} as const;
