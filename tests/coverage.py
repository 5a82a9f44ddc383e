#!/usr/bin/python3
"""Line coverage by file and folder from gcovr's JSON; exit code 1 when a folder is below its bound.

Usage: coverage.py LINES.JSON [FILE...]     with files: which of their lines did not run
"""
import collections
import json
import pathlib
import sys

BOUNDS = {"collectors": 90, "recommender": 90, "exporter": 85}


def ranges(numbers):
    """[3, 4, 5, 9] as 3-5 9."""
    found = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return " ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in found)


def read(path):
    """{file: {line: whether it ran}}; a line of a header is counted by each file that includes it."""
    files = collections.defaultdict(dict)
    for entry in json.loads(pathlib.Path(path).read_text())["files"]:
        lines = files[entry["file"]]
        for line in entry["lines"]:
            if not line.get("gcovr/noncode"):
                number = line["line_number"]
                lines[number] = lines.get(number, False) or line["count"] > 0
    return files


def percent(ran, all_lines):
    return 100 * ran / all_lines if all_lines else 100


def main():
    files = read(sys.argv[1])
    for name in sys.argv[2:]:
        print(f"{name}: {ranges(sorted(n for n, ran in files[name].items() if not ran))}")
    if sys.argv[2:]:
        return 0
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
