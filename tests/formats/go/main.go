// Reads advice with the types of the projects that it is for, refusing keys that they do not have: main FORMAT <TEXT.
// Prints what the CPU and memory requests come to.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	workflow "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	core "k8s.io/api/core/v1"
	vpa "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"sigs.k8s.io/yaml"
)

func read(format string, text []byte) (core.ResourceList, string, error) {
	switch format {
	case "vpa":
		var v vpa.VerticalPodAutoscaler
		if err := yaml.UnmarshalStrict(text, &v); err != nil {
			return nil, "", err
		}
		return core.ResourceList(v.Status.Recommendation.ContainerRecommendations[0].Target),
			"k8s.io/autoscaler/vertical-pod-autoscaler, strict", nil
	case "argo":
		var t workflow.Template
		if err := yaml.UnmarshalStrict(text, &t); err != nil {
			return nil, "", err
		}
		return t.Container.Resources.Requests, "github.com/argoproj/argo-workflows/v3 Template, strict", nil
	case "argo-patch":
		var t workflow.Template
		var pod core.PodSpec
		if err := yaml.UnmarshalStrict(text, &t); err != nil {
			return nil, "", err
		}
		if err := yaml.UnmarshalStrict([]byte(t.PodSpecPatch), &pod); err != nil {
			return nil, "", err
		}
		return pod.Containers[0].Resources.Requests, "github.com/argoproj/argo-workflows/v3 Template and k8s.io/api PodSpec, strict", nil
	}
	return nil, "", fmt.Errorf("no format %s", format)
}

func main() {
	text, _ := io.ReadAll(os.Stdin)
	requests, by, err := read(os.Args[1], text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	answer, _ := json.Marshal(map[string]any{
		"milli": requests.Cpu().MilliValue(), "bytes": requests.Memory().Value(), "by": by})
	fmt.Println(string(answer))
}
