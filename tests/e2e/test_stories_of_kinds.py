#!/usr/bin/python3
"""Stories as in test_stories.py, of kinds of jobs that are rarer: each is about one job with twenty runs or more."""
import random
import statistics

import support
from followed_job import GIB, HOUR, MIB, lasting, tells
from test_stories import Stories, noisy


class TwentyRunsOfOneJob(Stories):
    """Kinds of jobs that no other story has. Each answer is applied."""

    def test_a_large_run_each_week_is_not_paid_each_day(self):
        law = noisy(1, GIB, 0.02)
        steps = self.job().follow(lambda i, limit: law(i) * (5 if i % 7 == 6 else 1), runs=28, first=8 * GIB)
        self.assertLessEqual(sum(step.kills for step in steps[7:]), 3)
        self.assertLessEqual(statistics.median(step.asked for step in steps), 1.5 * 1024)

    def test_dry_runs_before_the_first_real_one(self):
        law = noisy(2, 8 * GIB, 0.03)
        steps = self.job().follow(lambda i, limit: 20 * MIB if i < 3 else law(i), first=16 * GIB)
        self.assert_never_killed(steps[4:])
        for step in steps[4:]:
            self.assert_between(8192 * 0.95, step.asked, 1.5 * 8192)

    def test_a_leak_takes_memory_by_the_hour(self):
        r = random.Random(3)
        hours = [20 ** r.random() for _ in range(20)]
        steps = self.job().follow(lambda i, limit: {"peak": (200 + 300 * hours[i]) * MIB, "duration": hours[i] * HOUR}, first=16 * GIB)
        self.assertLessEqual(sum(step.kills for step in steps), 4)
        for step in steps[1:]:
            self.assert_between(500, step.asked, 2 * 6200)

    def test_a_job_that_shrinks_to_a_twentieth_and_returns(self):
        """The third attempt knows the level before the fall."""
        law = noisy(4, 10 * GIB, 0.03)
        steps = self.job().follow(lambda i, limit: law(i) / (20 if 8 <= i < 16 else 1), runs=24, first=16 * GIB)
        self.assertLessEqual(sum(step.kills for step in steps), 2)
        self.assertLessEqual(steps[15].asked, 2 * 512, "the fall is followed")
        for step in steps[17:]:
            self.assert_between(0.9 * 10240, step.asked, 1.5 * 10240)

    def test_workers_by_the_cores_of_the_machine(self):
        def run(i, _limit):
            cores = 32 if i % 2 == 0 else 8
            return {"peak": cores * 300 * MIB, "cores": 0.94 * cores, "machine_cpus": cores, "duration": 8000 / cores}
        job = self.job()
        steps = job.follow(run, first=16 * GIB)
        self.assert_never_killed(steps)
        self.assert_between(9600, steps[-1].asked, 1.25 * 9600)
        self.assertIn("mixed_jobs", job.answer().unsafe)

    def test_inputs_that_are_announced_in_another_unit(self):
        """From the 15th run on, the input is told in KiB."""
        r = random.Random(6)
        sizes = [GIB * 4 ** r.random() for _ in range(30)]
        steps = self.job().follow(lambda i, limit: 200 * MIB + 2 * sizes[i], runs=30, first=16 * GIB,
                                  inputs=lambda i: sizes[i] if i < 15 else sizes[i] / 1024)
        self.assertLessEqual(sum(step.kills for step in steps), 3)
        self.assertIn("input_beyond_seen", steps[15].advice.unsafe)
        for step in steps[17:]:
            self.assert_between(step.need, step.asked, 4 * step.need)

    def test_runs_that_a_spot_machine_lost_say_nothing(self):
        r, job = random.Random(7), self.job()
        for _ in range(20):
            job.run(2 * GIB * r.uniform(0.97, 1.03), 4 * GIB, duration=HOUR)
            job.run(2 * GIB * r.uniform(0.1, 1), 4 * GIB, duration=r.uniform(60, 3500), outcome="interrupted", exit_code=None)
        a = job.answer()
        self.assert_between(2048, a.mib, 1.2 * 2048)
        self.assert_near(HOUR, a.seconds, 0.02)
        self.assertEqual(a.unsafe, [])

    def test_memory_that_was_swapped_out_is_told(self):
        """The line for docker forbids swap."""
        job = self.job()
        for _ in range(20):
            job.run(GIB, 4 * GIB, columns={"memory_swap_bytes": lasting(2 * GIB, 600)})
        a = job.answer()
        self.assertIn("memory_swapped", a.unsafe)
        self.assertTrue(tells(a.warning("memory_swapped"), 3 * GIB), a["warnings"])
        small = self.job()
        for _ in range(20):
            small.run(GIB, 4 * GIB, columns={"memory_swap_bytes": lasting(20 * MIB, 600)})
        self.assertEqual(small.answer().codes, [])

    def test_kills_of_a_full_machine_do_not_chase_the_request(self):
        """The kernel kills a run of 500 MiB, far below its limit."""
        job = self.job()
        for i in range(20):
            if i % 5 == 4:
                job.run(500 * MIB, 16 * GIB, outcome="oom_killed", exit_signal=9)
            else:
                job.run(600 * MIB, 16 * GIB)
            if i:
                self.assert_between(600, job.answer().mib, 1000)

    def test_runs_that_arrive_out_of_order_count_by_their_time(self):
        job = self.job()
        start = job.clock
        for i in range(20):
            place = 7 * i % 20
            job.clock = start + place * HOUR
            job.run((1 if place < 10 else 3) * GIB, 8 * GIB)
        self.assert_between(3072, job.answer().mib, 1.25 * 3072)

    def test_a_job_of_three_mebibytes(self):
        steps = self.job().follow(lambda i, limit: {"peak": 3 * MIB, "duration": 0.2, "cores": 0.05, "file_bytes": 0}, first=64 * MIB)
        self.assert_never_killed(steps)
        for step in steps[1:]:
            self.assert_between(4, step.asked, 64)

    def test_durations_that_grow_are_followed(self):
        job = self.job()
        for i in range(20):
            job.run(GIB, 4 * GIB, duration=600 * 1.1 ** i)
        a = job.answer()
        self.assert_between(0.85 * 600 * 1.1 ** 20, a.seconds, 1.15 * 600 * 1.1 ** 20)
        self.assertGreaterEqual(a["duration"]["expected_high_seconds"], 600 * 1.1 ** 20)


if __name__ == "__main__":
    support.main()
