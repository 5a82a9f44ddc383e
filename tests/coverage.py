#!/usr/bin/python3
"""Line coverage by file and folder, from gcov's counters; exit code 1 when a folder is below its bound.

Usage: coverage.py BUILD [FILE...]     BUILD is one of preset coverage; with files: which of their lines did not run
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]
BOUNDS = {"collectors": 90, "recommender": 90, "exporter": 85}
AT_ONCE = 20


def ranges(numbers):
    """[3, 4, 5, 9] as 3-5 9."""
    found = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return " ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in found)


def gcov(build, notes):
    """Returns gcov's document for each object. An object that never ran has counts of 0."""
    said = subprocess.run(["gcov", "--json-format", "--stdout", *notes], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, cwd=build).stdout
    return [json.loads(line) for line in said.splitlines()]


def read(build):
    """Returns {file: {line: whether it ran}} of our own files. Lines of headers count if any file that includes them
    ran them."""
    notes = [path for folder in BOUNDS for path in sorted((build / folder).rglob("*.gcno"))]
    parts = [notes[i:i + AT_ONCE] for i in range(0, len(notes), AT_ONCE)]
    files = collections.defaultdict(dict)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for document in (d for part in pool.map(lambda part: gcov(build, part), parts) for d in part):
            for entry in document["files"]:
                # The compiler names files relative to the root of the sources (Flags.cmake).
                path = pathlib.Path(os.path.normpath(ROOT / entry["file"]))
                if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build"):
                    lines = files[str(path.relative_to(ROOT))]
                    for line in entry["lines"]:
                        number = line["line_number"]
                        lines[number] = lines.get(number, False) or line["count"] > 0
    return files


def percent(ran, all_lines):
    return 100 * ran / all_lines if all_lines else 100


def main():
    files = read(pathlib.Path(sys.argv[1]).resolve())
    for name in sys.argv[2:]:
        print(f"{name}: {ranges(sorted(n for n, ran in files[name].items() if not ran))}")
    if sys.argv[2:]:
        return 0
    if not files:
        sys.exit(f"{sys.argv[1]}: no counters of files below {ROOT}")
    status = 0
    rows = sorted((percent(sum(lines.values()), len(lines)), name) for name, lines in files.items())
    for folder, bound in BOUNDS.items():
        inside = {name: lines for name, lines in files.items() if name.startswith(folder + "/")}
        for share, name in rows:
            if name in inside:
                missed = len(inside[name]) - sum(inside[name].values())
                print(f"{share:6.1f} %  {missed:4} missed  {name}")
        ran = sum(sum(lines.values()) for lines in inside.values())
        count = sum(len(lines) for lines in inside.values())
        share = percent(ran, count)
        enough = bool(inside) and share >= bound
        status = status if enough else 1
        print(f"{share:6.1f} %  {count - ran:4} missed  {folder}/ of {count} lines, "
              f"{'at least' if enough else 'BELOW the bound of'} {bound} %\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
