"""Tests the 32 scrape rules of OpenMetrics: each finds its fault, and our successive scrapes break none."""
import subprocess
import unittest

import scrape_rules
from support import PROMETHEUS_2_ACCEPT, PROMETHEUS_3_ACCEPT, Case, main, python_job, wait_until

GOOD = """# TYPE c counter
# UNIT c
# HELP c Counts
c_total{a="1"} 1
c_total{a="2"} 2 # {id="x"} 1
# TYPE s summary
s{quantile="0.5"} 1
s_count 1
s_sum 1
# TYPE h histogram
h_bucket{le="-1"} 0
h_bucket{le="1"} 1
h_bucket{le="+Inf"} 2
# TYPE k histogram
k_bucket{a="1",le="1"} 1
k_bucket{a="1",le="+Inf"} 2
k_count{a="1"} 2
k_sum{a="1"} 1
# TYPE g gaugehistogram
g_bucket{le="-1"} 1
g_bucket{le="+Inf"} 2
g_gcount 2
g_gsum -1
# TYPE b info
b_info{version="1"} 1
# TYPE st stateset
st{st="on"} 1
st{st="off"} 0
# TYPE gauge gauge
gauge -1 5
# EOF
"""
AFTER = GOOD.replace("c_total{a=\"1\"} 1", "c_total{a=\"1\"} 9").replace("gauge -1 5", "gauge NaN 6")

# Changes of the second scrape that break a rule: (old text, new text).
BREAKS = {
    "type_is_said_once": [("# HELP c Counts", "# TYPE c counter\n# HELP c Counts")],
    "unit_is_said_once": [("# HELP c Counts", "# UNIT c\n# HELP c Counts")],
    "help_is_said_once": [("# HELP c Counts", "# HELP c Counts\n# HELP c Counts")],
    "label_names_are_unique": [('st{st="on"} 1', 'st{st="on",x="1",x="2"} 1')],
    "only_counters_and_buckets_have_exemplars": [("gauge NaN 6", 'gauge NaN 6 # {id="x"} 1')],
    "all_samples_of_a_family_have_timestamps_or_none": [('st{st="on"} 1', 'st{st="on"} 1 5')],
    "timestamps_grow": [("gauge NaN 6", "gauge NaN 4"), ("gauge NaN 6", "gauge NaN 6\ngauge NaN 5")],
    "families_are_not_interleaved": [("# TYPE s summary\n", '# TYPE s summary\nc_total{a="3"} 3\n'),
                                     ('c_total{a="2"} 2', 'c_total{a="2"} 2\nc_total{a="1"} 9')],
    "series_do_not_disappear": [("gauge NaN 6\n", ""), ('st{st="off"} 0\n', "")],
    "no_label_is_on_every_sample": [],
    "counter_is_no_nan": [('c_total{a="2"} 2', 'c_total{a="2"} NaN'), ("k_sum{a=\"1\"} 1", "k_sum{a=\"1\"} NaN")],
    "counter_is_not_negative": [('c_total{a="2"} 2', 'c_total{a="2"} -1'), ("s_count 1", "s_count -1")],
    "total_is_a_number_from_0_on": [('c_total{a="2"} 2', 'c_total{a="2"} NaN'), ('c_total{a="2"} 2', 'c_total{a="2"} -1')],
    "counter_never_falls": [('c_total{a="1"} 9', 'c_total{a="1"} 0.5')],
    "quantile_is_between_0_and_1": [('quantile="0.5"', 'quantile="1.5"'), ('{quantile="0.5"}', ""), ('"0.5"', '"NaN"')],
    "value_of_a_quantile_is_not_negative": [('s{quantile="0.5"} 1', 's{quantile="0.5"} -1')],
    "count_and_sum_of_a_summary_are_counters": [("s_sum 1", "s_sum NaN"), ("s_count 1", "s_count -1")],
    "info_is_1": [('b_info{version="1"} 1', 'b_info{version="1"} 2')],
    "state_is_0_or_1": [('st{st="on"} 1', 'st{st="on"} 0.5')],
    "state_has_the_label_of_its_family": [('st{st="off"} 0', 'st{st="off"} 0\nst{x="y"} 0')],
    "info_has_no_unit": [("# TYPE b info\n", "# TYPE b info\n# UNIT b seconds\n")],
    "stateset_has_no_unit": [("# TYPE st stateset\n", "# TYPE st stateset\n# UNIT st seconds\n")],
    "histogram_has_the_last_bucket": [('h_bucket{le="+Inf"} 2\n', ""), ('g_bucket{le="+Inf"} 2\n', "")],
    "buckets_are_in_order": [('h_bucket{le="1"}', 'h_bucket{le="-2"}'), ('h_bucket{le="1"} 1', 'h_bucket{le="1"} 3')],
    "histogram_has_sum_and_count_or_neither": [('k_count{a="1"} 2\n', "")],
    "histogram_with_negative_buckets_has_no_sum": [('h_bucket{le="+Inf"} 2\n', 'h_bucket{le="+Inf"} 2\nh_count 2\nh_sum 1\n')],
    "buckets_of_gauges_are_in_order": [('g_bucket{le="-1"} 1\ng_bucket{le="+Inf"} 2', 'g_bucket{le="+Inf"} 2\ng_bucket{le="-1"} 1')],
    "bucket_of_gauges_is_no_nan": [('g_bucket{le="-1"} 1', 'g_bucket{le="-1"} NaN')],
    "bucket_of_gauges_is_not_negative": [('g_bucket{le="-1"} 1', 'g_bucket{le="-1"} -1')],
    "sum_of_gauges_is_no_nan": [("g_gsum -1", "g_gsum NaN")],
    "gauges_have_sum_and_count_or_neither": [("g_gcount 2\n", "")],
    "sum_of_gauges_is_negative_with_negative_buckets_only": [('g_bucket{le="-1"} 1', 'g_bucket{le="1"} 1')],
}


