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
{{- with .Values.injection.webhook.certificate.caBundle -}}
{{/* All of it is published, in an object that everyone in the cluster may read. */}}
{{- if contains "PRIVATE KEY" . -}}
{{- fail "injection.webhook.certificate.caBundle has a PRIVATE KEY, which would be published: give the certificates alone, and replace that key if others may have seen it" -}}
{{- end -}}
{{- $rest := regexReplaceAll `-----BEGIN CERTIFICATE-----[ \t]*\r?\n[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----` . "" -}}
{{- if or (eq $rest .) (ne (trim $rest) "") -}}
{{- fail "injection.webhook.certificate.caBundle is not PEM of certificates alone: it takes blocks CERTIFICATE, and nothing before, between or after them" -}}
{{- end -}}
{{- end -}}
{{- if eq (include "sallyport-dataplane.injection.mode" .) "webhook" -}}
{{- with .Values.injection.webhook.certificate -}}
{{- if and (not .certManager.enabled) (not .caBundle) -}}
{{- fail "injection.mode webhook needs a certificate: give injection.webhook.certificate.caBundle and the Secret with the certificate, or set injection.webhook.certificate.certManager.enabled" -}}
{{- end -}}
{{- if and .certManager.enabled .caBundle -}}
{{- fail "injection.webhook.certificate.caBundle and certManager.enabled exclude each other: cert-manager writes the authority itself" -}}
{{- end -}}
{{- end -}}
{{- with .Values.injection.webhook -}}
{{- if and .metrics.enabled (eq (int .metrics.port) 8443) -}}
{{- fail "injection.webhook.metrics.port is 8443, where the webhook itself listens: give another one" -}}
{{- end -}}
{{- if and (eq (int .replicas) 0) (eq $.Values.injection.failurePolicy "Fail") -}}
{{- fail "injection.webhook.replicas is 0 with injection.failurePolicy Fail: no pod with the label could be made; set injection.mode to none, or failurePolicy to Ignore" -}}
{{- end -}}
{{- range $name, $_ := .podLabels -}}
{{- if eq $name $.Values.unionAuth.podLabel -}}
{{- fail (printf "injection.webhook.podLabels must not have %s: the pods of the webhook would wait for the webhook" $name) -}}
{{- end -}}
{{- if or (eq $name "app.kubernetes.io/component") (hasKey (include "sallyport-dataplane.labels" $ | fromYaml) $name) -}}
{{- fail (printf "injection.webhook.podLabels must not have %s: the chart sets it, and finds its pods by it" $name) -}}
{{- end -}}
{{- end -}}
{{- if hasKey .podAnnotations "sallyport/restart-checksum" -}}
{{- fail "injection.webhook.podAnnotations must not have sallyport/restart-checksum: the chart sets it" -}}
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
