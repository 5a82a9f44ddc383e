#!/usr/bin/python3
"""The maps in collectors/, recommender/ and exporter/README.md: their table of rooms, and of threads, is the code's.

Usage: maps.py [--update]     compares, and finds files that are named but not there; --update writes the table of rooms from
tests/lint/rooms.tsv. Exit code 1 when something differs.

The table of rooms stands between <!-- rooms --> and <!-- /rooms -->. The table of threads in exporter/README.md names each thread
that the code starts, and the file that starts it; what it does and waits for is written by hand.
"""
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOPS = ("collectors", "recommender", "exporter")
LINES_MAX = {**{f"{top}/README.md": 60 for top in TOPS}, "CONTRIBUTING.md": 120}
ROOMS = re.compile(r"(?<=<!-- rooms -->\n).*?(?=<!-- /rooms -->)", re.DOTALL)
STARTED = re.compile(r'(?:\b(?:(?:loose_)?thread|worker)_start\([^"();]*|\.thread = )"([^"]+)"')
STARTED_BARE = re.compile(r"\bpthread_create\(")
FILE_NAMED = re.compile(r"`([\w/]+\.[ch])`")
THREAD_ROW = re.compile(r"^\| ([^|]+?) \| `([^`|]+\.c)` \|", re.MULTILINE)


def rooms_of(top):
    with open(ROOT / "tests/lint/rooms.tsv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["room"].startswith(top + "/")]
    lines = ["| room | holds | may include |", "|---|---|---|"]
    for row in rows:
        name = row["room"].removeprefix(top + "/").replace(".", f"{top}/ itself")
        others = [f"`{other.removeprefix(top + '/').removesuffix('/.')}`".replace("`.`", f"`{top}`")
                  for other in row["may include"].split()]
        libraries = row["libraries"].split()
        lines.append(f"| `{name}` | {row['holds']} | {', '.join(others + libraries)} |")
    return "\n".join(lines) + "\n"


def threads():
    """Returns {(name, file)} of all threads that the code starts."""
    found = set()
    for path in (path for top in TOPS for path in (ROOT / top).rglob("*.c")):
        text, where = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        found |= {(name, where) for name in STARTED.findall(text)}
        if STARTED_BARE.search(text) and where != "collectors/base/thread.c":
            found.add(("no name", where))
    return found


def check(update):
    for top in TOPS:
        path = ROOT / top / "README.md"
        text = path.read_text(encoding="utf-8")
        if len(ROOMS.findall(text)) != 1:
            yield f"{top}/README.md: <!-- rooms --> and <!-- /rooms --> must each be there once, in this order"
            continue
        new = ROOMS.sub(lambda _, top=top: rooms_of(top), text)
        if update:
            path.write_text(new, encoding="utf-8")
        elif new != text:
            yield f"{top}/README.md: its rooms are not those of tests/lint/rooms.tsv: run tests/lint/maps.py --update"
        for name in FILE_NAMED.findall(new):
            if not any((folder / name).is_file() for folder in (ROOT, ROOT / top, ROOT / "collectors")):
                yield f"{top}/README.md: there is no {name}"
    for name, most in LINES_MAX.items():
        lines = len((ROOT / name).read_text(encoding="utf-8").splitlines())
        if lines > most:
            yield f"{name}: {lines} lines; at most {most}"
    shown = set(THREAD_ROW.findall((ROOT / "exporter/README.md").read_text(encoding="utf-8")))
    for name, path in sorted(threads() - shown):
        yield f"exporter/README.md: the table of threads lacks | {name} | `{path}` | what it waits for, and does |"
    for name, path in sorted(shown - threads()):
        yield f"exporter/README.md: {path} starts no thread named {name}"


def main():
    found = list(check("--update" in sys.argv[1:]))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
