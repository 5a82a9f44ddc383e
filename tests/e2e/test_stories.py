#!/usr/bin/python3
"""Each story is about one job. Its runs are posted to a real server, and its answers are applied as by an orchestrator.
Each story has a lower and an upper bound of the request, from a person who knows the job. With -v, or with
RIGHTSIZE_STORIES=1, each prints the answers in MiB, and an x for each attempt that was killed for memory."""
import json
import os
import random
import re
import statistics
import sys

import support
from followed_job import DAY, GIB, HOUR, MIB, Job, lasting, near, not_numbers, tells

PRINTS = "-v" in sys.argv or os.environ.get("RIGHTSIZE_STORIES") == "1"


class Stories(support.Case):
    """A story with its histories. At the end, every answer that it got is checked."""

    def setUp(self):
        super().setUp()
        self.faults, self.jobs, self.histories = [], [], 0

    def tearDown(self):
        for job in self.jobs if PRINTS else ():
            if job.told:
                print(f"\n  {job.name}: {' '.join(job.told)}", file=sys.stderr)
        if self.faults:
            self.fail("\n".join([f"{len(self.faults)} faults in the answers of this story:", *self.faults[:5]]))

    def server(self, *flags):
        """A server with an empty history."""
        self.histories += 1
        self.history = str(self.folder / f"history-{self.histories}.db")
        return self.serve("--web.allow-changes", *flags)

    def job(self, name="etl/load", server=None, **options):
        return Job(self, server or self.server(), name, **options)

    def assert_between(self, low, value, high, what=""):
        self.assertIsNotNone(value, what)
        self.assertGreaterEqual(value, low, what)
        self.assertLessEqual(value, high, what)

    def assert_near(self, expected, value, share, what=""):
        self.assertTrue(near(value, expected, share), f"{value} is not {expected}, give or take {share:.0%} {what}")

    def assert_never_killed(self, steps):
        self.assertEqual([i for i, step in enumerate(steps) if step.kills], [], "runs that were killed")


def noisy(seed, median, sigma):
    """A law with lognormal peaks, the same in each attempt of a run."""
    r, peaks = random.Random(seed), []

    def law(i, _limit=None):
        while len(peaks) <= i:
            peaks.append(median * r.lognormvariate(0, sigma))
        return peaks[i]
    return law


def succeed(job, law, runs, limit=4 * GIB, **more):
    """Runs under a limit that is large enough."""
    for i in range(runs):
        job.run(law(i), limit, **more)


def neighbours(case, server, jobs=30, runs=8, spread=1.01, seed=30, labels=None):
    """Other jobs of the same history, each with peaks that differ by this factor at most."""
    r = random.Random(seed)
    for n in range(jobs):
        job, median = Job(case, server, f"other/{n}", labels=labels), 200 * MIB * 40 ** r.random()
        for _ in range(runs):
            job.run(median * spread ** r.uniform(-0.5, 0.5), 3 * median, duration=r.choice([60, 600, 3000]))


STEADY = 1000 * MIB


class SteadyJobs(Stories):
    def test_a_steady_job_alone_is_requested_ever_more_tightly(self):
        job = self.job()
        steps = job.follow(lambda i, limit: STEADY, first=2 * GIB)
        self.assert_never_killed(steps)
        asked = [step.asked for step in steps[1:]] + [job.answer().mib]
        self.assert_between(1000, asked[0], 1500, "after one run")
        for before, after in zip(asked, asked[1:]):
            self.assert_between(1000, after, before * 1.005 + 1, f"no more than before: {asked}")
        self.assert_between(1000, asked[-1], 1080, "after 20 runs")

    def test_a_steady_job_among_steady_jobs_needs_one_run(self):
        server = self.server()
        neighbours(self, server)
        steps = self.job(server=server).follow(lambda i, limit: STEADY, first=2 * GIB)
        self.assert_never_killed(steps)
        for step in steps[1:]:
            self.assert_between(1000, step.asked, 1100)

    def request_after_one_run(self, **others):
        server = self.server()
        if others:
            neighbours(self, server, **others)
        job = self.job(server=server, labels={"namespace": "mine"})
        job.run(STEADY, 2 * GIB)
        return job.answer().mib

    def test_wild_jobs_around_it_are_a_warning(self):
        steady = self.request_after_one_run(spread=1.01, labels={"namespace": "mine"})
        wild = self.request_after_one_run(spread=3, labels={"namespace": "mine"})
        self.assert_between(1000, steady, 1100)
        self.assert_between(1.1 * steady, wild, 4000)

    def test_jobs_of_another_namespace_and_a_single_job_teach_nothing(self):
        alone = self.request_after_one_run()
        for others in ({"labels": {"namespace": "theirs"}}, {"jobs": 1, "runs": 2, "labels": {"namespace": "mine"}}):
            with self.subTest(others=others):
                self.assert_between(0.95 * alone, self.request_after_one_run(**others), 1.05 * alone)

    def test_the_chance_and_the_range_do_not_contradict_each_other(self):
        """The range holds four of five runs, so a tenth of the runs is above it."""
        for sigma in (0.001, 0.05, 0.3):
            job, law = self.job(), noisy(1, GIB, sigma)
            for i in range(20):
                job.run(law(i), 8 * GIB)
                a = job.answer()
                high, told = a["memory"]["expected_high_bytes"], f"sigma {sigma}, {i + 1} runs, chance {a.chance}"
                if high is None or a.chance is None:
                    continue
                if a["demand"]["memory_bytes"] > 1.001 * high:
                    self.assertLessEqual(a.chance, 0.1, f"{told}: more than the high end is requested")
                if a["demand"]["memory_bytes"] < 0.999 * high:
                    self.assertGreaterEqual(a.chance, 0.1, f"{told}: less than the high end is requested")

    def test_rounding_costs_little(self):
        for peak in (90 * MIB, 333 * MIB, 1030 * MIB, 5000 * MIB):
            job = self.job()
            succeed(job, lambda i, peak=peak: peak, 5, limit=2 * peak)
            a = job.answer()
            demand = a["demand"]["memory_bytes"] / MIB
            with self.subTest(demand=demand):
                self.assert_between(demand, a.mib, max(demand + 1, 1.005 * demand))

    def test_the_history_keeps_the_runs_that_the_strategy_reads(self):
        kept, = re.findall(r"--history\.runs-per-job=N` \| `(\d+)`", self.command("manual", "options").stdout)
        job = self.job()
        succeed(job, noisy(2, GIB, 0.05), 230)
        job.server.stop()
        job.server = self.serve()
        support.wait_until(lambda: len(job.server.get(f"/runs?job_name={job.name}&limit=1000").json["runs"]) ==
                           min(230, int(kept)), "the upkeep of the history")
        self.assertEqual(job.answer()["based_on"]["runs"], 200)


