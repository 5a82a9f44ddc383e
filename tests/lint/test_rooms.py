#!/usr/bin/python3
"""Tests each rule of rooms.py and circles.py with files that break it, and with files that keep it."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TABLE = """room\tholds\tlibraries\tmay include
collectors/base\ttext\t\t
collectors/.\tthe frame\t\tcollectors/base
exporter/history\truns\tsqlite3\tcollectors/base
exporter/http\tsockets\tmicrohttpd\tcollectors/. exporter/history
"""
KEPT = {
    "collectors/base/err.h": "",
    "collectors/host.h": '#include "collectors/base/err.h"\n#include <errno.h>',
    "exporter/history/read.c": '#include "collectors/base/err.h"\n#include <sqlite3.h>',
    "exporter/http/http.c": '#include "collectors/host.h"\n#include "exporter/history/read.h"\n#include <microhttpd.h>',
}
# The content of a file that breaks a rule, and the expected message.
BROKEN = [
    ("collectors/base/a.c", '#include "collectors/host.h"', "collectors/base may include no other room"),
    ("exporter/history/a.c", '#include "exporter/http/http.h"', "exporter/history may include collectors/base"),
    ("exporter/http/a.c", '#include "collectors/base/err.h"', "exporter/http may include collectors/., exporter/history"),
    ("exporter/history/a.c", "#include <microhttpd.h>", "exporter/history uses sqlite3"),
    ("collectors/a.c", "#include <jansson.h>", "collectors/. uses no library"),
    ("exporter/http/a.c", '#include "http.h"', '"http.h" does not begin with'),
    ("exporter/cellar/a.c", "", "exporter/cellar is no room: give it a row"),
    ("exporter/http/a.c", '#include "exporter/cellar/a.h"', "exporter/cellar is no room: give it a row"),
    ("exporter/http/a.c", "#include <openssl/ssl.h>", "openssl is used by no room"),
]
BROKEN_TABLES = [
    ("exporter/cli\twords\t\texporter/attic\n", "the row of exporter/cli names exporter/attic, which has no row"),
    ("exporter/cli\twords\t\texporter/cli\n", "exporter/cli may not include exporter/cli"),
    ("exporter/cli\twords\t\texporter/http\n", "exporter/cli may use exporter/http, and no file does"),
    ("exporter/cli words\n", "not four columns"),
    ("exporter/cli\twords\tyaml\t\n", "exporter/cli may use yaml, and no file does"),
]


def check(files, table=TABLE):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        (root / "table.tsv").write_text(table, encoding="utf-8")
        return subprocess.run([sys.executable, "-B", HERE / "rooms.py", root, root / "table.tsv"], capture_output=True, text=True,
                              check=False)


class Rooms(unittest.TestCase):
    def test_says_nothing_when_kept(self):
        result = check(KEPT)
        self.assertEqual((result.returncode, result.stdout.strip()), (0, ""))

    def test_names_file_line_and_rule_when_broken(self):
        for path, text, sentence in BROKEN:
            with self.subTest(path=path, text=text):
                result = check({**KEPT, path: text})
                self.assertEqual(result.returncode, 1)
                self.assertIn(path, result.stdout)
                self.assertIn(sentence, result.stdout + result.stderr)

    def test_a_table_that_cannot_be_kept_is_named(self):
        for row, sentence in BROKEN_TABLES:
            with self.subTest(row=row):
                result = check(KEPT, TABLE + row)
                self.assertEqual(result.returncode, 1)
                self.assertIn(sentence, result.stdout + result.stderr)


class Circles(unittest.TestCase):
    def test_files_that_need_each_other_and_rooms_that_are_used_unseen_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            objects = pathlib.Path(folder, "collectors/CMakeFiles/collectors.dir")
            for name, text in (("host", "int snapshot(void); int host(void) { return snapshot(); }"),
                               ("snapshot", "int host(void); int snapshot(void) { return host(); }"),
                               ("base/err", "int host(void); int err(void); int err(void) { return host(); }")):
                path = objects / f"{name}.c.o"
                path.parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(["gcc", "-c", "-x", "c", "-", "-o", path], input=text, text=True, check=True)
            result = subprocess.run([sys.executable, "-B", HERE / "circles.py", folder], capture_output=True, text=True, check=False,
                                    cwd=HERE.parents[1])
        self.assertEqual(result.returncode, 1)
        self.assertIn("a circle of 2 files, each needs the others: collectors/host.c collectors/snapshot.c", result.stdout)
        self.assertIn("collectors/base/err.c uses host of collectors/host.c", result.stdout)


if __name__ == "__main__":
    unittest.main()
