"""/metrics is valid for all its readers, whatever the names of processes and jobs are."""
import subprocess
import time

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics

from support import DEADLINE, PROMETHEUS_2_ACCEPT, Case, children_of, main, python_job, samples, wait_until

# Busy processes whose names break a naive parser. Each prints a line when it has its name, then waits for the end of
# its input.
HOSTILE_PROCESSES = python_job(r"""
import ctypes, os, sys, time
names = [b"a b", b"a b c d e", b") R 1 (", b"))))", b"((((", b"new\nline", b"\xff\xfe\xfd", b"caf\xc3", b'"quote\\',
         b"# EOF", b"", b"{a=\"b\"} 1", b"\t\r\x1b[31m"]
libc = ctypes.CDLL(None)
reader, writer = os.pipe()
for name in names:
    if os.fork() == 0:
        os.close(writer)
        libc.prctl(15, ctypes.c_char_p(name), 0, 0, 0)
        end = time.process_time() + 0.05
        while time.process_time() < end: pass
        os.write(1, b".")
        os.read(reader, 1)
        os._exit(0)
os.close(reader)
sys.stdin.read()
os.close(writer)
for _ in names: os.wait()
""")
N_HOSTILE = 13

HOSTILE_JOB_NAMES = ['quote"d', "back\\slash", "brace{d}", "a,b=c", "# EOF", "spaces in it", "Zoë/тест/作業/🚂",
                     "trailing\\", "x" * 199, "' OR 1=1--", "%s%n", "../../etc", "-"]


def process_cpu(pid):
    """Returns the CPU seconds of a process: clock_getcpuclockid(3)."""
    return time.clock_gettime((~pid << 3) | 2)


