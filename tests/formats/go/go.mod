module formats

go 1.22

require (
	github.com/argoproj/argo-workflows/v3 v3.5.13
	k8s.io/api v0.29.0
	k8s.io/autoscaler/vertical-pod-autoscaler v1.1.2
	sigs.k8s.io/yaml v1.4.0
)
