{{/*
The configuration of `sallyport serve`: the deployment variables, the requirement's settings, where this chart mounts
things, and `config` over all of it. No secret is in it: it names files.
*/}}
{{- define "sallyport.configuration" -}}
{{- include "sallyport.refuseSecrets" . -}}
{{- $global := .Values.global -}}
{{- $session := dict "keyRingFile" "/etc/sallyport-key-ring/key-ring.json" -}}
{{- if .Values.redis.addresses -}}
{{- $_ := set $session "store" "redis" -}}
{{- $_ := set $session "redis" (include "sallyport.redisConfiguration" . | fromYaml) -}}
{{- else -}}
{{- $_ := set $session "store" "local" -}}
{{- end -}}
{{- $openId := dict
    "baseUrl" $global.OIDC_BASE_URL
    "clientId" $global.OIDC_CLIENT_ID
    "clientSecretFile" "/etc/secrets/oidc_client_secret"
    "scopes" (list "profile" "openid" "offline_access") -}}
{{- $client := dict
    "clientId" $global.CLI_CLIENT_ID
    "redirectUri" "http://localhost:53593/callback"
    "scopes" (list "all") -}}
{{- $auth := dict
    "grpcAuthorizationHeader" "core-authorization"
    "httpAuthorizationHeader" "core-authorization"
    "authorizedUris" (include "sallyport.authorizedUris" . | fromJsonArray)
    "appAuth" (dict
      "authServerType" "External"
      "externalAuthServer" (dict "baseUrl" $global.OIDC_BASE_URL)
      "thirdPartyConfig" (dict "flyteClient" $client))
    "userAuth" (dict
      "openId" $openId
      "cookieSetting" (dict "sameSitePolicy" "LaxMode" "domain" "")
      "idpQueryParameter" "idp") -}}
{{- $configuration := dict
    "publicUrl" .Values.publicUrl
    "server" (dict
      "drainDelay" (printf "%ds" (int .Values.drainDelaySeconds))
      "security" (dict "useAuth" true))
    "session" $session
    "auth" $auth
    "admin" (dict "clientId" $global.INTERNAL_CLIENT_ID "clientSecretLocation" "/etc/secrets/client_secret")
    "union" (dict "auth" (dict "clientId" $global.INTERNAL_CLIENT_ID "tokenUrl" $global.AUTH_TOKEN_URL))
    "secrets" (dict "admin" (dict "clientId" (default $global.INTERNAL_CLIENT_ID $global.AUTH_CLIENT_ID))) -}}
{{- if .Values.metrics.enabled -}}
{{- $_ := set $configuration "observe" (dict "metrics" (dict "host" "0.0.0.0" "port" 9464)) -}}
{{- end -}}
{{- mustMergeOverwrite $configuration (deepCopy .Values.config) | toYaml -}}
{{- end -}}

{{- define "sallyport.redisConfiguration" -}}
{{- $redis := .Values.redis -}}
mode: {{ $redis.mode }}
addresses: {{ toJson $redis.addresses }}
{{- with $redis.sentinelMaster }}
sentinelMaster: {{ quote . }}
{{- end }}
{{- with $redis.username }}
username: {{ quote . }}
{{- end }}
{{- if $redis.passwordSecret.name }}
passwordLocation: /etc/sallyport-redis/password/{{ $redis.passwordSecret.key }}
{{- end }}
{{- if $redis.sentinelPasswordSecret.name }}
sentinelPasswordLocation: /etc/sallyport-redis/sentinel-password/{{ $redis.sentinelPasswordSecret.key }}
{{- end }}
{{- if $redis.tls.enabled }}
tls:
  enabled: true
  {{- if $redis.tls.caSecret.name }}
  caFile: /etc/sallyport-redis/ca/{{ $redis.tls.caSecret.key }}
  {{- end }}
  {{- if $redis.tls.certificateSecret }}
  certFile: /etc/sallyport-redis/certificate/tls.crt
  keyFile: /etc/sallyport-redis/certificate/tls.key
  {{- end }}
  {{- with $redis.tls.serverName }}
  serverName: {{ quote . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* What a running service cannot take up by itself (docs/operation.md): pods are replaced when it changes. */}}
{{- define "sallyport.restartChecksum" -}}
{{- $all := include "sallyport.configuration" . | fromYaml -}}
{{- $server := default dict $all.server -}}
{{- $session := default dict $all.session -}}
{{- list
    $all.listen $all.stateDirectory $all.observe
    $server.listen $server.socketMode $server.socketGroup $server.workers (dig "security" "useAuth" true $server)
    $session.store $session.redis $session.keyRingFile
    | toJson | sha256sum -}}
{{- end -}}
