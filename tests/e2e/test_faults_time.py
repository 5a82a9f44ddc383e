"""Clocks that stop, jump, or are too short."""
import contextlib
import os
import pathlib
import signal
import sqlite3
import subprocess
import time

from support import STEADY, Case, main, wait_until

MISSED, DROPPED, WRITTEN = ((f"rightsize_history_samples_{what}_total", frozenset()) for what in ("missed", "dropped", "written"))


class Time(Case):
    def test_stopped_and_continued_wrapper_goes_on_without_a_burst(self):
        wrapper = self.start_run(STEADY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, flags=["--sample.interval=100ms"])
        wrapper.process.stdout.readline()
        begun = time.monotonic()
        wrapper.send(signal.SIGSTOP)
        time.sleep(2)
        wrapper.send(signal.SIGCONT)
        time.sleep(0.5)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        run = self.only_run()
        self.assertEqual(run["outcome"], "succeeded")
        self.assertGreaterEqual(run["duration_seconds"], 2.4)
        # 20 samples were missed, and are not made up for at once.
        self.assertLess(run["samples"], 10 * (time.monotonic() - begun - 2) + 10)

    def test_stopped_and_continued_server_answers_what_is_now_and_makes_up_for_nothing(self):
        server = self.serve("--jobs.recognise", interval="100ms")
        job = subprocess.Popen(STEADY, env={"RIGHTSIZE_JOB_NAME": "job"}, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.stdin.close)
        wait_until(lambda: server.job_value("rightsize_job_active_runs", "job") == 1, "the run")
        begun, before = time.monotonic(), server.metrics()
        server.send(signal.SIGSTOP)
        time.sleep(2)
        continued = time.time()
        server.send(signal.SIGCONT)
        self.assertGreaterEqual(server.metrics()["rightsize_snapshot_timestamp_seconds", frozenset()], continued)
        self.assertEqual(server.get("/-/healthy").status, 200)
        wait_until(lambda: server.metrics()[WRITTEN] >= before[WRITTEN] + 5, "samples afterwards")
        after, lasted = server.metrics(), time.monotonic() - begun
        self.assertLess(after[WRITTEN] - before[WRITTEN], 10 * (lasted - 2) + 10)
        # 20 of these were missed.
        self.assertGreaterEqual(after[MISSED] - before[MISSED], 15)
        self.assertEqual(after[DROPPED], 0)

    def test_stopped_job_is_no_ended_job(self):
        wrapper = self.start_run(STEADY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, flags=["--sample.interval=100ms"])
        job = int(wrapper.process.stdout.readline())
        os.kill(job, signal.SIGSTOP)
        time.sleep(0.5)
        self.assertIsNone(wrapper.process.poll())
        self.assertEqual(self.only_run()["outcome"], "running")
        os.kill(job, signal.SIGCONT)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        self.assertEqual(self.only_run()["outcome"], "succeeded")
        self.assertGreater(self.only_run()["duration_seconds"], 0.5)

    def watch_with(self, variable, step):
        """Watches a steady job under a clock that the file of `variable` sets. Calls step(set_clock, written)
        meanwhile. Returns the run, its duration in seconds, and the number of missed samples. Each moment of the run is
        in a sample."""
        offset = self.folder / "offset"
        offset.write_text("0")
        environment = {**self.environment, "LD_PRELOAD": os.environ["RIGHTSIZE_STEPPING_CLOCK"], variable: str(offset)}
        wrapper = self.start_run(STEADY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                                 flags=["--sample.interval=100ms", "--web.listen-address=127.0.0.1:0"])
        wrapper.wait_address()
        wrapper.process.stdout.readline()
        begun = time.monotonic()

        def written():
            return wrapper.metrics()[WRITTEN]
        missed = wrapper.metrics()[MISSED]
        step(lambda seconds: offset.write_text(str(seconds)), written)
        last = wrapper.metrics()
        told = [v for (name, _), v in last.items() if name == "rightsize_job_duration_seconds"]
        self.assertEqual(last[DROPPED], 0)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        lasted = time.monotonic() - begun
        run = self.only_run()
        self.assertEqual(run["outcome"], "succeeded")
        self.assertLess(run["cpu_seconds"], lasted + 5)
        self.assertEqual(len(told), 1)
        self.assertAlmostEqual(told[0], run["duration_seconds"], delta=lasted + 1)
        self.assert_history_intact()
        with contextlib.closing(sqlite3.connect(self.history)) as history:
            samples, seconds = history.execute("SELECT count(*), sum(duration) FROM sample").fetchone()
        self.assertEqual(samples, run["samples"])
        self.assertAlmostEqual(seconds, run["duration_seconds"], delta=0.2)
        return run, lasted, last[MISSED] - missed

    def test_clock_that_steps_changes_no_duration_and_loses_no_sample(self):
        """An NTP step of a day back, then two forward, while a run goes on."""
        def step(set_clock, written):
            for seconds in (-86400, 86400):
                more = written() + 5
                set_clock(seconds)
                wait_until(lambda: written() >= more, "samples after a step")
        run, lasted, missed = self.watch_with("STEPPING_CLOCK", step)
        self.assertGreaterEqual(run["samples"], 10)
        self.assertLess(run["duration_seconds"], lasted + 5)
        self.assertGreater(run["duration_seconds"], lasted * 0.5)
        # On a busy machine, a late sample replaces the next one. The samples that were due are either taken or missed,
        # together with those of the begin and the end. No step adds any. A day has 864,000.
        self.assertLessEqual(run["samples"] + missed, 10 * run["duration_seconds"] + 4)
        self.assertLess(missed, run["samples"])

    def test_clock_that_is_ahead_when_a_wrapper_starts_makes_nothing_old(self):
        """The clock is ahead by more than --history.retention."""
        for _ in range(3):
            self.run_job(["true"])
        offset = self.folder / "offset"
        offset.write_text(str(400 * 86400))
        environment = {**self.environment, "LD_PRELOAD": os.environ["RIGHTSIZE_STEPPING_CLOCK"], "STEPPING_CLOCK": str(offset)}
        for _ in range(2):
            self.run_job(["true"], job_name="other", env=environment)
        self.assertGreater(self.runs("other")[0]["started_at"], self.runs()[0]["started_at"])
        self.assertEqual(len(self.runs()), 3)

    def test_suspended_machine_is_one_long_tick_and_no_burst(self):
        """The machine sleeps for an hour. The run lasts as long, no sample is made up for, and samples continue."""
        def step(set_clock, written):
            wait_until(lambda: written() >= 5, "samples before")
            set_clock(3600)
            more = written() + 10
            wait_until(lambda: written() >= more, "samples afterwards")
        run, lasted, _ = self.watch_with("SUSPENDED_CLOCK", step)
        self.assertGreaterEqual(run["duration_seconds"], 3600)
        self.assertLess(run["duration_seconds"], 3600 + 2 * lasted + 5)
        # None of the 36,000 samples of that hour is made up for.
        self.assertLess(run["samples"], 10 * lasted + 20)

    def test_looks_that_take_longer_than_the_interval_leave_scrapes_their_turn(self):
        delay = self.folder / "delay"
        delay.write_text("0")
        environment = {**self.environment, "LD_PRELOAD": os.environ["RIGHTSIZE_STEPPING_CLOCK"], "SLOW_CLOCKS": str(delay)}
        wrapper = self.start_run(STEADY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                                 flags=["--sample.interval=100ms", "--web.listen-address=127.0.0.1:0"])
        wrapper.wait_address()
        wrapper.process.stdout.readline()
        before = wrapper.metrics()[MISSED]
        delay.write_text("1")
        wait_until(lambda: wrapper.metrics()[MISSED] >= before + 10, "samples that were missed")
        delay.write_text("0")
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)

    def test_looks_that_cannot_keep_up_take_half_a_cpu_and_scrapes_have_their_turn(self):
        """A reading takes 200 ms of CPU time, which is twice the interval."""
        burn = self.folder / "burn"
        burn.write_text("0")
        environment = {**self.environment, "LD_PRELOAD": os.environ["RIGHTSIZE_STEPPING_CLOCK"], "BUSY_CLOCKS": str(burn)}
        wrapper = self.start_run(STEADY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                                 flags=["--sample.interval=100ms", "--web.listen-address=127.0.0.1:0"])
        wrapper.wait_address()
        wrapper.process.stdout.readline()
        sampler = next(t for t in pathlib.Path(f"/proc/{wrapper.pid}/task").iterdir() if (t / "comm").read_text() == "sampler\n")

        def used_and_waited():
            """Returns the seconds in which the sampler's thread had a CPU, and in which it waited for one, because
            others had the CPUs."""
            return [int(ns) / 1e9 for ns in (sampler / "schedstat").read_text().split()[:2]]

        def rows():
            """Returns the rows that the history has, or waits for."""
            values = wrapper.metrics()
            return values[WRITTEN] + values["rightsize_history_samples_waiting", frozenset()]
        burn.write_text("200")
        before = wrapper.metrics()[MISSED]
        wait_until(lambda: wrapper.metrics()[MISSED] >= before + 3, "samples that were missed")
        (used, waited), begin = used_and_waited(), time.monotonic()
        wait_until(lambda: used_and_waited()[0] > used + 2, "looks")
        after, lasted = used_and_waited(), time.monotonic() - begin
        self.assertLess((after[0] - used) / (lasted - (after[1] - waited)), 0.5 + 0.08)
        # While a scrape waits, at most one row is taken, and one may be on its way.
        seen = [rows() for _ in range(10)]
        self.assertLessEqual(max(b - a for a, b in zip(seen, seen[1:])), 2)
        burn.write_text("0")
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)


if __name__ == "__main__":
    main()
