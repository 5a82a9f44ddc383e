"""Airflow: records each run of a task, and sizes the pods of tasks.

    # plugins/rightsize.py: the job is DAG/TASK
    from rightsize_exporter.airflow import RightsizePlugin

    # config/airflow_local_settings.py: for the Kubernetes executor and KubernetesPodOperator
    from rightsize_exporter.airflow import pod_mutation_hook

A task runs as it would without: nothing here raises an error, and a wait for an exporter is short.
"""
import sys
from typing import Any, Callable, Dict, List, Optional, TypeVar

from airflow import listeners
from airflow.plugins_manager import AirflowPlugin

from . import advice
from .watch import Watch, in_pod

CONTAINER = "base"  # the container of the task
F = TypeVar("F", bound=Callable[..., Any])
hookimpl: Callable[[F], F] = listeners.hookimpl
ENDS = {"AirflowTaskTimeout": "DeadlineExceeded", "MemoryError": "oom_killed", "AirflowTaskTerminated": "interrupted"}

_watches: Dict[Any, Watch] = {}


def job_name(dag_id: str, task_id: str) -> str:
    """The name of the job, which servers that find tasks by themselves use as well."""
    return f"{dag_id}/{task_id}"


def _works_elsewhere(task: Any) -> bool:
    """True for KubernetesPodOperator and those made from it: the work is in the pod, which has a run of its own."""
    return any(kind.__name__ == "KubernetesPodOperator" for kind in type(task).__mro__)


def _key(ti: Any) -> Any:
    return ti.dag_id, ti.task_id, ti.run_id, ti.map_index


class Listener:
    """Begins a run when a task begins, in the process of the task, and ends it with the task."""

    @hookimpl
    def on_task_instance_running(self, previous_state: Any, task_instance: Any) -> None:
        """Begins the run."""
        try:
            self._begin(task_instance)
        except Exception as error:  # pylint: disable=broad-except
            print(f"rightsize: {error}", file=sys.stderr)

    @staticmethod
    def _begin(ti: Any) -> None:
        if _works_elsewhere(getattr(ti, "task", None)):
            return
        labels = {"run": ti.run_id}
        if ti.map_index is not None and ti.map_index >= 0:
            labels["task"] = str(ti.map_index)
        _watches[_key(ti)] = Watch(job_name(ti.dag_id, ti.task_id), attempt=max(1, ti.try_number), labels=labels,
                                   system="airflow").begin()

    @staticmethod
    def _end(ti: Any, outcome: str) -> None:
        watch = _watches.pop(_key(ti), None)
        if watch is not None:
            watch.end(outcome)
            if in_pod():
                watch.hand_over()

    @hookimpl
    def on_task_instance_success(self, previous_state: Any, task_instance: Any) -> None:
        """Ends the run of a task that went well."""
        self._end(task_instance, "succeeded")

    @hookimpl
    def on_task_instance_failed(self, previous_state: Any, task_instance: Any, error: Any) -> None:
        """Ends the run of a try that failed."""
        self._end(task_instance, ENDS.get(type(error).__name__, "failed"))

    @hookimpl
    def on_task_instance_skipped(self, previous_state: Any, task_instance: Any) -> None:
        """Ends the run of a task that skipped itself, which says nothing of what the task needs."""
        self._end(task_instance, "unknown")


class RightsizePlugin(AirflowPlugin):  # type: ignore[misc,unused-ignore]
    """The plugin; Airflow finds it in a file of its folder of plugins."""
    name = "rightsize"
    listeners: List[Any] = [Listener()]


def _word(pod: Any, key: str) -> Optional[str]:
    """Returns a word of Airflow about the task. The executor puts it into annotations, the operator into labels."""
    for words in (pod.metadata.annotations, pod.metadata.labels):
        if words and words.get(key):
            return str(words[key])
    return None


def pod_mutation_hook(pod: Any) -> None:
    """Sets requests and limits of the task's container from earlier runs, where this is safe.

    A try after a kill for memory gets more. Other containers, and pods that are not tasks, stay as they are.
    """
    try:
        dag_id, task_id = _word(pod, "dag_id"), _word(pod, "task_id")
        container = next((one for one in pod.spec.containers if one.name == CONTAINER), None)
        if not dag_id or not task_id or container is None:
            return
        name = job_name(dag_id, task_id)
        attempt = advice.attempt_after(name, int(_word(pod, "try_number") or 1), _word(pod, "run_id"), _word(pod, "map_index"))
        found = advice.resources(name, attempt)
        if found is None:
            return
        from kubernetes.client import models as k8s
        old = container.resources or k8s.V1ResourceRequirements()
        container.resources = k8s.V1ResourceRequirements(
            claims=old.claims, requests=advice.merged(old.requests, found["requests"]),
            limits=advice.merged(old.limits, found["limits"]))
    except Exception as error:  # pylint: disable=broad-except
        print(f"rightsize: the pod is not sized: {error}", file=sys.stderr)
