#!/usr/bin/python3
"""Rules that are about text alone: which folder may include what, words that must not stay, sizes of files.

Usage: text.py [FOLDER]     checks the project in FOLDER (default: this one); exit code 1 when something is found

Brackets in the patterns keep them from finding themselves.
"""
import pathlib
import re
import sys

OURS = r'#include "(?!{})'
SYSTEM = r"#include <({})\.h>"

# Which lines must not be where: files, pattern, files that may after all, what is wrong.
RULES = [
    ("collectors/base/*.[ch]", OURS.format("collectors/base/"), (),
     "collectors/base/ may include nothing of ours but itself"),
    ("collectors/**/*.[ch]", OURS.format("collectors/"), (), "collectors/ may include only collectors/"),
    ("recommender/**/*.[ch]", OURS.format("recommender/|collectors/base/"), (),
     "recommender/ may include only recommender/ and collectors/base/"),
    ("collectors/**/*.[ch]", SYSTEM.format("microhttpd|sqlite3|curl/.*|jansson|zlib"), (),
     "collectors/ uses no library"),
    ("recommender/**/*.[ch]", SYSTEM.format("microhttpd|sqlite3|curl/.*|zlib"), (),
     "recommender/ uses no library but jansson"),
    ("recommender/**/*.[ch]",
     SYSTEM.format("sys/(socket|stat|time)|netinet/.*|arpa/.*|fcntl|unistd|dirent|time|pthread|signal"), (),
     "recommender/ is pure: no sockets, files, clocks, threads or signals"),
    ("exporter/**/*.[ch]", SYSTEM.format("microhttpd"), ("exporter/http/*.[ch]",), "only exporter/http/ includes microhttpd.h"),
    ("exporter/**/*.[ch]", SYSTEM.format("sqlite3"), ("exporter/history/*", "exporter/catalogue/*"),
     "only exporter/history/ and exporter/catalogue/ include sqlite3.h"),
    ("exporter/**/*.[ch]", SYSTEM.format("curl/.*"), ("exporter/client/download.c",), "only download.c includes curl.h"),
    ("**/*", r"\b([T]ODO|[F]IXME|[X]XX|[H]ACK)\b", (), "left open"),
    ("**/*", r"(?<![\w.-])/([h]ome|[r]oot|[U]sers|[w]ork|[f]arm)/[\w.-]", (), "a folder of somebody's machine"),
    ("**/*", r"[ \t]+$", (), "blanks at the end of the line"),
]
SKIPPED = {".git", "__pycache__", "corpus", "fixtures", "golden", "vendor"}
LINES_MAX = 500
SOURCES = {".c", ".h", ".py", ".sh"}


def is_skipped(path):
    return path.parts[0].startswith("build") or any(part in SKIPPED for part in path.parts)


def files(root, pattern):
    for path in sorted(root.glob(pattern)):
        relative = path.relative_to(root)
        if path.is_file() and not is_skipped(relative):
            yield relative


def lines_of(path):
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []


def broken_rules(root):
    for pattern, forbidden, allowed, sentence in RULES:
        search = re.compile(forbidden).search
        for path in files(root, pattern):
            if any(path.match(name) for name in allowed):
                continue
            for number, line in enumerate(lines_of(root / path), 1):
                if search(line):
                    yield f"{path}:{number}: {sentence}: {line.strip()}"


def too_long(root):
    for path in files(root, "**/*"):
        count = len(lines_of(root / path)) if path.suffix in SOURCES else 0
        if count > LINES_MAX:
            yield f"{path}: {count} lines; at most {LINES_MAX}, where does it split?"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    found = [*broken_rules(root), *too_long(root)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
