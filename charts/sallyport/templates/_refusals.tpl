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
{{- include "sallyport.refuseSecrets" . -}}
{{- if not (regexMatch `^https?://([A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/?$` .Values.publicUrl) -}}
{{- fail "publicUrl is no origin: it is https://HOST or https://HOST:PORT, without a path, a query or a pattern" -}}
{{- end -}}
{{- include "sallyport.refusePodMetadata" . -}}
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

{{/* What would put a secret into a ConfigMap. `sallyport.configuration` begins with it, whichever template is rendered first. */}}
{{- define "sallyport.refuseSecrets" -}}
{{- include "sallyport.refuseCredentials" (dict "place" "publicUrl" "value" .Values.publicUrl) -}}
{{- include "sallyport.refuseCredentials" (dict "place" "global" "value" (pick .Values.global "OIDC_BASE_URL" "OIDC_CLIENT_ID" "CLI_CLIENT_ID" "INTERNAL_CLIENT_ID" "AUTH_TOKEN_URL" "AUTH_CLIENT_ID")) -}}
{{- include "sallyport.refuseCredentials" (dict "place" "config" "value" .Values.config) -}}
{{- range .Values.redis.addresses -}}
{{- if contains "@" . -}}
{{- fail "redis.addresses has a user name or a password: an address is host:port, redis.username and redis.passwordSecret are for the others" -}}
{{- end -}}
{{- end -}}
{{- $settings := (.Files.Get "files/settings.yaml" | fromYaml).settings -}}
{{- include "sallyport.refuseSettings" (dict "settings" $settings "block" "" "value" .Values.config) -}}
{{- end -}}

{{/* User names and passwords in URLs, and private keys: `value` would stand in a ConfigMap. The message names the place alone. */}}
{{- define "sallyport.refuseCredentials" -}}
{{- $place := .place -}}
{{- if kindIs "map" .value -}}
{{- range $name, $value := .value -}}
{{- include "sallyport.refuseCredentials" (dict "place" (include "sallyport.placeBelow" (list $place $name)) "value" $value) -}}
{{- end -}}
{{- else if kindIs "slice" .value -}}
{{- range .value -}}
{{- include "sallyport.refuseCredentials" (dict "place" $place "value" .) -}}
{{- end -}}
{{- else if kindIs "string" .value -}}
{{- if regexMatch `(?i)(https?:[/\\]*|[a-z][a-z0-9+.-]*:[/\\]{2,})[^/\\?#]*@` .value -}}
{{- fail (printf "%s has a URL with a user name or a password, which would stand in a ConfigMap: leave them out, docs/secrets.md says where a secret goes" $place) -}}
{{- end -}}
{{- if contains "PRIVATE KEY-----" .value -}}
{{- fail (printf "%s has a PRIVATE KEY, which would stand in a ConfigMap: name its file, docs/secrets.md says where a secret goes" $place) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The place of a name below another, for messages: what is no plain name is not repeated. */}}
{{- define "sallyport.placeBelow" -}}
{{- printf "%s.%s" (first .) (ternary (last .) "[withheld]" (regexMatch "^[A-Za-z0-9_.-]{1,64}$" (last .))) -}}
{{- end -}}

{{/*
Keys below `config` that the schema of the service does not have, or that hold a secret: a mistyped key may hold one, too.
Files and variables are named by what looks like one. What each key holds is in files/settings.yaml, made from the schema.
*/}}
{{- define "sallyport.refuseSettings" -}}
{{- $settings := .settings -}}
{{- $block := .block -}}
{{- $why := "would stand in a ConfigMap: leave it out, docs/secrets.md says where a secret goes" -}}
{{- range $name, $value := .value -}}
{{- $key := ternary $name (printf "%s.%s" $block $name) (empty $block) -}}
{{- $place := include "sallyport.placeBelow" (list (ternary "config" (printf "config.%s" $block) (empty $block)) $name) -}}
{{- $holds := get $settings $key -}}
{{- if kindIs "invalid" $value -}}
{{- else if kindIs "slice" $holds -}}
{{- range $entry := (kindIs "slice" $value | ternary $value (list $value)) -}}
{{- if not (kindIs "map" $entry) -}}
{{- fail (printf "%s is no list of mappings; what it holds %s" $place $why) -}}
{{- end -}}
{{- range $field, $part := $entry -}}
{{- if or (not (has $field $holds)) (include "sallyport.isNested" $part) -}}
{{- fail (printf "%s is no setting of docs/configuration.md; what it holds %s" (include "sallyport.placeBelow" (list $place $field)) $why) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- else if eq $holds "secret" -}}
{{- if $value -}}{{- fail (printf "%s holds a secret, which %s" $place $why) -}}{{- end -}}
{{- else if $holds -}}
{{- if include "sallyport.isNested" $value -}}
{{- fail (printf "%s holds a mapping, and takes none; what it holds %s" $place $why) -}}
{{- end -}}
{{- if and (eq $holds "path") $value (not (regexMatch `^\.{0,2}/.` (toString $value))) -}}
{{- fail (printf "%s is no path that begins with /, ./ or ../; what it holds %s" $place $why) -}}
{{- end -}}
{{- if and (eq $holds "variable name") $value (not (regexMatch "^[A-Z_][A-Z0-9_]{0,127}$" (toString $value))) -}}
{{- fail (printf "%s is no name of an environment variable in capitals; what it holds %s" $place $why) -}}
{{- end -}}
{{- else -}}
{{- $isBlock := false -}}
{{- range $known, $_ := $settings -}}{{- if hasPrefix (printf "%s." $key) $known -}}{{- $isBlock = true -}}{{- end -}}{{- end -}}
{{- if or (not $isBlock) (contains "." $name) -}}
{{- fail (printf "%s is no setting of docs/configuration.md; what it holds %s" $place $why) -}}
{{- end -}}
{{- if not (kindIs "map" $value) -}}
{{- fail (printf "%s is no mapping; what it holds %s" $place $why) -}}
{{- end -}}
{{- include "sallyport.refuseSettings" (dict "settings" $settings "block" $key "value" $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether a value is a mapping, or a list with anything but single values: text, or nothing. */}}
{{- define "sallyport.isNested" -}}
{{- if kindIs "map" . -}}yes{{- else if kindIs "slice" . -}}
{{- range . -}}{{- if or (kindIs "map" .) (kindIs "slice" .) -}}yes{{- end -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels and annotations that the chart sets itself: twice in an object, either could count. */}}
{{- define "sallyport.refusePodMetadata" -}}
{{- range $name, $_ := .Values.podLabels -}}
{{- if or (eq $name "app.kubernetes.io/component") (hasKey (include "sallyport.labels" $ | fromYaml) $name) -}}
{{- fail (printf "podLabels must not have %s: the chart sets it, and finds its pods by it" $name) -}}
{{- end -}}
{{- end -}}
{{- if hasKey .Values.podAnnotations "sallyport/restart-checksum" -}}
{{- fail "podAnnotations must not have sallyport/restart-checksum: the chart sets it" -}}
{{- end -}}
{{- end -}}
