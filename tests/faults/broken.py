#!/usr/bin/python3
"""Breaks the promises of tests/faults/README.md on purpose, one at a time, and checks that a test notices.

Usage: tests/faults/broken.py [NAME...]       some 40 minutes; not part of the tests; exit code 1 when a test did not notice
       tests/faults/broken.py --rows          only checks that each row still names one place and a test

Each row replaces a piece of the source in a copy of the tracked files, builds the copy, and runs the test of the
promise, which must fail. Before that, all of these tests run on the unchanged program, and must pass."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import rows_of_serving
import rows_of_watching

ROOT = pathlib.Path(__file__).parents[2]
LIMIT_SECONDS = 300
TRIES = 3

ROWS = rows_of_serving.ROWS | rows_of_watching.ROWS
INCLUDES = {"a decimal comma": "#include <locale.h>\n"}


class Copy:
    def __init__(self, folder):
        self.root = pathlib.Path(folder) / "source"
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
        for name in filter(None, tracked.decode().split("\0")):
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)

    def run(self, command, **options):
        return subprocess.run(["bash", "-c", f". tests/build.sh; {command}"], cwd=self.root, capture_output=True, text=True,
                              check=False, **options)

    def build(self, test):
        preset, targets = ("check", f"test_{test[5:]}") if test.startswith("unit:") else ("e2e", "")
        done = self.run(f"build_preset {preset} {targets}")
        return done.stdout + done.stderr if done.returncode else ""

    def failure(self, test):
        """Returns the message of the failed test, or "" when it passes."""
        if test.startswith("unit:"):
            command = f"ctest --test-dir build/check -R '^check.unit.{test[5:]}$' --no-tests=error --output-on-failure"
        else:
            file, _, name = test.partition(":")
            command = f"env {environment_of(self.root)} /usr/bin/python3 -B tests/e2e/{file} {name}"
        try:
            done = self.run(command, timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            return f"not over after {LIMIT_SECONDS} s"
        return done.stdout + done.stderr if done.returncode else ""


def environment_of(root):
    """Returns the environment that CTest gives to these tests, as KEY=VALUE words."""
    text = "".join(p.read_text() for p in (root / "build/e2e/tests/e2e").glob("CTestTestfile.cmake"))
    found = dict(re.findall(r"(RIGHTSIZE_[A-Z_]+)=([^;\"\]]+)", text))
    return " ".join(f"'{k}={v}'" for k, v in found.items())


def stale(root, name):
    """Returns the parts of a row that do not exist, or ""."""
    file, before, _, test = ROWS[name]
    path = root / file
    places = path.read_text().count(before) if path.exists() else 0
    if places != 1:
        return f"{file} has {places} places like {before!r}: mend the row"
    kind, _, tested = test.partition(":")
    source = root / (f"tests/unit/test_{tested}.c" if kind == "unit" else f"tests/e2e/{kind}")
    if not source.exists():
        return f"there is no {source.relative_to(root)}: mend the row"
    words = [] if kind == "unit" else tested.split(".") if tested else []
    missing = [w for w in words if not re.search(rf"^ *(class|def) {w}\b", source.read_text(), re.M)]
    return f"{source.name} has no {missing[0]}: mend the row" if missing else ""


def try_row(copy, name):
    file, before, after, test = ROWS[name]
    path = copy.root / file
    good = path.read_text()
    path.write_text(INCLUDES.get(name, "") + good.replace(before, after))
    try:
        failed = copy.build(test)
        if failed:
            return "it does not build:\n" + failed[-2000:]
        # Some faults show only by chance, so the test is repeated.
        return "" if any(copy.failure(test) for _ in range(TRIES)) else "NOT NOTICED"
    finally:
        path.write_text(good)


def main():
    only_rows = sys.argv[1:] == ["--rows"]
    names = list(ROWS) if only_rows else sys.argv[1:] or list(ROWS)
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        sys.exit(f"broken.py: {unknown[0]!r} is none of: " + ", ".join(ROWS))
    wrong = [f"{name}: {said}" for name in names if (said := stale(ROOT, name))]
    if wrong or only_rows:
        sys.exit("\n".join(wrong) or 0)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="broken-") as folder:
        copy = Copy(folder)
        for test in dict.fromkeys(ROWS[name][3] for name in names):
            wrong = copy.build(test) or copy.failure(test)
            if wrong:
                sys.exit(f"broken.py: {test}, on the program as it is: {wrong[-2000:]}")
        print(f"{'broken on purpose':55} test", flush=True)
        for name in names:
            said = try_row(copy, name)
            bad += bool(said)
            print(f"{name:55} {ROWS[name][3]}: {said or 'noticed'}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
