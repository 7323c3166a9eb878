{{/* What the pods of this chart have in common: Pod Security "restricted", mounts, the image. */}}

{{- define "sallyport.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "sallyport.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Secrets are whole folders: a file mounted by subPath would keep its first content for ever. */}}
{{- define "sallyport.volumeMounts" -}}
- {name: configuration, mountPath: /etc/sallyport, readOnly: true}
- {name: core-admin-secrets, mountPath: /etc/secrets/, readOnly: true}
- {name: key-ring, mountPath: /etc/sallyport-key-ring, readOnly: true}
- {name: state, mountPath: /var/lib/sallyport}
{{- with .Values.redis }}
{{- if .passwordSecret.name }}
- {name: redis-password, mountPath: /etc/sallyport-redis/password, readOnly: true}
{{- end }}
{{- if .sentinelPasswordSecret.name }}
- {name: redis-sentinel-password, mountPath: /etc/sallyport-redis/sentinel-password, readOnly: true}
{{- end }}
{{- if and .tls.enabled .tls.caSecret.name }}
- {name: redis-ca, mountPath: /etc/sallyport-redis/ca, readOnly: true}
{{- end }}
{{- if and .tls.enabled .tls.certificateSecret }}
- {name: redis-certificate, mountPath: /etc/sallyport-redis/certificate, readOnly: true}
{{- end }}
{{- end }}
{{- end -}}

{{- define "sallyport.volumes" -}}
- name: configuration
  configMap: {name: {{ include "sallyport.fullname" . }}}
- name: core-admin-secrets
  secret: {secretName: core-admin-secrets, defaultMode: 0440}
- name: key-ring
  secret:
    secretName: {{ include "sallyport.keyRingSecret" . }}
    defaultMode: 0440
    items: [{key: key-ring.json, path: key-ring.json}]
- name: state
  {{- if .Values.persistence.enabled }}
  persistentVolumeClaim: {claimName: {{ default (include "sallyport.fullname" .) .Values.persistence.existingClaim }}}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- with .Values.redis }}
{{- if .passwordSecret.name }}
- name: redis-password
  secret: {secretName: {{ .passwordSecret.name }}, defaultMode: 0440}
{{- end }}
{{- if .sentinelPasswordSecret.name }}
- name: redis-sentinel-password
  secret: {secretName: {{ .sentinelPasswordSecret.name }}, defaultMode: 0440}
{{- end }}
{{- if and .tls.enabled .tls.caSecret.name }}
- name: redis-ca
  secret: {secretName: {{ .tls.caSecret.name }}, defaultMode: 0440}
{{- end }}
{{- if and .tls.enabled .tls.certificateSecret }}
- name: redis-certificate
  secret: {secretName: {{ .tls.certificateSecret }}, defaultMode: 0440}
{{- end }}
{{- end }}
{{- end -}}

{{/*
For a chart around this one, with `.Subcharts.sallyport` as the context: what the scheduler and the control plane's
services mount, and the configuration they read (configmap-services.yaml).
*/}}
{{- define "sallyport.schedulerVolumeMounts" -}}
- {name: services, mountPath: /etc/union, readOnly: true}
{{- if .Values.secrets.adminOauthClientCredentials.enabled }}
- {name: core-secret-auth, mountPath: /etc/secrets/, readOnly: true}
{{- end }}
{{- end -}}

{{- define "sallyport.schedulerVolumes" -}}
{{ include "sallyport.servicesConfigurationVolume" . }}
{{- if .Values.secrets.adminOauthClientCredentials.enabled }}
- name: core-secret-auth
  secret: {secretName: core-secret-auth, defaultMode: 0440}
{{- end }}
{{- end -}}

{{- define "sallyport.serviceVolumeMounts" -}}
- {name: services, mountPath: /etc/union, readOnly: true}
- {name: service-secret, mountPath: /etc/secrets/union/, readOnly: true}
{{- end -}}

{{- define "sallyport.serviceVolumes" -}}
{{ include "sallyport.servicesConfigurationVolume" . }}
- name: service-secret
  secret: {secretName: {{ .Values.secrets.service.name }}, defaultMode: 0440}
{{- end -}}

{{- define "sallyport.servicesConfigurationVolume" -}}
- name: services
  configMap: {name: {{ include "sallyport.fullname" . }}-services}
{{- end -}}
