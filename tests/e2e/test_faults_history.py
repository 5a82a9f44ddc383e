"""The disk of the history is full, locked, replaced or damaged, while a job runs and a client scrapes."""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import threading
import time
import unittest

from support import (AS_ROOT, DEADLINE, EXPORTER, PYTHON, SOMEBODY, STEADY, Case, children_of, loose_threads_of, main,
                     python_job, wait_until)

INTERVAL = 0.1
KILLS = int(os.environ.get("RIGHTSIZE_FAULT_KILLS", "10"))
JOBS = int(os.environ.get("RIGHTSIZE_FAULT_JOBS", "10000"))
ROWS = int(os.environ.get("RIGHTSIZE_FAULT_ROWS", "100000"))
PRIVATE_MOUNTS = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]


def mounting_refused():
    """Returns the reason why no file system can be mounted here, or nothing."""
    done = subprocess.run([*PRIVATE_MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True,
                          check=False)
    return done.stderr.strip() if done.returncode else ""


class Job(Case):
    """A wrapper that serves, around a job that runs until it is told to end."""

    def begin(self, prefix=(), job_name="job", interval=INTERVAL):
        wrapper = self.start_program(
            [*prefix, EXPORTER, "run", f"--job-name={job_name}", f"--history.path={self.history}",
             f"--sample.interval={interval:g}s", "--web.listen-address=127.0.0.1:0", "--", *STEADY],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        wrapper.wait_address()
        wrapper.job_pid = int(wrapper.process.stdout.readline())
        self.addCleanup(self.kill_quietly, wrapper.job_pid)
        return wrapper

    @staticmethod
    def kill_quietly(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def end(self, wrapper):
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0, wrapper.log)

    @staticmethod
    def value(wrapper, name):
        return wrapper.metrics()[f"rightsize_history_{name}", frozenset()]

    def wait_for(self, wrapper, name, least):
        return wait_until(lambda: self.value(wrapper, name) >= least and self.value(wrapper, name), f"{name} {least}")

    @staticmethod
    def scrape_seconds(wrapper, times=20):
        def one():
            begin = time.monotonic()
            wrapper.metrics()
            return time.monotonic() - begin
        return statistics.median(one() for _ in range(times))

    def assert_none_is_missing(self, path=None, run=None):
        """Each sample has a duration, so a lost sample leaves a hole. Checks the only run, or the given run."""
        # The id of a sample begins with the id of its run.
        of_run = f"WHERE id >> 32 = (SELECT id FROM run WHERE run_id = '{run['run_id']}')" if run else ""
        with contextlib.closing(sqlite3.connect(path or self.history)) as history:
            rows = history.execute(f"SELECT at, duration FROM sample {of_run} ORDER BY id").fetchall()
        self.assertGreater(len(rows), 1 if run else 2)
        self.assertAlmostEqual(rows[-1][0] - rows[0][0], sum(duration for _, duration in rows[1:]), delta=INTERVAL / 2)
        if run:
            self.assertEqual(len(rows), run["samples"])
            self.assertAlmostEqual(sum(duration for _, duration in rows), run["duration_seconds"], delta=INTERVAL / 2)

    def assert_fast(self, wrapper, usual):
        self.assertLess(self.scrape_seconds(wrapper), 20 * usual + 0.1)


class Killed(Job):
    def test_at_any_instant_loses_one_interval_at_most(self):
        """The samples of the last answer are there, except for the last one, and nothing is damaged."""
        seed = random.randrange(1 << 32)
        print("seed", seed, flush=True)
        instant = random.Random(seed)
        for number in range(KILLS):
            job_name = f"job-{number}"
            wrapper = self.begin(job_name=job_name)
            # The kill comes only after the wrapper is ready, because nothing can be lost before the first write.
            self.wait_for(wrapper, "samples_written_total", 1)
            begun = time.monotonic()
            time.sleep(instant.uniform(0, 4 * INTERVAL))
            told = wrapper.metrics()
            taken = sum(told[f"rightsize_history_samples_{which}", frozenset()] for which in ("written_total", "waiting"))
            time.sleep(instant.uniform(0, INTERVAL / 10))
            lasted = time.monotonic() - begun
            wrapper.killed = True
            wrapper.process.kill()
            self.kill_quietly(wrapper.job_pid)
            wrapper.wait()
            self.assert_history_intact()
            run = self.only_run(job_name)
            with self.subTest(number=number, lasted=lasted):
                self.assertGreaterEqual(run["samples"], taken - 1)
                # A tick that the machine delayed is no fault. The last interval and such a tick may be missing.
                self.assertGreaterEqual(run["duration_seconds"], lasted - 2 * INTERVAL - 0.25)
        self.serve().stop()
        self.assert_history_intact()
        self.assertEqual({self.only_run(f"job-{n}")["outcome"] for n in range(KILLS)}, {"interrupted"})


class Locked(Job):
    def test_another_writer_stalls_no_scrape_and_loses_nothing(self):
        wrapper = self.begin()
        written = self.wait_for(wrapper, "samples_written_total", 3)
        usual = self.scrape_seconds(wrapper)
        with contextlib.closing(sqlite3.connect(self.history, timeout=60, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            # Samples that cannot be written wait, up to the limit of 4,096.
            waiting = self.wait_for(wrapper, "samples_waiting", 25)
            self.assert_fast(wrapper, usual)
            self.assertEqual(self.value(wrapper, "samples_dropped_total"), 0)
            other.execute("ROLLBACK")
        self.wait_for(wrapper, "samples_written_total", written + waiting)
        self.assertEqual(self.value(wrapper, "samples_dropped_total"), 0)
        self.end(wrapper)
        run = self.only_run()
        self.assertEqual(run["outcome"], "succeeded")
        self.assertGreaterEqual(run["samples"], written + waiting)
        self.assert_none_is_missing()
        self.assert_history_intact()

    def test_two_wrappers_and_a_server_write_one_file(self):
        server = self.serve(interval="100ms")
        wrappers = [self.begin(job_name=f"job-{n}") for n in range(2)]
        # A third process writes from time to time.
        for _ in range(3):
            self.assertEqual(self.run_job(["sleep", "0.3"], "short", [f"--sample.interval={INTERVAL:g}s"]).returncode, 0)
        written = [self.wait_for(wrapper, "samples_written_total", 20) for wrapper in wrappers]
        for wrapper in wrappers:
            self.end(wrapper)
        self.assertEqual(server.stop(), 0)
        runs = [self.only_run(f"job-{number}") for number in range(2)]
        for run, least in zip(runs, written):
            self.assertGreaterEqual(run["samples"], least)
        runs += self.runs("short")
        self.assertEqual([run["outcome"] for run in runs], ["succeeded"] * 5)
        for run in runs:
            self.assert_none_is_missing(run=run)
        self.assert_history_intact()


class Stalled(Job):
    """A write that does not return for 30 s (preloaded stalling_disk.c): the writer can only wait."""

    SECONDS = 30

    def test_scrapes_stay_fast_and_nothing_is_lost(self):
        stall = self.folder / "stall"
        self.environment.update(LD_PRELOAD=os.environ["RIGHTSIZE_STALLING_DISK"], STALLING_DISK=str(stall))
        wrapper = self.begin()
        written = self.wait_for(wrapper, "samples_written_total", 3)
        usual = self.scrape_seconds(wrapper)
        stall.touch()
        begun = time.monotonic()
        wait_until((self.folder / "stall.waits").exists, "a write that waits")
        held = self.value(wrapper, "samples_written_total")
        while time.monotonic() < begun + self.SECONDS:
            self.assert_fast(wrapper, usual)
        # The queue holds 4,096 samples. These are about 300.
        waiting = self.wait_for(wrapper, "samples_waiting", 25)
        self.assertEqual(self.value(wrapper, "samples_written_total"), held)
        self.assertEqual(self.value(wrapper, "samples_dropped_total"), 0)
        stall.unlink()
        self.wait_for(wrapper, "samples_written_total", held + waiting)
        self.assertEqual(self.value(wrapper, "samples_dropped_total"), 0)
        self.end(wrapper)
        run = self.only_run()
        self.assertEqual(run["outcome"], "succeeded")
        self.assertGreaterEqual(run["samples"], written + waiting)
        self.assertGreaterEqual(run["duration_seconds"], self.SECONDS)
        self.assert_none_is_missing()
        self.assert_history_intact()

    def test_a_run_that_is_taken_meanwhile_holds_up_no_end(self):
        """Another exporter forwards a run, and the answer waits for the disk. Then the server is stopped, and does not
        wait for that long."""
        stall = self.folder / "stall"
        theirs = dict(self.environment)
        self.environment.update(LD_PRELOAD=os.environ["RIGHTSIZE_STALLING_DISK"], STALLING_DISK=str(stall))
        server = self.serve("--web.allow-changes")

        def hand_on(job_name):
            return self.start_program([EXPORTER, "run", f"--job-name={job_name}", f"--history.path={self.folder / 'theirs.db'}",
                                       f"--forward.url=http://{server.host}:{server.port}", "--", "true"], env=theirs)
        self.assertEqual(hand_on("first").wait(), 0)
        self.assertEqual(server.get("/runs?job_name=first").status, 200)
        stall.touch()
        hand_on("second")
        wait_until((self.folder / "stall.waits").exists, "a write that waits")
        server.send(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)
        server.says("level=error.*disk does not answer")
        stall.unlink()
        self.assert_history_intact()

    def test_a_start_that_hangs_says_what_it_found(self):
        """Lines of a start wait for the line with the URL, which does not come."""
        stall = self.folder / "stall"
        self.environment.update(LD_PRELOAD=os.environ["RIGHTSIZE_STALLING_DISK"], STALLING_DISK=str(stall))
        stall.touch()
        server = self.start("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}")
        server.says("msg=privileges")
        self.assertFalse(server.said("msg=listening"))
        stall.unlink()
        server.wait_address()

    # More requests than there are threads for scrapes, for a stream and for other requests.
    QUESTIONS = 3 * ("events?run=x",) + ("jobs", "recommend?job_name=x", "servers?job_name=x", "benchmarks?job_name=x")

    def test_questions_that_read_it_hold_up_neither_scrapes_nor_the_end(self):
        stall = self.folder / "stall"
        self.run_job(["true"])
        self.environment.update(LD_PRELOAD=os.environ["RIGHTSIZE_STALLING_DISK"], STALLING_READS=str(stall))
        server = self.serve()
        self.assertEqual(server.get("/events?run=x").status, 404)
        usual = self.scrape_seconds(server)
        stall.touch()
        with contextlib.ExitStack() as clients:
            for question in self.QUESTIONS:
                client = clients.enter_context(socket.create_connection((server.host, server.port), timeout=DEADLINE))
                client.sendall(f"GET /{question} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            wait_until((self.folder / "stall.waits").exists, "a read that waits")
            for _ in range(20):
                self.assert_fast(server, usual)
                self.assertEqual(server.get("/-/healthy").status, 200)
            server.send(signal.SIGTERM)
            self.assertEqual(server.wait(), 0)
        server.says("level=error.*disk does not answer")
        stall.unlink()
        self.assert_history_intact()


class Replaced(Job):
    def test_deleted_while_a_run_goes_on(self):
        wrapper = self.begin()
        self.wait_for(wrapper, "samples_written_total", 2)
        for file in self.folder.glob("history.db*"):
            file.unlink()
        wait_until(pathlib.Path(self.history).exists, "a new file")
        self.wait_for(wrapper, "samples_written_total", 10)
        self.end(wrapper)
        self.assertEqual(self.only_run()["outcome"], "succeeded")
        self.assertGreater(self.only_run()["samples"], 0)
        self.assert_history_intact()

    def test_deleted_with_its_folder_while_a_run_goes_on(self):
        folder = self.folder / "of-its-own"
        self.history = str(folder / "history.db")
        wrapper = self.begin()
        self.wait_for(wrapper, "samples_written_total", 2)
        folder.rename(self.folder / "away")
        self.wait_for(wrapper, "samples_written_total", 10)
        self.end(wrapper)
        self.assertEqual(self.only_run()["outcome"], "succeeded")
        self.assertGreater(self.only_run()["samples"], 0)
        self.assert_history_intact()

    def test_damage_that_only_a_reader_meets_is_mended(self):
        """The server writes nothing in this test. A query finds the damage."""
        self.run_job(["true"])
        server = self.serve()
        with contextlib.closing(sqlite3.connect(self.history)) as history:
            history.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = os.path.getsize(self.history)
        with open(self.history, "r+b") as file:
            # The damage is beyond the schema, in the pages of tables and indexes.
            file.seek(4096)
            file.write(b"\xa5" * (size - 4096))
        # After a minute the historian checks the file by itself.
        aside = wait_until(lambda: server.get("/runs?job_name=job") and list(self.folder.glob("history.db.corrupt-*")),
                           "the damaged file set aside", 30)
        self.assertTrue(aside)
        # The next writer creates the fresh file.
        wait_until(lambda: server.get("/jobs").status in (200, 404), "an answer without the damaged file")
        server.says("level=(warn|error).*corrupt")
        self.run_job(["true"], "after")
        self.assertEqual(server.get("/runs?job_name=after").json["runs"][0]["outcome"], "succeeded")
        self.assert_history_intact()


def cut(path, size):
    os.truncate(path, size)


def garble(path):
    """Changes the content of the open file."""
    with open(path, "r+b") as file:
        file.truncate(0)
        file.write(b"\xa5" * 300000)


def change_for_garbage(path):
    pathlib.Path(f"{path}.new").write_bytes(b"\xa5" * 20000)
    os.replace(f"{path}.new", path)


def remove(*paths):
    for path in paths:
        os.unlink(path)


class Damaged(Job):
    """Another program truncates, overwrites or deletes the history while a run is recorded. The run is recorded all the
    same."""

    # Each row: the damage to the file, the number of files set aside, and whether earlier runs are still there.
    ACTS = (
        ("nothing", lambda path: None, 0, True),
        ("truncate the database", lambda path: cut(path, 0), 1, False),
        ("truncate the -wal", lambda path: cut(path + "-wal", 0), 1, False),
        ("truncate both", lambda path: (cut(path, 0), cut(path + "-wal", 0)), 1, False),
        ("truncate the -shm", lambda path: cut(path + "-shm", 0), 1, False),
        ("truncate all three", lambda path: [cut(path + suffix, 0) for suffix in ("", "-wal", "-shm")], 1, False),
        ("shorten the -wal", lambda path: cut(path + "-wal", 9000), 1, False),
        ("garble the database", garble, 1, False),
        ("garble the -wal", lambda path: garble(path + "-wal"), 1, False),
        ("change it for garbage", change_for_garbage, 1, False),
        ("delete the database", remove, 0, False),
        ("delete the -wal", lambda path: remove(path + "-wal"), 0, True),
        ("delete both", lambda path: remove(path, path + "-wal"), 0, False),
        ("delete the folder", lambda path: shutil.rmtree(os.path.dirname(path)), 0, False),
    )

    def each_act(self, acts=ACTS):
        for what, act, aside, kept in acts:
            self.history = str(self.folder / what / "history.db")
            with self.subTest(what=what):
                self.assertEqual(self.run_job(["true"], "before").returncode, 0)
                yield lambda act=act: act(self.history)
                run = self.only_run()
                self.assertGreater(run["samples"], 0)
                if kept:
                    self.assert_none_is_missing(run=run)
                names = sorted(path.name for path in pathlib.Path(self.history).parent.glob("*corrupt*Z"))
                self.assertEqual(len(names), aside, names)
                self.assertEqual([job["job_name"] for job in self.query("jobs")["jobs"] if job["job_name"] == "before"],
                                 ["before"] * kept)
                self.assert_history_intact()

    def test_while_a_wrapper_s_job_goes_on(self):
        for act in self.each_act():
            wrapper = self.begin()
            written = self.wait_for(wrapper, "samples_written_total", 2)
            act()
            self.wait_for(wrapper, "samples_written_total", written + 5)
            self.end(wrapper)
            self.assertEqual(self.only_run()["outcome"], "succeeded")

    def test_by_the_last_that_a_job_does(self):
        script = """import os, sys, time
sys.path.insert(0, sys.argv[1])
from test_faults_history import Damaged
time.sleep(0.5)
dict((what, act) for what, act, *_ in Damaged.ACTS)[sys.argv[2]](sys.argv[3])
os._exit(3)"""
        for act in self.ACTS:
            for _ in self.each_act((act,)):
                done = self.run_job([PYTHON, "-B", "-c", script, os.path.dirname(__file__), act[0], self.history],
                                    flags=[f"--sample.interval={INTERVAL:g}s"])
                self.assertEqual(done.returncode, 3, done.stderr)
                run = self.only_run()
                self.assertEqual((run["outcome"], run["exit_code"]), ("failed", 3))

    def test_while_a_server_follows_a_run(self):
        for act in self.each_act():
            server = self.serve("--web.allow-changes", interval=f"{INTERVAL:g}s")
            with subprocess.Popen(["sleep", "1000"]) as job:
                self.addCleanup(self.kill_quietly, job.pid)
                answer = server.get("/jobs", "POST", json.dumps({"pid": job.pid, "job_name": "job"}), Content_Type="application/json")
                self.assertEqual(answer.status, 201, answer.text)
                written = self.wait_for(server, "samples_written_total", 2)
                act()
                self.wait_for(server, "samples_written_total", written + 5)
                job.kill()
            wait_until(lambda: server.recorded_runs("job")[0]["outcome"] != "running", "the end of the run")
            self.assertEqual(server.stop(), 0)

    @unittest.skipUnless(AS_ROOT, "only root may run a job as somebody else")
    def test_who_may_not_reach_it_any_more_writes_on(self):
        folder = self.folder / "theirs"
        folder.mkdir()
        self.folder.chmod(0o755)
        program = self.folder / "program"
        shutil.copy(EXPORTER, program)
        os.chown(folder, SOMEBODY, SOMEBODY)
        self.history = str(folder / "history.db")
        script = f"sleep 0.4; chmod 000 {self.history}* {folder}; sleep 0.4; exit 3"
        done = subprocess.run([program, *self.wrapper_arguments(["sh", "-c", script], flags=[f"--sample.interval={INTERVAL:g}s"])],
                              user=SOMEBODY, group=SOMEBODY, extra_groups=[], capture_output=True, env=self.environment,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual((self.only_run()["outcome"], self.only_run()["exit_code"]), ("failed", 3), done.stderr)


class Unwritable(Job):
    """The exit code of a job does not wait for a history that cannot be written. One line says what is lost."""

    HELD_UP = 1.0  # 0.3 s, plus the delay of a busy machine
    LOST = "level=error.*the end of the run is not in the history.*run_id={run_id}.*{why}"

    def end_of(self, wrapper, code=0):
        """Returns the seconds from the end of the job to the exit."""
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        wait_until(lambda: (wrapper.job_pid, "S") not in children_of(wrapper.pid) and
                   (wrapper.job_pid, "R") not in children_of(wrapper.pid), "the end of the job")
        begun = time.monotonic()
        self.assertEqual(wrapper.wait(), code, wrapper.log)
        return time.monotonic() - begun

    def begin_job(self):
        wrapper = self.begin()
        self.wait_for(wrapper, "samples_written_total", 3)
        wrapper.run_id = self.only_run()["run_id"]
        return wrapper

    def assert_told(self, wrapper, why):
        wrapper.says(self.LOST.format(run_id=wrapper.run_id, why=why))
        self.assertEqual(len([line for line in wrapper.log if "level=error" in line]), 1, wrapper.log)

    def stalling(self):
        stall = self.folder / "stall"
        self.environment.update(LD_PRELOAD=os.environ["RIGHTSIZE_STALLING_DISK"], STALLING_DISK=str(stall))
        return stall

    def test_a_fifo_in_its_place(self):
        wrapper = self.begin_job()
        os.unlink(self.history)
        os.mkfifo(self.history)
        self.wait_for(wrapper, "errors_total", 2)
        self.assertLess(self.end_of(wrapper), self.HELD_UP)
        self.assert_told(wrapper, "not a regular file")

    def test_a_fifo_from_the_beginning(self):
        os.mkfifo(self.history)
        done = self.run_job(["sh", "-c", "exit 5"])
        self.assertEqual(done.returncode, 5)
        self.assertRegex(done.stderr.decode(), "the run will not be in the history.*run_id=[0-9]{8}T.*not a regular file")

    def test_a_lock_of_another_process(self):
        """The other process writes nothing. The test cannot distinguish a stopped process from a slow one."""
        for before in (True, False):
            with self.subTest(before=before):
                self.history = str(self.folder / f"{before}.db")
                wrapper = self.begin_job()
                with contextlib.closing(sqlite3.connect(self.history, timeout=60, isolation_level=None)) as other:
                    other.execute("BEGIN EXCLUSIVE")
                    if before:
                        self.wait_for(wrapper, "errors_total", 1)
                    self.assertLess(self.end_of(wrapper), self.HELD_UP)
                self.assert_told(wrapper, "locked")

    def test_a_lock_of_others_who_write_is_waited_for(self):
        """The wait is longer than for a process that does not write."""
        wrapper = self.begin_job()
        with contextlib.closing(sqlite3.connect(self.history, timeout=60, isolation_level=None)) as other:
            other.execute("PRAGMA cache_size = 1")  # writes go to the -wal at once
            other.execute("BEGIN IMMEDIATE")
            other.execute("CREATE TABLE other(x)")
            wrapper.process.stdin.close()
            wrapper.process.stdin = None
            until = time.monotonic() + 1
            while time.monotonic() < until:
                other.execute("INSERT INTO other VALUES(randomblob(50000))")
                time.sleep(0.02)
            self.assertIsNone(wrapper.process.poll(), wrapper.log)
            other.execute("ROLLBACK")
        self.assertEqual(wrapper.wait(), 0)
        self.assertEqual(self.only_run()["outcome"], "succeeded")

    def begin_beside_trouble(self):
        begun = time.monotonic()
        wrapper = self.begin()  # returns when the job has written a line
        self.assertLess(time.monotonic() - begun, 0.5 + self.HELD_UP)  # HISTORIAN_OPEN_SECONDS
        return wrapper

    def test_a_disk_that_hangs_from_the_beginning(self):
        os.mkfifo(self.stalling())
        wrapper = self.begin_beside_trouble()
        self.assertTrue((self.folder / "stall.waits").exists())
        self.assertLess(self.end_of(wrapper), self.HELD_UP)
        wrapper.says(r"level=error.*the end of the run is not in the history.*could not be opened for [0-9.]+ s")

    def test_a_lock_at_the_beginning_costs_no_run(self):
        self.run_job(["true"])
        with contextlib.closing(sqlite3.connect(self.history, timeout=60, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            wrapper = self.begin_beside_trouble()
        wait_until(lambda: len(self.query("runs", "--job-name=job")["runs"]) == 2, "the begin of the run")
        self.end_of(wrapper)
        self.assertEqual([run["outcome"] for run in self.query("runs", "--job-name=job")["runs"]], ["succeeded"] * 2)

    def test_a_disk_that_hung_before_the_end(self):
        stall = self.stalling()
        wrapper = self.begin_job()
        os.mkfifo(stall)
        wait_until((self.folder / "stall.waits").exists, "a write that waits")
        time.sleep(3.1)  # HISTORIAN_HANG_SECONDS
        self.assertLess(self.end_of(wrapper), self.HELD_UP)
        self.assert_told(wrapper, "has not answered for [34]")

    def test_a_disk_that_hangs_at_the_end_may_only_be_slow(self):
        stall = self.stalling()
        wrapper = self.begin_job()
        os.mkfifo(stall)
        took = self.end_of(wrapper)
        self.assertTrue(2 < took < 3 + self.HELD_UP, took)
        self.assert_told(wrapper, r"has not answered for 3\.\d s")

    def test_a_write_that_takes_two_seconds_is_waited_for(self):
        stall = self.stalling()
        wrapper = self.begin_job()
        os.mkfifo(stall)  # waits without CPU time

        def let_go():
            with open(stall, "wb"):
                stall.unlink()
        timer = threading.Timer(2, let_go)
        timer.start()
        self.end(wrapper)
        timer.join()
        self.assertEqual(self.only_run()["outcome"], "succeeded")
        self.assert_none_is_missing()
        wrapper.says(": job succeeded")
        self.assertFalse(wrapper.said("level=error"))


class ManyJobs(Job):
    def test_names_without_end_cost_no_scrape(self):
        """The history has far more jobs than /metrics has room for. /metrics has the latest jobs, and queries are
        answered."""
        self.run_job(["true"], "first")
        server = self.serve()
        usual = self.scrape_seconds(server)
        with contextlib.closing(sqlite3.connect(self.history)) as history, history:
            history.execute("BEGIN IMMEDIATE")
            columns = [row[1] for row in history.execute("PRAGMA table_info(run)")]
            template = dict(zip(columns, history.execute("SELECT * FROM run").fetchone()))
            history.executemany("INSERT INTO job(id, name, runs) VALUES(?, ?, 1)",
                                ((i, f"nightly-{i}") for i in range(2, JOBS)))
            history.executemany("INSERT INTO job_outcome VALUES(?, 'succeeded', 1)", ((i,) for i in range(2, JOBS)))
            history.executemany(f"INSERT INTO run({','.join(columns)}) VALUES({','.join('?' * len(columns))})",
                                (tuple({**template, "id": i, "run_id": f"r{i}", "job": i}.values()) for i in range(2, JOBS)))
        known = wait_until(lambda: len({dict(labels)["job_name"] for name, labels in server.metrics()
                                        if name == "rightsize_job_runs_total"}) > 900 and server.metrics(), "jobs of the history")
        self.assertLessEqual(len({dict(labels)["job_name"] for name, labels in known if name == "rightsize_job_runs_total"}), 1000)
        self.assertEqual(server.get("/jobs").status, 200)
        self.assertEqual(server.get("/recommend?job_name=nightly-7777").status, 200)
        self.assertIn("nightly-7777", server.get("/recommend?job_name=nigthly-7777").json["error"]["did_you_mean"])
        self.assert_fast(server, usual + self.scrape_seconds(server, 1))
        server.stop()
        self.assert_history_intact()


class LongHistory(Job):
    RUNS = 100  # as many runs of two jobs as the history keeps of each

    def make_open(self, samples):
        """Makes an open run whose recorder is this program, so it seems to continue."""
        ticks = int(pathlib.Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
        with contextlib.closing(sqlite3.connect(self.history)) as history, history:
            template = dict(zip((row[1] for row in history.execute("PRAGMA table_info(run)")),
                                history.execute("SELECT * FROM run").fetchone()))
            row = {**template, "id": template["id"] + 1, "run_id": "open", "outcome": "running", "ended_at": None,
                   "started_at": template["started_at"] - samples, "duration_seconds": None, "samples": samples,
                   "pid": os.getpid(), "start_ticks": ticks, "owner_pid": os.getpid(), "owner_start_ticks": ticks}
            history.execute(f"INSERT INTO run({','.join(row)}) VALUES({','.join('?' * len(row))})", tuple(row.values()))
            told = ",".join(f'"{row[1]}"' for row in history.execute("PRAGMA table_info(sample)") if row[1] not in ("id", "at"))
            history.execute(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO "
                            f"sample(id, at, {told}) SELECT (? << 32) + i, ? + i, {told} FROM n, (SELECT * FROM sample LIMIT 1)",
                            (samples, row["id"], row["started_at"]))

    def test_statistics_of_a_long_run_that_goes_on_cost_no_scrape(self):
        """The statistics are computed from all samples each time. The samples are as many as are kept at full rate. Two
        such queries would occupy both threads."""
        self.run_job(python_job("import time; time.sleep(0.5)"), flags=["--sample.interval=100ms"])
        self.make_open(100000)
        server = self.serve()
        answers, seconds, scrapes = {}, [], []

        def timed(into, ask, *arguments):
            begin = time.monotonic()
            answer = ask(*arguments)
            into.append(time.monotonic() - begin)
            return answer

        def question(query):
            answers[query] = timed(seconds, server.get, query)

        asking = [threading.Thread(target=question, args=(q,)) for q in ("/stats?job_name=job", "/runs?job_name=job")]
        for thread in asking:
            thread.start()
            timed(scrapes, server.metrics)  # another thread takes the next query, if this one blocks
        while any(thread.is_alive() for thread in asking):
            timed(scrapes, server.metrics)
        self.assertEqual([a.status for a in answers.values()], [200, 200])
        self.assertLess(max(scrapes), min(seconds) / 2)
        runs = json.loads(answers["/runs?job_name=job"].text)["runs"]
        self.assertIn(("open", "running", 100000), [(r["run_id"], r["outcome"], r["samples"]) for r in runs])
        self.assertEqual(server.stop(), 0)

    def test_questions_about_many_samples_cost_no_scrape_and_bounded_memory(self):
        """Runs of an hour at a high rate. Started by name (tests/faults/run.sh), they have 10 M samples; 100,000 of a
        run are kept at full rate."""
        self.run_job(python_job("import time; time.sleep(0.5)"), flags=["--sample.interval=100ms"])
        each, seconds = ROWS // self.RUNS, 3600
        with contextlib.closing(sqlite3.connect(self.history)) as history, history:
            template = dict(zip((row[1] for row in history.execute("PRAGMA table_info(run)")),
                                history.execute("SELECT * FROM run").fetchone()))
            told = ",".join(f'"{row[1]}"' for row in history.execute("PRAGMA table_info(sample)") if row[1] not in ("id", "at"))
            history.execute("CREATE TEMP TABLE template AS SELECT * FROM sample ORDER BY id DESC LIMIT 1")
            history.execute("INSERT INTO job(id, name, runs) VALUES(?, 'other', ?)", (template["job"] + 1, self.RUNS // 2))
            for number in range(1, self.RUNS + 1):
                run = template["id"] + number
                begun = template["started_at"] - (self.RUNS - number + 1) * (seconds + 60)
                row = {**template, "id": run, "run_id": f"r{number}", "job": template["job"] + number % 2, "started_at": begun,
                       "ended_at": begun + seconds, "duration_seconds": seconds, "samples": each,
                       "interval_seconds": seconds / each}
                history.execute(f"INSERT INTO run({','.join(row)}) VALUES({','.join('?' * len(row))})", tuple(row.values()))
                history.execute(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                                f"INSERT INTO sample(id, at, {told}) SELECT (? << 32) + i, ? + i * ?, {told} FROM n, template",
                                (each, run, begun, seconds / each))
        server = self.serve("--history.max-size=1T")
        usual = self.scrape_seconds(server)
        questions = ["/jobs", "/overview", "/runs?job_name=job", "/stats?job_name=job", "/recommend?job_name=job",
                     "/stats?job_name=other", "/recommend?job_name=other", "/series?run=r100", "/report?run=r99",
                     "/report?job_name=other"]
        status = {}
        asking = threading.Thread(target=lambda: status.update((q, server.get(q).status) for q in questions))
        asking.start()
        while asking.is_alive():
            self.assert_fast(server, usual)
        self.assertEqual(status, dict.fromkeys(questions, 200))
        peak = re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{server.pid}/status").read_text(encoding="ascii"))
        self.assertLess(int(peak[1]), 256 << 10)
        self.assertEqual(server.stop(), 0)
        self.assert_history_intact()


class SmallDisk(Job):
    def setUp(self):
        super().setUp()
        refused = mounting_refused()
        if refused:
            self.skipTest(f"nothing may be mounted here: {refused}")
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        self.history = str(self.disk / "history.db")

    def on_disk(self, *after, options="size=1m"):
        """Returns a prefix for a command that sees its own file system at self.disk."""
        steps = [f"mount -t tmpfs -o {options} none '{self.disk}'", *after, 'exec "$@"']
        return [*PRIVATE_MOUNTS, "sh", "-c", " && ".join(steps), "sh"]

    def test_full_holds_nothing_up_and_loses_nothing(self):
        wrapper = self.begin(self.on_disk())
        written = self.wait_for(wrapper, "samples_written_total", 3)
        usual = self.scrape_seconds(wrapper)
        seen = pathlib.Path(f"/proc/{wrapper.pid}/root{self.disk}")
        filler = open(seen / "filler", "wb", buffering=0)
        self.addCleanup(filler.close)
        with contextlib.suppress(OSError):
            while filler.write(b"x" * 4096):
                pass
        waiting = self.wait_for(wrapper, "samples_waiting", 10)
        self.assertGreater(self.value(wrapper, "errors_total"), 0)
        self.assert_fast(wrapper, usual)
        wrapper.says("level=(warn|error).*full")
        filler.truncate(0)
        self.wait_for(wrapper, "samples_written_total", written + waiting)
        self.assertEqual(self.value(wrapper, "samples_dropped_total"), 0)
        for suffix in ("", "-wal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copy(f"{seen / 'history.db'}{suffix}", f"{self.folder / 'copy.db'}{suffix}")
        self.assert_none_is_missing(self.folder / "copy.db")
        self.end(wrapper)
        # The message came once, and not at each attempt.
        self.assertLess(len([line for line in wrapper.log if "full" in line]), 5)

    def test_a_server_starts_on_a_full_disk_and_recovers(self):
        fixture = pathlib.Path(__file__).resolve().parents[1] / "fixtures/run_message.json"
        message = json.loads(fixture.read_text(encoding="utf-8"))

        def post():
            return server.get("/runs", method="POST", body=json.dumps(message), Content_Type="application/json")
        self.history = str(self.folder / "history.db")
        self.run_job(["true"])
        self.history = str(self.disk / "history.db")
        fill = f"cp '{self.folder}/history.db' '{self.disk}' && (head -c 2m /dev/zero > '{self.disk}/filler' 2>/dev/null || true)"
        server = self.start_program([*self.on_disk(fill), EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", "--no-jobs.recognise",
                                     f"--history.path={self.history}", "--web.allow-changes"])
        server.wait_address()
        wait_until(lambda: server.get("/metrics").status == 200, "the first sample")
        self.assertEqual([job["job_name"] for job in server.get("/jobs").json["jobs"]], ["job"])
        message.update(ended_at=time.time(), started_at=time.time() - message["duration_seconds"])
        answers = [server.get("/-/ready"), post()]
        self.assertEqual([answer.status for answer in answers], [503, 503])
        for answer in answers:
            self.assertRegex(answer.text, "history.*(full|disk I/O error)")
        (pathlib.Path(f"/proc/{server.process.pid}/root{self.disk}") / "filler").unlink()
        wait_until(lambda: server.get("/-/ready").status == 200, "room on the disk")
        self.assertEqual(post().status, 201)
        self.assertEqual(sorted(job["job_name"] for job in server.get("/jobs").json["jobs"]), ["job", "load"])

    def test_full_from_the_beginning_does_not_stop_a_job(self):
        fill = f"head -c 2m /dev/zero > '{self.disk}/filler' 2>/dev/null || true"
        done = subprocess.run([*self.on_disk(fill), EXPORTER, *self.wrapper_arguments(["sh", "-c", "echo works; exit 5"])],
                              capture_output=True, env=self.environment, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual((done.returncode, done.stdout), (5, b"works\n"), done.stderr)
        self.assertRegex(done.stderr.decode(), "the run will not be in the history.*run_id=[0-9]{8}T.*full")

    def test_full_at_the_end_holds_up_no_exit_code(self):
        fill = f"head -c 2m /dev/zero > {self.disk}/filler 2>/dev/null; date +%s.%N > {self.folder}/ended; exit 5"
        command = ["sh", "-c", f"sleep 0.3; {fill}"]
        done = subprocess.run([*self.on_disk(), EXPORTER, *self.wrapper_arguments(command, flags=["--sample.interval=100ms"])],
                              capture_output=True, text=True, env=self.environment, stdin=subprocess.DEVNULL, check=False)
        took = time.time() - float((self.folder / "ended").read_text())
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertLess(took, Unwritable.HELD_UP)
        self.assertRegex(done.stderr, Unwritable.LOST.format(run_id="[0-9]{8}T", why="full"))

    def test_without_devices_and_input_a_job_runs(self):
        without = self.on_disk("mount -t tmpfs none /dev", "exec <&-")
        done = subprocess.run([*without, EXPORTER, *self.wrapper_arguments(["sh", "-c", "echo works; exit 5"])],
                              capture_output=True, env=self.environment, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual((done.returncode, done.stdout), (5, b"works\n"), done.stderr)

    def test_read_only_stops_no_job_and_answers_questions(self):
        self.history = str(self.folder / "history.db")
        self.run_job(["true"])
        before = pathlib.Path(self.history).read_bytes()
        self.history = str(self.disk / "history.db")
        read_only = self.on_disk(f"cp '{self.folder}/history.db' '{self.disk}'", f"mount -o remount,ro '{self.disk}'")

        def there(*arguments):
            return subprocess.run([*read_only, EXPORTER, *arguments], capture_output=True, text=True,
                                  env=self.environment, stdin=subprocess.DEVNULL, check=False)
        done = there(*self.wrapper_arguments(["sh", "-c", "echo works; exit 5"]))
        self.assertEqual((done.returncode, done.stdout), (5, "works\n"), done.stderr)
        self.assertIn("history", done.stderr)
        done = there("runs", "--job-name=job", f"--history.path={self.history}")
        self.assertIn('"succeeded"', done.stdout, done.stderr)
        done = there("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}")
        self.assertEqual(done.returncode, 1)
        self.assertIn(self.history, done.stderr)
        self.assertEqual(pathlib.Path(self.folder / "history.db").read_bytes(), before)


class LargestFile(Job):
    """RLIMIT_FSIZE: the write beyond the limit fails, and also sends a signal."""

    def test_is_a_full_disk_to_who_begins_a_history(self):
        limited = ["prlimit", "--fsize=8192", EXPORTER]
        done = subprocess.run([*limited, *self.wrapper_arguments(["sh", "-c", "echo works; exit 5"])],
                              capture_output=True, env=self.environment, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual((done.returncode, done.stdout), (5, b"works\n"), done.stderr)
        self.assertIn(b"history", done.stderr)
        server = self.start_program([*limited, "serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}"])
        server.wait_address()
        wait_until(lambda: server.get("/metrics").status == 200, "the first sample")
        server.says("level=warn msg=\"history cannot be written.*" + re.escape(self.history))
        self.assertEqual(server.stop(), 0)

    def test_holds_nothing_up_and_loses_nothing(self):
        wrapper = self.begin(["prlimit", "--fsize=160000:unlimited"])
        usual = self.scrape_seconds(wrapper)
        waiting = self.wait_for(wrapper, "samples_waiting", 10)
        self.assertGreater(self.value(wrapper, "errors_total"), 0)
        self.assert_fast(wrapper, usual)
        for pid in (wrapper.pid, *loose_threads_of(wrapper.pid)):
            subprocess.run(["prlimit", f"--pid={pid}", "--fsize=unlimited"], check=True)
        self.wait_for(wrapper, "samples_written_total", waiting)
        self.assertEqual(self.value(wrapper, "samples_dropped_total"), 0)
        self.end(wrapper)
        self.assertEqual(self.only_run()["outcome"], "succeeded")
        self.assert_none_is_missing()
        self.assert_history_intact()


if __name__ == "__main__":
    main()
