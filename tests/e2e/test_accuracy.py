"""Compares the recorded numbers with the numbers that the kernel reported to the job itself."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "accuracy"))
import groups  # noqa: E402
from support import Case, main, python_job, wait_until  # noqa: E402

MIB = 1 << 20

# At its end, every job prints the result of getrusage(2) for itself and for the children that it waited for.
USED = """
import json, os, resource, signal, sys, time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
def used():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"cpu": own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
                      "user": own.ru_utime + children.ru_utime,
                      "peak": max(own.ru_maxrss, children.ru_maxrss) * 1024}), flush=True)
"""
BUSY = USED + """
spin(1.0)
used()
"""
BUSY_CHILDREN = USED + """
for _ in range(50):
    if os.fork() == 0:
        spin(0.02)
        os._exit(0)
    os.wait()
used()
"""
BUSY_THREADS = USED + """
import hashlib, threading
data = bytes(1 << 22)
def work():
    for _ in range(100):
        hashlib.sha256(data)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
used()
"""
# The daemon has no parent that waits for it. It reports its own CPU time through a pipe, and the job waits for the
# report.
BUSY_DAEMON = USED + """
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        spin(0.5)
        os.write(writer, str(time.process_time()).encode())
        os._exit(0)
    os._exit(0)
os.wait()
daemon = float(os.read(reader, 100))
own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"cpu": daemon + own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime}))
"""
SPIKE = USED + """
block = b"x" * (200 << 20)
time.sleep(0.3)
del block
time.sleep(0.3)
used()
"""
# Uses its peak memory once, and then much less until its input ends.
MARK_THEN_WAIT = python_job("""
import sys
block = b"x" * (64 << 20)
del block
print(".", end="", flush=True)
sys.stdin.read()
""")
CAP_NET_ADMIN = 12
INITIAL = {"user": "user:[4026531837]", "pid": "pid:[4026531836]"}  # include/linux/proc_ns.h
CONNECTOR = pathlib.Path("/proc/net/connector")  # in the initial network namespace only
PERF = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
NOBODY = 65534


def exit_accounting_is_offered():
    """Returns whether the kernel reports to this process how every other process ended."""
    status = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    return (int(status["CapEff"], 16) >> CAP_NET_ADMIN & 1
            and all(os.readlink(f"/proc/self/ns/{name}") == initial for name, initial in INITIAL.items())
            and pathlib.Path("/proc/sys/kernel/task_delayacct").exists()
            and CONNECTOR.exists() and "cn_proc" in CONNECTOR.read_text())


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class CpuSeconds(Case):
    def check(self, code, flags=()):
        result = self.run_job(python_job(code), flags=flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout), self.only_run()

    def test_of_one_busy_process(self):
        used, run = self.check(BUSY)
        self.assert_close(run["cpu_seconds"], used["cpu"], 0.02, 0.02, "CPU seconds")
        self.assert_close(run["cpu_user_seconds"] + run["cpu_system_seconds"], run["cpu_seconds"], 0.001, 0.001,
                          "user and system together")

    def test_of_50_children_that_were_waited_for(self):
        used, run = self.check(BUSY_CHILDREN)
        self.assert_close(run["cpu_seconds"], used["cpu"], 0.02, 0.02, "CPU seconds")

    def test_of_threads(self):
        used, run = self.check(BUSY_THREADS)
        self.assert_close(run["cpu_seconds"], used["cpu"], 0.02, 0.02, "CPU seconds")

    def test_of_a_daemon_that_left_its_parent_and_session(self):
        used, run = self.check(BUSY_DAEMON)
        self.assert_close(run["cpu_seconds"], used["cpu"], 0.02, 0.03, "CPU seconds")

    def test_does_not_depend_on_the_interval(self):
        for interval in ("100ms", "1h"):
            with self.subTest(interval=interval):
                result = self.run_job(python_job(BUSY_CHILDREN), interval, flags=[f"--sample.interval={interval}"])
                used, run = json.loads(result.stdout), self.only_run(interval)
                self.assert_close(run["cpu_seconds"], used["cpu"], 0.02, 0.02, "CPU seconds")


class MemoryPeak(Case):
    def test_holds_a_spike_between_two_samples(self):
        result = self.run_job(python_job(SPIKE), flags=["--sample.interval=1h"])
        used = json.loads(result.stdout)
        self.assertGreater(used["peak"], 200 * MIB)
        self.assert_close(self.only_run()["memory_peak_bytes"], used["peak"], 0.05, 0, "memory peak")

    def test_adds_what_is_there_at_the_same_time(self):
        code = """
