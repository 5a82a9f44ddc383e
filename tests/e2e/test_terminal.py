#!/usr/bin/python3
"""The output for people: tables on a terminal, JSON in a pipe, and the same numbers in both."""
import contextlib
import csv
import io
import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import time

import support
from support import EXPORTER, python_job

COMMANDS = ("jobs", "runs", "recommend", "servers", "stats", "benchmarks", "server", "overview")
OF_A_JOB = ("runs", "recommend", "servers", "stats")
ESCAPE = re.compile("\x1b")


class Terminal(support.Case):
    def setUp(self):
        super().setUp()
        for code in ("x = bytearray(64 << 20)", "x = bytearray(64 << 20); raise SystemExit(3)", "x = bytearray(80 << 20)"):
            self.run_job(python_job(code), job_name="etl/load", flags=("--request-memory=256Mi", "--request-cpu=2"))

    def on_terminal(self, *arguments, columns=80, **environment):
        """Returns the output of the command on a terminal of this width."""
        main, side = pty.openpty()
        subprocess.run(["stty", "cols", str(columns), "-onlcr"], stdin=side, check=True)
        env = support.clean_environment(**{"TERM": "xterm", "TZ": "UTC", "LC_ALL": "C.UTF-8", **environment},
                                        RIGHTSIZE_HISTORY_PATH=self.history)
        process = subprocess.Popen([EXPORTER, *arguments], stdin=side, stdout=side, stderr=subprocess.PIPE, env=env)
        os.close(side)
        text = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # the other side is closed
                part = b""
            if not part:
                break
            text += part
        os.close(main)
        with process.stderr:
            self.assertEqual((process.wait(), process.stderr.read()), (0, b""))
        return text.decode()

    def piped(self, *arguments):
        return self.command(*arguments, f"--history.path={self.history}").stdout

    def arguments_of(self, command):
        return (command, "--job-name=etl/load") if command in OF_A_JOB else (command,)

    def test_tables_on_a_terminal_and_json_in_a_pipe(self):
        for command in COMMANDS:
            with self.subTest(command):
                arguments = self.arguments_of(command)
                self.assertIsInstance(json.loads(self.piped(*arguments)), dict)
                for columns in (80, 120, 300):
                    text = self.on_terminal(*arguments, columns=columns, NO_COLOR="1")
                    self.assertNotRegex(text, ESCAPE)
                    self.assertFalse(text.startswith("{"), text)
                    longest = max(map(len, text.splitlines()))
                    self.assertLessEqual(longest, 80 if columns == 80 else 120, text)
                self.assertIsInstance(json.loads(self.on_terminal(*arguments, "--format=json")), dict)
        self.assertIn("columns", json.loads(self.on_terminal("runs", "--job-name=etl/load", "--export"))["runs"][0])

    def test_no_two_rows_of_stats_have_one_name(self):
        text = self.on_terminal("stats", "--job-name=etl/load", columns=120, NO_COLOR="1")
        names = re.findall(r"(?m)^([a-z][a-z0-9 ]*[a-z])  ", text)
        self.assertIn("memory peak", names)
        self.assertEqual(sorted(set(names)), sorted(names))

    def test_a_recommendation_fits_a_screen_and_says_what_json_says(self):
        text = self.on_terminal("recommend", "--job-name=etl/load", NO_COLOR="1")
        answer = self.query("recommend", "--job-name=etl/load")
        self.assertLess(len(text.splitlines()), 24, text)  # the prompt of the shell takes the last line
        request = answer["resources"]
        cpus = "1 CPU" if request["cpu"] == 1 else f"{request['cpu']} CPUs"
        memory = request["memory"]
        self.assertEqual(text.splitlines()[0], f"Request {cpus} and {memory:.{0 if memory >= 100 else 1}f} MiB.")
        self.assertRegex(text.splitlines()[1], r"^2 of 3 runs succeeded with up to [\d.]+ MiB; about")
        announced = self.on_terminal("recommend", "--job-name=etl/load", "--input-bytes=64Mi", NO_COLOR="1")
        self.assertRegex(announced.splitlines()[0], r"^Request .* MiB for an input of 64\.0 MiB\.$")
        self.assertIn(answer["paste"]["text"].strip(), text)
        # --cpus may be 1.75, or 0.5, beside a request of 1 CPU: both are true at first reading
        self.assertRegex(answer["paste"]["note"], "hard limits")
        self.assertIn(f"For docker ({answer['paste']['note']}):\n", text)
        chance = answer["memory"]["too_small_probability"]
        self.assertIn(f"about 1 run in {round(1 / chance)} may need more", text)
        self.assertEqual(answer["requested"], {"cpu_cores": 2, "memory_bytes": 256 << 20})
        peaks = [r["memory_peak_bytes"] for r in self.runs("etl/load") if r["outcome"] == "succeeded"]
        self.assertEqual(answer["used"]["memory_bytes"], max(peaks))
        best = answer["servers"][0]
        self.assertIn(best["api_reference"], text)
        self.assertNotIn("cpu 1:", text)
        self.assertIn("memory", self.on_terminal("recommend", "--job-name=etl/load", "--explain"))

    def test_a_recommendation_with_many_lines_to_paste_fits_a_screen_too(self):
        self.environment.update(SLURM_JOB_NAME="fit", SLURM_JOB_ID="103")
        spins = python_job("import threading, time\nend = time.monotonic() + 0.5\ndef spin():\n while time.monotonic() < end: pass\n"
                           "for _ in range(8): threading.Thread(target=spin).start()")
        for _ in range(3):
            self.run_job(spins, job_name="fit")
        text = self.on_terminal("recommend", "--job-name=fit", NO_COLOR="1")
        self.assertIn("#SBATCH --mem=", text)
        self.assertIn("#SBATCH --time=", text)
        self.assertLess(len(text.splitlines()), 24, text)

    def test_jobs_show_those_that_were_asked_for(self):
        def rows(*flags):
            table = self.piped("jobs", "--format=text", *flags).partition("\n\n")[0]
            return [line.split()[0] for line in table.splitlines()[1:]]
        for name in ("zeta", "alpha"):
            self.run_job(["true"], name)
        names = [job["job_name"] for job in json.loads(self.piped("jobs"))["jobs"]]
        self.assertEqual(names, ["alpha", "zeta", "etl/load"])
        self.assertEqual(rows(), names)
        self.assertEqual(rows("--sort=name"), sorted(names))
        self.assertEqual(rows("--search=zeta"), ["zeta"])
        self.assertEqual(rows("--limit=1", "--offset=1"), ["zeta"])
        self.assertIn("1 of 3 jobs; --limit", self.piped("jobs", "--format=text", "--limit=1"))
        self.assertIn("The list is empty: --show or --offset leaves out all 3 jobs.",
                      self.piped("jobs", "--format=text", "--show=running"))
        self.assertIn("The history has no such job.", self.piped("jobs", "--format=text", "--search=no-such-job"))

    def test_jobs_show_how_runs_ended(self):
        text = self.on_terminal("jobs", NO_COLOR="1")
        row = next(line for line in text.splitlines() if line.startswith("etl/load"))
        self.assertIn("         .F.  ok, ", row)
        self.assertIn("/256 MiB", row)
        self.assertIn("1 job.", text)

    def test_runs_name_code_and_share(self):
        text = self.on_terminal("runs", "--job-name=etl/load", columns=120, NO_COLOR="1")
        self.assertIn("failed, code 3", text)
        self.assertIn("█", text)
        for run in self.runs("etl/load"):
            self.assertIn(run["run_id"], text)
        self.assertNotIn("█", self.on_terminal("runs", "--job-name=etl/load", NO_COLOR="1", LC_ALL="C"))

    def test_colours_only_where_they_are_wanted(self):
        self.assertRegex(self.on_terminal("jobs"), ESCAPE)
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotRegex(self.on_terminal("jobs", **environment), ESCAPE)
        self.assertNotRegex(self.on_terminal("jobs", "--color=never"), ESCAPE)
        self.assertNotRegex(self.piped("jobs", "--format=text"), ESCAPE)
        self.assertRegex(self.piped("jobs", "--format=text", "--color=always"), ESCAPE)

    def test_yaml_and_csv_have_the_same_values(self):
        runs = self.query("runs", "--job-name=etl/load")["runs"]
        rows = [*csv.DictReader(io.StringIO(self.piped("runs", "--job-name=etl/load", "--format=csv")))]
        self.assertEqual([row["run_id"] for row in rows], [run["run_id"] for run in runs])
        self.assertEqual([float(row["memory_peak_bytes"]) for row in rows], [run["memory_peak_bytes"] for run in runs])
        text = self.piped("runs", "--job-name=etl/load", "--format=yaml")
        self.assertEqual([float(v) for v in re.findall(r'"duration_seconds": (\S+)', text)],
                         [run["duration_seconds"] for run in runs])

    def test_a_table_of_runs_has_a_column_for_each_key(self):
        question = ("runs", "--job-name=etl/load")
        known, every = self.query(*question)["runs"], self.query(*question, "--details")["runs"]
        self.assertEqual(known, [{key: v for key, v in run.items() if v is not None} for run in every])
        self.assertLess(len(known[0]), len(every[0]))
        rows = [*csv.DictReader(io.StringIO(self.piped(*question, "--format=csv")))]
        self.assertEqual(list(rows[0]), list(every[0]))

    def exported(self, *flags, terminal=True, **environment):
        """Returns the stderr of an export into a file that is stopped for a while after it opened the history."""
        main, side = pty.openpty() if terminal else os.pipe()
        env = support.clean_environment(**{"TERM": "xterm", **environment}, RIGHTSIZE_HISTORY_PATH=self.history)
        process = subprocess.Popen([EXPORTER, "csv", *flags, f"--output={self.folder}/out.csv"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=side, env=env)
        os.close(side)
        support.wait_until(lambda: any(os.path.realpath(f"/proc/{process.pid}/fd/{fd}") == str(self.history)
                                       for fd in os.listdir(f"/proc/{process.pid}/fd")), "the history to be open")
        process.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        support.wait_until(lambda: time.monotonic() > stopped + 1.1, "more than a second")
        process.send_signal(signal.SIGCONT)
        text = b""
        with contextlib.suppress(OSError):  # the other side is closed
            while part := os.read(main, 65536):
                text += part
        os.close(main)
        self.assertEqual(process.wait(), 0)
        return text.decode()

    def test_a_long_export_shows_how_far_it_is_on_a_terminal_only(self):
        samples = 200000
        with contextlib.closing(sqlite3.connect(self.history)) as history, history:
            history.execute("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
                            " INSERT OR REPLACE INTO sample(id, at, duration, memory_bytes)"
                            " SELECT (SELECT max(id) << 32 FROM run) + i, 1e9 + i, 1, 1000 * i FROM n", (samples,))
        run = f"--run={self.runs('etl/load')[0]['run_id']}"
        text = self.exported(run)
        self.assertRegex(text, "\r\x1b\\[Krightsize-exporter csv: ([0-9]+ samples, )?[0-9]+ s")
        self.assertTrue(text.endswith("\r\x1b[K"), text)
        with open(f"{self.folder}/out.csv", encoding="utf-8") as out:
            self.assertGreater(sum(1 for _ in out), samples)
        self.assertEqual(self.exported(run, terminal=False), "")
        self.assertEqual(self.exported(run, TERM="dumb"), "")


if __name__ == "__main__":
    support.main()
