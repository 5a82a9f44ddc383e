#!/usr/bin/python3
"""The README's tables are made by the program: this compares them, or with --update writes them.

A table stands between <!-- NAME --> and <!-- /NAME -->, and is what "rightsize-exporter manual NAME" prints.

The answer between <!-- answer --> and <!-- /answer --> is of one day and one machine, but it has the keys of any:
this asks for one and compares them. --answer=FILE puts another one there, such as

    rightsize-exporter recommend --job-name=quickstart/words --history.path=build/quickstart/history.db -o FILE

gives after deploy/quickstart.sh.
"""
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import support

README = pathlib.Path(__file__).parents[2] / "README.md"
TABLES = ("metrics", "options", "quantities", "routes", "strategies", "formats", "warnings")
ANSWER = re.compile(r"(?<=<!-- answer -->\n)(.*?```json\n)(.*?)(?=```\n<!-- /answer -->)", re.DOTALL)
LAST_KEY, SENTENCES = "explain", 8


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


def answer_of_a_job():
    """What the program answers of a job that ran once."""
    with tempfile.TemporaryDirectory() as folder:
        environment = support.clean_environment(RIGHTSIZE_HISTORY_PATH=f"{folder}/history.db")

        def ask(*arguments):
            return subprocess.run([os.environ["RIGHTSIZE_EXPORTER"], *arguments], capture_output=True, text=True,
                                  check=True, env=environment)
        ask("run", "--job-name=job", "--", "true")
        return ask("recommend", "--job-name=job").stdout


def answer_in(text):
    """The answer that a reader sees, without the marks of what is left out."""
    shown = ANSWER.search(text).group(2)
    return json.loads(re.sub(r",(\s*[\]}])", r"\1", re.sub(r"^\s*…\n", "", shown, flags=re.MULTILINE)))


def differences(shown, real, path=""):
    """Which keys one of two objects has and the other has not, at any depth."""
    # An empty list shows no keys to compare, such as "because" without a warning.
    if isinstance(shown, list) and isinstance(real, list) and shown and real:
        shown, real = dict(enumerate(shown[:1])), dict(enumerate(real[:1]))
    if not (isinstance(shown, dict) and isinstance(real, dict)):
        return
    for key in shown.keys() ^ real.keys():
        yield f"{path}.{key} is only {'there' if key in shown else 'in what the program answers'}"
    for key in shown.keys() & real.keys():
        yield from differences(shown[key], real[key], f"{path}.{key}")


def answer_is_like(text):
    """Whether the answer in the README is the beginning of one of today, and says why not."""
    shown, real = answer_in(text), json.loads(answer_of_a_job())
    beginning = dict(list(real.items())[:len(shown)])
    found = [*differences(shown, beginning)]
    if not found and list(shown) != list(beginning):
        found = [f"the order is {', '.join(beginning)}"]
    if len(shown) < 2 or list(shown)[-1] != LAST_KEY:
        found.append(f"it does not end with {LAST_KEY}")
    for line in sorted(found):
        print(f"{README.name}, <!-- answer -->: {line}")
    return not found


def with_answer(text, answer):
    lines = answer.splitlines(True)
    end = lines.index(f'  "{LAST_KEY}": [\n') + 1 + SENTENCES
    return ANSWER.sub(lambda m: m.group(1) + "".join(lines[:end]) + "    …\n  ],\n  …\n}\n", text)


def main():
    now = README.read_text(encoding="utf-8")
    wanted = with_tables(now)
    for file in (a.removeprefix("--answer=") for a in sys.argv[1:] if a.startswith("--answer=")):
        README.write_text(with_answer(now, pathlib.Path(file).read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    if "--update" in sys.argv[1:]:
        README.write_text(wanted, encoding="utf-8")
        return 0
    sys.stdout.writelines(difflib.unified_diff(now.splitlines(True), wanted.splitlines(True), README.name,
                                               "what the program prints"))
    if now != wanted:
        print("write it with: RIGHTSIZE_EXPORTER=PROGRAM tests/e2e/test_readme.py --update")
    return int(not answer_is_like(now) or now != wanted)


if __name__ == "__main__":
    sys.exit(main())
