"""Runs as messages: what one history tells another one. The keys are those of POST /runs."""
import json
import math
import time
from datetime import datetime, timezone
from itertools import islice
from typing import Any, Dict, Iterable, List, Optional

FIELD = "rightsize"  # the field in the metadata of a task
ATTEMPTS = 8  # attempts of a task that are looked at
READ_SECONDS = 10.0  # longest time that the metadata of former runs is read, the newest runs first

_SAME = ("run_id", "duration_seconds", "outcome", "exit_code", "exit_signal", "end_reason", "host", "architecture",
         "cpu_level", "gpu_manufacturer", "gpu_model", "cpu_source", "memory_source", "network_source", "disk_source",
         "not_measured", "vendor_id", "instance_type", "region", "zone", "allocation", "machine_cpus",
         "machine_memory_bytes", "samples", "interval_seconds", "requested_cpu_cores", "requested_memory_bytes",
         "memory_limit_bytes", "address_limit_bytes", "address_peak_bytes", "input_bytes", "attempt",
         "cpu_missed_seconds", "cpu_foreign_seconds", "system", "system_run", "namespace", "cluster")
_SUMS = ("cpu_seconds", "cpu_user_seconds", "cpu_system_seconds", "cpu_wait_seconds", "disk_read_bytes",
         "disk_written_bytes", "network_received_bytes", "network_sent_bytes", "read_chars", "written_chars",
         "context_switches_voluntary", "context_switches_involuntary", "page_faults_minor", "page_faults_major")
_PEAKS = ("memory_peak_bytes", "memory_peak_process_bytes", "memory_cgroup_peak_bytes", "disk_grown_bytes")
_MIB = 1 << 20


def _seconds(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()


def _distribution(values: Iterable[Optional[float]]) -> Optional[Dict[str, float]]:
    known = sorted(value for value in values if value is not None)
    if not known:
        return None

    def quantile(share: float) -> float:
        return known[max(0, math.ceil(share * len(known)) - 1)]
    return {"n": len(known), "mean": sum(known) / len(known), "min": known[0], "max": known[-1],
            "p50": quantile(0.5), "p95": quantile(0.95), "p99": quantile(0.99)}


def message(job_name: str, record: Dict[str, Any], samples: List[Dict[str, Any]]) -> Dict[str, Any]:
    """The message of a run that has ended. record: as of GET /runs; samples: with the columns of resource-tracker."""
    told = {key: record[key] for key in _SAME if record.get(key) is not None}
    told.update(job_name=job_name, started_at=_seconds(record["started_at"]), ended_at=_seconds(record["ended_at"]))
    if record.get("labels"):
        told["labels"] = record["labels"] if isinstance(record["labels"], str) else json.dumps(record["labels"])
    number = record["samples"]
    columns: Dict[str, Any] = {name: {"n": number, "sum": record[name]} for name in _SUMS if record.get(name) is not None}
    columns.update((name, {"n": number, "max": record[name]}) for name in _PEAKS if record.get(name) is not None)
    for name, column, factor in (("cpu_cores", "process_cpu_usage", 1), ("memory_bytes", "process_memory_mib", _MIB)):
        values = _distribution(row[column] and row[column] * factor for row in samples)
        if values:
            columns[name] = values
    return {**told, "columns": columns}


def killed(job_name: str, run_id: str, attempt: int, labels: Dict[str, str], requested: Dict[str, Optional[float]],
           kill: Dict[str, Any]) -> Dict[str, Any]:
    """The message of a run of which no more is known than that it was killed for memory. kill: as of pods.kill_of()."""
    told = {"memory_limit_bytes": kill["memory_limit_bytes"], "requested_memory_bytes": requested.get("memory_bytes"),
            "requested_cpu_cores": requested.get("cpu")}
    return {"job_name": job_name, "run_id": run_id, "attempt": attempt, "labels": json.dumps(labels), "system": "metaflow",
            "started_at": kill["started_at"], "ended_at": kill["ended_at"], "outcome": "oom_killed", "columns": {},
            "duration_seconds": kill["ended_at"] - kill["started_at"],
            **{key: value for key, value in told.items() if value is not None}}


def of_steps(flow_name: str, steps: List[str], number: int) -> List[Dict[str, Any]]:
    """The messages of the newest runs of the flow, of all users and all tasks of these steps, read for a bounded time.

    They are in the metadata of the tasks. A flow that has never run has none.
    """
    from metaflow import Flow, get_namespace, namespace
    from metaflow.exception import MetaflowNotFound
    before, found, until = get_namespace(), [], time.monotonic() + READ_SECONDS
    try:
        namespace(None)
        for run in islice(Flow(flow_name), number):
            for task in (task for step in run if step.id in steps for task in step):
                if time.monotonic() > until:
                    return found
                found += of_task(task)
    except MetaflowNotFound:
        pass
    finally:
        namespace(before)
    return found


def of_task(task: Any) -> List[Dict[str, Any]]:
    """The messages of all attempts of a task."""
    told = []
    for datum in task.metadata:
        if datum.name == FIELD and datum.type == FIELD:
            try:
                told.append(json.loads(datum.value))
            except ValueError:
                continue
    return told
