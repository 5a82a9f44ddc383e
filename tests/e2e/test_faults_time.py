"""Time that stops, jumps, or is too short."""
import os
import signal
import subprocess
import time

from support import STEADY, Case, main, wait_until


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
        """A steady job under a clock that the file of variable sets, during which step(set_clock, written) is called: its run,
        and the seconds that it lasted."""
        offset = self.folder / "offset"
        offset.write_text("0")
        environment = {**self.environment, "LD_PRELOAD": os.environ["RIGHTSIZE_STEPPING_CLOCK"], variable: str(offset)}
        wrapper = self.start_run(STEADY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                                 flags=["--sample.interval=100ms", "--web.listen-address=127.0.0.1:0"])
        wrapper.wait_address()
        wrapper.process.stdout.readline()
        begun = time.monotonic()

        def written():
            return wrapper.metrics()["rightsize_history_samples_written_total", frozenset()]
        step(lambda seconds: offset.write_text(str(seconds)), written)
        told = [v for (name, _), v in wrapper.metrics().items() if name == "rightsize_job_duration_seconds"]
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
        return run, lasted

    def test_clock_that_steps_changes_no_duration_and_loses_no_sample(self):
        """An NTP step of a day back, then two forward, while a run goes on."""
        def step(set_clock, written):
            for seconds in (-86400, 86400):
                more = written() + 5
                set_clock(seconds)
                wait_until(lambda: written() >= more, "samples after a step")
        run, lasted = self.watch_with("STEPPING_CLOCK", step)
        self.assertGreaterEqual(run["samples"], 10)
        self.assertLess(run["duration_seconds"], lasted + 5)
        self.assertGreater(run["duration_seconds"], lasted * 0.5)

    def test_clock_that_is_ahead_when_a_wrapper_starts_makes_nothing_old(self):
        """By more than --history.retention."""
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
        """An hour asleep: the run lasted as long, nothing is made up for it, and samples go on."""
        def step(set_clock, written):
            wait_until(lambda: written() >= 5, "samples before")
            set_clock(3600)
            more = written() + 10
            wait_until(lambda: written() >= more, "samples afterwards")
        run, lasted = self.watch_with("SUSPENDED_CLOCK", step)
        self.assertGreaterEqual(run["duration_seconds"], 3600)
        self.assertLess(run["duration_seconds"], 3600 + 2 * lasted + 5)
        # Of 36,000 that an hour has, and that nobody took, none is made up.
        self.assertLess(run["samples"], 10 * lasted + 20)

    def test_looks_that_take_longer_than_the_interval_leave_scrapes_their_turn(self):
        delay = self.folder / "delay"
        delay.write_text("0")
        environment = {**self.environment, "LD_PRELOAD": os.environ["RIGHTSIZE_STEPPING_CLOCK"], "SLOW_CLOCKS": str(delay)}
        wrapper = self.start_run(STEADY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                                 flags=["--sample.interval=100ms", "--web.listen-address=127.0.0.1:0"])
        wrapper.wait_address()
        wrapper.process.stdout.readline()
        missed = ("rightsize_history_samples_missed_total", frozenset())
        before = wrapper.metrics()[missed]
        delay.write_text("1")
        wait_until(lambda: wrapper.metrics()[missed] >= before + 10, "samples that were missed")
        delay.write_text("0")
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)


if __name__ == "__main__":
    main()