class NoisyJobs(Stories):
    def test_levels_of_risk_differ_wherever_peaks_do(self):
        for sigma, most in ((0.2, 1.6), (0.024, 1.25)):
            law = noisy(22, GIB, sigma)
            peaks = [law(i) / MIB for i in range(20)]
            job = self.job()
            succeed(job, law, 20, limit=8 * GIB)
            asked = {risk: job.answer(risk=risk).mib for risk in ("economy", "balanced", "safe")}
            with self.subTest(sigma=sigma, asked=asked):
                self.assertGreater((statistics.quantiles(peaks, n=10)[-1] - statistics.quantiles(peaks, n=10)[0]) /
                                   statistics.median(peaks), 0.05, "the promise holds for this job")
                self.assertGreater(asked["balanced"], 1.005 * asked["economy"])
                self.assertGreater(asked["safe"], 1.005 * asked["balanced"])
                self.assert_between(statistics.median(peaks), asked["economy"], asked["safe"])
                self.assert_between(max(peaks), asked["safe"], most * max(peaks))
                told = job.answer()["memory"]["at_risk_bytes"]
                for risk, mib in asked.items():
                    self.assert_between(told[risk] / MIB, mib, 1.005 * told[risk] / MIB + 1)

    def test_noise_is_neither_a_change_nor_killed_often(self):
        changes, kills, waste, answers = 0, 0, 0, 0
        for seed in range(5):
            steps = self.job(f"noisy/{seed}").follow(noisy(seed, GIB, 0.2), runs=60, first=4 * GIB)[10:]
            answers += len(steps)
            changes += sum("change_not_settled" in step.advice.codes for step in steps)
            kills += sum(step.kills > 0 for step in steps)
            waste += sum(max(0, step.asked / step.need - 1) for step in steps)
        self.assertLessEqual(changes, 0.05 * answers)
        self.assertLessEqual(kills, 0.15 * answers)
        self.assertLessEqual(waste, 0.7 * answers)

    def test_a_rare_spike_is_not_chased(self):
        base = noisy(23, GIB, 0.03)
        steps = self.job().follow(lambda i, limit: (3 if i in (15, 45) else 1) * base(i), runs=60)
        asked = [step.asked for step in steps[1:]]
        self.assert_between(1024, min(asked), 1.5 * 1024)
        for i, request in enumerate(asked[1:], 1):
            self.assertLessEqual(request, 3.3 * min(asked[max(0, i - 3):i]), f"little more than the spike was: {asked}")
        self.assertLessEqual(statistics.mean(asked), 2 * 1024)
        moves = [i for i, (before, after) in enumerate(zip(asked, asked[1:])) if not 1 / 1.2 < after / before < 1.2]
        self.assertLessEqual(len(moves), 4, f"up and down once for each spike: {asked}")
        self.assertLessEqual(sum(step.kills > 0 for step in steps if step.need < 2048), 2, "ordinary runs that were killed")
        self.assertLessEqual(max(step.kills for step in steps), 4)

    def test_a_job_that_shrinks_run_by_run_is_followed_down(self):
        steps = self.job().follow(lambda i, limit: 4 * GIB * 0.98 ** i, runs=40, first=8 * GIB)
        self.assertLessEqual(sum(step.kills for step in steps), 1)
        for step in steps[10:]:
            self.assert_between(step.need, step.asked, 1.45 * step.need)

    def test_a_job_that_grows_run_by_run_is_followed_up(self):
        """The job has no heap, although each answer is the same multiple of the last peak."""
        for growth, kills, most in ((1.03, 2, 1.45), (1.1, 4, 1.7)):
            with self.subTest(growth=growth):
                for by in ("request", "limit"):
                    steps = self.job().follow(lambda i, limit, growth=growth: STEADY * growth ** i, first=1500 * MIB, by=by)
                    self.assertLessEqual(sum(step.kills for step in steps), kills)
                    self.assert_never_killed(steps[-5:])
                    for step in steps[3:]:
                        self.assertLessEqual(step.asked, most * step.need)
                        self.assertNotIn("memory_follows_limit", step.advice.codes)

    def test_the_new_level_is_taken_after_memory_halves(self):
        taken, sigmas = 0, (0.02, 0.1, 0.2, 0.3)
        for seed in range(20):
            noise = noisy(seed, GIB, sigmas[seed % 4])
            job = self.job(f"halves/{seed}")
            steps = job.follow(lambda i, limit, noise=noise: noise(i) / (1 if i < 20 else 2), runs=25, first=4 * GIB)
            after, old = job.answer().mib, steps[20].asked
            taken += after < 0.75 * old
            self.assert_between(512, after, old, f"seed {seed}: no less than the new level")
        self.assertGreaterEqual(taken, 16, "of 20 jobs")

    def test_the_new_level_is_taken_after_memory_doubles(self):
        for seed, sigma in enumerate((0.0001, 0.03, 0.1)):
            noise = noisy(seed, GIB, sigma)
            job = self.job()
            steps = job.follow(lambda i, limit, noise=noise: noise(i) * (1 if i < 20 else 2), runs=26)
            with self.subTest(sigma=sigma):
                self.assertGreater(steps[20].kills, 0, "the first run of the new level meets the old limit")
                self.assertLessEqual(steps[20].kills, 3)
                self.assertLessEqual(sum(step.kills for step in steps[21:23]), 1)
                self.assert_never_killed(steps[23:] if sigma < 0.1 else steps[25:])
                self.assert_between(2048, job.answer().mib, 1.7 * 2048)

    def test_a_change_is_told_until_it_has_settled(self):
        job = self.job()
        succeed(job, noisy(1, GIB, 0.02), 20, limit=8 * GIB)
        self.assertNotIn("change_not_settled", job.answer().codes)
        succeed(job, noisy(2, 2 * GIB, 0.02), 3, limit=8 * GIB)
        fresh = job.answer()
        self.assertIn("change_not_settled", fresh.unsafe)
        self.assert_between(2 * 1024, fresh.mib, 4 * 1024)
        succeed(job, noisy(3, 2 * GIB, 0.02), 20, limit=8 * GIB)
        settled = job.answer()
        self.assertNotIn("change_not_settled", settled.codes)
        self.assert_between(2 * 1024, settled.mib, 1.25 * 2 * 1024)


