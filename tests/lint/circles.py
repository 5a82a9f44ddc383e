#!/usr/bin/python3
"""Circles of files: files that need each other, by the symbols of the objects that were built.

Usage: circles.py BUILD     prints each circle, and each symbol that a room uses against tests/lint/rooms.tsv; exit code 1 then

Tables that CMake makes from a list of names (all_collectors, all_routes, all_changes) are declared below the rooms whose names
they hold. Their objects lie in the build folder and are left out.
"""
import collections
import pathlib
import subprocess
import sys

import rooms

sys.dont_write_bytecode = True


def objects(build):
    """Returns {source path: object} of our libraries and of main."""
    for top in rooms.TOPS:
        for path in sorted((build / top).rglob("*.c.o")):
            parts = path.relative_to(build).parts
            marker = next(i for i, part in enumerate(parts) if part.endswith(".dir"))
            folder, target = parts[:marker - 1], parts[marker + 1:]
            if not set(target) & {"build", "..", "__"} and pathlib.Path(*folder, *target).with_suffix("").exists():
                yield str(pathlib.Path(*folder, *target).with_suffix("")), path


def symbols(found):
    """Returns ({symbol: the file that defines it}, {file: symbols that it needs})."""
    defines, needs = {}, collections.defaultdict(set)
    for source, path in found:
        for line in subprocess.run(["nm", "-gP", path], check=True, capture_output=True, text=True).stdout.splitlines():
            name, kind = line.split()[:2]
            if kind in "Uw":
                needs[source].add(name)
            else:
                defines[name] = source
    return defines, needs


def circles(graph):
    """Returns the strongly connected parts of more than one file (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def main():
    here = pathlib.Path(__file__).resolve()
    found = list(objects(pathlib.Path(sys.argv[1]).resolve()))
    if not found:
        sys.exit(f"circles.py: {sys.argv[1]} holds no object of ours: build it first")
    defines, needs = symbols(found)
    graph = {source: {defines[name] for name in needs[source] if name in defines} - {source} for source, _ in found}
    faults = [f"a circle of {len(circle)} files, each needs the others: {' '.join(circle)}" for circle in circles(graph)]
    table = rooms.Table(here.with_name("rooms.tsv"))
    for source, others in graph.items():
        room = rooms.room_of(pathlib.PurePath(source))
        if room not in table.rooms:
            faults.append(f"{source}: {room} is no room: give it a row in tests/lint/rooms.tsv")
            continue
        for other in sorted(others):
            used = rooms.room_of(pathlib.PurePath(other))
            if used not in (room, *table.rooms[room]):
                names = sorted(name for name in needs[source] if defines.get(name) == other)
                faults.append(f"{source} uses {', '.join(names)} of {other}: {room} may not use {used} (tests/lint/rooms.tsv)")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
