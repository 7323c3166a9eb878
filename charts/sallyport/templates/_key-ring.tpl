{{/* A Job's pod that runs a command with the API server's permissions of one service account. Takes `chart`, `account`, `args`. */}}
{{- define "sallyport.keyRingPod" -}}
metadata:
  labels: {{- include "sallyport.labels" .chart | nindent 4 }}
    app.kubernetes.io/component: key-ring
spec:
  serviceAccountName: {{ .account }}
  automountServiceAccountToken: true
  enableServiceLinks: false
  restartPolicy: Never
  securityContext: {{- include "sallyport.podSecurityContext" .chart | nindent 4 }}
  {{- with .chart.Values.image.pullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: key-ring
      image: {{ include "sallyport.image" .chart }}
      imagePullPolicy: {{ .chart.Values.image.pullPolicy }}
      args: {{- toYaml .args | nindent 8 }}
      securityContext: {{- include "sallyport.containerSecurityContext" .chart | nindent 8 }}
      resources: {{- toYaml .chart.Values.resources | nindent 8 }}
      volumeMounts:
        - {name: state, mountPath: /var/lib/sallyport}
        {{- if .configuration }}
        - {name: configuration, mountPath: /etc/sallyport, readOnly: true}
        {{- end }}
  volumes:
    - {name: state, emptyDir: {}}
    {{- if .configuration }}
    - name: configuration
      configMap: {name: {{ include "sallyport.fullname" .chart }}}
    {{- end }}
  {{- with .chart.Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .chart.Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
