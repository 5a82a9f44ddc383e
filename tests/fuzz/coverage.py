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


def replay(build, target):
    for counter in build.rglob("*.gcda"):
        counter.unlink()
    subprocess.run([build / "tests/fuzz" / f"fuzz_{target}", ROOT / "tests/fuzz/corpus" / target], check=True,
                   stdout=subprocess.DEVNULL)


def counted(build, path):
    """{line: count} of a file in the last replay."""
    folder, name = path.rsplit("/", 1)
    counters = list((build / folder / "CMakeFiles").glob(f"*.dir/{name}.gcda"))
    if not counters:
        return {}
    said = subprocess.run(["gcov", "--json-format", "--stdout", counters[0]], check=True, capture_output=True,
                          cwd=build).stdout
    return {line["line_number"]: line["count"] for file in json.loads(said)["files"] if file["file"].endswith(path)
            for line in file["lines"]}


def lines_of(build, parser):
    """Returns the path in "FILE" or "FILE: FUNCTION...", and its counted lines."""
    path, _, names = parser.partition(": ")
    of_file = counted(build, path)
    if not names:
        return path, of_file
    known = functions(path)
    return path, {n: count for name in names.split() for n, count in of_file.items() if n in known[name]}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    status = 0
    print(f"{'target':15} {'parser':36} {'lines':>6} {'run':>7}  not run")
    for target in sys.argv[2:] or PARSERS:
        replay(build, target)
        for parser in PARSERS[target]:
            path, lines = lines_of(build, parser)
            missed = sorted(n for n, count in lines.items() if not count)
            share = 100 * (len(lines) - len(missed)) / len(lines) if lines else 0
            low = share < BOUND
            status = status or int(low)
            print(f"{target:15} {path:36} {len(lines):6} {share:6.1f} %{' LOW' if low else ''}  "
                  f"{' '.join(map(str, missed[:30]))}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
