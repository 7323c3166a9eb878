{{/* Names, labels, and where things are. */}}

{{- define "sallyport.name" -}}
{{- default "sallyport" .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* 33 characters, because a CronJob has 52 and the longest suffix of this chart 18. */}}
{{- define "sallyport.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 33 | trimSuffix "-" -}}
{{- else if contains (include "sallyport.name" .) .Release.Name -}}
{{- .Release.Name | trunc 33 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "sallyport.name" .) | trunc 33 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "sallyport.selectorLabels" -}}
app.kubernetes.io/name: {{ include "sallyport.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Takes the chart's context; `component` is added by those that are not the service itself. */}}
{{- define "sallyport.labels" -}}
{{ include "sallyport.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: sallyport
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "sallyport.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "sallyport.keyRingSecret" -}}
{{- default (printf "%s-key-ring" (include "sallyport.fullname" .)) .Values.keyRing.secretName -}}
{{- end -}}

{{/* The admin service's addresses in the cluster, as a JSON list: the short name and the full one, with port 80. */}}
{{- define "sallyport.authorizedUris" -}}
{{- $name := include "sallyport.fullname" . -}}
{{- list (printf "http://%s:80" $name) (printf "http://%s.%s.svc.%s:80" $name .Release.Namespace .Values.clusterDomain) | toJson -}}
{{- end -}}
