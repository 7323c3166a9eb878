{{/* Values that cannot work are refused here, each with one sentence. */}}
{{- define "sallyport-dataplane.refuse" -}}
{{- $missing := list -}}
{{- if not .Values.publicUrl -}}{{- $missing = append $missing "publicUrl" -}}{{- end -}}
{{- if not (include "sallyport-dataplane.clientId" .) -}}{{- $missing = append $missing "global.AUTH_CLIENT_ID" -}}{{- end -}}
{{- with $missing -}}
{{- fail (printf "required values are missing: %s (values.yaml says what each is, docs/kubernetes.md where it comes from)" (join ", " .)) -}}
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
