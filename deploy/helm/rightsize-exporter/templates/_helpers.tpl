{{- define "rightsize.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "rightsize.name" -}}
{{ printf "%s-%s" (.root.Release.Name | trunc 50 | trimSuffix "-") .component }}
{{- end }}

{{- define "rightsize.selector" -}}
app.kubernetes.io/name: rightsize-exporter
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "rightsize.labels" -}}
{{ include "rightsize.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "rightsize.probes" -}}
ports:
  - {name: metrics, containerPort: 9877}
readinessProbe:
  httpGet: {path: /-/ready, port: metrics}
livenessProbe:
  httpGet: {path: /-/healthy, port: metrics}
  periodSeconds: 20
  failureThreshold: 3
{{- end }}
