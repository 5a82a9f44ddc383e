"""A plan is made once for a run or a deployment of a flow, and reaches each of its tasks.

A local task reads its part from the environment; a remote one reads the file in its code package.
"""
import atexit
import json
import os
import shutil
import tempfile
import threading
from typing import Any, Dict, List, Optional

import rightsize_exporter
from rightsize_exporter import _server
from rightsize_exporter._http import Address, Refused

from . import runs, sizes

VARIABLE = "RIGHTSIZE_METAFLOW"  # the plan of an attempt that a run starts
FILE = "metaflow_plan.json"  # beside the module, in a code package
MESSAGES_MOST = 200  # runs of other machines that go into a code package

_lock = threading.Lock()
_made: Dict[str, Dict[str, Any]] = {}


def job_name(flow_name: str, step_name: str) -> str:
    """The name of the job, for local and remote tasks."""
    return f"{flow_name}/{step_name}"


def of_flow(flow: Any) -> Dict[str, Any]:
    """The plan of this process; the first call makes it, later ones give the same.

    The first call raises what is wrong. Later ones give a plan that changes no step, so that it is said and tried once.
    """
    with _lock:
        if flow.name not in _made:
            _made[flow.name] = {"flow": flow.name, "url": None, "messages": [], "steps": {}}
            _made[flow.name]["url"] = _url_for_others()
            _made[flow.name].update(_make(flow))
        return _made[flow.name]


def decorated(flow: Any) -> Dict[str, Any]:
    """The decorator of each step that has one."""
    found = {}
    for step in flow:
        deco = next((deco for deco in step.decorators if getattr(deco, "is_rightsize", False)), None)
        if deco is not None:
            found[step.__name__] = deco
    return found


def _url_for_others() -> Optional[str]:
    """The URL of the central exporter, for the code package: that of this machine is none of another one, and who can read the
    package is not who may know a password."""
    central = _server.central()
    return central.address.url if central and "@" not in central.address.parts.netloc else None


def _make(flow: Any) -> Dict[str, Any]:
    decos = decorated(flow)
    sources = sizes.exporters()
    told = told_to(sources[-1], flow.name, list(decos), max((deco.runs for deco in decos.values()), default=0))
    return {"messages": told[:MESSAGES_MOST],
            "steps": {name: _step(sources, flow.name, name, getattr(flow, name).decorators, deco)
                      for name, deco in decos.items()}}


def told_to(exporter: Any, flow_name: str, steps: List[str], number: int) -> List[Dict[str, Any]]:
    """Tells the exporter of this machine what the tasks of the last runs used, of all users, and returns it."""
    told = runs.of_steps(flow_name, steps, number) if number else []
    for first in range(0, len(told), MESSAGES_MOST):
        tell(exporter, told[first:first + MESSAGES_MOST])
    return told


def tell(exporter: Any, messages: List[Dict[str, Any]]) -> None:
    """Tells an exporter of runs. A run that it knows changes nothing, and one that it refuses is left out."""
    try:
        if messages:
            exporter.address.ask("POST", "/runs", messages)
    except (Refused, OSError):
        pass


def _step(sources: List[Any], flow_name: str, step_name: str, decorators: List[Any], deco: Any) -> Dict[str, Any]:
    """The plan of one step: what it requests, what is advised, what is set for each attempt, and why."""
    request, carrier = sizes.requested(decorators), sizes.carrier(decorators)
    part: Dict[str, Any] = {"requested": sizes.as_dict(request), "applied": None, "attempts": [], "why": None,
                            "tune": deco.tune}
    if not deco.tune:
        return part
    if carrier is None:
        return {**part, "why": "Nothing was set: the step has no @resources, @kubernetes or @batch."}
    source, advice = sizes.advised(sources, job_name(flow_name, step_name))
    if advice is None:
        return {**part, "why": "Nothing was set: no successful run is known yet."}
    if not advice["apply"]["safe"]:
        return {**part, "why": f"Nothing was set: not safe to apply ({', '.join(advice['apply']['because'])})."}
    attempts = [deco.bounds.hold(size)
                for size in sizes.ladder(source, job_name(flow_name, step_name), carrier.name)]
    if not attempts:
        return {**part, "why": "Nothing was set: no request is advised."}
    return {**part, "attempts": [sizes.as_dict(size) for size in attempts], "applied": sizes.as_dict(attempts[0]),
            "why": f"Set from {advice['based_on']['runs']} runs: {sizes.words(attempts[0])} in place of "
                   f"{sizes.words(request)}."}


def file_of(flow: Any) -> str:
    """Writes the plan to a file for the code package, and returns its path."""
    folder = tempfile.mkdtemp(prefix="rightsize-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, FILE)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(of_flow(flow), file)
    return path


def given(name: str) -> Optional[str]:
    """The part of the plan in the environment, if it is that of this job: a flow that a task starts inherits the task's."""
    text = os.environ.get(VARIABLE)
    try:
        return text if text and json.loads(text).get("job_name") == name else None
    except (ValueError, AttributeError):  # another program wrote it
        return None


def of_task(flow_name: str, step_name: str) -> Dict[str, Any]:
    """The plan of the task of this process: of the environment, else of the code package, which does not know of kills.

    Its own keys: `step` is the part of the step, `messages` are runs of other machines, `is_remote`.
    """
    own = given(job_name(flow_name, step_name))
    path = os.path.join(os.path.dirname(os.path.abspath(rightsize_exporter.__file__)), FILE)
    try:
        with open(path, encoding="utf-8") as file:
            plan = json.load(file)
    except OSError:
        return {"step": json.loads(own) if own else {}, "messages": [], "is_remote": False}
    url = plan["url"]
    return {"step": json.loads(own) if own else plan["steps"].get(step_name, {}), "messages": plan["messages"],
            "is_remote": True, "url": None if url and Address(url).is_here else url}


def size_of_attempt(part: Dict[str, Any], kills: int) -> Optional[sizes.Size]:
    """The request of an attempt after so many kills for memory; None = the step is not changed."""
    attempts = part.get("attempts") or []
    return sizes.of_dict(attempts[min(kills, len(attempts) - 1)]) if attempts else None
