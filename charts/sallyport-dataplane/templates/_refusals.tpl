{{/* Values that cannot work are refused here, each with one sentence. */}}
{{- define "sallyport-dataplane.refuse" -}}
{{- $missing := list -}}
{{- if not .Values.publicUrl -}}{{- $missing = append $missing "publicUrl" -}}{{- end -}}
{{- if not (include "sallyport-dataplane.clientId" .) -}}{{- $missing = append $missing "global.AUTH_CLIENT_ID" -}}{{- end -}}
{{- with $missing -}}
{{- fail (printf "required values are missing: %s (values.yaml says what each is, docs/kubernetes.md where it comes from)" (join ", " .)) -}}
{{- end -}}
{{- if regexMatch `@` .Values.publicUrl -}}
{{- fail "publicUrl has a user name or a password: leave them out, docs/secrets.md says where a secret goes" -}}
{{- end -}}
{{- if not (regexMatch `^https?://([A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/?$` .Values.publicUrl) -}}
{{- fail "publicUrl is no origin: it is https://HOST or https://HOST:PORT, without a path, a query or a pattern" -}}
{{- end -}}
{{- $namespace := include "sallyport-dataplane.namespace" . -}}
{{- if has $namespace (list "kube-system" "kube-public" "kube-node-lease") -}}
{{- fail (printf "the namespace is %s, which belongs to Kubernetes, and whose pods get no API key: give namespaceOverride or install into a namespace of the data plane" $namespace) -}}
{{- end -}}
{{- if eq .Values.unionAuth.podLabel .Values.unionAuth.namespaceLabel -}}
{{- fail "unionAuth.podLabel and unionAuth.namespaceLabel are the same label: one says which pods get the API key, the other which namespaces may" -}}
{{- end -}}
{{- $admin := .Values.secrets.admin -}}
{{- if and $admin.create (not $admin.enable) -}}
{{- fail "secrets.admin.create makes a Secret that secrets.admin.enable=false mounts nowhere: set enable to true, or create to false" -}}
{{- end -}}
{{- if and $admin.create (not $admin.clientSecret) -}}
{{- fail "secrets.admin.create needs a stand-in in secrets.admin.clientSecret, any text but no secret" -}}
{{- end -}}
{{- with .Values.externalSecrets -}}
{{- if and .enabled (not .remoteRef.key) -}}
{{- fail "externalSecrets.remoteRef.key is missing: where the store keeps the client secret of the service app" -}}
{{- end -}}
{{/* The operator reports a Merge without a target as Ready, and fills nothing for ever. */}}
{{- if and .enabled (not .targetsExist) (not $admin.create) -}}
{{- fail "externalSecrets merges into cloud-secret-auth, which this chart does not make: set secrets.admin.create, or externalSecrets.targetsExist if it is there" -}}
{{- end -}}
{{- end -}}
{{- with .Values.eagerApiKey.externalSecret -}}
{{- if and .enabled (not .remoteRef.key) -}}
{{- fail "eagerApiKey.externalSecret.remoteRef.key is missing: where the store keeps the API key of task pods" -}}
{{- end -}}
{{- end -}}
{{- end -}}
