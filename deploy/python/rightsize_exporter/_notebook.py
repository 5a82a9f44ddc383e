"""%%rightsize [NAME]: runs the cell as a run of the job, and shows below the cell what it used."""
import os
from html import escape
from typing import Any, Dict, List, Optional, Tuple

from .track import Track
from .watch import Watch, warn

WIDTH, HEIGHT, MARGIN = 320, 60, 4


def _bytes(value: Optional[float]) -> str:
    if value is None:
        return "?"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            break
        value /= 1024
    else:
        unit = "TiB"
    return f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"


def _seconds(value: Optional[float]) -> str:
    return "?" if value is None else f"{value:.3g} s"


def _curve(title: str, points: List[Tuple[float, Optional[float]]], most: str) -> str:
    """A small chart; gaps where a value is unknown."""
    known = [(x, y) for x, y in points if y is not None]
    if len(known) < 2:
        return ""
    left, right, top = known[0][0], known[-1][0], max(y for _, y in known) or 1
    path = " ".join(f"{MARGIN + (x - left) / ((right - left) or 1) * (WIDTH - 2 * MARGIN):.1f},"
                    f"{HEIGHT - MARGIN - y / top * (HEIGHT - 2 * MARGIN):.1f}" for x, y in known)
    return (f'<figure style="display:inline-block;margin:0 1em 0 0"><figcaption>{escape(title)}, at most {escape(most)}'
            f'</figcaption><svg width="{WIDTH}" height="{HEIGHT}" role="img"><polyline points="{path}" fill="none" '
            'stroke="currentColor" stroke-width="1.5"/></svg></figure>')


def html_of(watch: Watch) -> str:
    """The use of the run and the next request as HTML, for the output of a cell."""
    record: Dict[str, Any] = watch.record() or {}
    advice = watch.recommendation()
    rows = list(watch.samples())
    memory = [(row["timestamp"], row["process_memory_mib"]) for row in rows]
    cpu = [(row["timestamp"], row["process_cpu_usage"]) for row in rows]
    cores = record.get("cpu_cores_max")
    peak = record.get("memory_peak_bytes")
    facts = [("took", _seconds(record.get("duration_seconds"))), ("CPU time", _seconds(record.get("cpu_seconds"))),
             ("cores at most", "?" if cores is None else f"{cores:.3g}"), ("memory at most", _bytes(peak))]
    line = " · ".join(f"{escape(name)} <b>{escape(value)}</b>" for name, value in facts)
    charts = _curve("cores", cpu, "?" if cores is None else f"{cores:.3g}") + _curve("memory", memory, _bytes(peak))
    said = f"<div>{escape(advice['summary'])}</div>" if advice else ""
    return f"<div><div><b>{escape(watch.job_name)}</b> {escape(record.get('outcome') or '')}: {line}</div>{charts}{said}</div>"


class _Shown:
    def __init__(self, watch: Watch):
        self._html = html_of(watch)
        record = watch.record() or {}
        self._text = f"{watch.job_name}: {_seconds(record.get('duration_seconds'))}, {_bytes(record.get('memory_peak_bytes'))}"

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._html


class CellFailed(Exception):
    """The cell below the magic failed. Its own traceback is shown already, so this one has none."""

    def _render_traceback_(self) -> List[str]:
        return []


def register(shell: Any) -> None:
    """Adds the magic to an IPython shell."""

    def rightsize(line: str, cell: str) -> None:
        name = line.strip() or os.environ.get("RIGHTSIZE_JOB_NAME") or "notebook"
        with Track(name) as watch:
            result = shell.run_cell(cell)
            error = result.error_before_exec or result.error_in_exec
            if error is not None:
                watch.end("interrupted" if isinstance(error, KeyboardInterrupt) else "failed")
        if watch.run_id:
            from IPython.display import display
            try:
                watch.settle()
                display(_Shown(watch))  # type: ignore[no-untyped-call]
            except (OSError, RuntimeError) as trouble:
                warn(f"the run of {watch.job_name} cannot be shown: {trouble}")
        if error is not None:  # else "run all" and papermill would go on with the next cell
            raise CellFailed(f"{type(error).__name__}: {error}") from error

    shell.register_magic_function(rightsize, magic_kind="cell", magic_name="rightsize")
