{{/* What NOTES say about the ingress: what it needs, and what its profile lets through. */}}
{{- define "sallyport.ingress.notes" -}}
{{- $literal := eq .Values.ingress.profile "requirement" -}}
Ingress for https://{{ include "sallyport.ingress.host" . }}, profile {{ .Values.ingress.profile }} (docs/ingress.md):
- The controller asks https://{{ include "sallyport.ingress.host" . }}/me about each request: it must resolve and reach that name, or every protected route answers 500.
- A program that opens a page (not an API) without a credential gets 302 to /login in place of 401.
- Behind the check, a renewed session cookie reaches the backend as the request header Set-Cookie.
- No other Ingress of this host may use regular expressions or rewriting (use-regex, rewrite-target): /me would then open every path that begins with these letters.
{{- if $literal }}
- WARNING: identity headers of clients, such as X-User-Subject, reach every backend as they were sent. Only ingress.profile=safe replaces them.
- WARNING: auth-cache-key leaves out the header Authorization on HTTP routes. Only the Cache-Control of /me keeps a verdict on one caller from admitting another: nothing between may take it out.
- Set-Cookie of the check does not reach the client beside an error of the backend.
{{- end }}
{{- if .Values.ingress.snippets }}
- Snippets need allow-snippet-annotations: "true" and annotations-risk-level: Critical in the controller's ConfigMap; it refuses the objects otherwise. Everyone who may write an Ingress can then configure its nginx.
{{- else }}
- WARNING: without ingress.snippets, identity headers of clients reach the backends of open routes, over HTTP and gRPC, and so does another spelling of an open path (/x/..%2fopenapi). Behind the check the headers that Grpc-Metadata- is put before pass.
{{- end }}
{{- end -}}
