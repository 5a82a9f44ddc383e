"""Gives each attempt of a step on Argo Workflows the memory that the plan has for it.

A deployment is static, so the controller of Argo computes the memory when it makes the pod of an attempt: from the
variable `retries`, which a podSpecPatch may use from version 3.4 on. It does not say why the attempt before failed in
all these versions, so each retry gets more. Metaflow has no hook for that; the templates it makes are completed here.
"""
import json
from typing import Any, Dict, Iterator, List

from . import plan, sizes

STEP = "metaflow/step_name"  # the annotation of a template
CONTAINER = "main"  # what Argo names the container of a template


def grow() -> None:
    """Completes the templates of this process from now on."""
    from metaflow.plugins.argo.argo_workflows import ArgoWorkflows
    made = ArgoWorkflows._container_templates
    if getattr(made, "is_rightsize", False):
        return

    def templates(self: Any) -> Iterator[Any]:
        for template in made(self):
            complete(template.payload, plan.of_flow(self.flow)["steps"])
            yield template
    templates.is_rightsize = True  # type: ignore[attr-defined]
    ArgoWorkflows._container_templates = templates


def complete(template: Dict[str, Any], steps: Dict[str, Any]) -> None:
    """Adds the patch to the template of a step that is tried again and has requests for its attempts."""
    step = template.get("metadata", {}).get("annotations", {}).get(STEP)
    attempts: List[sizes.Size] = [size for size in map(sizes.of_dict, steps.get(step, {}).get("attempts", [])) if size]
    resources = template.get("container", {}).get("resources", {})
    memory = [-(-int(size.memory) // sizes.MB) for size in attempts if size.memory is not None]
    if "retryStrategy" not in template or len(memory) != len(attempts) or len(set(memory)) < 2:
        return
    value = "{{=%s[asInt(retries) < %d ? asInt(retries) : %d]}}M" % (memory, len(memory) - 1, len(memory) - 1)
    grown = {kind: {"memory": value} for kind in ("requests", "limits") if "memory" in resources.get(kind, {})}
    patch = json.loads(template.get("podSpecPatch", "{}"))
    patch["containers"] = [{"name": CONTAINER, "resources": grown}]
    template["podSpecPatch"] = json.dumps(patch)
