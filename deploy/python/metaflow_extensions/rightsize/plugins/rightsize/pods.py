"""Asks the cluster about a pod whose task was killed. The exporter in the pod is killed with it, so nobody else can."""
import re
from typing import Any, Dict, Optional

_NAME = re.compile(rb"\[pod ([a-z0-9.-]+)\]")  # what Metaflow puts before its lines about a pod
READ_SECONDS = (3, 5)  # longest waits for a connection and for its answer: the scheduler of the whole flow waits


def read(logs: bytes, namespace: Optional[str]) -> Any:
    """The pod that these logs of Metaflow name last; None = they name none. Raises what the cluster refuses."""
    names = _NAME.findall(logs)
    if not names:
        return None
    from metaflow.plugins.kubernetes.kubernetes_client import KubernetesClient
    return KubernetesClient().get().CoreV1Api().read_namespaced_pod(names[-1].decode(), namespace or "default",
                                                                    _request_timeout=READ_SECONDS)


def was_taken_away(pod: Any) -> bool:
    """True if the cluster ended the pod for a reason of its own: evicted, preempted or deleted. The exit code is that of a
    kill for memory."""
    return bool(pod.status.reason == "Evicted" or pod.metadata.deletion_timestamp or
                any(condition.type == "DisruptionTarget" and condition.status == "True"
                    for condition in pod.status.conditions or []))


def kill_of(pod: Any, step_name: str) -> Optional[Dict[str, Any]]:
    """The start, the end and the memory limit of the container of this step, if it was killed for memory.

    A pod may have other containers. If none has the name that Metaflow gives to the container of a step, the container that was killed
    for memory counts.
    """
    statuses, name = pod.status.container_statuses or [], step_name.replace("_", "-")
    named = [status for status in statuses if status.name == name]
    status = next((status for status in named or statuses
                   if status.state.terminated and status.state.terminated.reason == "OOMKilled"), None)
    if status is None:
        return None
    ended = status.state.terminated
    # Metaflow sets no limit, unless qos is guaranteed.
    limits = [container.resources.limits or {} for container in pod.spec.containers if container.name == status.name]
    limit = limits[0].get("memory") if limits else None
    if limit is not None:
        from kubernetes.utils import parse_quantity
        limit = int(parse_quantity(limit))
    return {"started_at": ended.started_at.timestamp(), "ended_at": ended.finished_at.timestamp(), "memory_limit_bytes": limit}
