{{/* Values that cannot work are refused here, each with one sentence. What the service itself refuses, `serve --check` says. */}}
{{- define "sallyport.refuse" -}}
{{- $missing := list -}}
{{- if not .Values.publicUrl -}}{{- $missing = append $missing "publicUrl" -}}{{- end -}}
{{- range list "OIDC_BASE_URL" "OIDC_CLIENT_ID" "CLI_CLIENT_ID" "INTERNAL_CLIENT_ID" "AUTH_TOKEN_URL" -}}
{{- if not (get $.Values.global .) -}}{{- $missing = append $missing (printf "global.%s" .) -}}{{- end -}}
{{- end -}}
{{- if not .Values.image.repository -}}{{- $missing = append $missing "image.repository" -}}{{- end -}}
{{- with $missing -}}
{{- fail (printf "required values are missing: %s (values.yaml says what each is, docs/kubernetes.md where it comes from)" (join ", " .)) -}}
{{- end -}}
{{- if or (dig "secrets" "admin" "clientSecret" "" .Values.config) (dig "secrets" "adminOauthClientCredentials" "clientSecret" "" .Values.config) -}}
{{- fail "config.secrets has a clientSecret, which would stand in a ConfigMap: leave it out, docs/secrets.md says where a secret goes" -}}
{{- end -}}
{{- include "sallyport.refuseSharedLocalStore" . -}}
{{- include "sallyport.refuseMergeWithoutTarget" . -}}
{{- if and (not .Values.metrics.enabled) (or .Values.metrics.serviceMonitor.enabled .Values.metrics.rules.enabled .Values.metrics.dashboard.enabled) -}}
{{- fail "metrics.serviceMonitor, metrics.rules and metrics.dashboard need metrics.enabled" -}}
{{- end -}}
{{- end -}}

{{/* The operator reports a Merge without a target as Ready, and fills nothing for ever. */}}
{{- define "sallyport.refuseMergeWithoutTarget" -}}
{{- with .Values.externalSecrets -}}
{{- if and .enabled (not .remoteRef.key) -}}
{{- fail "externalSecrets.remoteRef.key is missing: where the store keeps the client secret of the service app" -}}
{{- end -}}
{{- if and .enabled (not .targetsExist) -}}
{{- $credentials := $.Values.secrets.adminOauthClientCredentials -}}
{{- if not $.Values.secrets.coreAdmin.create -}}
{{- fail "externalSecrets merges into core-admin-secrets, which this chart does not make: set secrets.coreAdmin.create, or externalSecrets.targetsExist if it is there" -}}
{{- end -}}
{{- if and $credentials.enabled (not $credentials.clientSecret) -}}
{{- fail "externalSecrets merges into core-secret-auth, which this chart does not make: set secrets.adminOauthClientCredentials.clientSecret to a stand-in, or externalSecrets.targetsExist if it is there" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The local store is a file of one pod: a second pod would not know its sessions. */}}
{{- define "sallyport.refuseSharedLocalStore" -}}
{{- $configuration := include "sallyport.configuration" . | fromYaml -}}
{{- if ne (dig "session" "store" "local" $configuration) "redis" -}}
{{- if gt (int .Values.replicas) 1 -}}
{{- fail (printf "replicas is %d without redis.addresses: each pod would keep sessions of its own, and people would be signed out at random; give redis.addresses, or set replicas to 1" (int .Values.replicas)) -}}
{{- end -}}
{{- if .Values.autoscaling.enabled -}}
{{- fail "autoscaling without redis.addresses: each pod would keep sessions of its own, and people would be signed out at random; give redis.addresses, or set autoscaling.enabled to false" -}}
{{- end -}}
{{- if and .Values.strategy (ne (default "RollingUpdate" .Values.strategy.type) "Recreate") -}}
{{- if not (has (toString (dig "rollingUpdate" "maxSurge" "" .Values.strategy)) (list "0" "0%")) -}}
{{- fail "strategy starts a second pod before the first one has ended (surge) without redis.addresses: both would keep sessions of their own; give redis.addresses, or leave strategy empty" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
