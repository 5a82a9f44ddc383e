"""What the cluster says of a pod whose task was killed. The exporter in the pod is killed with it, so nobody else can."""
import re
from typing import Any, Dict, Optional

_NAME = re.compile(rb"\[pod ([a-z0-9.-]+)\]")  # what Metaflow puts before its lines about a pod
READ_SECONDS = (3, 5)  # longest waits for a connection and for its answer: the scheduler of the whole flow waits


def kill_of(logs: bytes, namespace: Optional[str]) -> Optional[Dict[str, Any]]:
    """The start, the end and the memory limit of the pod in these logs of Metaflow, if it was killed for memory.

    A pod that was evicted or deleted has the same exit code, so the pod itself is read. Raises what the cluster refuses.
    """
    names = _NAME.findall(logs)
    if not names:
        return None
    from metaflow.plugins.kubernetes.kubernetes_client import KubernetesClient
    pod = KubernetesClient().get().CoreV1Api().read_namespaced_pod(names[-1].decode(), namespace or "default",
                                                                 _request_timeout=READ_SECONDS)
    return of_pod(pod)


def of_pod(pod: Any) -> Optional[Dict[str, Any]]:
    """As kill_of(), of a pod as the client of Kubernetes gives it."""
    ended = next((status.state.terminated for status in pod.status.container_statuses or []), None)
    if ended is None or ended.reason != "OOMKilled":
        return None
    limit = (pod.spec.containers[0].resources.limits or {}).get("memory")  # Metaflow sets none, unless qos is guaranteed
    if limit is not None:
        from kubernetes.utils import parse_quantity
        limit = int(parse_quantity(limit))
    return {"started_at": ended.started_at.timestamp(), "ended_at": ended.finished_at.timestamp(), "memory_limit_bytes": limit}
