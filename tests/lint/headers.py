#!/usr/bin/python3
"""Each header compiles alone, all of them compile in one file, and no two structs of the program have one name.

Usage: headers.py [FOLDER]     checks the project in FOLDER (default: this one); exit code 1 when something is found
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import rooms  # noqa: E402 (beside this file)

COMPILER = ["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-include", "collectors/base/banned.h", "-I.", "-Wall", "-Wextra", "-Werror",
            "-fsyntax-only", "-x", "c", "-"]
DEFINED = re.compile(r"^\s*(?:static\s+)?(?:const\s+)?(struct|union|enum)\s+(\w+)\s*\{", re.MULTILINE)


def first_error(root, headers):
    """Returns the compiler's first error about a file that includes these headers; None = it compiles."""
    text = "".join(f'#include "{header}"\n' for header in headers)
    said = subprocess.run(COMPILER, input=text, cwd=root, capture_output=True, text=True, check=False)
    if said.returncode == 0:
        return None
    return next((line for line in said.stderr.splitlines() if "error:" in line), said.stderr.strip())


def names_of_two(root, files):
    found = collections.defaultdict(set)
    for path in files:
        for kind, name in DEFINED.findall((root / path).read_text(encoding="utf-8")):
            found[kind, name].add(str(path))
    for (kind, name), places in sorted(found.items()):
        if len(places) > 1:
            yield f"{kind} {name} is defined in {', '.join(sorted(places))}: give each a name of its own"


def check(root):
    files = sorted(path.relative_to(root) for top in rooms.TOPS for path in (root / top).rglob("*.[ch]"))
    headers = [path for path in files if path.suffix == ".h"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, error in zip(headers, pool.map(lambda header: first_error(root, [header]), headers)):
            if error:
                yield f"{header} does not compile alone: {error}"
    error = first_error(root, headers)
    if error:
        yield f"all headers do not compile in one file: {error}"
    yield from names_of_two(root, files)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    found = list(check(root))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