class Rules(unittest.TestCase):
    def test_there_are_32(self):
        self.assertEqual((len(scrape_rules.RULES), set(BREAKS)), (32, set(scrape_rules.RULES)))

    def test_what_is_good_breaks_none(self):
        self.assertEqual(scrape_rules.check([GOOD, AFTER, AFTER]), [])

    def test_each_finds_what_it_is_for(self):
        for rule, breaks in BREAKS.items():
            for there, instead in breaks:
                with self.subTest(rule=rule, instead=instead):
                    self.assertIn(there, AFTER)
                    found = scrape_rules.check([GOOD, AFTER.replace(there, instead, 1)])
                    self.assertIn((rule, 1), {(name, number) for name, number, _ in found}, found)

    def test_a_label_on_every_sample_is_found(self):
        common = '# TYPE a gauge\na{x="1",y="1"} 1\na{x="1",y="2"} 2\n# EOF\n'
        self.assertEqual([name for name, _, _ in scrape_rules.check([common])], ["no_label_is_on_every_sample"])

    def test_both_formats_mean_the_same(self):
        text = "# TYPE c_total counter\nc_total 2\n", "# TYPE c_total counter\nc_total 1\n"
        self.assertEqual([name for name, _, _ in scrape_rules.check(text)], ["counter_never_falls"])


BUSY = python_job("""
import sys, time
end = time.process_time() + 0.3
while time.process_time() < end: pass
open(sys.argv[1], "wb").write(b"x" * (1 << 20))
sys.exit(int(sys.argv[2]))
""")


# The current usage of a job. If the job has no process, there is no value: 0 or the last value would be wrong.
OF_PROCESSES = {"rightsize_job_" + name for name in (
    "memory_bytes", "memory_rss_bytes", "memory_pss_bytes", "memory_pss_age_seconds", "memory_pss_deferred_processes",
    "memory_anonymous_bytes", "memory_file_bytes", "memory_shmem_bytes", "memory_hugetlb_bytes", "memory_huge_bytes",
    "memory_swap_bytes", "threads", "open_fds")}
OF_RUNS = {"rightsize_job_expected_duration_seconds"}


def went_with_the_last_run(line, scrape):
    """A series that may be missing in a scrape."""
    sample = scrape_rules.Sample(line)
    now = {s.name: s.value for s in scrape.samples if s.labels.get("job_name") == sample.labels.get("job_name")}
    return (sample.name in OF_PROCESSES and now["rightsize_job_processes"] == 0 or
            sample.name in OF_RUNS and now["rightsize_job_active_runs"] == 0)


class Scrapes(Case):
    FORMATS = (("text", None), ("openmetrics", PROMETHEUS_2_ACCEPT), ("prometheus 3", PROMETHEUS_3_ACCEPT))

    def test_successive_scrapes_break_no_rule_while_jobs_come_and_go(self):
        server = self.serve(interval="100ms")
        scrapes = {name: [] for name, _ in self.FORMATS}

        def scrape():
            for name, accept in self.FORMATS:
                answer = server.get("/metrics", **({"Accept": accept} if accept else {}))
                self.assertEqual(answer.status, 200)
                scrapes[name].append(answer.text)
            return True
        scrape()
        waiting = self.start_run(python_job("input()"), "waits", stdin=subprocess.PIPE)
        for number, (job_name, code) in enumerate((("good", 0), ("bad", 3), ("good", 0), ("bad", 3))):
            run = self.start_run([*BUSY, str(self.folder / "written"), str(code)], job_name, flags=["--sample.interval=100ms"])
            wait_until(lambda r=run: scrape() and r.process.poll() is not None, "the end of the run")
            self.assertEqual(run.wait(), code)
            ended = number // 2 + 1
            outcome = "failed" if code else "succeeded"
            wait_until(lambda j=job_name, o=outcome, n=ended: scrape() and server.job_value(
                "rightsize_job_runs_total", j, outcome=o) == n, "its count")
        waiting.process.stdin.write(b"\n")
        waiting.process.stdin.flush()
        self.assertEqual(waiting.wait(), 0)
        wait_until(lambda: scrape() and server.job_value("rightsize_job_runs_total", "waits", outcome="succeeded") == 1, "its end")
        for name, texts in scrapes.items():
            self.assertGreater(len(texts), 10)
            found = [(rule, number, what) for rule, number, what in scrape_rules.check(texts)
                     if rule != "series_do_not_disappear" or
                     not went_with_the_last_run(what, scrape_rules.Scrape(texts[number]))]
            self.assertEqual([], found[:20], f"{name}: {len(found)} of {len(texts)} scrapes")


if __name__ == "__main__":
    main()
