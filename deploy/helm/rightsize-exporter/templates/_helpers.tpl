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

{{- /* Bytes of two fifths of a quantity such as 2Gi. */}}
{{- define "rightsize.historySize" -}}
{{- $size := ternary (printf "%.0f" (float64 .)) (toString .) (kindIs "float64" .) }}
{{- $units := dict "" 1.0 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 }}
{{- $unit := regexFind "[A-Za-z]*$" $size }}
{{- printf "%.0f" (mulf (float64 (trimSuffix $unit $size)) (get $units $unit) 0.4) }}
{{- end }}
