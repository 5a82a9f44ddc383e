#!/usr/bin/python3
"""Which room may include which: every #include of C files against the table rooms.tsv.

Usage: rooms.py [FOLDER [TABLE]]     checks the project in FOLDER (default: this one); exit code 1 when something is found

A room is a folder that holds C files; "/." marks the files that lie directly in a top folder. A room may include only rooms of
rows above its own, only those that its row names, and only the libraries that its row names. A permission that no file uses is
found too, so that the table shows the arrows that exist.
"""
import csv
import pathlib
import re
import sys

TOPS = ("collectors", "recommender", "exporter")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
# Libraries by what their headers begin with; a system header that begins otherwise is the C library's or the kernel's.
LIBRARIES = ("microhttpd", "sqlite3", "curl", "gnutls", "jansson", "yaml", "pcre2", "zlib", "crypt")


def room_of(path):
    folder = path.parent.as_posix()
    return folder if "/" in folder else folder + "/."


class Table:
    def __init__(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        self.name = path.name
        self.order = {row["room"]: number for number, row in enumerate(rows)}
        self.rooms = {row["room"]: set(row["may include"].split()) for row in rows}
        self.libraries = {row["room"]: set(row["libraries"].split()) for row in rows}
        self.unused = {(row["room"], other) for row in rows
                       for other in row["may include"].split() + row["libraries"].split()}

    def faults_of_itself(self):
        for room, others in self.rooms.items():
            for other in sorted(others):
                if other not in self.order:
                    yield f"{self.name}: the row of {room} names {other}, which has no row"
                elif self.order[other] >= self.order[room]:
                    yield f"{self.name}: {room} may not include {other}: its row does not stand above that of {room}"

    def fault_of_ours(self, room, name):
        """What is wrong with #include "name" in a file of room; None: nothing."""
        if not name.startswith(tuple(top + "/" for top in TOPS)):
            return f'"{name}" is relative: write the path from the top of the project'
        other = room_of(pathlib.PurePath(name))
        self.unused.discard((room, other))
        if other == room or other in self.rooms[room]:
            return None
        return f'"{name}" is not allowed: {room} may include {", ".join(sorted(self.rooms[room])) or "no other room"}'

    def fault_of_library(self, room, name):
        library = name.split("/")[0].removesuffix(".h")
        if library not in LIBRARIES:
            return None
        self.unused.discard((room, library))
        if library in self.libraries[room]:
            return None
        return f'<{name}> is not allowed: {room} uses {", ".join(sorted(self.libraries[room])) or "no library"}'


def check(root, table):
    yield from table.faults_of_itself()
    files = sorted(path.relative_to(root) for top in TOPS for path in (root / top).rglob("*.[ch]"))
    for path in files:
        room = room_of(path)
        if room not in table.rooms:
            yield f"{path}: {room} is no room: give it a row in tests/lint/{table.name}"
            continue
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if found:
                fault = (table.fault_of_ours if found[1] == '"' else table.fault_of_library)(room, found[2])
                if fault:
                    yield f"{path}:{number}: {fault} (tests/lint/{table.name})"
    for room, other in sorted(table.unused):
        yield f"{table.name}: {room} may include {other}, and no file does: take it out"


def main():
    here = pathlib.Path(__file__).resolve()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[2]
    table = Table(pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else here.with_name("rooms.tsv"))
    found = list(check(root, table))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