class Exposition(Case):
    def check(self, server):
        """Checks both formats with the strictest parsers, and returns the samples."""
        text = server.get("/metrics").body
        lint = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, timeout=DEADLINE,
                              check=False)
        self.assertEqual((lint.returncode, lint.stdout, lint.stderr), (0, b"", b""))
        openmetrics = server.get("/metrics", Accept=PROMETHEUS_2_ACCEPT).text
        families = list(parse_openmetrics(openmetrics))
        self.assertGreater(len(families), 50)
        self.assertEqual([s.name for f in families for s in f.samples if s.name.endswith("_created")], [])
        for family in families:
            with self.subTest(family=family.name):
                self.assertTrue(family.documentation)
                self.assertTrue(not family.unit or family.name.endswith("_" + family.unit))
                if family.type == "info":
                    self.assertEqual({s.value for s in family.samples}, {1.0})
                if family.type == "counter":
                    self.assertTrue(all(s.value >= 0 for s in family.samples))
        self.assertEqual(len({f.name for f in families}), len(families))
        return samples(text.decode())

    def test_has_the_families_that_were_promised(self):
        self.run_job(["true"])
        server = self.serve()
        wait_until(lambda: server.job_value("rightsize_job_runs_total", "job", outcome="succeeded"), "the run")
        found = self.check(server)
        names = {name for name, _ in found}
        for name in ("rightsize_build_info", "rightsize_collector_success", "rightsize_collector_duration_seconds",
                     "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
                     "process_start_time_seconds", "rightsize_load1"):
            self.assertIn(name, names)
        for subject in ("cpu", "memory", "disk", "network", "filesystem"):
            self.assertTrue([n for n in names if n.startswith(f"rightsize_{subject}")], subject)
        failed = {labels for (name, labels), value in found.items() if name == "rightsize_collector_success"
                  and value != 1}
        self.assertEqual(failed, set())

    def test_counters_never_fall_and_series_stay(self):
        server = self.serve()
        last = self.check(server)
        for _ in range(20):
            now = samples(server.get("/metrics").text)
            self.assertEqual(set(last) - set(now), set())
            for key in last:
                if key[0].endswith("_total"):
                    self.assertGreaterEqual(now[key], last[key], key)
            last = now

    def test_a_scrape_tells_what_was_just_seen_of_jobs_and_looks_again_after_a_while(self):
        server = self.serve(interval="1h")
        told = set()  # time of the answer, and time of the last reading of the jobs

        def reused_and_renewed():
            now = server.metrics()
            told.add((now["rightsize_snapshot_timestamp_seconds", frozenset()],
                      now["rightsize_jobs_timestamp_seconds", frozenset()]))
            return 1 < len({jobs for _, jobs in told}) < len(told)
        wait_until(reused_and_renewed, "answers with the same look at the jobs, and with a new one")
        for answer, jobs in told:
            self.assertLessEqual(jobs, answer)

    def test_is_the_same_in_both_formats(self):
        server = self.serve("--no-collector.filesystem")
        text = {(n, l) for n, l in samples(server.get("/metrics").text)}
        parsed = parse_openmetrics(server.get("/metrics", Accept=PROMETHEUS_2_ACCEPT).text)
        openmetrics = {(s.name, frozenset(s.labels.items())) for f in parsed for s in f.samples}
        self.assertEqual(text, openmetrics)

    def test_hostile_process_names_harm_neither_text_nor_numbers(self):
        server = self.serve()
        wrapper = self.start_run(HOSTILE_PROCESSES, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(wrapper.process.stdout.read(N_HOSTILE), b"." * N_HOSTILE)
        wait_until(lambda: server.job_value("rightsize_job_processes", "job") == N_HOSTILE + 1,
                   "all hostile processes to be counted")
        # All processes sleep by now, so their clocks stand still. A shared snapshot may be a moment older.
        (job, _), = children_of(wrapper.pid)
        hostile = [pid for pid, _ in children_of(job)]
        self.assertEqual(len(hostile), N_HOSTILE)
        used = sum(process_cpu(pid) for pid in [job, *hostile])
        # CPU time that its first process used as a copy of the wrapper, before it entered the run's group, is not part
        # of the run.
        wait_until(lambda: server.job_value("rightsize_job_cpu_seconds_total", "job") > used - 0.01,
                   "all that they used to be counted")
        self.assert_close(server.job_value("rightsize_job_cpu_seconds_total", "job"), used, 0.02, 0.02, "CPU seconds")
        self.check(server)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)

    def test_hostile_job_names_come_back_as_they_were(self):
        for name in HOSTILE_JOB_NAMES:
            self.assertEqual(self.run_job(["true"], name).returncode, 0)
        server = self.serve()
        wait_until(lambda: all(server.job_value("rightsize_job_runs_total", name, outcome="succeeded") == 1
                               for name in HOSTILE_JOB_NAMES), "all jobs, each under its own name")
        self.check(server)
        self.assertEqual({job["job_name"] for job in server.get("/jobs").json["jobs"]}, set(HOSTILE_JOB_NAMES))
        for name in HOSTILE_JOB_NAMES:
            self.assertEqual(self.query("runs", f"--job-name={name}")["job_name"], name)

    def test_job_names_that_cannot_be_labels_are_ignored(self):
        """The job runs with the name of its command as its job name. With --strict it is not started."""
        for name in ("", "x" * 200, "new\nline", "tab\t", b"\xff\xfe", b"caf\xc3"):
            with self.subTest(name=name):
                argument = b"--job-name=" + (name if isinstance(name, bytes) else name.encode())
                history = f"--history.path={self.history}"
                result = self.command("run", argument, history, "--", "echo", "ran")
                self.assertEqual((result.returncode, result.stdout), (0, "ran\n"))
                self.assertIn("an option is ignored", result.stderr)
                self.assertIn("job-name", result.stderr)
                result = self.command("run", "--strict", argument, history, "--", "echo", "ran")
                self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual([run["outcome"] for run in self.query("runs", "--job-name=echo")["runs"]], ["succeeded"] * 6)


if __name__ == "__main__":
    main()