class Kills(Stories):
    def test_a_limit_below_the_need_is_raised_until_the_job_succeeds(self):
        for retries in (True, False):
            with self.subTest(retries=retries):
                job = self.job()
                steps = job.follow(lambda i, limit: STEADY, first=600 * MIB, retries=retries)
                self.assert_between(1, sum(step.kills for step in steps), 2)
                self.assertGreater(steps[0].kills, 0)
                self.assert_between(1000, job.answer().mib, 1250, "the kill is no reason to waste for ever")

    def test_a_job_of_one_run_that_was_killed_gets_more(self):
        job = self.job()
        job.killed(512 * MIB)
        a = job.answer()
        self.assert_between(1.15 * 512, a.mib, 4 * 512)
        self.assertEqual(a.warned_runs("killed_for_memory"), 1)

    def test_no_request_is_below_what_a_run_had_when_it_died_at_its_limit(self):
        job = self.job()
        succeed(job, noisy(3, 600 * MIB, 0.02), 20, limit=GIB)
        job.killed(GIB)
        for succeeded in range(4):
            a = job.answer()
            self.assert_between(1025, a.mib, 4096, f"{succeeded} runs after the kill")
            if a.mib == 1025:
                self.assertIn("The request of 1.00 GiB is not smaller", a.explained, "the kill decided the request")
                self.assertNotIn("costs least", a.explained)
            job.run(600 * MIB, 2 * GIB)
        self.assertEqual(a.mib, 1025)

    def test_a_child_that_is_killed_fails_its_parent(self):
        """The job has an answer although it never succeeded."""
        job = self.job()
        for attempt in range(3):
            job.run(124 * MIB, 120 * MIB, outcome="failed", exit_code=2, oom_kills=1)
            a = job.answer()
            self.assert_between(1.1 * 124, a.mib, 512, f"{attempt + 1} runs at 120 MiB")
            self.assertTrue(tells(a.warning("killed_for_memory"), 120 * MIB), a["warnings"])
        for asked in range(1, 5):
            limit = job.answer().mib * MIB
            if limit >= 300 * MIB:
                break
            job.run(limit, limit, outcome="failed", exit_code=2, oom_kills=1)
        self.assertLessEqual(asked, 3, "questions until it has the 300 MiB that it needs")
        job.run(300 * MIB, limit)
        self.assert_between(300, job.answer().mib, 700)

    def test_kills_count_although_the_parent_succeeds(self):
        job = self.job()
        for _ in range(6):
            job.run(GIB, GIB, oom_kills=1)
        a = job.answer()
        self.assert_between(1.1 * 1024, a.mib, 4096)
        self.assertGreaterEqual(a.limit_bytes, a.mib * MIB * 0.99)
        self.assertEqual(a.warned_runs("killed_for_memory"), 6)
        self.assertNotEqual(a["based_on"]["confidence"], "high")

    def test_a_run_that_succeeds_but_met_its_limit_needs_more(self):
        """Its group reclaimed all memory that it could. The rest is the job's own memory."""
        job = self.job()
        for _ in range(20):
            job.run(GIB, GIB, met_limit=500)
        self.assert_between(1.1 * 1024, job.answer().mib, 2 * 1024)

    def test_attempts_grow_until_the_run_fits(self):
        for announced in ({}, {"input_bytes": GIB}):
            job = self.job()
            succeed(job, noisy(13, GIB, 0.05), 20, input_bytes=announced.get("input_bytes"))
            asked = [job.answer(attempt=attempt, **announced).mib for attempt in range(1, 11)]
            with self.subTest(asked=asked):
                self.assertEqual(asked, sorted(set(asked)), "ascending")
                self.assert_between(1.2 * asked[0], asked[1], 5 * asked[0])
                self.assert_between(5 * asked[0], asked[3], 25 * asked[0])

    def test_retries_of_a_much_larger_run_end(self):
        """The kills are in the history when the next attempt is asked for."""
        law = noisy(13, GIB, 0.05)
        job = self.job()
        succeed(job, law, 20)
        first = job.answer().mib
        need = 5 * first * MIB
        step, = job.follow(lambda i, limit: need, runs=1)
        self.assert_between(1, step.kills, 3)
        run, = [run for run in self.runs_of(job) if run["outcome"] == "succeeded"][:1]
        self.assert_between(need, run["memory_limit_bytes"], 5 * need)

    def test_a_kill_and_the_attempt_after_it_count_once(self):
        """The kills are in the history, and the next attempt is asked for by its number. An attempt that is missing from
        the history counts, too."""
        for recorded in (True, False):
            for number in ({}, {"attempt": None}):
                job, limits = self.job(), []
                succeed(job, noisy(13, GIB, 0.05), 20)
                for attempt in range(1, 5):
                    limits.append(job.answer(attempt=attempt).mib)
                    if recorded:
                        job.killed(limits[-1] * MIB, **{name: attempt for name in number})
                with self.subTest(recorded=recorded, number=number, limits=limits):
                    for before, after in zip(limits, limits[1:]):
                        self.assert_between(1.2 * before, after, 2.05 * before)
        job = self.job()
        succeed(job, noisy(13, GIB, 0.05), 20)
        job.killed(2 * GIB, attempt=2)
        self.assert_between(1.2 * 2048, job.answer(attempt=3).mib, 2.05 * 2048, "only the second attempt was recorded")
        job = self.job()
        succeed(job, noisy(13, GIB, 0.05), 20)
        for _task in range(4):
            job.killed(2 * GIB, attempt=1)
        second = job.answer(attempt=2).mib
        self.assert_between(1.2 * second, job.answer(attempt=3).mib, 2.05 * second, "the kills are of four tasks")

    def test_a_failure_at_the_limit_and_the_attempt_after_it_count_once(self):
        job = self.job()
        job.run(2 * GIB, 2 * GIB, outcome="failed", exit_code=1)
        self.assertEqual(job.answer(attempt=2).mib, job.answer().mib)
        self.assert_between(1.2 * job.answer().mib, job.answer(attempt=3).mib, 2.05 * job.answer().mib)

    def runs_of(self, job):
        return job.server.get(f"/runs?job_name={job.name}&limit=5").json["runs"]

    def test_no_format_of_any_attempt_has_what_is_no_number(self):
        manual = self.command("manual", "formats").stdout
        formats = re.findall(r"^\| `([\w-]+)` \|", manual, re.MULTILINE)
        self.assertIn("nextflow", formats)
        jobs = {"one run": self.job(), "killed": self.job(), "20 runs": self.job(), "no memory": self.job()}
        jobs["one run"].run(GIB, 2 * GIB)
        jobs["killed"].killed(GIB)
        succeed(jobs["20 runs"], noisy(1, GIB, 0.1), 20)
        jobs["no memory"].run()
        for name, job in jobs.items():
            for format_name in formats:
                for attempt in (1, 2, 3, 10):
                    answer = job.get(format=format_name, attempt=attempt)
                    if answer.status == 404:  # after ten attempts no size of the target is large enough
                        self.assertIn("does_not_fit", answer.text)
                    else:
                        self.assertEqual(answer.status, 200, f"{name} {format_name}: {answer.text}")
                    self.faults.extend(f"{name} {format_name} {attempt}: {fault}" for fault in not_numbers(answer.text))


