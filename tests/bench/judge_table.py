#!/usr/bin/env python3
"""Markdown tables from what bench_judge --csv wrote: judge_table.py FOLDER, with now.announced, now.none, before.announced
and before.none in it."""
import csv
import pathlib
import sys

INPUTS = {"announced": "announced input sizes", "none": "no input sizes"}
RISKS = ["economy", "balanced", "safe"]
RULES = ["seeds", "krr", "vpa", "ponder", "caq-balanced", "max-1.2"]
SCORES = ["waste %", "fail %", "lost %", "score"]


def read(path):
    """table, source, row, column -> value"""
    with open(path) as file:
        return {tuple(line[:4]): float(line[4]) for line in csv.reader(file)}


def rows_of(source, now, before):
    """Returns the rows of a table: name, cells of bench_judge, and the row of its scores."""
    rows = [(rule, now, rule) for rule in RULES]
    rows += [(f"before, {risk}", before, f"auto-{risk}") for risk in RISKS]
    rows += [(f"now, {risk}", now, f"auto-{risk}") for risk in RISKS]
    rows += [("best constant in hindsight", now, "best-constant")]
    return [row for row in rows if ("score", source, row[2], "score") in row[1]]


def cells_of(source, judged, rule):
    cells = [judged["score", source, rule, column] for column in SCORES]
    chances = [judged.get(("brier", source, rule.removeprefix("auto-"), column)) for column in ("told %", "came %")]
    return [f"{cell:.2f}" for cell in cells] + ["" if cell is None else f"{cell:.2f}" for cell in chances]


def print_table(source, now, before):
    print("| | waste % | failed % | lost % | score | told % | came % |\n|---|---|---|---|---|---|---|")
    for name, judged, rule in rows_of(source, now, before):
        print(f"| {name} | {' | '.join(cells_of(source, judged, rule))} |")


def print_chances(source, now, before):
    for name, judged in ("before", before), ("now", now):
        # Each pool has one "expected". A mark 1 says that its failures are outside the interval.
        keys = [key for key in judged if key[0] == "chance" and key[1] == source]
        pools = sum(key[3] == "expected" for key in keys)
        outside = [key[2] for key in keys if key[3] == "outside" and judged[key] == 1]
        rows = {key[2]: key[3] for key in judged if key[0] == "brier" and key[1] == source}
        worse = [row for row in rows if judged["brier", source, row, "worse"] == 1]
        print(f"\nChances {name}: {len(outside)} of {pools} pools outside their interval"
              f"{': ' if outside else ''}{', '.join(outside)}; Brier score worse than a constant's: "
              f"{', '.join(worse) or 'none'}.")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    now, before = ({name: read(folder / f"{when}.{name}") for name in INPUTS} for when in ("now", "before"))
    sources = dict.fromkeys(key[1] for key in now["none"] if key[0] == "score")
    for source in sources:
        same = all(now["announced"].get(key) == value for key, value in now["none"].items() if key[1] == source)
        for name, words in INPUTS.items():
            if name == "announced" and same:
                continue
            print(f"\n## {source}, {words}\n")
            print_table(source, now[name], before[name])
            print_chances(source, now[name], before[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
