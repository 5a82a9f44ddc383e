#!/usr/bin/python3
"""The README's tables are made by the program: this compares them, or with --update writes them.

A table stands between <!-- NAME --> and <!-- /NAME -->, and is what "rightsize-exporter manual NAME" prints.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys

README = pathlib.Path(__file__).parents[2] / "README.md"
TABLES = ("metrics", "options", "routes", "strategies", "formats")


def made_by_program(name):
    arguments = [os.environ["RIGHTSIZE_EXPORTER"], "manual", name]
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout


def with_tables(text):
    for name in TABLES:
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise SystemExit(f"{README.name}: {begin} and {end} must each be there once")
        block = f"{begin}\n{made_by_program(name)}{end}"
        text = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _, block=block: block, text, flags=re.DOTALL)
    return text


def main():
    now = README.read_text(encoding="utf-8")
    wanted = with_tables(now)
    if "--update" in sys.argv[1:]:
        README.write_text(wanted, encoding="utf-8")
        return 0
    sys.stdout.writelines(difflib.unified_diff(now.splitlines(True), wanted.splitlines(True), README.name,
                                               "what the program prints"))
    if now != wanted:
        print("write it with: RIGHTSIZE_EXPORTER=PROGRAM tests/e2e/test_readme.py --update")
    return int(now != wanted)


if __name__ == "__main__":
    sys.exit(main())
