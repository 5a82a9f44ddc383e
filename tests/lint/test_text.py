#!/usr/bin/python3
"""A check that finds nothing must be able to find something: each rule of text.py meets a file that breaks it."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("text.py")

BROKEN = [
    ("recommender/a.c", "#include <sys/socket.h>"),
    ("recommender/a.c", "#include <time.h>"),
    ("README.md", "TO" + "DO: say more"),
    ("deploy/a.sh", "cd /ho" + "me/ada"),
    ("README.md", "blank at the end "),
    ("exporter/long.c", "\n" * 901),
    ("history.db", "of a run"),
    ("exporter/a.c", "int f(void)\n{\n" + "\t;\n" * 61 + "}\n"),
    ("exporter/a.c", "/* Who" + "ever reads this. */\n"),
    ("exporter/a.c", "/* Reads it. Of" + " each, one is read. */\n"),
    ("exporter/a.c", "/* So" + " it is. */\n"),
    ("exporter/a.py", "# Who" + "ever reads this.\nf()\n"),
    ("exporter/a.py", '    """\n    What' + ' is told.\n    """\n'),
    ("exporter/a.py", '"""Tells it. What' + ' is left is counted."""\n'),
    ("deploy/a.sh", "\t# Those" + " who ask.\n\tf\n"),
    ("exporter/CMakeLists.txt", "# Of" + " whom.\n"),
    ("dashboards/a.yml", "# Where" + " it is.\n"),
    ("dashboards/a.js", "// No" + "body.\n"),
]
FINE = [
    ("recommender/a.c", "#include <jansson.h>"),
    ("exporter/short.c", "\n" * 900),
    ("exporter/a.c", "int f(void)\n{\n" + "\t;\n" * 60 + "}\n"),
    ("exporter/a.c", "int f(void)\n{\n\tstatic const int t[] = {\n" + "\t\t1,\n" * 90 + "\t};\n}\n"),
    ("exporter/a.c", "/* Says what is told, and where. */\n"),
    ("exporter/a.py", "# One. What" + " then?\nf()\n"),
    ("exporter/a.py", "# The reason\n# What" + " is told.\n"),
    ("build/a.c", "TO" + "DO"),
    (".gitignore", "/build/"),
    ("SECURITY.md", "who may do what"),
]


def check(path, text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True, check=False)


class TextRules(unittest.TestCase):
    def test_names_file_and_rule_when_broken(self):
        for path, text in BROKEN:
            with self.subTest(path=path, text=text[:40]):
                result = check(path, text)
                self.assertEqual(result.returncode, 1)
                self.assertIn(path, result.stdout)

    def test_says_nothing_when_kept(self):
        for path, text in FINE:
            with self.subTest(path=path, text=text[:40]):
                result = check(path, text)
                self.assertEqual((result.returncode, result.stdout.strip()), (0, ""))


if __name__ == "__main__":
    unittest.main()
