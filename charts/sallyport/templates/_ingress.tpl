{{/*
Annotations of the Ingress objects. The requirement's four groups (HTTP and gRPC, protected and unprotected) are seven
objects, because an annotation counts for a whole object: page loads and programs get different refusals, and streams
have other time-outs. The routes come from files/routes.yaml, which is made from the one route table.
*/}}

{{/* The objects, as a JSON list: name, transport, protected, streaming, and for protected HTTP whether browsers open it. */}}
{{- define "sallyport.ingress.objects" -}}
{{- list
    (dict "name" "open" "transport" "http" "protected" false "streaming" false)
    (dict "name" "pages" "transport" "http" "protected" true "streaming" false "page" true)
    (dict "name" "api" "transport" "http" "protected" true "streaming" false "page" false)
    (dict "name" "rpc-open" "transport" "grpc" "protected" false "streaming" false)
    (dict "name" "rpc-open-streams" "transport" "grpc" "protected" false "streaming" true)
    (dict "name" "rpc" "transport" "grpc" "protected" true "streaming" false)
    (dict "name" "rpc-streams" "transport" "grpc" "protected" true "streaming" true)
    | toJson -}}
{{- end -}}

{{/* Host of publicUrl: cookies, redirects and audiences of tokens are for this one. */}}
{{- define "sallyport.ingress.host" -}}
{{- (urlParse .Values.publicUrl).hostname | lower -}}
{{- end -}}

{{/*
Service and port behind a group, as JSON; empty for a backend that is not run here, whose paths then belong to a shorter,
protected path or to none. Sign-in, discovery and what the service verifies itself are always this chart's Service.
An entry with neither port is a Service of HTTP at 80, so that no entry is without effect.
*/}}
{{- define "sallyport.ingress.backend" -}}
{{- $given := get .root.Values.ingress.backends .group.backend -}}
{{- $own := eq .group.backend "admin" -}}
{{- if and $own (or (not .group.protected) (not $given)) -}}
{{- dict "name" (include "sallyport.fullname" .root) "port" (dict "number" (ternary 81 80 (eq .group.transport "grpc"))) | toJson -}}
{{- else if $given -}}
{{- $http := $given.port | default (ternary 0 80 (hasKey $given "grpcPort")) -}}
{{- $port := ternary $given.grpcPort $http (eq .group.transport "grpc") -}}
{{- if $port -}}
{{- dict "name" $given.service "port" (dict "number" (int $port)) | toJson -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Claims that /me sends as headers, and the two whose headers are removed in any case. */}}
{{- define "sallyport.ingress.claimHeaders" -}}
{{- $names := list -}}
{{- range concat (list "groups" "tenant_id") (default list .Values.config.claimHeaders) -}}
{{- $names = append $names (printf "X-User-Claim-%s" (regexReplaceAll "[^a-z0-9-]" (lower .) "-" | title)) -}}
{{- end -}}
{{- uniq $names | toJson -}}
{{- end -}}

{{/* Header names that /me's answer decides about, as the annotation has them; empty names of the answer are removed. */}}
{{- define "sallyport.ingress.responseHeaders" -}}
{{- if eq .root.Values.ingress.profile "requirement" -}}
Set-Cookie
{{- else -}}
{{- $claims := include "sallyport.ingress.claimHeaders" .root | fromJsonArray -}}
{{- $names := list "Set-Cookie" -}}
{{- $seen := dict "set-cookie" true -}}
{{- range concat .routes.identityHeaders $claims .routes.removedHeaders .root.Values.ingress.removedHeaders -}}
{{- if not (hasKey $seen (lower .)) -}}
{{- $names = append $names . -}}
{{- $_ := set $seen (lower .) true -}}
{{- end -}}
{{- end -}}
{{- join "," $names -}}
{{- end -}}
{{- end -}}

{{/* Variables of nginx that a kept verdict belongs to. */}}
{{- define "sallyport.ingress.cacheKey" -}}
{{- $literal := eq .root.Values.ingress.profile "requirement" -}}
{{- if and $literal (eq .object.transport "http") -}}
$http_core_authorization$http_cookie
{{- else -}}
$http_authorization$http_core_authorization$http_cookie
{{- end -}}
{{- end -}}

