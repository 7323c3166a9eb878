/**
 * Causes why task pods get no API key.
 *
 * @module
 */

/** By name, as `Cause` has them. */
export const INJECTION_CAUSES = {
  webhook_without_pods: {
    group: 'cluster',
    seen: 'Task pods are refused, or made without `EAGER_API_KEY`.',
    found: 'Reads the Service and the EndpointSlices of the webhook.',
    cure: 'Look at the pods of `sallyport inject`.',
  },
  webhook_certificate_expired: {
    group: 'cluster',
    seen: 'Task pods are refused, or made without `EAGER_API_KEY`.',
    found: 'Reads `tls.crt` of the Secret that the webhook mounts.',
    cure: 'Renew the certificate.',
  },
  webhook_certificate_untrusted: {
    group: 'cluster',
    seen: 'Task pods are refused, or made without `EAGER_API_KEY`.',
    found: 'Verifies `tls.crt` by the `caBundle` of the MutatingWebhookConfiguration.',
    cure: 'Give the authority that signed it as `caBundle`.',
  },
  webhook_certificate_other_name: {
    group: 'cluster',
    seen: 'Task pods are refused, or made without `EAGER_API_KEY`.',
    found: 'Compares the names in `tls.crt` with the one that the API server asks for.',
    cure: 'Have it issued for `SERVICE.NAMESPACE.svc`.',
  },
  webhook_unreachable: {
    group: 'cluster',
    seen: 'Task pods are refused: `failed calling webhook`.',
    found: 'Has the API server make a task pod in a dry run, which leaves none.',
    cure: 'Look at the pods of the webhook and at network policies.',
  },
  injection_not_done: {
    group: 'cluster',
    seen: 'Task pods have no `EAGER_API_KEY`.',
    found: 'Has the API server make a task pod in a dry run, which leaves none.',
    cure: 'Look at the pods of the webhook; set `failurePolicy` to `Fail`.',
  },
  injection_policy_unbound: {
    group: 'cluster',
    seen: 'Task pods have no `EAGER_API_KEY`.',
    found: 'Looks for a MutatingAdmissionPolicyBinding of the policy.',
    cure: 'Apply the binding of the chart.',
  },
  injection_failures_ignored: {
    group: 'cluster',
    seen: 'Now and then a task pod has no `EAGER_API_KEY`.',
    found: 'Reads the `failurePolicy`.',
    cure: '`injection.failurePolicy: Fail`.',
  },
  injection_selects_nothing: {
    group: 'cluster',
    seen: 'Task pods have no `EAGER_API_KEY`.',
    found: 'Looks for namespaces that the `namespaceSelector` selects.',
    cure: 'Label the namespaces of task pods.',
  },
  injection_namespace_not_selected: {
    group: 'cluster',
    seen: 'Task pods of one namespace have no `EAGER_API_KEY`.',
    found: 'Reads the task pods there are, and the labels of their namespaces.',
    cure: 'Label the namespace, and make the pods again.',
  },
  task_pods_without_key: {
    group: 'cluster',
    seen: 'Task pods get 401.',
    found: 'Reads the task pods there are.',
    cure: 'Make them again.',
  },
} as const;
