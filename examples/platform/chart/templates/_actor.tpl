{{/*
One service of the example: an agent that keeps a token with the service's own client, configuration and secret. Its
readiness says whether it has one. Takes `chart`, `name`, `namespace`, `configuration`, `block`, `mounts`, `volumes`.
*/}}
{{- define "platform.actor" -}}
{{- $sallyport := .chart.Subcharts.sallyport -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels: {app.kubernetes.io/name: {{ .name }}, app.kubernetes.io/part-of: platform-example}
spec:
  replicas: 1
  selector:
    matchLabels: {app.kubernetes.io/name: {{ .name }}, app.kubernetes.io/part-of: platform-example}
  template:
    metadata:
      labels: {app.kubernetes.io/name: {{ .name }}, app.kubernetes.io/part-of: platform-example}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext: {{- include "sallyport.podSecurityContext" $sallyport | nindent 8 }}
      containers:
        - name: {{ .name }}
          image: {{ include "sallyport.image" $sallyport }}
          imagePullPolicy: {{ $sallyport.Values.image.pullPolicy }}
          args:
            - agent
            - --config={{ .configuration }}/services.yaml
            - --block={{ .block }}
            - --socket=/var/lib/sallyport/agent/agent.sock
          readinessProbe:
            exec: {command: [sallyport, healthcheck, --url, "unix:/var/lib/sallyport/agent/agent.sock"]}
            periodSeconds: 10
            timeoutSeconds: 5
          resources:
            requests: {cpu: 10m, memory: 96Mi}
            limits: {memory: 192Mi}
          securityContext: {{- include "sallyport.containerSecurityContext" $sallyport | nindent 12 }}
          volumeMounts: {{- .mounts | nindent 12 }}
            - {name: state, mountPath: /var/lib/sallyport}
      volumes: {{- .volumes | nindent 8 }}
        - {name: state, emptyDir: {}}
{{- end -}}
