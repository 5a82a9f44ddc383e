{{- define "rightsize.image" -}}
{{- $name := printf "%s%s" (ternary (printf "%s/" .Values.image.registry) "" (ne .Values.image.registry "")) .Values.image.repository -}}
{{- if .Values.image.digest }}{{ $name }}@{{ .Values.image.digest }}{{ else }}{{ $name }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "rightsize.name" -}}
{{- $named := ternary (printf "%s-%s" .root.Release.Name .root.Values.nameOverride) .root.Release.Name (ne .root.Values.nameOverride "") -}}
{{ printf "%s-%s" (.root.Values.fullnameOverride | default $named | trunc 50 | trimSuffix "-") .component }}
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

{{- define "rightsize.account" -}}
{{ (get .root.Values .component).serviceAccount.name | default (include "rightsize.name" .) }}
{{- end }}

{{- define "rightsize.serviceAccount" -}}
{{- $account := (get .root.Values .component).serviceAccount -}}
{{- if $account.create }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "rightsize.account" . }}
  labels: {{- include "rightsize.labels" . | nindent 4 }}
  {{- with $account.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
# A pod has its token only if the pod says so itself.
automountServiceAccountToken: false
---
{{- end }}
{{- end }}

{{- define "rightsize.podMetadata" -}}
{{- $values := get .root.Values .component -}}
labels:
  {{- include "rightsize.labels" . | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with $values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* The nodes on which a pod may run. */}}
{{- define "rightsize.placement" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Users and client certificates are asked of the kubelet as well, which has none: then a connection must do. */}}
{{- define "rightsize.probes" -}}
{{- $tls := default dict .webConfig.tls_server_config -}}
ports:
  - {name: metrics, containerPort: 9877}
{{- if or .webConfig.basic_auth_users $tls.client_auth_type }}
readinessProbe:
  tcpSocket: {port: metrics}
livenessProbe:
  tcpSocket: {port: metrics}
{{- else }}
readinessProbe:
  httpGet: {path: /-/ready, port: metrics, scheme: {{ .scheme }}}
livenessProbe:
  httpGet: {path: /-/healthy, port: metrics, scheme: {{ .scheme }}}
{{- end }}
  periodSeconds: 20
  failureThreshold: 3
{{- end }}

{{- define "rightsize.centralTls" -}}
{{- if or .Values.central.tls.secretName .Values.central.webConfig.tls_server_config }}true{{ end }}
{{- end }}

{{- define "rightsize.tokenSecret" -}}
{{- if .Values.central.allowChangesWithoutToken }}{{ else if .Values.central.tokenSecret }}{{ .Values.central.tokenSecret }}{{ else }}{{ include "rightsize.name" (dict "root" . "component" "central") }}{{ end }}
{{- end }}

{{- /* The settings of forwarding: url, tokenSecret, caSecret. */}}
{{- define "rightsize.forward" -}}
{{- $central := include "rightsize.name" (dict "root" . "component" "central") -}}
{{- if .Values.central.enabled }}
url: {{ ternary "https" "http" (ne (include "rightsize.centralTls" .) "") }}://{{ $central }}.{{ .Release.Namespace }}:{{ .Values.central.service.port }}
tokenSecret: {{ include "rightsize.tokenSecret" . | quote }}
caSecret: {{ .Values.central.tls.secretName | default .Values.node.caSecret | quote }}
{{- else }}
url: {{ .Values.node.forwardUrl | quote }}
tokenSecret: {{ .Values.node.tokenSecret | quote }}
caSecret: {{ .Values.node.caSecret | quote }}
{{- end }}
{{- end }}

{{- /* Bytes of two fifths of a quantity such as 2Gi. */}}
{{- define "rightsize.historySize" -}}
{{- $size := ternary (printf "%.0f" (float64 .)) (toString .) (kindIs "float64" .) }}
{{- $units := dict "" 1.0 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 }}
{{- $unit := regexFind "[A-Za-z]*$" $size }}
{{- printf "%.0f" (mulf (float64 (trimSuffix $unit $size)) (get $units $unit) 0.4) }}
{{- end }}
