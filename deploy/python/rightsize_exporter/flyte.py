"""Flyte: records each run of a task, and sizes its pods.

    from rightsize_exporter import flyte as rightsize

    @task
    @rightsize.track                         # in a pod, each run is a run of the job WORKFLOW/TASK
    def load() -> int: ...

    @workflow
    def etl() -> int:
        return rightsize.sized(load(), "etl.etl/etl.load")   # cpu and memory of its pod

A task runs as it would without: nothing here raises an error, and a wait for an exporter is short.
"""
import os
from typing import Any, Callable, Dict, TypeVar

from . import advice
from .track import Track

# The quantities of Kubernetes as arguments of flytekit's Resources. Flyte's own settings say whose GPUs they are.
NAMES = {"cpu": "cpu", "memory": "mem", "ephemeral-storage": "ephemeral_storage",
         **{resource: "gpu" for resource in ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915")}}
F = TypeVar("F", bound=Callable[..., Any])


def _task() -> Dict[str, Any]:
    """The job of this pod. {}: the task runs on this machine, where Flyte does not say which workflow it is part of."""
    found = os.environ.get
    task, workflow = found("FLYTE_INTERNAL_TASK_NAME"), found("FLYTE_INTERNAL_EXECUTION_WORKFLOW", "").rpartition(":")[2]
    if not task:
        return {}
    labels = {"run": found("FLYTE_INTERNAL_EXECUTION_ID"), "task": found("FLYTE_K8S_ARRAY_INDEX")}
    return {"job_name": f"{workflow}/{task}" if workflow else task, "attempt": int(found("FLYTE_ATTEMPT_NUMBER", "0")) + 1,
            "system": "flyte", "labels": {key: value for key, value in labels.items() if value}}


def track(function: F) -> F:
    """Makes each run of a task's function a run of the job WORKFLOW/TASK, or MODULE.FUNCTION on this machine.

    It stands below @task.
    """
    return Track(describe=_task)(function)


def sized(node: Any, job_name: str) -> Any:
    """Gives a task in a workflow the advised requests and limits, where this is safe; returns the same node.

    Asked once, when the workflow is registered: register it again to take up what newer runs say. A retry has the
    same size. The CPU limit does not slow the job down: without one, Flyte would take the request for it.
    """
    found = advice.resources(job_name, cpu_limit=True)
    if found is None:
        return node
    from flytekit import Resources
    sizes = {key: Resources(**{NAMES[name]: value for name, value in found[key].items() if name in NAMES}) for key in found}
    return node.with_overrides(**sizes)
