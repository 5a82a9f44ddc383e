"""The history survives kills at any instant, broken files, and full or read-only disks."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import time

from support import DEADLINE, EXPORTER, Case, main, python_job, wait_until

# Prints its pid, then uses CPU time slowly until the end of its input, so that each interval has some.
STEADY = python_job("""
import os, select, sys, time
print(os.getpid(), flush=True)
while not select.select([sys.stdin], [], [], 0.02)[0]:
    end = time.process_time() + 0.01
    while time.process_time() < end: pass
""")
INTERVAL = 0.1
NOBODY = 65534


class Killed(Case):
    ROUNDS = 6

    def begin(self, job_name="job"):
        wrapper = self.start_run(STEADY, job_name, flags=[f"--sample.interval={INTERVAL:g}s"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        wrapper.job_pid = int(wrapper.process.stdout.readline())
        self.addCleanup(self.kill_quietly, wrapper.job_pid)
        return wrapper

    def kill_both(self, wrapper):
        """Also kills the job, before anything is waited for: the job holds the stderr that it got from the wrapper."""
        wrapper.killed = True
        wrapper.process.kill()
        self.kill_quietly(wrapper.job_pid)
        wrapper.wait()

    @staticmethod
    def kill_quietly(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def some_time(self):
        """Returns a different instant each time. The seed is printed, so that a failure can be repeated."""
        seed = random.randrange(1 << 32)
        print("seed", seed, flush=True)
        return random.Random(seed).uniform(0.02, 0.8)

    def test_wrapper_leaves_an_interrupted_run_that_lacks_one_interval_at_most(self):
        for number in range(self.ROUNDS):
            job_name = f"job-{number}"
            wrapper = self.begin(job_name)
            begun = time.monotonic()
            time.sleep(self.some_time())
            lasted = time.monotonic() - begun
            self.kill_both(wrapper)
            self.serve().stop()
            run = self.only_run(job_name)
            with self.subTest(lasted=lasted):
                self.assertEqual((run["outcome"], run["exit_code"]), ("interrupted", None))
                self.assertGreaterEqual(run["duration_seconds"], lasted - 2 * INTERVAL - 0.1)
            self.assert_history_intact()

    def test_server_takes_no_run_of_a_wrapper_with_it(self):
        for number in range(self.ROUNDS):
            job_name = f"job-{number}"
            server = self.serve(interval=f"{INTERVAL:g}s")
            wrapper = self.begin(job_name)
            time.sleep(self.some_time())
            server.kill()
            wrapper.process.stdin.close()
            wrapper.process.stdin = None
            self.assertEqual(wrapper.wait(), 0)
            self.assertEqual(self.only_run(job_name)["outcome"], "succeeded")
            self.assert_history_intact()

    def test_a_running_job_is_not_taken_for_interrupted(self):
        wrapper = self.begin()
        self.serve().stop()
        self.assertEqual(self.only_run()["outcome"], "running")
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        self.assertEqual(self.only_run()["outcome"], "succeeded")

    def test_an_interrupted_run_is_no_base_for_a_recommendation(self):
        self.run_job(["true"])
        wrapper = self.begin()
        wait_until(lambda: len(self.runs()) == 2, "the run to be recorded")
        self.kill_both(wrapper)
        self.serve().stop()
        self.assertEqual([r["outcome"] for r in self.runs()], ["interrupted", "succeeded"])
        self.assertEqual(self.query("recommend", "--job-name=job")["based_on"]["runs"], 1)


class BrokenFile(Case):
    def broken(self):
        """Returns the names and the bytes of files that are not a history."""
        self.run_job(["true"], "before")
        with contextlib.closing(sqlite3.connect(self.history)) as history:
            history.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        good = pathlib.Path(self.history).read_bytes()
        yield "noise", os.urandom(64 << 10)
        yield "text", b"this is not a database\n" * 1000
        yield "a header without the rest", good[:100]
        yield "half of it", good[:len(good) // 2]
        yield "noise in the middle", good[:4096] + os.urandom(len(good) - 4096)

    def test_is_set_aside_with_a_log_line_and_a_fresh_one_is_started(self):
        for name, data in list(self.broken()):
            with self.subTest(name=name):
                folder = self.folder / name.replace(" ", "-")
                folder.mkdir()
                self.history = str(folder / "history.db")
                pathlib.Path(self.history).write_bytes(data)
                server = self.serve()
                aside = [file for file in folder.glob("history.db.corrupt-*") if not file.name.endswith(("-wal", "-shm"))]
                self.assertEqual([file.read_bytes() for file in aside], [data])
                server.says(f"level=(warn|error).*{aside[0].name}")
                self.run_job(["true"])
                self.assertEqual(self.only_run()["outcome"], "succeeded")
                self.assertEqual(server.stop(), 0)
                self.assert_history_intact()

    def test_is_an_error_for_questions_which_change_nothing(self):
        pathlib.Path(self.history).write_bytes(b"this is not a database\n" * 1000)
        result = self.command("runs", "--job-name=job", f"--history.path={self.history}")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(self.history, result.stderr)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["history.db"])

    def test_from_a_newer_version_is_left_alone(self):
        self.run_job(["true"])
        with contextlib.closing(sqlite3.connect(self.history)) as history:
            history.execute("PRAGMA user_version = 9999")
        before = pathlib.Path(self.history).read_bytes()
        result = self.command("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}")
        self.assertEqual(result.returncode, 1)
        self.assertIn("9999", result.stderr)
        self.assertEqual(pathlib.Path(self.history).read_bytes(), before)


class ForbiddenPlace(Case):
    """Runs as a user who may not write in the folder. Root may write everywhere, so root becomes nobody."""

    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        self.program = shutil.copy(EXPORTER, self.folder / "program")
        self.locked = self.folder / "locked"
        self.locked.mkdir()
        self.locked.chmod(0o555)
        self.identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}

    def command_of_nobody(self, *arguments):
        return subprocess.run([self.program, *arguments], capture_output=True, text=True, timeout=DEADLINE,
                              stdin=subprocess.DEVNULL, env=self.environment, check=False, **self.identity)

    def test_stops_a_server_with_a_sentence_that_names_it(self):
        path = self.locked / "history.db"
        result = self.command_of_nobody("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={path}")
        self.assertEqual(result.returncode, 1)
        self.assertIn(str(path.parent), result.stderr)

    def test_does_not_stop_a_job(self):
        path = self.locked / "history.db"
        result = self.command_of_nobody("run", "--job-name=job", f"--history.path={path}", "--", "sh", "-c",
                                        "echo works; exit 5")
        self.assertEqual((result.returncode, result.stdout), (5, "works\n"))
        self.assertIn(str(path.parent), result.stderr)
        self.assertIn(": job failed", result.stderr)

    def test_can_be_read(self):
        self.run_job(["true"])
        os.chmod(self.history, 0o444)
        self.folder.chmod(0o555)
        result = self.command_of_nobody("runs", "--job-name=job", f"--history.path={self.history}")
        self.folder.chmod(0o755)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('"succeeded"', result.stdout)


class Modes(Case):
    """The folder is open to all users, like the folders that Kubernetes makes on a node."""

    # Prints its umask, and makes a file. Then prints the modes of the files of the history and of its own file.
    JOB = """
