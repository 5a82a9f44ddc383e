"""`python flow.py rightsize`: the steps of a flow, what they request, use and should request."""
import json
from typing import Any, Dict, List, Optional

from metaflow._vendor import click

from . import plan, sizes

COLUMNS = ("step", "runs", "requested", "used", "recommended", "saved", "safe")


@click.group()
def cli() -> None:
    """The commands of this extension."""


def _size(cpu: Optional[float], memory: Optional[float]) -> str:
    parts = [] if cpu is None else [f"{cpu:g} CPU"]
    parts += [] if memory is None else [f"{memory / sizes.MB:.0f} MB"]
    return ", ".join(parts) or "-"


def _saved(before: Optional[float], after: Optional[float]) -> Optional[float]:
    return before - after if before is not None and after is not None else None


def row(sources: List[Any], flow: Any, step: Any) -> Dict[str, Any]:
    """A row of the table: cpu in cores, memory in bytes. None = unknown."""
    job_name = plan.job_name(flow.name, step.__name__)
    request = sizes.requested(step.decorators)
    source, advice = sizes.advised(sources, job_name)
    carrier = sizes.carrier(step.decorators)
    steps = sizes.ladder(source, job_name, carrier.name if carrier else "resources") if advice else []
    after = steps[0] if steps else sizes.Size(None, None)
    used = advice["used"] if advice else {"cpu_cores": None, "memory_bytes": None}
    return {"step": step.__name__, "job_name": job_name, "runs": advice["based_on"]["runs"] if advice else 0,
            "requested": sizes.as_dict(request), "used": {"cpu": used["cpu_cores"], "memory_bytes": used["memory_bytes"]},
            "recommended": sizes.as_dict(after),
            "saved": {"cpu": _saved(request.cpu, after.cpu), "memory_bytes": _saved(request.memory, after.memory)},
            "safe": advice["apply"]["safe"] if advice else None,
            "because": advice["apply"]["because"] if advice else ["no_runs"]}


def _texts(one: Dict[str, Any]) -> List[str]:
    cells = [_size(one[name]["cpu"], one[name]["memory_bytes"]) for name in ("requested", "used", "recommended", "saved")]
    safe = "-" if one["safe"] is None else "yes" if one["safe"] else "no: " + ", ".join(one["because"])
    return [one["step"], str(one["runs"]), *cells, safe]


def table(rows: List[Dict[str, Any]]) -> str:
    """The rows as text."""
    lines = [list(COLUMNS), *(_texts(one) for one in rows)]
    widths = [max(len(line[number]) for line in lines) for number in range(len(COLUMNS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


@cli.command(help="Shows what each step requests, what it used, what it should request, and what that saves.")
@click.option("--json", "as_json", is_flag=True, help="Prints JSON: cores and bytes, null where unknown.")
@click.option("--runs", "number", default=5, show_default=True, help="How many of the last runs are read from the metadata.")
@click.pass_context
def rightsize(ctx: Any, as_json: bool, number: int) -> None:
    """Prints the table."""
    flow = ctx.obj.flow
    try:
        sources = sizes.exporters()
    except (OSError, RuntimeError) as error:
        raise click.ClickException(str(error)) from error
    plan.told_to(sources[-1], flow.name, flow._graph.sorted_nodes, number)
    rows = [row(sources, flow, getattr(flow, name)) for name in flow._graph.sorted_nodes]
    click.echo(json.dumps(rows, indent=1) if as_json else table(rows))