import os, time
for _ in range(2):
    if os.fork() == 0:
        block = b"x" * (100 << 20)
        time.sleep(1.5)
        os._exit(0)
os.wait(); os.wait()
"""
        self.run_job(python_job(code), flags=["--sample.interval=100ms"])
        self.assert_close(self.only_run()["memory_peak_bytes"], 215 * MIB, 0.15, 0, "memory peak")

    def test_does_not_add_what_came_one_after_the_other(self):
        code = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        block = b"x" * (60 << 20)
        time.sleep(0.25)
        os._exit(0)
    os.wait()
"""
        self.run_job(python_job(code), flags=["--sample.interval=100ms"])
        self.assert_close(self.only_run()["memory_peak_bytes"], 75 * MIB, 0.25, 0, "memory peak")

    def test_of_processes_that_go_on_without_their_first_thread(self):
        code = """
import ctypes, os, threading, time
def work():
    block = b"x" * (100 << 20)
    time.sleep(1.5)
    os._exit(0)
for _ in range(2):
    if os.fork() == 0:
        threading.Thread(target=work).start()
        ctypes.CDLL(None).pthread_exit(None)
os.wait(); os.wait()
"""
        self.run_job(python_job(code), flags=["--sample.interval=100ms"])
        self.assert_close(self.only_run()["memory_peak_bytes"], 215 * MIB, 0.15, 0, "memory peak")

    def test_of_a_small_job_is_not_the_exporter_s_own(self):
        self.run_job(["sleep", "0.3"], flags=["--sample.interval=100ms"])
        self.assertLess(self.only_run()["memory_peak_bytes"], 4 * MIB)


class Advice(Case):
    """The program says once how CPU time could be exact, if it may not be exact."""

    def said(self, *flags):
        self.folder.chmod(0o777)
        result = self.run_job(["true"], flags=["--no-run.cgroup", *flags], preexec_fn=None if os.geteuid() else become_nobody)
        return result.stderr.count(b"exact_with=")

    def test_is_given_to_who_has_no_rights(self):
        self.assertEqual(self.said(), 1)

    def test_is_not_given_to_who_wants_to_hear_nothing(self):
        self.assertEqual((self.said("--quiet"), self.said("--log.level=warn")), (0, 0))


class Clock(Case):
    """An inherited perf counter slows each context switch of the job."""

    def counters(self, wrapper):
        return [fd for fd in pathlib.Path(f"/proc/{wrapper.pid}/fd").iterdir() if "perf_event" in os.readlink(fd)]

    @unittest.skipUnless(exit_accounting_is_offered() and PERF.exists(), "takes exit accounting and perf counters")
    def test_is_closed_where_another_account_has_all(self):
        wrapper = self.start_run(["cat"], stdin=subprocess.PIPE, flags=["--no-run.cgroup", "--web.listen-address=127.0.0.1:0"])
        wrapper.wait_address()
        wait_until(lambda: wrapper.job_value("rightsize_job_processes", "job") == 1, "the job to be followed")
        wait_until(lambda: not self.counters(wrapper), "the counter to be closed")
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        self.assertEqual(self.only_run()["cpu_source"], "taskstats")


class MemorySource(Case):
    def test_of_a_mark_that_was_seen_is_the_kernel_s_mark(self):
        wrapper = self.start_run(MARK_THEN_WAIT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 flags=["--web.listen-address=127.0.0.1:0"])
        self.assertEqual(wrapper.process.stdout.read(1), b".")
        wrapper.wait_address()
        wait_until(lambda: (wrapper.job_value("rightsize_job_memory_peak_bytes", "job") or 0) > 64 * MIB,
                   "the mark to be seen")
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        self.assertEqual(self.only_run()["memory_source"], "vmhwm")

    def test_of_a_mark_that_nobody_saw_is_who_told_it_at_the_end(self):
        self.folder.chmod(0o777)
        flags = ["--sample.interval=1h", "--no-run.cgroup"]
        self.run_job(python_job(SPIKE), "without rights", flags=flags,
                     preexec_fn=None if os.geteuid() else become_nobody)
        self.assertEqual(self.only_run("without rights")["memory_source"], "rusage")
        self.run_job(python_job(SPIKE), "with rights", flags=flags)
        self.assertEqual(self.only_run("with rights")["memory_source"],
                         "taskstats" if exit_accounting_is_offered() else "rusage")