{{/* The annotations of one object, by their suffix. */}}
{{- define "sallyport.ingress.annotations" -}}
{{- $object := .object -}}
{{- $safe := eq .root.Values.ingress.profile "safe" -}}
{{- if eq $object.transport "grpc" }}
backend-protocol: GRPC
# The controller keeps connections by their address, whatever is spoken over them. By the Service's own address and a port
# that only gRPC has, no HTTP/1.1 connection to the same pod is taken for a call.
service-upstream: "true"
{{- end }}
{{- if $object.streaming }}
# A stream may be silent for an hour, and as long as it likes.
proxy-read-timeout: "3600"
proxy-send-timeout: "3600"
proxy-body-size: "0"
{{- end }}
# A sign-in carries the whole deep link through the identity provider, a check all identity headers.
proxy-buffer-size: 16k
{{- if $object.protected }}
auth-url: https://$host/me
{{- if $object.page }}
auth-signin: https://$host/login?redirect_url=$escaped_request_uri
{{- end }}
auth-response-headers: {{ include "sallyport.ingress.responseHeaders" . | quote }}
auth-cache-key: {{ include "sallyport.ingress.cacheKey" . | quote }}
{{- if $safe }}
# The body of /me is not read. With a method, the controller also states the address that is asked about.
auth-method: HEAD
# /me forbids to keep its answers. Where something on the way takes that out, no refusal is kept, and an admission for a second.
auth-cache-duration: 200 1s
auth-always-set-cookie: "true"
{{- if $object.page }}
# Otherwise the controller adds the address once more, as `rd`.
auth-signin-redirect-param: redirect_url
{{- end }}
{{- end }}
{{- else if $safe }}
# A check of the whole controller would lock these routes as well.
enable-global-auth: "false"
{{- end }}
{{- if .root.Values.ingress.snippets }}
{{- with include "sallyport.ingress.snippet" . }}
configuration-snippet: |
  {{- . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
What no annotation can do. On open routes: identity headers of clients are removed, and a path that a backend could read
as another one is refused, because nginx matches the path it reads and forwards the one that was sent. On all HTTP
routes: the same headers behind the prefixes of grpc-gateway are removed.
*/}}
{{- define "sallyport.ingress.snippet" -}}
{{- $module := ternary "grpc" "proxy" (eq .object.transport "grpc") -}}
{{- $names := list -}}
{{- if not .object.protected -}}
{{- $claims := include "sallyport.ingress.claimHeaders" .root | fromJsonArray -}}
{{- $names = concat (get .routes.removedOnOpenRoutes .object.transport) $claims .root.Values.ingress.removedHeaders | uniq -}}
if ($request_uri !~ "^/(?:[A-Za-z0-9_.~-]*[A-Za-z0-9_~-](?:/[A-Za-z0-9_.~-]*[A-Za-z0-9_~-])*/?)?(?:[?]|$)") {
  return 404;
}
{{ end -}}
{{- if eq .object.transport "http" -}}
{{- $names = concat $names .routes.removedCarriedHeaders -}}
proxy_headers_hash_max_size 2048;
proxy_headers_hash_bucket_size 128;
{{ end -}}
{{- range $names }}
{{- $module }}_set_header {{ . }} "";
{{ end -}}
{{- end -}}

{{/* Values of the ingress that cannot work, or would undo a check. */}}
{{- define "sallyport.ingress.refuse" -}}
{{- include "sallyport.refuse" . -}}
{{- $ingress := .Values.ingress -}}
{{- $url := urlParse .Values.publicUrl -}}
{{- if ne $url.scheme "https" -}}
{{- fail (printf "ingress.enabled needs a publicUrl with https, and it is %s: browsers are sent to https://HOST/login, and the check is asked at https://HOST/me" .Values.publicUrl) -}}
{{- end -}}
{{- if contains ":" $url.host -}}
{{- fail (printf "ingress.enabled needs a publicUrl without a port, and it is %s: the annotations name the host alone" .Values.publicUrl) -}}
{{- end -}}
{{- range $name, $_ := $ingress.annotations -}}
{{- $prefix := regexReplaceAll "/[^/]*$" $name "" -}}
{{- $suffix := base $name -}}
{{- if has $prefix (list $ingress.annotationPrefix "nginx.ingress.kubernetes.io") -}}
{{- $about := list "app-root" "backend-protocol" "connection-proxy-header" "custom-headers" "custom-http-errors" "default-backend" "enable-cors" "enable-global-auth" "from-to-www-redirect" "permanent-redirect" "rewrite-target" "satisfy" "server-alias" "service-upstream" "ssl-passthrough" "temporal-redirect" "upstream-vhost" "use-regex" "x-forwarded-prefix" -}}
{{- if or (has $suffix $about) (hasPrefix "auth-" $suffix) (hasPrefix "canary" $suffix) (hasPrefix "cors-" $suffix) (hasPrefix "mirror-" $suffix) (hasSuffix "-snippet" $suffix) -}}
{{- fail (printf "ingress.annotations must not have %s: it would change which requests are checked, or how; ingress.profile and ingress.snippets are for that" $name) -}}
{{- end -}}
{{- if eq $suffix "proxy-buffer-size" -}}
{{- fail (printf "ingress.annotations must not have %s: the chart sets it, to what a sign-in and a check need" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range include "sallyport.ingress.claimHeaders" . | fromJsonArray -}}
{{- if gt (len .) 46 -}}
{{- fail (printf "config.claimHeaders has a claim whose header is %s: nginx holds names of 46 characters, and the controller would not load its configuration" .) -}}
{{- end -}}
{{- end -}}
{{- $known := list -}}
{{- range (.Files.Get "files/routes.yaml" | fromYaml).groups -}}{{- $known = append $known .backend -}}{{- end -}}
{{- range $name, $backend := $ingress.backends -}}
{{- if and $backend.port (eq (toString $backend.port) (toString $backend.grpcPort)) -}}
{{- fail (printf "ingress.backends.%s has one port for HTTP and gRPC: the controller would take connections of one for the other; give the Service a second port, to the same targetPort if need be" $name) -}}
{{- end -}}
{{- if not (has $name $known) -}}
{{- fail (printf "ingress.backends.%s is no backend of the route table; it knows %s" $name (uniq $known | sortAlpha | join ", ")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
