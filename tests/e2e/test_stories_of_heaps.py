#!/usr/bin/python3
"""Stories as in test_stories.py, of jobs that use a share of the memory that they get."""
import random

import support
from followed_job import GIB, MIB, tells
from test_stories import Stories


class HeapsThatFollowTheirLimit(Stories):
    def assert_held(self, share, by):
        first = 1024
        job = self.job()
        steps = job.follow(lambda i, limit: share * limit, first=first * MIB, by=by)
        last = job.answer()
        asked = [step.asked for step in steps] + [last.mib]
        self.assert_never_killed(steps)
        for request in asked[2:]:
            self.assert_between(0.9 * first, request, 1.1 * first, f"from the third run on: {asked}")
        limits = [step.limit for step in steps]
        self.assertLessEqual(max(limits[3:]), 1.01 * limits[2] + 1, f"it never grows by itself: {limits}")
        for advice in [step.advice for step in steps[3:]] + [last]:
            self.assertIn("memory_follows_limit", advice.codes)
        self.assertEqual(last.unsafe, [], "20 runs proved it")
        return last

    def test_a_heap_that_is_a_share_of_its_limit_is_not_chased(self):
        for share in (0.7, 0.8, 0.9, 0.93):
            for by in ("request", "limit"):
                with self.subTest(share=share, by=by):
                    last = self.assert_held(share, by)
                    said = last.warning("memory_follows_limit")
                    self.assertRegex(said, rf"\b{round(100 * share)}(\.\d+)? %", "it says what was seen")
                    self.assertTrue(tells(said, last.mib * MIB, 0.01), f"and what to set, {last.mib} MiB: {said}")

    def test_a_heap_whose_share_drifts_by_itself_is_not_chased(self):
        """Without a look at how the peaks move with the limit, such a heap looks like a job that grows or shrinks."""
        r = random.Random(1)
        walk = [0.7]
        for _ in range(30):
            walk.append(min(0.92, max(0.5, walk[-1] + r.uniform(-0.03, 0.03))))
        spread = [0.75 + r.uniform(-0.08, 0.08) for _ in range(30)]
        shares = {"up": lambda i: min(0.93, 0.6 + 0.01 * i), "down": lambda i: max(0.6, 0.9 - 0.01 * i),
                  "slow": lambda i: 0.7 + 0.004 * i, "walk": lambda i: walk[i]}
        for name, share in shares.items():
            for by in ("request", "limit"):
                steps = self.job().follow(lambda i, limit, share=share: share(i) * limit, runs=30, first=GIB, by=by)
                self.assert_held_from(14, steps, f"{name} {by}")
        # A step or a spread of the share is seen later. It must not be chased far until then.
        for share in (lambda i: 0.6 if i < 10 else 0.8, lambda i: spread[i]):
            for step in self.job().follow(lambda i, limit, share=share: share(i) * limit, runs=30, first=GIB, by="limit"):
                self.assert_between(0.75 * 1024, step.asked, 1.6 * 1024)

    def assert_held_from(self, run, steps, what):
        asked = [step.asked for step in steps]
        with self.subTest(what, asked=asked):
            self.assert_never_killed(steps)
            for step in steps[run:]:
                self.assert_between(0.6 * 1024, step.asked, 1.2 * 1024)
                self.assertIn("memory_follows_limit", step.advice.codes)
            self.assertLessEqual(max(asked[run:]), 1.1 * min(asked[run:]), "it is held")

    def test_a_need_that_grew_with_its_limit_keeps_what_it_needs(self):
        """Its operator raised the limit when the data grew. A request of the old limit would kill the next run."""
        r = random.Random(5)
        for levels in (((1.5, 2), (2.5, 3.1)), ((1.5, 2), (2, 3.1)), ((1.5, 2), (2.9, 3.1)), ((1.5, 2), (2.5, 3.1), (4, 4.8))):
            job = self.job()
            for peak, limit in levels:
                for _ in range(8):
                    job.run(peak * GIB * r.uniform(0.97, 1.03), limit * GIB)
            with self.subTest(levels=levels):
                self.assert_between(1.03 * levels[-1][0] * 1024, job.answer().mib, 1.5 * levels[-1][0] * 1024 + 256)

    def test_memory_that_walks_at_random_is_no_heap(self):
        """Its limit follows its peaks, and its next peak is near the last one."""
        told = 0
        for seed in range(6):
            r, peaks = random.Random(seed), [GIB]
            for _ in range(30):
                peaks.append(peaks[-1] * r.lognormvariate(0, 0.06))
            for by in ("request", "limit"):
                steps = self.job().follow(lambda i, limit, peaks=peaks: peaks[i], runs=30, by=by)
                told += sum("memory_follows_limit" in step.advice.codes for step in steps[1:])
        self.assertLessEqual(told, 3, "of 348 answers")

    def test_a_heap_that_gets_two_limits_in_turn_has_one_answer(self):
        for pattern in ((2, 4), (2, 2, 4), (8, 1)):
            job, asked = self.job(), []
            for i in range(20):
                limit = pattern[i % len(pattern)] * GIB
                job.run(0.8 * limit, limit)
                asked.append(job.answer().mib)
            with self.subTest(pattern=pattern, asked=asked):
                self.assertEqual(set(asked[5:]), {1024 * min(pattern)})

    def test_a_heap_that_was_held_for_long_stays_held(self):
        """All runs that a strategy looks at have the same limit. The history keeps one that shows what the job does."""
        job = self.job()
        steps = job.follow(lambda i, limit: 0.9 * limit, runs=225, first=GIB)
        held = steps[5].asked
        self.assertEqual({step.asked for step in steps[5:]} | {job.answer().mib}, {held})
        self.assertIn("memory_follows_limit", job.answer().codes)

    def test_a_cache_that_fills_its_limit_and_succeeds_is_held_too(self):
        """The job ends within 3 % of its limit under two limits. This is no sign of too little memory."""
        for by in ("request", "limit"):
            with self.subTest(by=by):
                last = self.assert_held(0.98, by)
                self.assertNotIn("failed_at_memory_limit", last.codes)

    def test_a_kill_raises_the_limit_that_is_held(self):
        """The request is above the limit of the kill from then on, and it is not chased."""
        for share in (0.8, 0.98):
            for by in ("request", "limit"):
                job = self.job()
                job.follow(lambda i, limit, share=share: share * limit, runs=6, first=GIB, by=by)
                job.killed(GIB)
                steps = job.follow(lambda i, limit, share=share: share * limit, runs=40, by=by)
                with self.subTest(share=share, by=by):
                    for step in steps:
                        self.assert_between(1025, step.asked, 2 * 1024, f"{[s.asked for s in steps]}")
                    self.assertEqual(len({step.asked for step in steps[5:]}), 1, "it settles")
                    self.assertIn("memory_follows_limit", job.answer().codes)

    def test_a_heap_whose_first_limit_was_too_small_is_held(self):
        for share in (0.5, 0.8, 0.98):
            for by in ("request", "limit"):
                job = self.job()
                steps = job.follow(lambda i, limit, share=share: share * limit if limit >= 900 * MIB else 2 * limit,
                                   runs=30, first=512 * MIB, by=by)
                with self.subTest(share=share, by=by):
                    self.assertLessEqual(sum(step.kills for step in steps), 3)
                    for step in steps[6:]:
                        self.assert_between(900, step.asked, 2 * 1024, f"{[s.asked for s in steps]}")

    def test_a_heap_does_not_care_for_inputs_that_are_announced(self):
        r = random.Random(3)
        inputs = [GIB * r.uniform(1, 4) for _ in range(30)]
        for share in (0.8, 0.98):
            for labels in (None, {"heap_share_option": "MaxRAMPercentage"}):
                job = self.job(labels=labels)
                steps = job.follow(lambda i, limit, share=share: share * limit, runs=30, inputs=lambda i: inputs[i])
                with self.subTest(share=share, labels=labels):
                    self.assertLessEqual(max(step.asked for step in steps), 2.5 * 2048)
                    for step in steps[6:]:
                        self.assert_between(0.9 * 2048, step.asked, 1.1 * 2048)

    def test_memory_that_follows_the_input_is_no_heap(self):
        r = random.Random(4)
        inputs = [GIB * 4 ** r.random() for _ in range(30)]
        for power in (0.2, 1):
            job = self.job()
            steps = job.follow(lambda i, limit, power=power: GIB * (inputs[i] / GIB) ** power, runs=30, first=8 * GIB,
                               inputs=lambda i: inputs[i])
            for step in steps[1:]:
                self.assertNotIn("memory_follows_limit", step.advice.codes)


if __name__ == "__main__":
    support.main()
