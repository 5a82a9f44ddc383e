#!/usr/bin/python3
"""Line coverage of each parser by the corpus of its fuzz target; exit code 1 below the bound.

Usage: coverage.py BUILD [TARGET...]     BUILD is one of preset coverage; its counters are overwritten
"""
import json
import pathlib
import subprocess
import sys

from parsers import PARSERS, ROOT, functions

BOUND = 90


def counted(build, target):
    """{file: {line: count}} of a run of the target over its corpus."""
    for counter in build.rglob("*.gcda"):
        counter.unlink()
    subprocess.run([build / "tests/fuzz" / f"fuzz_{target}", ROOT / "tests/fuzz/corpus" / target], check=True,
                   stdout=subprocess.DEVNULL)
    report = build / "fuzz.json"
    subprocess.run(["gcovr", "--root", ROOT, "--filter", "(collectors|recommender|exporter)/", "--object-directory",
                    build, "-j", "2", "--json", report, build], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return {entry["file"]: {line["line_number"]: line["count"] for line in entry["lines"]
                            if not line.get("gcovr/noncode")} for entry in json.loads(report.read_text())["files"]}


def lines_of(parser, lines):
    """The counted lines of "FILE" or "FILE: FUNCTION..."."""
    path, _, names = parser.partition(": ")
    of_file = lines.get(path, {})
    if not names:
        return path, of_file
    known = functions(path)
    return path, {n: count for name in names.split() for n, count in of_file.items() if n in known[name]}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    status = 0
    print(f"{'target':15} {'parser':36} {'lines':>6} {'run':>7}  not run")
    for target in sys.argv[2:] or PARSERS:
        all_lines = counted(build, target)
        for parser in PARSERS[target]:
            path, lines = lines_of(parser, all_lines)
            missed = sorted(n for n, count in lines.items() if not count)
            share = 100 * (len(lines) - len(missed)) / len(lines) if lines else 0
            low = share < BOUND
            status = status or int(low)
            print(f"{target:15} {path:36} {len(lines):6} {share:6.1f} %{' LOW' if low else ''}  "
                  f"{' '.join(map(str, missed[:30]))}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
