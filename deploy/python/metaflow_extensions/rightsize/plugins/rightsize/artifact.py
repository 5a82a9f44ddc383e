"""The artifacts of a task: what its run used, what to request, and in the form of resource-tracker if wanted."""
from typing import Any, Dict, List, Optional

from rightsize_exporter import ResourceTracker, Watch
from rightsize_exporter.tracker import MEMORY_MARGIN
from rightsize_exporter.watch import own_peak

MIB = 1 << 20
_STATS = ("duration_seconds", "cpu_seconds", "cpu_cores_mean", "cpu_cores_max", "memory_peak_bytes", "memory_mean_bytes",
          "gpu_usage_mean", "gpu_usage_max", "vram_peak_bytes", "disk_read_bytes", "disk_written_bytes",
          "network_received_bytes", "network_sent_bytes", "processes_max", "threads_max", "samples")


def stats(record: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the use of the run so far, with the peak of this process, as the last sample may be a second old. None = not
    measured."""
    found = {name: record.get(name) for name in _STATS}
    known = [value for value in (found["memory_peak_bytes"], own_peak()) if value is not None]
    found["memory_peak_bytes"] = max(known, default=None)
    return found


def _early(watch: Watch, used: Dict[str, Any]) -> Dict[str, Any]:
    """A first idea of the request, from this run alone."""
    memory, cpu = used["memory_peak_bytes"], used["cpu_cores_mean"]
    size = {"cpu": max(1, round(cpu or 0)), "memory": max(1, round((memory or 0) * MEMORY_MARGIN / MIB)), "gpu": 0, "vram": 0}
    answer = watch.exporter.get_json("/servers", cpu=size["cpu"], memory=size["memory"], limit=1,
                                     duration=round(max(1.0, used["duration_seconds"] or 1.0), 1))
    return {"resources": size, "summary": "No run of this step has ended yet: this run so far, and a fifth more memory.",
            "apply": {"safe": False, "because": ["no_runs"]}, "warnings": [], "servers": answer["servers"]}


def small(watch: Watch, outcome: str, attempt: int, part: Dict[str, Any]) -> Dict[str, Any]:
    """The artifact `rightsize`. cpu: cores; memory and vram: MiB; other units are in the names."""
    used = stats(watch.record() or {})
    advice = watch.recommendation() or _early(watch, used)
    servers = advice.get("servers") or [None]
    server = servers[0]
    return {
        "job_name": watch.job_name, "run_id": watch.run_id, "attempt": attempt, "outcome": outcome, "stats": used,
        "requested": part.get("requested"), "applied": part.get("applied"), "why": part.get("why"),
        "recommendation": {**advice["resources"], "summary": advice["summary"], "safe": advice["apply"]["safe"],
                           "because": advice["apply"]["because"]},
        "warnings": [warning["text"] for warning in advice["warnings"]],
        "server": server,
        "cost": server and {"per_run": server.get("forecast_cost"), "per_hour": server["price"], "currency": server["currency"]},
    }


def _historical(watch: Watch, number: int) -> List[Dict[str, Any]]:
    """Statistics of the last successful runs, as resource-tracker names them."""
    try:
        known = watch.exporter.get_json("/runs", **watch.job, limit=number * 4)["runs"]
    except (OSError, RuntimeError):
        return []
    ended = [run for run in known if run["outcome"] == "succeeded"][:number]
    return [{"process_cpu_usage": {"mean": run.get("cpu_cores_mean"), "max": run.get("cpu_cores_max")},
             "process_memory_mib": {"mean": _mib(run.get("memory_mean_bytes")), "max": _mib(run.get("memory_peak_bytes"))},
             "process_gpu_usage": {"mean": run.get("gpu_usage_mean"), "max": run.get("gpu_usage_max")},
             "process_gpu_vram_mib": {"mean": _mib(run.get("vram_mean_bytes")), "max": _mib(run.get("vram_peak_bytes"))},
             "process_gpu_utilized": {"mean": None, "max": run.get("gpus_used_max")},
             "timestamp": {"duration": run.get("duration_seconds")}} for run in ended]


def _mib(value: Optional[float]) -> Optional[float]:
    return value and round(value / MIB, 2)


def resource_tracker_data(watch: Watch, began: float, failed: bool, number: int) -> Dict[str, Any]:
    """The artifact of resource-tracker 0.5.0: step_failed, tracker and historical_stats."""
    tracker = ResourceTracker(autostart=False, job_name=watch.job_name)
    tracker._watch, tracker.start_time = watch, began
    return {"step_failed": failed, "tracker": tracker.snapshot(), "historical_stats": _historical(watch, number)}
