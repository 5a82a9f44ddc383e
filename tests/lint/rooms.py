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
# Headers of the C library and the kernel: by their folder, or by name. Any other <header.h> is a library's.
SYSTEM_FOLDERS = ("sys", "linux", "asm", "bits", "net", "netinet", "arpa", "rpc")
SYSTEM = set("""aio assert byteswap complex ctype dirent dlfcn elf endian err errno error execinfo fcntl features fenv float fnmatch ftw
    getopt glob grp iconv ifaddrs inttypes iso646 langinfo libgen libintl limits link locale malloc math mntent mqueue netdb nl_types
    paths poll pthread pty pwd regex resolv sched search semaphore setjmp shadow signal spawn stdalign stdarg stdatomic stdbool
    stddef stdint stdio stdlib stdnoreturn string strings syscall syslog tar termios tgmath threads time uchar ucontext unistd
    utime utmp utmpx wchar wctype wordexp""".split())


def room_of(path):
    folder = path.parent.as_posix()
    return folder if "/" in folder else folder + "/."


class Table:
    def __init__(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        self.name = path.name
        for number, row in enumerate(rows, 2):
            if None in row or None in row.values():
                sys.exit(f"{path.name}:{number}: not four columns with a tab between: room, may include, libraries, holds")
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
        """Returns the fault of #include "name" in a file of a room; None = no fault."""
        if not name.startswith(tuple(top + "/" for top in TOPS)):
            return f'"{name}" does not begin with {", ".join(TOPS)}: write the path from the top of the project'
        other = room_of(pathlib.PurePath(name))
        self.unused.discard((room, other))
        if other == room or other in self.rooms[room]:
            return None
        if other not in self.rooms:
            return f'"{name}": {other} is no room: give it a row'
        return (f'"{name}" is not allowed: {room} may include {", ".join(sorted(self.rooms[room])) or "no other room"}; move the '
                f"code to a room that may, or add {other} to the row if its row stands above")

    def fault_of_library(self, room, name):
        library = name.split("/")[0].removesuffix(".h")
        if library in (SYSTEM_FOLDERS if "/" in name else SYSTEM):
            return None
        self.unused.discard((room, library))
        if library in self.libraries[room]:
            return None
        users = ", ".join(other for other, used in self.libraries.items() if library in used) or "no room"
        return (f'<{name}> is not allowed: {room} uses {", ".join(sorted(self.libraries[room])) or "no library"}; '
                f"{library} is used by {users}")


def check(root, table):
    yield from table.faults_of_itself()
    files = sorted(path.relative_to(root) for top in TOPS for path in (root / top).rglob("*.[ch]"))
    for path in files:
        room = room_of(path)
        if room not in table.rooms:
            yield f"{path}: {room} is no room: give it a row in tests/lint/{table.name}, below all rooms that it includes"
            continue
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if found:
                fault = (table.fault_of_ours if found[1] == '"' else table.fault_of_library)(room, found[2])
                if fault:
                    yield f"{path}:{number}: {fault} (tests/lint/{table.name})"
    for room, other in sorted(table.unused):
        yield f"{table.name}: {room} may use {other}, and no file does: take it out"


def main():
    here = pathlib.Path(__file__).resolve()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[2]
    table = Table(pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else here.with_name("rooms.tsv"))
    found = list(check(root, table))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
