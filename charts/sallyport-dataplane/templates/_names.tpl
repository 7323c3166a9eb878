{{/* Names, labels, and where things are. */}}

{{- define "sallyport-dataplane.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "sallyport-dataplane.selectorLabels" -}}
app.kubernetes.io/name: sallyport-dataplane
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sallyport-dataplane.labels" -}}
{{ include "sallyport-dataplane.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: sallyport
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "sallyport-dataplane.clientId" -}}
{{- tpl .Values.secrets.admin.clientId . -}}
{{- end -}}

{{/* `unionAuth.secretName` as a legal name: the rule of docs/task-pods.md. */}}
{{- define "sallyport-dataplane.apiKeySecret" -}}
{{- .Values.unionAuth.secretName | lower | replace "_" "-" -}}
{{- end -}}

{{/*
For a chart around this one, with `.Subcharts` and the chart's name as the context: what operator, propeller and cluster
resource sync mount, and the configuration they read (configmap.yaml).
*/}}
{{- define "sallyport-dataplane.volumeMounts" -}}
- {name: services, mountPath: /etc/union/configuration, readOnly: true}
{{- if .Values.secrets.admin.enable }}
- {name: cloud-secret-auth, mountPath: /etc/union/secret/, readOnly: true}
{{- end }}
{{- end -}}

{{- define "sallyport-dataplane.volumes" -}}
- name: services
  configMap: {name: sallyport-dataplane-services}
{{- if .Values.secrets.admin.enable }}
- name: cloud-secret-auth
  secret: {secretName: cloud-secret-auth, defaultMode: 0440}
{{- end }}
{{- end -}}
