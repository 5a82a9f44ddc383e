"""Reads the request of a step, asks for the advised one, and changes a request so that it takes effect."""
import functools
import json
import re
import time
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from rightsize_exporter import _program, _server
from rightsize_exporter._http import TIMEOUT, Address
from rightsize_exporter.advice import ASK_SECONDS, SILENT_SECONDS, ask

MB, MIB = 10 ** 6, 1 << 20
ATTEMPTS = 4  # attempts that a plan has requests for; later ones get the last one
# The decorators that carry a request: bytes in their unit of memory, and the format that gives their numbers.
UNITS = {"kubernetes": (MB, "metaflow-kubernetes"), "batch": (MIB, "metaflow-batch"), "resources": (MB, "metaflow-kubernetes")}
COMPUTE = ("kubernetes", "batch")


class Size(NamedTuple):
    """A request: cores and bytes. None = not requested."""

    cpu: Optional[float]
    memory: Optional[float]


class Bounds(NamedTuple):
    """Bounds of a request: cores, and memory in MB as in @resources. None = no bound."""

    min_memory: Optional[float] = None
    max_memory: Optional[float] = None
    min_cpu: Optional[float] = None
    max_cpu: Optional[float] = None

    def hold(self, size: Size) -> Size:
        """The size, moved between the bounds."""
        def between(value: Optional[float], least: Optional[float], most: Optional[float]) -> Optional[float]:
            if value is None:
                return None
            value = value if least is None else max(value, least)
            return value if most is None else min(value, most)
        low, high = (bound if bound is None else bound * MB for bound in (self.min_memory, self.max_memory))
        return Size(between(size.cpu, self.min_cpu, self.max_cpu), between(size.memory, low, high))


def _number(value: Any) -> Optional[float]:
    try:
        return float(value) if value not in (None, "") else None
    except (TypeError, ValueError):
        return None


def carrier(decorators: List[Any]) -> Optional[Any]:
    """The decorator whose request counts: @kubernetes or @batch, else @resources."""
    return next((deco for name in (*COMPUTE, "resources") for deco in decorators if deco.name == name), None)


def requested(decorators: List[Any]) -> Size:
    """Returns the request of the step today."""
    deco = carrier(decorators)
    if deco is None:
        return Size(None, None)
    memory = _number(deco.attributes.get("memory"))
    return Size(_number(deco.attributes.get("cpu")), memory and memory * UNITS[deco.name][0])


def _text(value: float) -> str:
    return f"{value:g}" if value % 1 else str(int(value))


def apply(decorators: List[Any], size: Size) -> None:
    """Sets the request in each decorator that carries one: the larger of two counts, so one alone lowers nothing."""
    for deco in decorators:
        if deco.name in UNITS:
            if size.cpu is not None:
                deco.attributes["cpu"] = _text(size.cpu)
            if size.memory is not None:
                deco.attributes["memory"] = _text(-(-size.memory // UNITS[deco.name][0]))


def _parse(line: str, unit: int) -> Size:
    words = dict(re.findall(r"(\w+)=([\d.]+)", line))
    memory = _number(words.get("memory"))
    return Size(_number(words.get("cpu")), memory and memory * unit)


class _Central(Address):
    """The address of the central exporter. One that was silent is left out for a minute: the scheduler of a flow waits."""

    _silent_until = 0.0

    def request(self, method: str, route: str, body: Any = None, timeout: float = TIMEOUT) -> Tuple[int, bytes]:
        """As that of any address, within ASK_SECONDS."""
        began = time.monotonic()
        if began < _Central._silent_until:
            raise OSError(f"{self.url} was silent a moment ago")
        try:
            return super().request(method, route, body, min(timeout, ASK_SECONDS))
        except OSError:
            if time.monotonic() - began >= ASK_SECONDS:
                _Central._silent_until = time.monotonic() + SILENT_SECONDS
            raise


def exporters() -> List[Any]:
    """Returns the exporters to ask: the central one, if RIGHTSIZE_URL names one, and the one of this machine.

    If this user's history cannot be used, the exporter of this machine knows only the runs that other machines send to it.
    """
    central = _server.central()
    try:
        here = _server.shared()
    except _program.NoHistory:
        here = _without_history()
    return [*([_server.Exporter(_Central(central.address.url), None)] if central else []), here]


@functools.lru_cache(maxsize=None)
def _without_history() -> Any:
    return _server.private()


def advised(sources: List[Any], job_name: str) -> Tuple[Optional[Any], Optional[Dict[str, Any]]]:
    """The first source that knows the job, and its advice. (None, None): nothing is known."""
    for source in sources:
        answer = ask([source], "/recommend", job_name=job_name)
        if answer is not None:
            return source, json.loads(answer)
    return None, None


def ladder(source: Any, job_name: str, deco_name: str) -> List[Size]:
    """The request for attempt 1, 2, ... that this source advises: each one after a kill for memory. Empty: nothing is known."""
    unit, form = UNITS[deco_name]
    found = []
    for attempt in range(1, ATTEMPTS + 1):
        answer = ask([source], "/recommend", job_name=job_name, format=form, attempt=attempt)
        if answer is None:
            break
        found.append(_parse(answer.decode(), unit))
    return found


def words(size: Size) -> str:
    """A size as text."""
    parts = [] if size.cpu is None else [f"{size.cpu:g} CPU"]
    parts += [] if size.memory is None else [f"{size.memory / MB:.0f} MB"]
    return ", ".join(parts) or "nothing"


def as_dict(size: Optional[Size]) -> Optional[Dict[str, Optional[float]]]:
    """A size as it is kept: cpu in cores, memory in bytes."""
    return None if size is None else {"cpu": size.cpu, "memory_bytes": size.memory}


def of_dict(kept: Optional[Dict[str, Any]]) -> Optional[Size]:
    """A size that was kept."""
    return None if kept is None else Size(kept.get("cpu"), kept.get("memory_bytes"))