class InputOutput(Case):
    def test_counts_bytes_written_to_storage_and_characters_through_pipes(self):
        file = self.folder / "data"
        code = f"""
import os
block = os.urandom(1 << 20)
with open({str(file)!r}, "wb") as f:
    for _ in range(32): f.write(block)
    f.flush(); os.fsync(f.fileno())
input()
"""
        wrapper = self.start_run(python_job(code), stdin=subprocess.PIPE, flags=["--sample.interval=100ms"])
        wait_until(lambda: file.exists() and file.stat().st_size == 32 * MIB, "the file to be written")
        wrapper.process.stdin.write(b"\n")
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        run = self.only_run()
        self.assertGreaterEqual(run["written_chars"], 32 * MIB)
        self.assertLess(run["written_chars"], 34 * MIB)


# Four threads wake each other in turn, and then wait until the input ends.
SWITCHES = USED + """
import threading
def pair(n):
    a, b, c, d = *os.pipe(), *os.pipe()
    def ping():
        for _ in range(n): os.write(b, b"x"); os.read(c, 1)
        done.acquire()
    def pong():
        for _ in range(n): os.read(a, 1); os.write(d, b"x")
        done.acquire()
    return [threading.Thread(target=ping), threading.Thread(target=pong)]
done = threading.Semaphore(0)
threads = pair(4000) + pair(4000)
for t in threads: t.start()
sys.stdin.read()
for t in threads: done.release()
for t in threads: t.join()
own = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"voluntary": own.ru_nvcsw, "involuntary": own.ru_nivcsw}))
"""


class ContextSwitches(Case):
    """Context switches of all threads count, not only those of the main thread."""

    def check(self, **options):
        self.folder.chmod(0o777)
        wrapper = self.start_run(python_job(SWITCHES), stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options,
                                 flags=["--web.listen-address=127.0.0.1:0", "--sample.interval=100ms"])
        wrapper.wait_address()
        # In each of 16,000 exchanges a thread waits for the other one. Most of these switches are voluntary.
        wait_until(lambda: sum(wrapper.job_value(f"rightsize_job_context_switches_{kind}_total", "job") or 0
                               for kind in ("voluntary", "involuntary")) > 8000, "the switches of threads that live")
        used = json.loads(wrapper.process.communicate()[0])
        wrapper.wait()
        run = self.only_run()
        for kind in ("voluntary", "involuntary"):
            self.assert_close(run[f"context_switches_{kind}"], used[kind], 0.02, 200, kind)

    def test_are_those_of_all_threads(self):
        self.check()

    def test_need_no_rights(self):
        self.check(preexec_fn=None if os.geteuid() else become_nobody)


# Forks until the kernel refuses five times, and prints the number of children.
FORKS = python_job("""
import os, signal, sys
sys.stdin.readline()
forked = refused = 0
while refused < 5:
    try:
        if os.fork() == 0:
            signal.pause()
        forked += 1
    except OSError:
        refused += 1
print(forked, flush=True)
sys.stdin.readline()
os.killpg(0, signal.SIGKILL)
""")
TASKS = 20


