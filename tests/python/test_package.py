"""The Python package of deploy/python, with the program of RIGHTSIZE_EXPORTER: needs nothing but Python."""
import contextlib
import functools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "python"
sys.path.insert(0, str(PACKAGE))
import rightsize_exporter as rightsize  # noqa: E402
from rightsize_exporter import _program, _server  # noqa: E402

DEADLINE = 20
MIB = 1 << 20


def wait_until(answer, what):
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until:
        result = answer()
        if result:
            return result
        time.sleep(0.02)
    raise AssertionError(f"waited {DEADLINE} s for {what}")


class Case(unittest.TestCase):
    """Each test has a history and so an exporter of its own, which ends 5 seconds after the last run."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.environment = {"RIGHTSIZE_HISTORY_PATH": str(self.folder / "history.db"), "RIGHTSIZE_JOB_NAME": "",
                            "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"}
        for name, value in self.environment.items():
            self.addCleanup(os.environ.__setitem__, name, os.environ.get(name, ""))
            os.environ[name] = value
        os.environ.pop("RIGHTSIZE_URL", None)
        self.addCleanup(self.end_exporters)

    def exporters(self):
        """Pids of the exporters of this test."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                if str(self.folder).encode() in words and b"--exit-with-job" in words:
                    found.append(int(pid))
        return found

    def end_exporters(self):
        for pid in self.exporters():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not self.exporters(), "the end of the exporters")
        shutil.rmtree(self.folder)

    def python(self, code, **options):
        return subprocess.run([sys.executable, "-B", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=DEADLINE, check=False, **options)

    def runs(self, job_name):
        try:
            return _server.shared().get_json("/runs", job_name=job_name)["runs"]
        except RuntimeError:
            return []

    def ended(self, job_name, number=1):
        return wait_until(lambda: (lambda runs: len(runs) == number and all(r["outcome"] != "running" for r in runs)
                                   and runs)(self.runs(job_name)), f"{number} ended runs of {job_name}")


class Tracking(Case):
    def test_a_block_is_a_run_of_its_own(self):
        before = bytearray(b"x" * (150 * MIB))
        del before
        began = time.time()
        with rightsize.track("etl/load", cpu=2, memory="1Gi", labels={"team": "data"}) as run:
            self.assertTrue(run.running)
            held = bytearray(b"y" * (20 * MIB))
            time.sleep(1.2)
            del held
        took = time.time() - began
        self.assertFalse(run.running)
        record = self.ended("etl/load")[0]
        self.assertEqual(record["run_id"], run.run_id)
        self.assertEqual((record["outcome"], record["processes_max"]), ("succeeded", 1))
        self.assertEqual((record["requested_cpu_cores"], record["requested_memory_bytes"]), (2, 1 << 30))
        self.assertLess(record["memory_peak_bytes"], 150 * MIB)
        self.assertLess(record["duration_seconds"], took + 2)
        self.assertEqual(run.record()["run_id"], run.run_id)
        self.assertIn("Request ", run.recommendation()["summary"])
        self.assertIn("--mem", run.paste("slurm"))
        self.assertEqual(len(run.samples().columns), 32)
        self.assertGreater(len(run.samples("history")), 0)
        self.assertEqual(run.series()["run"]["run_id"], run.run_id)
        self.assertIn("<html", run.report_html())

    def test_ends_are_told(self):
        with self.assertRaises(KeyError), rightsize.track("fails"):
            raise KeyError
        with self.assertRaises(KeyboardInterrupt), rightsize.track("stopped"):
            raise KeyboardInterrupt
        with self.assertRaises(SystemExit), rightsize.track("leaves"):
            sys.exit(0)
        self.assertEqual([self.ended(name)[0]["outcome"] for name in ("fails", "stopped", "leaves")],
                         ["failed", "interrupted", "succeeded"])

    def test_a_long_run_is_found_behind_many_newer_ones_of_its_job(self):
        with rightsize.track("wide") as run:
            sleeper = subprocess.Popen(["sleep", "60"])
            self.addCleanup(sleeper.wait)
            self.addCleanup(sleeper.kill)
            for _ in range(101):
                body = {"job_name": "wide", "pid": sleeper.pid, "from_now": True}
                run.exporter.finish(run.exporter.announce(body)["run_id"], {"outcome": "succeeded"})
            wait_until(lambda: len(run.exporter.get_json("/runs", job_name="wide", limit=1000)["runs"]) == 102, "all runs")
            self.assertEqual(run.record()["run_id"], run.run_id)
        self.assertEqual(run.settle()["outcome"], "succeeded")

    def test_a_service_that_is_no_exporter_disturbs_no_job(self):
        for answer in (b"SSH-2.0-x\r\n\r\n", b"\r\n\r\n", b"HTTP/1.0 200 OK\r\n\r\n{}", b"HTTP/1.0 200 OK\r\n\r\n[]"):
            with self.subTest(answer=answer), socket.create_server(("127.0.0.1", 0)) as server:
                def serve(server=server, answer=answer):
                    with server.accept()[0] as connection:
                        connection.recv(1 << 16)
                        connection.sendall(answer)
                thread = threading.Thread(target=serve)
                thread.start()
                os.environ["RIGHTSIZE_URL"] = f"http://127.0.0.1:{server.getsockname()[1]}"
                self.addCleanup(os.environ.pop, "RIGHTSIZE_URL", None)
                with self.assertWarns(RuntimeWarning), rightsize.track("runs") as run:
                    pass
                thread.join()
                self.assertIsNone(run.run_id)

    def test_a_service_that_is_slow_to_answer_delays_the_job_by_two_seconds(self):
        for parts in (0, 40):
            with self.subTest(parts=parts), socket.create_server(("127.0.0.1", 0)) as server:
                def serve(server=server, parts=parts):
                    with server.accept()[0] as connection, contextlib.suppress(OSError):
                        for _ in range(parts):
                            connection.sendall(b"H")
                            time.sleep(0.2)
                        connection.settimeout(DEADLINE)
                        connection.recv(1 << 16)
                        connection.recv(1)
                thread = threading.Thread(target=serve)
                thread.start()
                os.environ["RIGHTSIZE_URL"] = f"http://127.0.0.1:{server.getsockname()[1]}"
                self.addCleanup(os.environ.pop, "RIGHTSIZE_URL", None)
                began = time.monotonic()
                with self.assertWarnsRegex(RuntimeWarning, "slow is not watched: timed out"), rightsize.track("slow"):
                    pass
                self.assertLess(time.monotonic() - began, 3.5)
                thread.join()

    def test_decorator(self):
        @rightsize.track
        def factorial(n):
            """Says it."""
            return 1 if n < 2 else n * factorial(n - 1)

        @rightsize.track("etl/named")
        async def load():
            return 3
        self.assertEqual((factorial(5), factorial.__doc__), (120, "Says it."))
        name = f"{__name__}.{factorial.__qualname__}".replace("__main__.", "")
        self.assertEqual(len(self.ended(name)), 1)  # calls of itself are the same run
        factorial(2)
        self.ended(name, 2)
        import asyncio
        self.assertEqual(asyncio.run(load()), 3)
        self.ended("etl/named")

    def test_functions_of_each_kind(self):
        import asyncio

        @rightsize.track("kind/generator")
        def numbers(count):
            said = []
            for number in range(count):
                said.append((yield number))
                time.sleep(0.2)
            return said

        @rightsize.track("kind/async")
        async def later(count):
            for number in range(count):
                yield number
                await asyncio.sleep(0.2)

        async def take():
            return [number async for number in later(3)]

        @rightsize.track("kind/told")
        async def told():
            try:
                yield (yield 1)
            except ValueError as error:
                yield str(error)

        async def tell():
            values = told()
            return [await values.__anext__(), await values.asend(2), await values.athrow(ValueError("3"))]
        self.assertEqual(asyncio.run(tell()), [1, 2, "3"])
        generator = numbers(2)
        self.assertEqual((next(generator), generator.send("a")), (0, 1))
        with self.assertRaises(StopIteration) as end:
            generator.send("b")
        self.assertEqual((end.exception.value, asyncio.run(take())), (["a", "b"], [0, 1, 2]))
        for name, least in (("kind/generator", 0.4), ("kind/async", 0.6)):
            self.assertGreaterEqual(self.ended(name)[0]["duration_seconds"], least)
        stopped = numbers(3)
        next(stopped)
        stopped.close()
        self.assertEqual(self.ended("kind/generator", 2)[0]["outcome"], "interrupted")

        class Methods:
            @rightsize.track("kind/static")
            @staticmethod
            def static():
                return 1

            @rightsize.track("kind/class")
            @classmethod
            def of_class(cls):
                return cls.__name__

            def __call__(self):
                return 3
        self.assertEqual((Methods.static(), Methods.of_class(), rightsize.track(Methods())(),
                          rightsize.track(functools.partial(Methods.static))()), (1, "Methods", 3, 1))
        for wrong in (Methods, 3):
            self.assertRaisesRegex(TypeError, "track takes a function", rightsize.track("x"), wrong)

    def test_blocks_of_one_job_that_overlap_are_one_run(self):
        def work(begin, seconds):
            time.sleep(begin)
            with rightsize.track("overlap"):
                time.sleep(seconds)
        threads = [threading.Thread(target=work, args=times) for times in ((0, 0.6), (0.2, 1), (0.4, 0.4))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        run = self.ended("overlap")[0]
        self.assertGreaterEqual(run["duration_seconds"], 1)
        block = rightsize.track("twice")
        with block:
            with block:
                pass
            self.assertEqual(self.runs("twice")[0]["outcome"], "running")
        self.ended("twice")

    def test_a_child_between_two_samples_counts(self):
        held = bytearray(b"x" * (400 * MIB))  # what starts the job is larger than the child
        del held
        result = self.python("""
import subprocess, sys, time
import rightsize_exporter as rightsize
with rightsize.track("short/child") as run:
    while not (run.record() or {}).get("samples"):
        time.sleep(0.05)
    subprocess.run([sys.executable, "-S", "-c", "x = bytearray(300 << 20)\\nfor i in range(0, len(x), 4096): x[i] = 1"], check=True)
    later = rightsize.Watch("short/child").begin()
later.end()  # the same run, which began before that child
with rightsize.track("short/after"):  # that child is no part of it
    subprocess.run(["true"], check=True)
""")
        self.assertEqual(result.stderr, "")
        self.assertGreater(self.ended("short/child")[0]["memory_peak_bytes"], 300 * MIB)
        self.assertLess(self.ended("short/after")[0]["memory_peak_bytes"], 300 * MIB)

    def test_an_end_that_is_refused_ends_the_run(self):
        for body in ({"outcome": "great"}, {"outcome": "failed", "reason": "x" * 64}):
            watch = rightsize.Watch("refused").begin()
            with self.assertWarnsRegex(RuntimeWarning, "the end of refused is not recorded"):
                watch.end(**body)
        self.assertEqual([run["outcome"] for run in self.ended("refused", 2)], ["unknown"] * 2)
        rightsize.Watch("signal").begin().end("failed", exit_code=-9)
        self.assertEqual((self.ended("signal")[0]["outcome"], self.ended("signal")[0].get("exit_code")), ("failed", None))

    def test_a_block_within_a_block(self):
        with rightsize.track("outer"):
            with rightsize.track("inner"):
                time.sleep(0.1)
            self.ended("inner")
            self.assertEqual(self.runs("outer")[0]["outcome"], "running")
        self.ended("outer")

    def test_no_thread_no_signal_handler_no_child(self):
        result = self.python("""
import os, signal, threading
import rightsize_exporter as rightsize
handlers = [signal.getsignal(n) for n in range(1, 32)]
with rightsize.track("quiet"):
    assert threading.active_count() == 1 and len(os.listdir("/proc/self/task")) == 1
    assert handlers == [signal.getsignal(n) for n in range(1, 32)]
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        print("no child")
    open_files = [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if n not in "012"
                  and os.path.exists(f"/proc/self/fd/{n}")]
    assert not [name for name in open_files if "socket" in name], open_files
""")
        self.assertEqual((result.stdout, result.stderr), ("no child\n", ""))

    def test_many_processes_share_one_exporter(self):
        code = "import rightsize_exporter as r, time\nwith r.track('shared/%d'): time.sleep(1)"
        jobs = [subprocess.Popen([sys.executable, "-B", "-c", code % i], stderr=subprocess.PIPE) for i in range(6)]
        self.assertEqual([job.communicate(timeout=DEADLINE)[1] for job in jobs], [b""] * 6)
        for i in range(6):
            self.ended(f"shared/{i}")
        self.assertEqual(len(self.exporters()), 1)

    def test_killed_job_is_recorded_and_the_exporter_ends_by_itself(self):
        job = subprocess.Popen([sys.executable, "-B", "-c", "import rightsize_exporter as r, time\n"
                                "r.Watch('killed').begin(); print(flush=True); time.sleep(1000)"], stdout=subprocess.PIPE)
        self.addCleanup(job.stdout.close)
        job.stdout.readline()
        wait_until(lambda: self.runs("killed") and self.runs("killed")[0]["samples"], "a sample")
        os.kill(job.pid, signal.SIGKILL)
        job.wait()
        record = self.ended("killed")[0]
        self.assertEqual((record["outcome"], record["processes_max"]), ("failed", 1))
        wait_until(lambda: not self.exporters(), "the end of the exporter")
        self.assertEqual(self.runs("killed")[0]["run_id"], record["run_id"])

    def test_a_child_that_is_forked_ends_no_run(self):
        with rightsize.track("forks"):
            if os.fork() == 0:
                with contextlib.suppress(BaseException):
                    rightsize.watch._end_all()
                os._exit(0)
            os.wait()
            self.assertEqual(self.runs("forks")[0]["outcome"] if self.runs("forks") else "running", "running")
        self.ended("forks")

    def test_end_of_the_interpreter_ends_what_is_open(self):
        self.python("import rightsize_exporter as r; r.Watch('open').begin()")
        self.python("import rightsize_exporter as r; r.Watch('open/error').begin(); 1 / 0")
        self.assertEqual([self.ended("open")[0]["outcome"], self.ended("open/error")[0]["outcome"]], ["succeeded", "failed"])

    def test_history_of_one_run_alone_is_removed_when_the_job_is_killed(self):
        job = subprocess.Popen([sys.executable, "-B", "-c", "import rightsize_exporter as r, time\n"
                                "print(r.ResourceTracker(interval=0.2).watch.exporter.history, flush=True); time.sleep(1000)"],
                               stdout=subprocess.PIPE, universal_newlines=True)
        self.addCleanup(job.stdout.close)
        history = pathlib.Path(job.stdout.readline().strip())
        os.kill(job.pid, signal.SIGKILL)
        job.wait()
        self.assertTrue(history.exists())
        wait_until(lambda: not history.parent.exists(), "the end of the history")

    def test_history_of_one_run_alone_is_removed_at_the_end(self):
        result = self.python("import rightsize_exporter as r\nwith r.ResourceTracker(interval=0.2) as t: t.wait_for_samples(1)\n"
                             "print(t.watch.exporter.history)\nassert t.stats()")
        self.assertEqual(result.stderr, "")
        history = pathlib.Path(result.stdout.strip())
        self.assertTrue(history.name == "history.db" and not history.parent.exists(), history)

    def test_job_goes_on_without_the_program(self):
        program = os.environ["RIGHTSIZE_EXPORTER"]
        self.addCleanup(os.environ.__setitem__, "RIGHTSIZE_EXPORTER", program)
        os.environ["RIGHTSIZE_EXPORTER"] = "/bin/false"
        with self.assertWarnsRegex(RuntimeWarning, "etl/load is not watched"), rightsize.track("etl/load") as run:
            self.assertFalse(run.running)
        self.assertEqual(run.run_id, None)
        with self.assertRaises(OSError):
            rightsize.Watch("etl/load").begin(strict=True)

    def test_job_goes_on_where_warnings_are_errors(self):
        result = self.python("import rightsize_exporter as r, warnings\nwarnings.simplefilter('error')\n"
                             "with r.track('strict'): print('runs')\nr.ResourceTracker(children=False).stop()",
                             env={**os.environ, "RIGHTSIZE_EXPORTER": "/bin/false"})
        self.assertEqual((result.returncode, result.stdout), (0, "runs\n"), result.stderr)
        self.assertEqual(result.stderr.count("is not watched"), 2)

    def test_history_of_one_run_alone_is_there_until_the_process_ends(self):
        result = self.python("""
import contextlib, os, pathlib, time
import rightsize_exporter as rightsize
tracker = rightsize.ResourceTracker(interval=0.2)
tracker.wait_for_samples()
tracker.stop()
history = tracker.watch.exporter.history
def is_used():  # by the exporter, or by the shell that waits for it
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.path.dirname(history) in file.read_text(errors="replace"):
                return True
    return False
while is_used():
    time.sleep(0.05)
print(tracker.n_samples > 0, tracker.recommend_resources()["cpu"], history)
""")
        self.assertEqual((result.stderr, result.stdout.split()[:2]), ("", ["True", "1"]))
        self.assertFalse(pathlib.Path(result.stdout.split()[2]).parent.exists())

    def test_a_history_that_cannot_be_kept(self):
        blocked = self.folder / "file"
        blocked.write_text("")
        for path in (blocked / "history.db", self.folder / "here"):
            (self.folder / "here").mkdir(exist_ok=True)
            os.environ["RIGHTSIZE_HISTORY_PATH"] = str(path)
            with self.subTest(path), self.assertWarnsRegex(RuntimeWarning, "the run of lost is not kept"), \
                    rightsize.track("lost") as run:
                pass
            self.assertEqual(run.settle()["outcome"], "succeeded")
        folder = pathlib.Path(run.exporter.history).parent
        _server.remove_private()
        self.assertFalse(folder.exists())

    def test_the_place_of_the_history_is_that_of_the_program(self):
        places = (({"STATE_DIRECTORY": "/a:/b"}, "/a/history.db"), ({"STATE_DIRECTORY": "a", "HOME": "/c"}, "/c/.local/state"),
                  ({"XDG_STATE_HOME": "/d", "HOME": "/c"}, "/d/"), ({"XDG_STATE_HOME": "d", "HOME": "/c"}, "/c/.local/state"),
                  ({"HOME": "c"}, None), ({}, None))
        for variables, start in places:
            with self.subTest(variables), mock.patch.dict(os.environ, variables, clear=True), \
                    mock.patch("os.geteuid", return_value=1000):
                if start is None:
                    self.assertRaisesRegex(OSError, "no place for the history", _program.history_path)
                else:
                    self.assertTrue(_program.history_path().startswith(start), _program.history_path())

    def test_a_process_that_proc_does_not_show_is_not_gone(self):
        with mock.patch("builtins.open", side_effect=FileNotFoundError):
            self.assertFalse(_server._is_gone(os.getpid()))
            self.assertTrue(_server._is_gone(1 << 22))

    def test_a_wrong_interval_is_named(self):
        for interval in "1s", -1, float("nan"), 3601, None:
            with self.subTest(interval), self.assertWarnsRegex(RuntimeWarning, f"interval={interval!r}: accepted is a number"), \
                    rightsize.track("etl/load", interval=interval) as run:
                self.assertFalse(run.running)

    def test_history_in_a_folder_with_a_long_name(self):
        os.environ["RIGHTSIZE_HISTORY_PATH"] = str(self.folder / ("d" * 100) / "history.db")
        with rightsize.track("long"):
            pass
        self.ended("long")

    def test_answers_come_from_the_file_when_no_server_runs(self):
        with rightsize.track("etl/load") as run:
            time.sleep(0.3)
        self.ended("etl/load")
        for pid in self.exporters():
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not self.exporters(), "the end of the exporter")
        self.assertEqual(run.record()["outcome"], "succeeded")
        self.assertIsNotNone(run.recommendation())
        self.assertEqual(len(run.samples().columns), 32)
        self.assertIn("<html", run.report_html())
        self.assertEqual(self.exporters(), [])


class Scripts(Case):
    def test_script_runs_as_it_would_without(self):
        script = self.folder / "load.py"
        script.write_text("import sys\nprint(sys.argv[1:], __name__)\nsys.exit(int(sys.argv[1]))")
        for code, status, outcome in ((0, 0, "succeeded"), (3, 3, "failed"), (256, 0, "succeeded")):
            name = f"script/{code}"
            result = subprocess.run([sys.executable, "-B", "-m", "rightsize_exporter", f"--job-name={name}", script, str(code)],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
            self.assertEqual((result.returncode, result.stdout), (status, f"['{code}'] __main__\n"))
            run = self.ended(name)[0]
            self.assertEqual((run["outcome"], run["exit_code"]), (outcome, status))
        result = subprocess.run([sys.executable, "-B", "-m", "rightsize_exporter", "-m", "json.tool"], input=b"[1]", check=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(json.loads(result.stdout), [1])
        self.ended("json.tool")

    def test_threads_and_exit_handlers_are_part_of_the_run(self):
        script = self.folder / "late.py"
        script.write_text("import atexit, sys, threading, time\natexit.register(lambda: time.sleep(0.4))\n"
                          "threading.Thread(target=lambda: time.sleep(0.8)).start()\nsys.exit(True)")
        result = subprocess.run([sys.executable, "-B", "-m", "rightsize_exporter", script], stderr=subprocess.PIPE,
                                universal_newlines=True, check=False, env={**os.environ, "RIGHTSIZE_JOB_NAME": "named"})
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        run = self.ended("named")[0]
        self.assertGreaterEqual(run["duration_seconds"], 1.2)
        self.assertEqual((run["outcome"], run["exit_code"]), ("failed", 1))

    def test_an_interrupt_and_a_fork(self):
        script = self.folder / "ends.py"
        script.write_text("import os, sys\nif sys.argv[1] == 'interrupt': raise KeyboardInterrupt\n"
                          "if not os.fork(): sys.exit(3)\nos.wait()")
        command = [sys.executable, "-B", "-m", "rightsize_exporter", script]
        result = subprocess.run([*command, "interrupt"], stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, -signal.SIGINT)
        result = subprocess.run([*command, "fork"], stderr=subprocess.PIPE, check=True)
        self.assertEqual(result.stderr.count(b"Next run: "), 1)
        self.assertEqual([run["outcome"] for run in self.ended("ends", 2)], ["succeeded", "interrupted"])

    def test_what_a_notebook_shows(self):
        from rightsize_exporter import _notebook
        with rightsize.track("cell") as run:
            time.sleep(1.2)
        run.settle()
        html = _notebook.html_of(run)
        self.assertIn("<b>cell</b> succeeded", html)
        self.assertIn("<polyline", html)


class OtherServers(Case):
    def serve(self, *flags):
        server = subprocess.Popen([os.environ["RIGHTSIZE_EXPORTER"], "serve", "--no-jobs.recognise", *flags], stderr=subprocess.PIPE, universal_newlines=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        while True:
            line = server.stderr.readline()
            if "address=" in line and "listening" in line:
                return line.split("address=")[1].split()[0]

    def test_server_that_rightsize_url_names(self):
        for flags, is_url in ((["--web.listen-address=none", f"--web.unix-socket={self.folder}/s"], False),
                              (["--web.listen-address=127.0.0.1:0", "--web.allow-changes"], True)):
            with self.subTest(flags=flags):
                address = self.serve(f"--history.path={self.folder}/{is_url}.db", *flags)
                os.environ["RIGHTSIZE_URL"] = f"http://{address}" if is_url else address
                self.addCleanup(os.environ.pop, "RIGHTSIZE_URL", None)
                with rightsize.track("etl/load") as run:
                    pass
                self.assertEqual(wait_until(run.record, "the run")["run_id"], run.run_id)
                self.assertEqual(self.exporters(), [])

    def test_jobs_of_one_name_in_two_namespaces_are_two(self):
        os.environ["RIGHTSIZE_URL"] = self.serve("--web.listen-address=none", f"--web.unix-socket={self.folder}/s",
                                                 f"--history.path={self.folder}/n.db", "--jobs.namespace=a", "--jobs.cluster=c")
        self.addCleanup(os.environ.pop, "RIGHTSIZE_URL", None)
        with rightsize.track("etl/load") as run:
            sleeper = subprocess.Popen(["sleep", "60"])
            self.addCleanup(sleeper.wait)
            self.addCleanup(sleeper.kill)
            run.exporter.announce({"job_name": "etl/load", "pid": sleeper.pid, "namespace": "b"})
            time.sleep(1.2)
        self.assertEqual((run.settle()["namespace"], run.settle()["cluster"]), ("a", "c"))
        self.assertIn("Request ", run.recommendation()["summary"])
        self.assertIn("--mem", run.paste("slurm"))

    def test_a_run_is_handed_over_soon_since_a_pod_waits_for_it(self):
        # 127.0.0.2 is not called local, so it is the exporter of all machines.
        address = self.serve(f"--history.path={self.folder}/central.db", "--web.listen-address=127.0.0.2:0", "--web.allow-changes")
        os.environ["RIGHTSIZE_URL"] = f"http://{address}"
        self.addCleanup(os.environ.pop, "RIGHTSIZE_URL", None)
        seconds = []
        for _ in range(5):
            with rightsize.track("etl/load") as run:
                pass
            run.settle()
            began = time.monotonic()
            run.hand_over()
            seconds.append(time.monotonic() - began)
            self.assertEqual(_server.central().get_json("/runs", job_name="etl/load")["runs"][0]["run_id"], run.run_id)
        self.assertLess(min(seconds[1:]), 0.5, seconds)

    def test_server_that_takes_no_announcements(self):
        address = self.serve(f"--history.path={self.folder}/other.db", "--web.listen-address=127.0.0.1:0")
        os.environ["RIGHTSIZE_URL"] = f"http://{address}"
        self.addCleanup(os.environ.pop, "RIGHTSIZE_URL", None)
        with rightsize.track("etl/load", folder=str(self.folder)) as run:
            pass
        self.assertEqual(wait_until(run.record, "the run")["run_id"], run.run_id)
        self.assertEqual(len(self.exporters()), 1)


class Trackers(Case):
    def test_a_size_that_the_history_does_not_know_is_that_of_this_run(self):
        tracker = rightsize.ResourceTracker()
        tracker.stop()
        tracker._settled_recommendation = lambda: {"resources": {"cpu": None, "memory": 20, "gpu": 0, "vram": None}}
        self.assertEqual(tracker.recommend_resources(), {"cpu": 1, "memory": 20, "gpu": 0, "vram": 0})

    def test_a_job_with_gpus_gets_a_server_of_their_manufacturer(self):
        tracker = rightsize.ResourceTracker()
        tracker.stop()
        tracker._settled_recommendation = lambda: {"resources": {"cpu": 1, "memory": 20, "gpu": 1, "vram": 0}}
        tracker.watch.record = lambda: {"gpu_manufacturer": "AMD", "outcome": "succeeded"}
        aws = {"vendor": "aws", "architecture": "any"}
        self.assertEqual(tracker.recommend_server(**aws)["gpu_model"], "V520")
        self.assertEqual(tracker.recommend_server(gpu_model="T4", **aws)["gpu_model"], "T4")

    def test_example_of_the_documents(self):
        tracker = rightsize.ResourceTracker()
        until = time.process_time() + 1
        while time.process_time() < until:
            pass
        tracker.stop()
        self.assertEqual(tracker.process_metrics.columns, [
            "timestamp", "pid", "children", "utime", "stime", "cpu_usage", "memory_mib", "disk_read_bytes",
            "disk_write_bytes", "gpu_usage", "gpu_vram_mib", "gpu_utilized"])
        self.assertEqual(len(tracker.system_metrics.columns), 21)
        self.assertEqual(len(tracker.get_combined_metrics().columns), 32)
        self.assertEqual(tracker.pid_tracker.to_dict(), tracker.process_metrics.to_dict())
        self.assertEqual(tracker.system_tracker.columns, tracker.system_metrics.columns)
        self.assertGreater(tracker.stats()["process_cpu_usage"]["max"], 0.02)  # of a busy machine
        self.assertEqual(set(tracker.recommend_resources()), {"cpu", "memory", "gpu", "vram"})
        server = tracker.recommend_server()
        self.assertGreater(server["price"], 0)
        self.assertEqual(({"server_id", "cpu_flags", "vendor"} - set(server), server["display_name"], server["min_price"]),
                         (set(), server["api_reference"], server["price"]))
        report = tracker.report()
        report.save(str(self.folder / "report.html"))
        self.assertGreater((self.folder / "report.html").stat().st_size, 50000)
        self.assertEqual({row["pid"] for row in tracker.process_metrics}, {os.getpid()})

    def test_columns(self):
        with rightsize.ResourceTracker(interval=0.2) as tracker:
            tracker.wait_for_samples(2)
        human = tracker.get_combined_metrics(human_names=True)
        self.assertEqual(human.columns[:3] + human.columns[-2:], [
            "Timestamp", "System processes", "System CPU time (user)", "Process VRAM used", "Process GPUs in use"])
        in_bytes, in_mib = tracker.get_combined_metrics(bytes=True), tracker.get_combined_metrics()
        self.assertEqual(in_bytes[0]["process_memory_mib"], in_mib[0]["process_memory_mib"] * MIB)
        self.assertEqual(len(tracker.get_combined_metrics(offset=1)), len(in_mib) - 1)
        self.assertIn("s_utime", tracker.get_combined_metrics(system_prefix="s_").columns)

    def test_start_and_stop(self):
        tracker = rightsize.ResourceTracker(autostart=False, interval=0.2)
        self.assertFalse(tracker.running)
        tracker.start()
        self.assertRaises(RuntimeError, tracker.start)
        tracker.wait_for_samples(1)
        tracker.stop()
        self.assertRaises(RuntimeError, tracker.start)
        with self.assertRaises(RuntimeError):
            tracker.wait_for_samples(1000)

    def test_two_trackers_at_once(self):
        held = bytearray(b"x" * (200 * MIB))
        first = rightsize.ResourceTracker(discover_cloud=False)
        first.wait_for_samples(1)
        del held
        second = rightsize.ResourceTracker(discover_cloud=False)
        second.wait_for_samples(1)
        first.stop()
        count = second.n_samples
        second.wait_for_samples(count + 2)
        second.stop()
        self.assertGreater(first.stats()["process_memory_mib"]["max"], 200)
        self.assertLess(second.stats()["process_memory_mib"]["max"], 200)

    def test_arguments_of_resource_tracker(self):
        tracker = rightsize.ResourceTracker(None, True, 1, None, False, True, True, True, True, None, 60, {})
        self.assertEqual((tracker.pid, tracker.running), (os.getpid(), False))
        self.assertRaisesRegex(RuntimeError, "not started", tracker.report)
        with self.assertWarnsRegex(RuntimeWarning, "sentinel_token changes nothing"):
            rightsize.ResourceTracker(autostart=False, sentinel_token="x")

    def test_a_peak_between_two_samples_counts(self):
        child = "import time; time.sleep(0.1); x = b'x' * (200 << 20); del x; time.sleep(1.5)"
        with rightsize.ResourceTracker(interval=0.7, discover_cloud=False) as tracker:
            subprocess.run([sys.executable, "-c", child], check=True)
        self.assertLess(200, tracker.stats()["process_memory_mib"]["max"])
        self.assertGreater(320, tracker.stats()["process_memory_mib"]["max"])

    def test_pause(self):
        with rightsize.ResourceTracker(interval=0.1) as tracker:
            tracker.wait_for_samples(2)
            tracker.pause()
            paused_at = time.time()
            time.sleep(0.5)
            tracker.resume()
            resumed_at = time.time()
            tracker.wait_for_samples(tracker.n_samples + 2)
        self.assertEqual([row for row in tracker.process_metrics if paused_at < row["timestamp"] < resumed_at], [])

    def test_snapshot(self):
        with rightsize.ResourceTracker(interval=0.2, discover_cloud=False) as tracker:
            tracker.wait_for_samples(1)
        tracker.dump(str(self.folder / "snapshot.gz"))
        again = rightsize.ResourceTracker.load(str(self.folder / "snapshot.gz"))
        self.assertEqual(again.process_metrics.to_dict(), tracker.process_metrics.to_dict())
        self.assertEqual(again.stats(), tracker.stats())
        self.assertEqual(json.loads(tracker.dumps())["metadata"]["job_name"], tracker.job_name)

    def test_writers_of_csv(self):
        for name, first in (("output_file", '"timestamp","pid","children"'), ("csv_file_path", '"timestamp","pid","children"')):
            job = subprocess.Popen(["sleep", "1.5"])
            path = self.folder / f"{name}.csv"
            tracker = rightsize.ProcessTracker(pid=job.pid, interval=0.2, **{name: str(path)})
            self.assertEqual(tracker.status, "exited")
            lines = path.read_text().splitlines()
            self.assertTrue(lines[0].startswith(first), lines[0])
            self.assertGreater(len(lines), 3)
            job.wait()
        system = subprocess.Popen([sys.executable, "-B", "-c", "import rightsize_exporter as r; r.SystemTracker(interval=0.2)"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
        self.assertTrue(system.stdout.readline().startswith('"timestamp","processes","utime"'))
        self.assertEqual(len(system.stdout.readline().split(",")), 21)
        system.send_signal(signal.SIGINT)
        system.stdout.close()
        system.wait(DEADLINE)

    def test_the_machine(self):
        info = rightsize.get_server_info()
        self.assertEqual((info["os"], info["vcpus"]), ("Linux", os.cpu_count()))
        self.assertGreater(info["memory_mib"], 0)
        self.assertIn("vendor", rightsize.get_cloud_info())


class Tables(unittest.TestCase):
    TABLE = rightsize.TinyDataFrame({"name": ["a", "b", None], "n": [1, 2.5, None]})

    def test_parts(self):
        self.assertEqual(self.TABLE["n"], [1, 2.5, None])
        self.assertEqual(self.TABLE[1], {"name": "b", "n": 2.5})
        self.assertEqual((len(self.TABLE[1:]), self.TABLE[["n"]].columns), (2, ["n"]))
        self.assertRaises(KeyError, self.TABLE.__getitem__, "x")
        self.assertRaises(TypeError, self.TABLE.__getitem__, 1.5)

    def test_csv_and_back(self):
        text = self.TABLE.to_csv()
        self.assertEqual(text, '"name","n"\r\n"a",1\r\n"b",2.5\r\n"",""\r\n')
        self.assertEqual(rightsize.TinyDataFrame.from_csv_text(text).to_dict(), self.TABLE.to_dict())

    def test_printing(self):
        self.assertEqual(str(self.TABLE[:2]), "TinyDataFrame with 2 rows and 2 columns:\nname | n  \n-----+----\n"
                                              "a    |   1\nb    | 2.5")
        self.assertIn("<td>2.5</td>", self.TABLE._repr_html_())
        self.assertEqual(str(rightsize.TinyDataFrame([])).splitlines()[1], "Empty dataframe")
        self.assertIn("0 rows", repr(rightsize.TinyDataFrame([])))

    def test_statistics_leave_unknown_values_out(self):
        specs = [rightsize.StatSpec("n", max), rightsize.StatSpec("x", max), rightsize.StatSpec("n", sum, "all", 1)]
        self.assertEqual(self.TABLE.stats(specs), {"n": {"max": 2.5, "all": 3.5}})
        nothing = rightsize.TinyDataFrame({"n": [None]})
        self.assertEqual(nothing.stats(specs[:1]), {"n": {"max": None}})


if __name__ == "__main__":
    unittest.main(verbosity=2)
