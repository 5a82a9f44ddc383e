#!/usr/bin/python3
"""Every answer about a job has the same warnings, and the same decision whether a program may act on it."""
import json
import time

import support
from support import wait_until

GIB = 1 << 30


def is_sized(job):
    return "not_sized" not in job["apply"]["because"]


class Warnings(support.Case):
    def setUp(self):
        super().setUp()
        self.server = self.serve("--web.allow-changes")
        self.posted = 0

    def start_again(self, *flags):
        """The server sizes all jobs when it starts, and then each 15 s."""
        self.server.stop()
        self.server = self.serve("--web.allow-changes", *flags)

    def post(self, job_name, gib, age, **more):
        """A successful run that ended so many minutes ago."""
        self.posted += 1
        ended = time.time() - 60 * age
        columns = {name: {"n": 1, "min": v, "mean": v, "max": v, "p50": v, "p95": v, "p99": v, "sum": v}
                   for name, v in (("memory_peak_bytes", gib * GIB), ("cpu_seconds", 10), ("cpu_cores", 1))}
        run = {"run_id": f"r{self.posted}", "job_name": job_name, "started_at": ended - 10, "ended_at": ended,
               "duration_seconds": 10, "outcome": "succeeded", "columns": columns, **more}
        self.assertEqual(self.server.get("/runs", "POST", json.dumps(run), Content_Type="application/json").status, 201)

    def mixed_job(self, small=0.5, large=4):
        for i in range(20):
            customer = ("acme", "zoo")[i % 2]
            self.post("mixed", (small, large)[i % 2], 40 - i, labels=json.dumps({"team": "data", "customer": customer}))

    def steady_job(self):
        for i in range(10):
            self.post("steady", 1 + 0.01 * (i % 3), 40 - i)

    def listed(self, route, job_name):
        return next(j for j in self.server.get(route).json["jobs"] if j["job_name"] == job_name)

    def test_every_answer_tells_the_same(self):
        self.mixed_job()
        self.steady_job()
        self.start_again()
        for name, because in (("mixed", ["mixed_jobs"]), ("steady", [])):
            advice = self.server.get(f"/recommend?job_name={name}").json
            codes = [{"code": w["code"], "severity": w["severity"]} for w in advice["warnings"]]
            wait_until(lambda name=name: is_sized(self.listed("/jobs", name)), "the job is sized")
            with self.subTest(job=name):
                self.assertEqual(advice["apply"], {"safe": not because, "because": because})
                self.assertEqual([w["code"] for w in advice["warnings"]], because)
                for route in ("/stats", "/servers"):
                    answer = self.server.get(f"{route}?job_name={name}").json
                    self.assertEqual([answer["apply"], answer["warnings"]], [advice["apply"], advice["warnings"]], route)
                for route in ("/jobs", "/overview"):
                    answer = self.listed(route, name)
                    self.assertEqual([answer["apply"], answer["warnings"]], [advice["apply"], codes], route)
                told = self.server.metrics()
                self.assertEqual(told[("rightsize_recommended_apply_safe", frozenset({("job_name", name)}))], not because)
                self.assertEqual([dict(labels)["code"] for metric, labels in told
                                  if metric == "rightsize_recommended_warnings" and ("job_name", name) in labels], because)
                report = self.server.get(f"/report?job_name={name}").text
                self.assertEqual("These runs fall in two groups" in report, name == "mixed")
        self.assertNotIn("apply", self.server.get("/servers?cpu=1").json)

    def test_a_server_without_a_catalogue_tells_them(self):
        self.steady_job()
        self.post("new", 1, 1)
        self.start_again("--catalogue.path=/nonexistent/servers.csv")
        wait_until(lambda: is_sized(self.listed("/jobs", "new")) and is_sized(self.listed("/jobs", "steady")), "the jobs are sized")
        for route in ("/jobs", "/overview"):
            self.assertEqual(self.listed(route, "steady")["apply"], {"safe": True, "because": []}, route)
            self.assertEqual(self.listed(route, "new")["apply"], {"safe": False, "because": ["few_runs"]}, route)

    def test_a_command_without_a_server_sizes_no_list_of_jobs(self):
        self.steady_job()
        (job,) = self.query("overview")["jobs"]
        self.assertEqual(job["apply"], {"safe": False, "because": ["not_sized"]})
        self.assertEqual(job["warnings"], [{"code": "not_sized", "severity": "info"}])
        self.assertEqual(self.query("recommend", "--job-name=steady")["apply"], {"safe": True, "because": []})

    def test_kills_alone_are_enough_for_an_answer(self):
        for age in range(3):
            self.post("killed", 1, age + 1, outcome="oom_killed", exit_code=None, exit_signal=9, memory_limit_bytes=GIB)
        self.post("failed", 1, 1, outcome="failed", exit_code=1)
        advice = self.server.get("/recommend?job_name=killed").json
        stats = self.server.get("/stats?job_name=killed&details=1")
        self.assertEqual(stats.status, 200, stats.text)
        for key in ("apply", "warnings", "resources", "demand"):
            self.assertEqual(stats.json[key], advice[key], key)
        self.assertGreater(stats.json["demand"]["memory_bytes"], GIB)
        self.assertEqual([stats.json[key] for key in ("runs_analyzed", "runs", "first_started_at", "last_started_at")], [0, [], None, None])
        self.assertIsNone(stats.json["over_runs"]["duration_seconds"])
        for query in ("job_name=failed", "job_name=killed&format=resource-tracker"):
            self.assertEqual(self.server.get(f"/stats?{query}").json["error"]["code"], "no_successful_run", query)

    def test_the_summary_of_a_run_tells_them(self):
        self.mixed_job(small=0.002, large=0.04)
        summary = self.run_job(["true"], "mixed").stderr.decode()
        self.assertRegex(summary, r'(?m)^  warning: These runs fall in two groups: .* The label "customer" tells them apart')
        self.steady_job()
        self.assertNotIn("  warning: ", self.run_job(["true"], "steady").stderr.decode())

    def test_runs_with_a_date_in_their_name_are_one_job(self):
        for day in (22, 23, 24):
            self.post(f"etl-2026-11-{day}", 1, 24 - day)
        advice = self.server.get("/recommend?job_name=etl-2026-11-22").json
        (text,) = [w["text"] for w in advice["warnings"] if w["code"] == "dated_names"]
        self.assertTrue(text.startswith('At least 2 other jobs are named like this one, "etl-*"'), text)
        self.assertEqual(advice["apply"]["because"], ["few_runs"])
        self.assertRegex(self.run_job(["true"], "etl-2026-11-25").stderr.decode(), r'(?m)^  info: At least 3 other jobs .*"etl-\*"')


if __name__ == "__main__":
    support.main()
