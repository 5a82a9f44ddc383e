"""Sizes of the next run of a job, for systems that start it.

A question takes 2 seconds at most and raises no error. After one that had no answer, none is asked for a minute:
a scheduler that starts many tasks does not wait for each. Nothing here starts an exporter.
"""
import json
import time
from signal import SIGKILL
from typing import Any, Dict, Iterable, List, Optional

from . import _server
from ._http import Refused

ASK_SECONDS = 1.0  # longest wait for one exporter
SILENT_SECONDS = 60.0  # after no answer, nothing is asked for so long
AT_LIMIT = 0.9  # a run that is killed with so much of its limit in use is taken for one that ran out of memory
FEW_RUNS = 1000  # runs of a job among which those of one task are looked for

_silent_until = 0.0


def ask(sources: Iterable[Any], route: str, **parameters: Any) -> Optional[bytes]:
    """The answer of the first exporter that has one. An OSError is told to no one: the next one is asked."""
    for source in sources:
        try:
            answer: bytes = source.get(route, **parameters)
            return answer
        except (Refused, OSError):
            continue
    return None


def _ask(route: str, **parameters: Any) -> Any:
    """The answer as JSON. None: nothing is known, or nobody answers."""
    global _silent_until  # pylint: disable=global-statement
    if time.monotonic() < _silent_until:
        return None
    began = time.monotonic()
    try:
        central = _server.central(ASK_SECONDS)
        answer = ask([*([central] if central else []), _server.known(ASK_SECONDS)], route, **parameters)
        return json.loads(answer) if answer else None
    except Exception:  # pylint: disable=broad-except # no program, or an answer of another service
        return None
    finally:
        if time.monotonic() - began >= ASK_SECONDS:
            _silent_until = time.monotonic() + SILENT_SECONDS


def resources(job_name: str, attempt: int = 1, cpu_limit: bool = False) -> Optional[Dict[str, Dict[str, Optional[str]]]]:
    """The `requests` and `limits` of a container, as quantities of Kubernetes, where this is safe to apply.

    A limit that is None is to be removed. None: no run is known, it is not safe, or nobody answers.
    attempt: 2 for the one after a kill for memory, and so on; cpu_limit: with one that does not slow the job down.
    """
    answer = _ask("/recommend", job_name=job_name, attempt=attempt)
    if not isinstance(answer, dict) or not answer.get("apply", {}).get("safe"):
        return None
    patch = _ask("/recommend", job_name=job_name, attempt=attempt, format="kubernetes-patch",
                 cpu_limit="true" if cpu_limit else None)
    try:
        found: Dict[str, Dict[str, Optional[str]]] = patch["spec"]["template"]["spec"]["containers"][0]["resources"]
        return {"requests": found["requests"], "limits": found.get("limits", {})}
    except (KeyError, IndexError, TypeError):
        return None


def merged(old: Optional[Dict[str, Any]], new: Dict[str, Optional[str]]) -> Dict[str, Any]:
    """Requests or limits with the advised ones in place; None removes one."""
    return {key: value for key, value in {**(old or {}), **new}.items() if value is not None}


def is_out_of_memory(run: Dict[str, Any]) -> bool:
    """True if memory ended the run: the exporter says so, or it was killed close to its limit or request."""
    limit = run.get("memory_limit_bytes") or run.get("requested_memory_bytes")
    peak = run.get("memory_peak_bytes")
    return bool(run["outcome"] == "oom_killed" or
                (run.get("exit_signal") == SIGKILL and limit and peak and peak >= AT_LIMIT * limit))


def attempt_after(job_name: str, tries: int, run_id: Optional[str], task: Optional[str] = None) -> int:
    """The attempt to ask for, of a task that is tried for the time `tries`, in the run `run_id` of a workflow.

    Tries that ended in another way than by memory do not count. One that the history does not know counts, since a
    kill may have taken its exporter along.
    """
    answer = _ask("/runs", job_name=job_name, limit=FEW_RUNS) if tries > 1 else None
    others = set()
    for run in answer.get("runs", []) if isinstance(answer, dict) else []:
        labels = run.get("labels") or {}
        is_same = run_id in (labels.get("run"), run.get("system_run")) and labels.get("task") in (None, task)
        if is_same and (run.get("attempt") or tries) < tries and run["outcome"] != "running" and not is_out_of_memory(run):
            others.add(run["attempt"])
    return max(1, tries - len(others))
