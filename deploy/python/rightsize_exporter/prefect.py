"""Prefect: records each run of a flow, and sizes its pods.

    from rightsize_exporter import prefect as rightsize

    @flow
    @rightsize.track                         # each run is a run of the job FLOW/DEPLOYMENT
    def etl(): ...

    etl.deploy("prod", work_pool_name="pods", image="etl:1", job_variables=rightsize.job_variables("etl/prod"))

A flow runs as it would without: nothing here raises an error, and a wait for an exporter is short. Tasks of a flow
run in the process of the flow, at the same time, so they are part of its run.
"""
import os
from typing import Any, Callable, Dict, TypeVar

from . import advice
from .track import Track

F = TypeVar("F", bound=Callable[..., Any])


def _flow() -> Dict[str, Any]:
    from prefect.runtime import flow_run
    deployment = os.environ.get("PREFECT__DEPLOYMENT_NAME")  # set by workers
    name = flow_run.flow_name
    if not name:
        return {}
    return {"job_name": f"{name}/{deployment}" if deployment else name, "attempt": max(1, flow_run.run_count or 1),
            "labels": {"run": str(flow_run.id)}}


def track(function: F) -> F:
    """Makes each run of a flow's function a run of the job FLOW/DEPLOYMENT, or FLOW without one. It stands below @flow."""
    return Track(describe=_flow)(function)


def job_variables(job_name: str, **more: Any) -> Dict[str, Any]:
    """Variables of a job with `resources`: the advised requests and limits, where this is safe; else `more` alone.

    The base job template of the work pool names the variable: the manual says how. Give them to a deployment, or to
    run_deployment() to take up what newer runs say. A retry of the flow runs in the same pod.
    """
    found = advice.resources(job_name)
    if found is None:
        return more
    return {**more, "resources": {key: advice.merged(None, found[key]) for key in found}}