class Failures(Stories):
    FAULT, UNKNOWN = {"outcome": "failed", "exit_code": 1}, {"outcome": "unknown", "exit_code": None}
    SIGNAL = {"outcome": "failed", "exit_signal": 9}

    def test_runs_that_end_at_their_limit_are_evidence_however_they_ended(self):
        for share, ended in ((1, self.FAULT), (1, self.UNKNOWN), (1, self.SIGNAL), (0.98, self.FAULT)):
            job = self.job()
            for _ in range(5):
                job.run(share * 2 * GIB, 2 * GIB, **ended)
            a = job.answer()
            with self.subTest(ended=ended, share=share):
                self.assert_between(1.05 * 2048, a.mib, 2.1 * 2048)
                self.assertEqual(a.warned_runs("failed_at_memory_limit"), 5)

    def test_a_fault_that_fails_at_every_limit_raises_the_request_once(self):
        for ended in (self.FAULT, self.UNKNOWN):
            job, asked, limit = self.job(), [], 2 * GIB
            for _ in range(15):
                job.run(limit, limit, **ended)
                a = job.answer()
                asked.append(a.mib)
                limit = a.mib * MIB
            self.assertEqual(len(set(asked)), 1, f"once, and not by a MiB each time: {asked}")
            with self.subTest(ended=ended, asked=asked):
                self.assert_between(1.05 * 2048, asked[0], 2.1 * 2048)
                for mib in asked:
                    self.assert_between(0.99 * asked[0], mib, 1.01 * asked[0])
                self.assertIn("fails_at_any_limit", a.unsafe)

    def test_file_memory_at_the_limit_is_no_evidence(self):
        job = self.job()
        for i in range(10):
            if i % 2:
                job.run(2 * GIB, 2 * GIB, outcome="failed", exit_code=1, file_bytes=1400 * MIB)
            else:
                job.run(600 * MIB, 2 * GIB)
        a = job.answer()
        self.assertNotIn("failed_at_memory_limit", a.codes)
        self.assert_between(600, a.mib, 3072)

    def test_failed_runs_that_used_more_are_told_and_covered(self):
        job = self.job()
        for _ in range(10):
            job.run(GIB, duration=HOUR, requested_memory_bytes=8 * GIB)
            job.run(3.5 * GIB, duration=4 * HOUR, outcome="failed", exit_code=140, requested_memory_bytes=8 * GIB)
        a = job.answer()
        self.assert_between(3584, a.mib, 2 * 3584)
        self.assertIn("failed_runs_used_more", a.unsafe)
        self.assertEqual(a.warned_runs("cut_by_time_limit"), 10)
        self.assertNotEqual(a["based_on"]["confidence"], "high")
        self.assertRegex(json.dumps(a["based_on"]), r"\b140\b", "how they ended")
        self.assert_between(4 * HOUR + 1, self.slurm_seconds(job), DAY)

    def slurm_seconds(self, job):
        """Returns the time limit in the line for Slurm."""
        text = job.get(format="slurm").text
        time = re.search(r"--time=(?:(\d+)-)?(\d+):(\d+):(\d+)", text)
        self.assertTrue(time, text)
        days, hours, minutes, seconds = (int(n or 0) for n in time.groups())
        return days * DAY + hours * HOUR + minutes * 60 + seconds

    def test_durations_that_a_time_limit_cut_are_at_least_so_long(self):
        for ended in ({"exit_code": 124}, {"exit_code": 140}, {"exit_signal": 15}, {"exit_code": 137, "outcome": "DeadlineExceeded"},
                      {"exit_code": 1, "end_reason": "DeadlineExceeded"}):
            job = self.job()
            for i in range(8):
                if i % 3 == 1:
                    job.run(GIB, 4 * GIB, duration=2 * HOUR, **{"outcome": "failed", **ended})
                else:
                    job.run(GIB, 4 * GIB, duration=HOUR)
            a = job.answer()
            with self.subTest(ended=ended):
                self.assertEqual(a.warned_runs("cut_by_time_limit"), 3)
                self.assert_between(2 * HOUR, a["duration"]["expected_high_seconds"], DAY)
                self.assert_between(2 * HOUR + 1, self.slurm_seconds(job), DAY)

    def test_failures_that_have_nothing_to_do_with_memory_change_nothing(self):
        law = noisy(25, STEADY, 0.03)
        well, often = self.job(), self.job()
        for i in range(20):
            well.run(law(i), 4 * GIB)
            often.run(law(i), 4 * GIB)
            often.run(100 * MIB, 4 * GIB, duration=5, outcome="failed", exit_code=1)
        well, often = well.answer(), often.answer()
        self.assert_between(0.98 * well.mib, often.mib, 1.02 * well.mib)
        self.assert_between(0.98 * well.seconds, often.seconds, 1.02 * well.seconds)
        self.assertEqual(set(often.codes) & {"failed_at_memory_limit", "fails_at_any_limit", "failed_runs_used_more",
                                             "cut_by_time_limit", "killed_for_memory", "mixed_jobs"}, set())
        self.assert_between(1000, often.mib, 1250)