class TaskLimit(Case):
    def test_tells_of_the_forks_that_it_refuses(self):
        with groups.limited("pids", ("pids.max", "pids.max"), "tasks", TASKS) as folder:
            if isinstance(folder, str):
                self.skipTest(folder)
            server = self.serve("--web.allow-changes", interval="100ms")
            job = subprocess.Popen(FORKS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
                                   preexec_fn=lambda: (folder / "cgroup.procs").write_text("0"))
            self.addCleanup(job.stdout.close)
            self.addCleanup(job.wait)
            self.addCleanup(job.kill)
            body = json.dumps({"job_name": "forks", "pid": job.pid})
            self.assertEqual(server.get("/jobs", "POST", body, Content_Type="application/json").status, 201)
            wait_until(lambda: server.job_value("rightsize_job_pids_refused_total", "forks") == 0, "the limit to be known")
            job.stdin.write(b"\n")
            job.stdin.flush()
            self.assertEqual(int(job.stdout.readline()), TASKS - 1)
            wait_until(lambda: server.job_value("rightsize_job_pids_refused_total", "forks") == 5, "the refused forks")
            self.assertEqual(server.job_value("rightsize_job_pids_limit", "forks"), TASKS)
            if (folder / "pids.peak").exists():
                self.assertEqual(server.job_value("rightsize_job_pids_peak", "forks"), TASKS)
            job.stdin.close()
            job.wait()
            run = server.recorded_runs("forks")[0]
            self.assertEqual((run["pids_limit"], run["pids_refused"]), (TASKS, 5))


# Writes up to 40 MiB to the file system of a folder and deletes it again, until the process is killed.
NEIGHBOUR = python_job("""
import os, random, sys, time
print(".", end="", flush=True)
while True:
    with open(sys.argv[1], "wb") as f:
        f.write(bytes(random.randrange(1, 40) << 20))
        f.flush(); os.fsync(f.fileno())
    time.sleep(random.random() / 20)
    os.unlink(sys.argv[1])
    time.sleep(random.random() / 20)
""", "neighbour")
WRITES = """
import os, sys, time
path, mib = os.environ["FILE"], int(os.environ["MIB"])
time.sleep(0.3)
with open(path, "wb") as f: f.write(bytes(mib << 20))
if "KEEP" not in os.environ: os.unlink(path)
time.sleep(0.3)
"""


class DiskSpace(Case):
    """A neighbour fills the same file system and frees it again."""

    def disk(self, job_name, path, mib, **more):
        environment = {**self.environment, "FILE": str(path), "MIB": str(mib), **more}
        result = self.run_job(python_job(WRITES), job_name, flags=["--sample.interval=100ms"], env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        run = self.only_run(job_name)
        self.assertEqual(run["disk_source"], "written")
        return run["disk_grown_bytes"]

    def type_of(self, folder):
        return subprocess.run(["stat", "-fc", "%T", folder], capture_output=True, text=True, check=True).stdout.strip()

    def test_is_that_of_the_run(self):
        if self.type_of(self.folder) == "tmpfs":
            self.skipTest("the folder of the test is in memory")
        neighbour = subprocess.Popen(NEIGHBOUR, cwd=self.folder, stdout=subprocess.PIPE)
        self.addCleanup(neighbour.stdout.close)
        self.addCleanup(neighbour.wait)
        self.addCleanup(neighbour.kill)
        self.assertEqual(neighbour.stdout.read(1), b".")
        self.assert_close(self.disk("keeps", self.folder / "kept", 1, KEEP="1"), MIB, 0, 0.1 * MIB, "kept")
        self.assert_close(self.disk("deletes", self.folder / "gone", 10), 10 * MIB, 0, 0.1 * MIB, "deleted")

    def test_is_not_in_memory(self):
        if not os.path.isdir("/dev/shm") or self.type_of("/dev/shm") != "tmpfs":
            self.skipTest("no tmpfs here")
        path = f"/dev/shm/{self.folder.name}"
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        self.assertLess(self.disk("in memory", path, 10, KEEP="1"), 0.1 * MIB)


class Orphans(Case):
    def test_are_part_of_the_job_while_they_live(self):
        code = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(60)
    os._exit(0)
os.wait()
sys.stdin.read()
"""
        wrapper = self.start_run(python_job(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 flags=["--web.listen-address=127.0.0.1:0", "--sample.interval=100ms"])
        orphan = int(wrapper.process.stdout.readline())
        self.addCleanup(self.kill_quietly, orphan)
        wrapper.wait_address()
        wait_until(lambda: wrapper.job_value("rightsize_job_processes", "job") == 2, "job and orphan to be counted")
        self.kill_quietly(orphan)
        wait_until(lambda: wrapper.job_value("rightsize_job_processes", "job") == 1, "the orphan to be gone")
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)

    @staticmethod
    def kill_quietly(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
