{{/* What both ways of injection have in common. */}}

{{/* Which way, or "none": without injectSecret every pod stays as it is. */}}
{{- define "sallyport-dataplane.injection.mode" -}}
{{- if .Values.unionAuth.injectSecret -}}{{ .Values.injection.mode }}{{- else -}}none{{- end -}}
{{- end -}}

{{/* Of the webhook's objects in the namespace, and of its Service, for which the certificate is. */}}
{{- define "sallyport-dataplane.injection.name" -}}
sallyport-inject
{{- end -}}

{{/* Of objects without a namespace. */}}
{{- define "sallyport-dataplane.injection.clusterName" -}}
{{- printf "sallyport-inject-%s" (include "sallyport-dataplane.namespace" .) -}}
{{- end -}}

{{- define "sallyport-dataplane.injection.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "sallyport-dataplane.injection.tlsSecret" -}}
{{- default (printf "%s-tls" (include "sallyport-dataplane.injection.name" .)) .Values.injection.webhook.certificate.secretName -}}
{{- end -}}

{{/* Only pods with the label, in namespaces with theirs: whatever happens here, all other pods are made as ever. */}}
{{- define "sallyport-dataplane.injection.selectors" -}}
objectSelector:
  matchLabels:
    {{ .Values.unionAuth.podLabel }}: "true"
namespaceSelector:
  matchLabels:
    {{ .Values.unionAuth.namespaceLabel }}: "true"
  matchExpressions:
    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, kube-public, kube-node-lease]}
{{- end -}}

{{- define "sallyport-dataplane.injection.rules" -}}
- apiGroups: [""]
  apiVersions: [v1]
  operations: [CREATE]
  resources: [pods]
  scope: Namespaced
{{- end -}}

{{- define "sallyport-dataplane.injection.refuse" -}}
{{- if eq (include "sallyport-dataplane.injection.mode" .) "webhook" -}}
{{- with .Values.injection.webhook.certificate -}}
{{- if and (not .certManager.enabled) (not .caBundle) -}}
{{- fail "injection.mode webhook needs a certificate: give injection.webhook.certificate.caBundle and the Secret with the certificate, or set injection.webhook.certificate.certManager.enabled" -}}
{{- end -}}
{{- if and .certManager.enabled .caBundle -}}
{{- fail "injection.webhook.certificate.caBundle and certManager.enabled exclude each other: cert-manager writes the authority itself" -}}
{{- end -}}
{{- end -}}
{{- if not .Values.image.repository -}}
{{- fail "injection.mode webhook needs image.repository (docs/image.md)" -}}
{{- end -}}
{{- end -}}
{{- if and (eq (include "sallyport-dataplane.injection.mode" .) "policy") (semverCompare "<1.36.0-0" .Capabilities.KubeVersion.Version) -}}
{{- fail (printf "injection.mode policy needs Kubernetes 1.36 or later, where MutatingAdmissionPolicy is stable; this is %s: set injection.mode to webhook" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- end -}}

{{/* CEL: whether the variable `e` comes from the same key of the same Secret, and has to be there. On one line, for YAML. */}}
{{- define "sallyport-dataplane.injection.isEntry" -}}
e.?valueFrom.?secretKeyRef.?name.orValue("") == {{ include "sallyport-dataplane.apiKeySecret" . | quote }} && e.?valueFrom.?secretKeyRef.?key.orValue("") == {{ .Values.unionAuth.secretName | quote }} && !e.?valueFrom.?secretKeyRef.?optional.orValue(false)
{{- end -}}