class Inputs(Stories):
    LARGEST = 16 * GIB

    def input_job(self, runs=40):
        """Memory is 1.05 times the input. The duration follows the input, too, with a noise of 2 %."""
        r = random.Random(11)
        sizes = [self.LARGEST, self.LARGEST / 20] + [self.LARGEST / 20 ** r.random() for _ in range(runs - 2)]
        r.shuffle(sizes)
        job = self.job()
        for size in sizes:
            job.run(1.05 * size * r.uniform(0.98, 1.02), 24 * GIB, duration=self.seconds(size) * r.uniform(0.98, 1.02),
                    input_bytes=int(size))
        return job

    @staticmethod
    def seconds(size):
        return 250 * size / GIB

    def test_an_input_beyond_all_seen_is_followed_and_doubted(self):
        job, size = self.input_job(), 6 * self.LARGEST
        a, need = job.answer(input_bytes=size), 1.05 * size / MIB
        self.assert_between(need, a.mib, 1.6 * need)
        self.assert_between(a.mib * MIB * 0.99, a.limit_bytes, 2 * need * MIB)
        self.assert_between(0.6 * self.seconds(size), a.seconds, 1.8 * self.seconds(size))
        self.assert_between(0.05, a.chance, 0.6, "nobody has seen such an input")
        self.assertIn("input_beyond_seen", a.unsafe)

    def test_a_small_input_is_followed_down(self):
        job = self.input_job()
        for size, most in ((self.LARGEST / 20, 1.9), (self.LARGEST / 4, 1.5), (self.LARGEST, 1.4)):
            a, need = job.answer(input_bytes=int(size)), 1.05 * size / MIB
            with self.subTest(size=size):
                self.assert_between(need, a.mib, most * need)
                self.assert_between(a.mib * MIB * 0.99, a.limit_bytes, 2.5 * need * MIB)
                self.assert_between(0.7 * self.seconds(size), a.seconds, 1.5 * self.seconds(size))
                self.assertNotIn("input_beyond_seen", a.codes)
                self.assertNotIn("mixed_jobs", a.codes)

    def test_an_input_far_below_all_seen_is_doubted(self):
        a = self.input_job().answer(input_bytes=int(self.LARGEST / 400))
        self.assertIn("input_beyond_seen", a.codes)
        self.assert_between(1.05 * self.LARGEST / 400 / MIB, a.mib, 1.05 * self.LARGEST / 20 / MIB * 1.7)

    def test_wrong_sizes_do_no_harm(self):
        sizes = [GIB * 100 ** random.Random(i).random() for i in range(40)]
        for sigma in (0.03, 0.2):
            law = noisy(12, GIB, sigma)
            plain = self.job("plain").follow(law, runs=40, first=4 * GIB)[5:]
            wrong = self.job("wrong").follow(law, runs=40, first=4 * GIB, inputs=lambda i: sizes[i])[5:]
            with self.subTest(sigma=sigma):
                self.assertLessEqual(statistics.mean(s.asked for s in wrong), 1.1 * statistics.mean(s.asked for s in plain))
                self.assertLessEqual(sum(s.kills for s in wrong), sum(s.kills for s in plain) + 2)
                for step in wrong:
                    self.assert_between(0.9 * 1024, step.asked, (1 + 5 * sigma) * 1.3 * 1024)


    def test_a_duration_with_a_fixed_part_is_followed_beyond_all_inputs(self):
        r, job = random.Random(1), self.job()
        for _ in range(40):
            size = GIB * 8 ** r.random()
            job.run(GIB + size, 100 * GIB, duration=60 + 10 * size / GIB, input_bytes=int(size))
        for size in (GIB / 6, 16 * GIB, 48 * GIB, 160 * GIB):
            with self.subTest(size=size):
                self.assert_near(60 + 10 * size / GIB, job.answer(input_bytes=int(size)).seconds, 0.1, "seconds")

    def test_no_chance_is_told_to_be_none_or_certain(self):
        """An answer in which it is has a fault: faults_of_numbers."""
        r, square, prop = random.Random(1), self.job(), self.job()
        for _ in range(40):
            size = GIB * 8 ** r.random()
            square.run(size ** 2 / GIB / 8, 100 * GIB, input_bytes=int(size))
            prop.run(1.05 * size, 100 * GIB, input_bytes=int(size))
        for size in (GIB / 6, GIB / 2, 10 ** 15, 10 ** 18):
            for job in (square, prop):
                self.assertIn("input_beyond_seen", job.answer(input_bytes=int(size)).unsafe)

    def test_inputs_that_grew_from_run_to_run_are_followed_in_both_directions(self):
        """Each peak is twice the median so far, too. This says nothing about an input that is not the next in line."""
        for runs in (12, 40):
            job = self.job()
            for size in range(1, runs + 1):
                job.run(size * GIB, 200 * GIB, input_bytes=size * GIB)
            for size, most in ((3, 3), (runs // 2, 2), (runs + 1, 1.4), (2 * runs, 1.5), (6 * runs, 1.6)):
                a = job.answer(input_bytes=size * GIB)
                with self.subTest(runs=runs, size=size):
                    self.assert_between(size * 1024, a.mib, most * size * 1024)

    def test_inputs_of_no_bytes_hide_no_others(self):
        """The first run has no input. A prediction from it for 1 GiB is far too large."""
        r = random.Random(2)
        inputs = [GIB * r.uniform(0.5, 2) if i % 4 else 0 for i in range(60)]
        steps = self.job().follow(lambda i, limit: 200 * MIB + inputs[i], runs=60, first=4 * GIB, inputs=lambda i: inputs[i])
        self.assert_never_killed(steps[2:])
        for i, step in enumerate(steps[40:], 40):
            self.assert_between(step.need, step.asked, (1.3 if i % 4 else 2) * step.need, f"run {i}")


class SeveralJobsUnderOneName(Stories):
    def two_populations(self, labels=None, inputs=None):
        """1 GiB and 8 GiB, at random. The labels and inputs are given for each of the two."""
        r = random.Random(21)
        large, law = [r.random() < 0.5 for _ in range(40)], noisy(21, GIB, 0.02)

        def run(i, _limit):
            told = {"peak": law(i) * (8 if large[i] else 1)}
            if labels:
                told["labels"] = {"team": "data", "run": f"run-{i}", **labels[large[i]]}
            if inputs:
                told["input_bytes"] = inputs[large[i]] + i
            return told
        job = self.job()
        steps = job.follow(run, runs=40, first=16 * GIB)[5:]
        self.assertLessEqual(sum(step.kills > 0 for step in steps), 0.25 * len(steps))
        for step in steps:
            self.assert_between(1024, step.asked, 1.35 * 8 * 1024)
        a = job.answer()
        self.assertIn("mixed_jobs", a.unsafe)
        return a.warning("mixed_jobs")

    def test_two_groups_of_runs_are_told(self):
        said = self.two_populations()
        self.assertTrue(tells(said, GIB, 0.06) and tells(said, 8 * GIB, 0.06), said)

    def test_the_label_that_tells_them_apart_is_named(self):
        said = self.two_populations(labels=({"dataset": "daily"}, {"dataset": "monthly"}))
        self.assertIn("dataset", said)
        self.assertNotIn("team", said)

    def test_the_input_that_tells_them_apart_is_named(self):
        self.assertRegex(self.two_populations(inputs=(GIB, 8 * GIB)), r"(?i)\binput")

    def test_names_with_a_date_are_one_job(self):
        server = self.server()
        families = {"etl": [f"etl-2026-11-{day}" for day in (22, 23, 24)],
                    "load": ["load-20261122T03", "load-20261122T04"],
                    "week": ["week-2026-W47", "week-2026-W48"],
                    "day": ["day.22.11.2026", "day.23.11.2026"]}
        jobs = {name: self.job(name, server) for names in families.values() for name in names}
        other = self.job("report", server)
        for job in (*jobs.values(), other):
            succeed(job, noisy(1, GIB, 0.02), 2)
        for family, names in families.items():
            for name in names:
                a = jobs[name].answer()
                with self.subTest(name=name):
                    self.assertIn("dated_names", a.codes)
                    self.assertRegex(a.warning("dated_names"), rf'"{family}[-.]\*"')
        self.assertNotIn("dated_names", other.answer().codes)


class Durations(Stories):
    def test_one_answer_has_one_duration(self):
        for unit in (1, 100):
            job = self.job()
            for seconds in 9 * [4] + 5 * [35]:
                job.run(GIB, 2 * GIB, duration=unit * seconds)
            a = job.answer()
            with self.subTest(unit=unit):
                self.assert_between(30 * unit, a.seconds, 42 * unit)
                self.assertEqual(a["demand"]["duration_seconds"], a.seconds)
                self.assertGreater(len(a["servers"]), 0)
                for server in a["servers"]:
                    self.assertEqual(server["forecast_basis"], "assumed_same_speed")
                    self.assert_near(a.seconds, server["forecast_duration_seconds"], 0.02, "seconds")
                    billed = server["cost"]["billed_seconds"]
                    self.assert_between(0.98 * a.seconds, billed, a.seconds * 1.02 + HOUR)
                    self.assert_near(server["price"] * billed / HOUR, server["cost"]["compute"], 0.01, "dollars")

    def test_one_run_of_thirty_days_is_expected_to_take_thirty_days(self):
        job = self.job()
        job.run(GIB, 2 * GIB, duration=30 * DAY)
        a = job.answer()
        self.assert_between(29.95 * DAY, a.seconds, 30.05 * DAY)
        self.assertRegex(a["summary"], r"\b30(\.0)? days\b")


class Cores(Stories):
    def cpu_job(self, cores, machine_cpus, **more):
        job = self.job()
        for _ in range(6):
            job.run(GIB, 2 * GIB, cores=cores, machine_cpus=machine_cpus, **more)
        return job

    def test_a_job_is_not_slowed_by_default(self):
        for cores, machine, least, most in ((6, 8, 6, 7), (48, 64, 48, 52), (1.02, 4, 1, 1), (1.4, 4, 2, 2), (0.3, 4, 1, 1)):
            a = self.cpu_job(cores, machine).answer()
            at = a["cpu"]["at_cores"]
            with self.subTest(cores=cores):
                self.assert_between(least, a.cpu, most)
                self.assert_between(0.97 * 600, a.seconds, 1.03 * 600)
                self.assert_between(0.999, a["cpu"]["slowdown"], 1.03)
                self.assert_near(max(1, cores / a.cpu), a["cpu"]["slowdown"], 0.02, "times as long")
                enough = [one["duration_seconds"] for one in at if one["cores"] >= cores]
                self.assertTrue(enough, f"the table ends before {cores}: {at}")
                for seconds in enough:
                    self.assert_between(0.97 * 600, seconds, 1.03 * 600)
                for one in at:
                    if one["cores"] < cores:
                        self.assert_near(600 * cores / one["cores"], one["duration_seconds"], 0.05, f"with {one}")

    def test_fewer_cores_are_a_choice_with_a_price(self):
        job = self.cpu_job(6, 8)
        speed, cost = job.answer(cpu_for="speed"), job.answer(cpu_for="cost")
        self.assertEqual(speed.cpu, job.answer().cpu, "speed is the default")
        self.assert_between(1, cost.cpu, speed.cpu)
        self.assert_near(max(1, 6 / cost.cpu), cost["cpu"]["slowdown"], 0.02, "times as long")
        self.assertRegex(speed.explained, r"(?m)^cpu.*\bcost")
        self.assertRegex(cost.explained, r"(?m)^cpu.*\b(speed|slow|fast)")

    def test_cores_that_fall_stay_fallen_and_slow_nothing(self):
        """The durations that are expected are those of the runs after the fall, and no run of these is slowed down."""
        job = self.job()
        for i in range(75):
            cores = 16 if i < 12 else 4
            job.run(GIB, 2 * GIB, cores=cores, machine_cpus=64, duration=9600 / cores)
            if i in (11, *range(16, 75, 3)):
                a = job.answer()
                with self.subTest(run=i):
                    self.assert_between(cores, a.cpu, cores + 1)
                    self.assertEqual(a["cpu"]["slowdown"], 1)

    def test_a_job_that_waits_for_cpu_says_so(self):
        self.assertIn("waits_for_cpu", self.cpu_job(1, 4, waited=600).answer().codes)
        self.assertNotIn("waits_for_cpu", self.cpu_job(1, 4).answer().codes)

    def test_cores_of_a_job_on_a_busy_machine_are_not_applied(self):
        """A smaller request would make the machine busier, and the next request smaller still."""
        for waited, safe in ((500, True), (700, False)):
            a = self.cpu_job(1, 4, waited=waited).answer()
            self.assertEqual((a["apply"]["safe"], "busy_machine" in a["apply"]["because"]), (safe, not safe))

    def test_foreign_or_missing_cpu_leaves_memory_sized(self):
        for doubt in ({"cpu_missed_seconds": 300}, {"cpu_foreign_seconds": 300}, {"cores": None}):
            job = self.job()
            for _ in range(5):
                job.run(STEADY, 2 * GIB, **doubt)
            a = job.answer()
            with self.subTest(doubt=doubt):
                self.assert_between(1000, a.mib, 1300)
                self.assertIsNone(a.cpu)
                self.assertIsNone(a["demand"]["cpu_cores"])
                if "cores" not in doubt:
                    self.assertEqual(a.warned_runs("uncertain_cpu"), 5)

    def test_a_gpu_that_is_hardly_used_is_told(self):
        for busy, hardly in ((0.3, True), (0.95, False)):
            job = self.job()
            for _ in range(4):
                job.run(GIB, 2 * GIB, columns={name: lasting(v, 600) for name, v in {
                    "gpus_used": 1, "gpu_usage": busy, "vram_bytes": 4 * GIB, "vram_peak_bytes": 4 * GIB}.items()})
            a = job.answer()
            with self.subTest(busy=busy):
                self.assertEqual(a["resources"]["gpu"], 1)
                self.assert_between(4096, a["resources"]["vram"], 8192)
                self.assertEqual("gpu_hardly_used" in a.codes, hardly)
                if hardly:
                    self.assertRegex(a.warning("gpu_hardly_used"), r"\b30(\.0)? %")


class Measurements(Stories):
    def test_file_memory_that_can_be_taken_back_is_named(self):
        for file_bytes, told in ((400 * MIB, True), (4 * MIB, False)):
            job = self.job()
            for _ in range(5):
                job.run(500 * MIB, 2 * GIB, file_bytes=file_bytes)
            a = job.answer()
            with self.subTest(file_bytes=file_bytes):
                self.assertEqual("reclaimable_memory" in a.codes, told)
                self.assert_between(110 if told else 500, a.mib, 700)
                if told:
                    self.assertTrue(tells(a.warning("reclaimable_memory"), file_bytes), a["warnings"])

    def test_memory_that_was_not_measured_is_null(self):
        job = self.job()
        for _ in range(5):
            job.run(limit=2 * GIB, cores=3)
        a = job.answer()
        self.assertEqual([a.mib, a["demand"]["memory_bytes"], a["limits"]["memory_bytes"]], 3 * [None])
        self.assertNotRegex(json.dumps(a["memory"]), r'(bytes|ratio|probability|economy|balanced|safe)": \d')
        self.assert_between(3, a.cpu, 4)
        self.assertNotIn("memory", job.get(format="kubernetes").text)

    def test_runs_without_numbers_are_told_and_size_nothing(self):
        job = self.job()
        succeed(job, lambda i: STEADY, 5)
        for _ in range(3):
            job.run(8 * GIB, 16 * GIB, not_measured="nobody looked")
        a = job.answer()
        self.assertEqual(a.warned_runs("not_measured"), 3)
        self.assert_between(1000, a.mib, 1300)

    def test_every_answer_about_a_job_says_whether_it_may_be_acted_on(self):
        job = self.job()
        succeed(job, noisy(1, GIB, 0.02), 10)
        self.assertEqual([job.answer().json[key] for key in ("apply", "warnings")], [{"safe": True, "because": []}, []])
        for path in ("/servers", "/stats"):
            answer = job.server.get(f"{path}?job_name={job.name}").json
            with self.subTest(path=path):
                self.assertEqual([answer.get(key) for key in ("apply", "warnings")], [{"safe": True, "because": []}, []])


if __name__ == "__main__":
    support.main()
