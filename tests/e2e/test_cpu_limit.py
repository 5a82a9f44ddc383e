"""Tests a limit of CPU time (ulimit -t). It also limits the wrapper, and watching must not use it up."""
import contextlib
import json
import resource
import sqlite3
import subprocess
import time

from support import Case, main, python_job, wait_until

LIMIT = 1
# A sample of this tree is expensive: 50 times 50 processes that do nothing until the first one's input ends.
CROWD = python_job("""
import os, sys
until, end = os.pipe()
for _ in range(50):
    if os.fork() == 0:
        os.close(end)
        for _ in range(49):
            if os.fork() == 0:
                break
        os.read(until, 1)
        os._exit(0)
print("all there", flush=True)
sys.stdin.read()
""")
# Prints its CPU time limit, and runs for a while.
SOME_SECONDS = python_job("""
import json, resource, time
print(json.dumps(resource.getrlimit(resource.RLIMIT_CPU)))
time.sleep(3)
""")
STRETCHED = "sampling slowed down"
# On a busy machine, work other than sampling may take CPU time.
ROOMY = (LIMIT, LIMIT + 9)


def used_before(seconds, limits):
    """Makes a process that has used so much CPU time and has these limits. Then it executes the program, as a shell may
    do."""
    def prepare():
        while time.process_time() < seconds:
            pass
        if limits:
            resource.setrlimit(resource.RLIMIT_CPU, limits)
    return {"preexec_fn": prepare}


class CpuLimit(Case):
    FLAGS = ("--sample.interval=100ms", "--quiet")

    def only_run(self):
        (run,) = self.query("runs", "--job-name=job")["runs"]
        return run

    def is_rarer(self):
        """Returns whether no more than a tenth of the requested samples was taken in the last ten seconds. (Sampling may
        even have stopped: on a busy machine, one sample can cost a third of the limit.)"""
        with contextlib.closing(sqlite3.connect(f"file:{self.history}?mode=ro", uri=True)) as db:
            times = [at for at, in db.execute("SELECT at FROM sample")]
        since = time.time() - 10
        return min(times, default=since) < since and sum(at > since for at in times) <= 10

    def test_a_crowd_is_looked_at_more_rarely_and_the_job_goes_on(self):
        wrapper = self.start_run(CROWD, flags=self.FLAGS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **used_before(0.3, (LIMIT, LIMIT)))
        self.assertEqual(wrapper.process.stdout.readline(), b"all there\n")
        wait_until(lambda: wrapper.process.poll() is not None or self.is_rarer(), "fewer samples")
        self.assertIsNone(wrapper.process.poll(), wrapper.log)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        self.assertEqual(sum(STRETCHED in line for line in wrapper.log), 1)
        run = self.only_run()
        self.assertEqual((run["outcome"], run["exit_code"]), ("succeeded", 0))
        self.assertGreaterEqual(run["processes_max"], 2500)

    def test_nearer_to_it_samples_are_fewer(self):
        """When three quarters of the CPU time for samples are used, samples are four times as far apart."""
        result = self.run_job(SOME_SECONDS, flags=self.FLAGS, **used_before(0.6, ROOMY))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count(STRETCHED.encode()), 1)
        run = self.only_run()
        self.assertGreaterEqual(run["duration_seconds"], 3)
        self.assertGreaterEqual(run["samples"], 2)
        self.assertLessEqual(run["samples"], run["duration_seconds"] / 0.4 + 3)

    def test_without_any_looks_the_end_is_told(self):
        result = self.run_job(SOME_SECONDS, flags=self.FLAGS, **used_before(0.85, ROOMY))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count(STRETCHED.encode()), 1)
        run = self.only_run()
        self.assertEqual((run["outcome"], run["exit_code"]), ("succeeded", 0))
        self.assertLessEqual(run["samples"], 2)
        self.assertGreater(run["cpu_seconds"], 0)
        self.assertGreater(run["memory_peak_bytes"], 0)

    def test_the_job_has_the_limit_that_it_would_have_had(self):
        for limits in ((LIMIT, LIMIT), ROOMY):
            result = self.run_job(SOME_SECONDS, flags=self.FLAGS, **used_before(0, limits))
            self.assertEqual(tuple(json.loads(result.stdout)), limits, result.stderr)

    def test_the_signal_at_the_limit_ends_nobody(self):
        handler = "import signal\nsignal.signal(signal.SIGXCPU, lambda *_: os._exit(9))\n"
        wrapper = self.start_run([*CROWD[:-1], handler + CROWD[-1]], flags=self.FLAGS,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, **used_before(LIMIT + 0.5, None))
        self.assertEqual(wrapper.process.stdout.readline(), b"all there\n")
        resource.prlimit(wrapper.pid, resource.RLIMIT_CPU, (LIMIT, resource.RLIM_INFINITY))
        # The kernel sends the signal at a clock tick while the process runs, and then raises the soft limit.
        wait_until(lambda: wrapper.process.poll() is not None or
                   resource.prlimit(wrapper.pid, resource.RLIMIT_CPU)[0] > LIMIT, "the signal")
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        self.assertEqual(self.only_run()["outcome"], "succeeded")


if __name__ == "__main__":
    main()
