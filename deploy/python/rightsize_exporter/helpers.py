"""Statistics of several runs as one."""
from typing import Any, Dict, List


def aggregate_stats(stats: List[Dict[str, Dict[str, Any]]]) -> Dict[str, Dict[str, Any]]:
    """Joins what stats() gave for several runs: means and durations are averaged, of max and sum the largest counts.

    A value that is None in one run is taken from the others. ValueError: a statistic of another kind.
    """
    joined: Dict[str, Dict[str, List[Any]]] = {}
    for one in stats:
        for column, values in one.items():
            for kind, value in values.items():
                if kind not in ("mean", "duration", "max", "sum"):
                    raise ValueError(f"Unsupported aggregation type: {kind}")
                joined.setdefault(column, {}).setdefault(kind, []).append(value)
    return {column: {kind: _join(kind, values) for kind, values in kinds.items()} for column, kinds in joined.items()}


def _join(kind: str, values: List[Any]) -> Any:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return sum(known) / len(known) if kind in ("mean", "duration") else max(known)
