"""Dagster: records each run of an op or an asset, and sizes the pods of steps.

    from rightsize_exporter import dagster as rightsize

    @op(tags=rightsize.tags("etl/load"))     # cpu and memory of its pod, under k8s_job_executor
    @rightsize.track                         # each run is a run of the job JOB/STEP
    def load(): ...

A step runs as it would without: nothing here raises an error, and a wait for an exporter is short.
"""
from typing import Any, Callable, Dict, Optional, TypeVar

from . import advice
from .track import Track

TAG = "dagster-k8s/config"
F = TypeVar("F", bound=Callable[..., Any])


def _step() -> Dict[str, Any]:
    from dagster import OpExecutionContext
    context = OpExecutionContext.get()
    key = context.get_step_execution_context().step.key
    labels = {"run": context.run_id}
    if "[" in key:  # a mapped step is STEP[KEY]
        labels["task"] = key.partition("[")[2].rstrip("]")
    return {"job_name": f"{context.job_name}/{key.partition('[')[0]}", "attempt": context.retry_number + 1, "labels": labels}


def track(function: F) -> F:
    """Makes each run of an op's or an asset's function a run of the job JOB/STEP. It stands below @op or @asset."""
    return Track(describe=_step)(function)


def tags(job_name: str, **more: Any) -> Dict[str, Any]:
    """Tags that give the pod of a step the advised requests and limits; {} where this is not safe.

    Asked once, when the code is loaded: load it again to take up what newer runs say. A retry has the same size.
    more: other parts of the tag, such as pod_spec_config.
    """
    container: Optional[Dict[str, Any]] = more.pop("container_config", None)
    found = advice.resources(job_name)
    if found is not None:
        old = (container or {}).get("resources", {})
        container = {**(container or {}), "resources": {key: advice.merged(old.get(key), found[key]) for key in found}}
    value = {**more, **({"container_config": container} if container else {})}
    return {TAG: value} if value else {}