import os, pathlib, sys
umask = os.umask(0)
os.umask(umask)
folder = pathlib.Path(sys.argv[1])
(folder / "of-the-job").touch()
print(f"{umask:o}", *(f"{path.name}={path.stat().st_mode & 0o7777:o}" for path in sorted(folder.iterdir())))
"""

    def setUp(self):
        super().setUp()
        self.open = self.folder / "open"
        self.open.mkdir()
        self.open.chmod(0o755)
        self.history = str(self.open / "history.db")

    def modes(self):
        return {path.name: path.stat().st_mode & 0o7777 for path in self.open.iterdir()}

    def test_of_a_server_s_files_leave_others_no_right(self):
        for umask, mode in ((0o022, 0o640), (0o002, 0o660), (0o077, 0o600), (0, 0o660)):
            with self.subTest(umask=f"{umask:o}"):
                server = self.start("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}",
                                    "--no-jobs.recognise", umask=umask, stdout=subprocess.DEVNULL)
                server.wait_address()
                status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
                self.assertIn(f"\nUmask:\t{umask | 0o007:04o}\n", status)
                self.assertEqual(self.modes(), dict.fromkeys(("history.db", "history.db-wal", "history.db-shm"), mode))
                server.stop()
                for path in self.open.iterdir():
                    path.unlink()

    def test_of_a_wrapper_s_files_leave_others_no_right_and_those_of_its_job_are_the_job_s(self):
        for umask, mode, own in ((0o022, 0o640, 0o644), (0o002, 0o660, 0o664), (0, 0o660, 0o666)):
            with self.subTest(umask=f"{umask:o}"):
                result = self.run_job(python_job(self.JOB, str(self.open)), flags=["--quiet"], umask=umask)
                self.assertEqual(result.stdout.decode().split(), [
                    f"{umask:o}", f"history.db={mode:o}", f"history.db-shm={mode:o}", f"history.db-wal={mode:o}",
                    f"of-the-job={own:o}"])
                self.assertEqual(self.modes(), {"history.db": mode, "of-the-job": own})
                for path in self.open.iterdir():
                    path.unlink()

    def test_of_a_file_behind_a_link_that_led_to_none_are_the_same(self):
        (self.open / "link.db").symlink_to(self.history)
        behind, self.history = self.history, str(self.open / "link.db")
        self.assertEqual(self.run_job(["true"], umask=0o022).returncode, 0)
        self.assertEqual(self.only_run()["outcome"], "succeeded")
        self.assertEqual(os.stat(behind).st_mode & 0o7777, 0o640)

    def test_of_the_file_that_is_begun_in_place_of_a_damaged_one_are_the_same(self):
        pathlib.Path(self.history).write_bytes(b"this is not a database\n" * 1000)
        self.assertEqual(self.run_job(["true"], umask=0o022).returncode, 0)
        self.assertEqual(self.only_run()["outcome"], "succeeded")
        self.assertEqual(self.modes()["history.db"], 0o640)

    def test_of_a_file_that_was_there_stay(self):
        self.run_job(["true"])
        os.chmod(self.history, 0o644)
        self.run_job(["true"])
        self.assertEqual(self.modes(), {"history.db": 0o644})


class Shared(Case):
    def test_wrappers_at_the_same_time_lose_nothing(self):
        jobs, rounds = 4, 3
        self.serve(interval="100ms")
        for _ in range(rounds):
            wrappers = [self.start_run(python_job("import time\nend = time.process_time() + 0.3\n"
                                                  "while time.process_time() < end: pass"), f"job-{n}",
                                       flags=["--sample.interval=100ms"]) for n in range(jobs)]
            for wrapper in wrappers:
                self.assertEqual(wrapper.wait(), 0, wrapper.log)
        for n in range(jobs):
            runs = self.runs(f"job-{n}")
            self.assertEqual([run["outcome"] for run in runs], ["succeeded"] * rounds)
            for run in runs:
                self.assertGreaterEqual(run["samples"], 2)
                self.assertGreaterEqual(run["cpu_seconds"], 0.3)
        self.assert_history_intact()

    def test_the_number_of_runs_kept_is_bounded(self):
        for _ in range(5):
            self.run_job(["true"], flags=["--history.runs-per-job=3"])
        self.assertEqual(len(self.runs()), 3)

    def test_of_a_server_and_wrappers_the_server_says_how_many(self):
        self.serve("--history.runs-per-job=2")
        for _ in range(4):
            self.run_job(["true"])
        self.assertEqual(len(self.runs()), 2)

    def test_of_two_servers_on_one_machine_one_records(self):
        first = self.serve()
        second = self.start("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}",
                            "--no-jobs.recognise")
        self.assertEqual(second.wait(), 1)
        second.says("another server of this machine records into it")
        self.run_job(["true"])
        self.assertEqual(len(first.get("/runs?job_name=job").json["runs"]), 1)
        first.kill()
        self.assertEqual(self.serve().get("/-/healthy").status, 200)

    def test_in_memory_lives_as_long_as_the_server(self):
        self.history = ":memory:"
        server = self.serve()
        self.assertEqual(server.get("/jobs").json["jobs"], [])
        self.assertEqual(server.stop(), 0)
        self.assertFalse(pathlib.Path(":memory:").exists())


if __name__ == "__main__":
    main()
