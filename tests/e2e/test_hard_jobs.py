"""Jobs that are hard to account are compared with the kernel's own account of them: a short form of
tests/accuracy/run.sh. Asserts only results that do not depend on timing, with ratios that hold on a busy machine: those
of exact sources.

Only what is no matter of timing is asserted, with ratios that hold on a busy machine: the sources that are exact.
"""
import os
import pathlib
import subprocess
import sys
import unittest

TOOLS = pathlib.Path(os.environ["RIGHTSIZE_ACCURACY_TOOLS"])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "accuracy"))
import groups  # noqa: E402
import run as accuracy  # noqa: E402
from support import Case, python_job, wait_until  # noqa: E402

SIZE = 0.1
# Starting the job costs the parent some milliseconds, which are counted either here or there.
SHARE, SECONDS = 0.05, 0.03
EXACT = {
    "wrapper": ("waited", "ignored", "daemons", "sessions", "threads", "storm", "storm_ignored", "exec_chain",
                "parent_first", "other_user", "pid_reuse", "brief"),
    "wrapper, wait4 only": ("waited", "daemons", "sessions", "threads", "storm", "exec_chain"),
    "attached, own group": ("ignored", "daemons", "storm_ignored", "root_first"),
}

LIMIT = 200 << 20

# Five children that together need more than the limit, but none alone. Ends as a shell does when one of them is killed.
CROWD = python_job("""
import os, signal, sys
children = []
for _ in range(5):
    children.append(os.fork())
    if children[-1] == 0:
        held = b"x" * (60 << 20)
        signal.pause()
pid, status = os.wait()
for child in children:
    if child != pid:
        os.kill(child, signal.SIGKILL)
sys.exit(128 + status)
""")


class KilledForMemory(Case):
    def run_limited(self, command, **options):
        with groups.limited_memory("memory", LIMIT) as folder:
            if isinstance(folder, str):
                self.skipTest(folder)
            return self.run_job(command, preexec_fn=lambda: (folder / "cgroup.procs").write_text("0"), **options)

    def test_of_several_that_nobody_looked_at_needed_the_limit_together(self):
        self.assertEqual(self.run_limited(CROWD, flags=["--sample.interval=1h"]).returncode, 128 + 9)
        run = self.only_run()
        self.assertEqual((run["outcome"], run["memory_source"]), ("oom_killed", "limit"))
        self.assertGreater(run["memory_peak_bytes"], 0.8 * LIMIT)
        self.assertLessEqual(run["memory_peak_bytes"], LIMIT)

    def test_is_an_outcome_with_the_limit_and_no_success(self):
        killed, brief = (self.run_limited([accuracy.JOB, case]) for case in ("spike_root", "brief"))
        self.assertEqual((killed.returncode, brief.returncode), (128 + 9, 0))
        self.assertIn(b"ran out of memory", killed.stderr)
        self.assertIn(b"at its limit of 200 MiB", killed.stderr)
        succeeded, failed = self.runs()
        self.assertEqual((failed["outcome"], failed["memory_limit_bytes"]), ("oom_killed", LIMIT))
        self.assertEqual(succeeded["outcome"], "succeeded")
        stats = self.query("stats", "--job-name=job", "--details")
        self.assertEqual([r["run_id"] for r in stats["runs"]], [succeeded["run_id"]])


class InAContainer(Case):
    """The job has a cgroup namespace of its own, and a quota that it certainly exceeds."""

    CORES = 0.05

    def test_throttling_is_what_the_kernel_counted_during_the_run(self):
        group = groups.make("container")
        self.addCleanup(group.remove)
        if not group.set_quota(self.CORES):
            self.skipTest("no CPU quota may be set here")
        stat = "/sys/fs/cgroup/cpu/cpu.stat" if group.version == 1 else "/sys/fs/cgroup/cpu.stat"
        # Throttling before the first sample of the job counts.
        job = ["sh", "-c", f'cat {stat}; "$1" busy 0.02 && cat {stat}', "-", accuracy.JOB]
        wrapper = self.start_program(
            ["unshare", "--cgroup", "--mount", "sh", "-c", groups.CONTAINED, "-", accuracy.EXPORTER, *self.wrapper_arguments(job)],
            preexec_fn=group.enter, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        output = wrapper.process.stdout.read().decode()
        self.assertEqual(wrapper.wait(), 0)
        key, unit = ("throttled_time", 1e9) if group.version == 1 else ("throttled_usec", 1e6)
        first, last = (int(line.split()[1]) / unit for line in output.splitlines() if line.startswith(key))
        self.assertGreater(last, first)
        told = self.only_run()["cpu_throttled_seconds"]
        self.assertLessEqual(last - first, told + 1e-6)
        self.assertLessEqual(told, group.throttled() + 1e-6)


class OwnGroup(Case):
    def test_who_enters_it_is_of_the_run_however_often_it_is_looked_at(self):
        group = groups.make("entered")
        self.addCleanup(group.remove)
        name = f"entered-{os.getpid()}"
        server = self.serve("--jobs.recognise", interval="100ms")
        for n, environment in enumerate(({"RIGHTSIZE_JOB_NAME": name}, {})):
            process = subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], **environment},
                                       preexec_fn=group.enter)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            wait_until(lambda n=n: server.job_value("rightsize_job_processes", name) == n + 1, f"{n + 1} processes")


class HardJobs(unittest.TestCase):
    def test_are_counted_in_full_and_not_twice(self):
        for mode, cases in EXACT.items():
            for case in cases:
                with self.subTest(mode=mode, case=case):
                    truth, ours = accuracy.one(mode, case, SIZE)
                    allowed = truth * SHARE + SECONDS
                    self.assertLessEqual(abs(ours.cpu - truth), allowed, f"{ours.cpu} s instead of {truth} s")

    def test_no_source_tells_more_than_was_spent(self):
        for mode in ("attached, /proc only", "wrapper, wait4 only"):
            for case in ("ignored", "storm_ignored", "daemons"):
                with self.subTest(mode=mode, case=case):
                    truth, ours = accuracy.one(mode, case, SIZE)
                    self.assertLessEqual(ours.cpu, truth * (1 + SHARE) + SECONDS)

    def test_spike_between_two_looks_is_the_peak(self):
        for mode in ("wrapper", "attached, own group"):
            with self.subTest(mode=mode):
                _, ours = accuracy.one(mode, "spike_child", 1)
                self.assertAlmostEqual(ours.peak / accuracy.MIB, 500, delta=25)


if __name__ == "__main__":
    probe = groups.make("probe")
    if isinstance(probe, str):
        print(f"skipped: {probe}")
        sys.exit(accuracy.SKIPPED)
    probe.remove()
    unittest.main(verbosity=2)
