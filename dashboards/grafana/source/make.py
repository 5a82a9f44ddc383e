#!/usr/bin/python3
"""Makes the dashboards: fleet.json, job.json, run.json, node.json and waste.json, one folder up.

Usage: make.py            writes them
       make.py --check    says which would change; exit code 1 if any
"""
import pathlib
import sys

import fleet
import job
import node
import panels
import run
import waste

FOLDER = pathlib.Path(__file__).parents[1]
ALL = {"fleet": fleet, "job": job, "run": run, "node": node, "waste": waste}


def main():
    check = sys.argv[1:] == ["--check"]
    stale = []
    for name, module in ALL.items():
        path = FOLDER / f"{name}.json"
        text = panels.text_of(module.dashboard())
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if not check:
            path.write_text(text, encoding="utf-8")
    if stale and check:
        print(f"dashboards/grafana/source/make.py would change: {' '.join(stale)}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
