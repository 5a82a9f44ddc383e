#!/usr/bin/python3
"""One job, one forecast: every answer, metric and page says the same duration and cost of its next run."""
import json
import re
import time

import support
from support import wait_until

HERE = ("aws", "m6i.large", "us-east-1")


class OneForecast(support.Case):
    def setUp(self):
        super().setUp()
        self.start_server()

    def start_server(self):
        self.server = self.serve("--web.allow-changes", *(f"--server.{k}={v}" for k, v in zip(
            ("vendor", "type", "region"), HERE)))

    def start_again(self):
        """The server computes the costs of all jobs when it starts, and then each 15 s."""
        self.server.stop()
        self.start_server()

    def post(self, job_name, durations, cores=1, where=HERE):
        """Successful runs, oldest first."""
        for i, seconds in enumerate(durations):
            ended = time.time() - 60 * (len(durations) - i)
            columns = {name: {"n": 5, "min": v, "mean": v, "max": v, "p50": v, "p95": v, "p99": v, "sum": v}
                       for name, v in (("memory_peak_bytes", 1e9), ("cpu_seconds", cores * seconds), ("cpu_cores", cores))}
            run = {"run_id": f"{job_name}{i}", "job_name": job_name, "started_at": ended - seconds, "ended_at": ended,
                   "duration_seconds": seconds, "outcome": "succeeded", "columns": columns, "vendor_id": where[0],
                   "instance_type": where[1], "region": where[2], "allocation": "ondemand"}
            answer = self.server.get("/runs", "POST", json.dumps(run), Content_Type="application/json")
            self.assertEqual(answer.status, 201, answer.text)

    def value(self, name, job_name, **labels):
        name = f"rightsize_job_{name}"
        return wait_until(lambda: self.server.job_value(name, job_name, **labels) is not None and
                          [self.server.job_value(name, job_name, **labels)], f"{name} of {job_name}")[0]

    def page_data(self, job_name):
        """Returns the part of the report that is an answer of /recommend. The page reads it like an answer."""
        report = self.server.get(f"/report?job_name={job_name}").text
        return json.loads(re.search(r'id="data">(.*?)</script>', report, re.S)[1])["recommend"]

    def assert_rounded(self, value, expected):
        """JSON rounds money to six digits and durations to the millisecond. /metrics does not."""
        self.assertAlmostEqual(value, expected, delta=max(5.1e-6 * abs(expected), 0.00051 if expected > 1 else 1e-9))

    def check(self, job_name):
        advice = self.server.get(f"/recommend?job_name={job_name}&details=1").json
        servers = self.server.get(f"/servers?job_name={job_name}&limit=1000&cpu_allocation=any&details=1").json
        stats = self.server.get(f"/stats?job_name={job_name}&details=1").json
        expected, best = advice["duration"], advice["best"]
        seconds = expected["expected_seconds"]
        self.assertEqual(advice["demand"]["duration_seconds"], seconds)
        self.assertEqual(servers["demand"]["duration_seconds"], seconds)
        self.assertEqual(stats["forecast"]["duration_seconds"], {
            "expected": seconds, "low": expected["expected_low_seconds"], "high": expected["expected_high_seconds"]})
        self.assert_rounded(self.value("forecast_duration_seconds", job_name, server="current"), seconds)
        here = next(s for s in servers["servers"] if (s["vendor_id"], s["api_reference"]) == HERE[:2])
        self.assertEqual(here["forecast_basis"], "same_server")
        self.assert_rounded(here["forecast_duration_seconds"], seconds)
        # The cost in the list, the current cost and the metric agree, and so does the best cost.
        self.assert_rounded(here["forecast_cost"], advice["today"]["cost_per_run"])
        self.assert_rounded(here["saving"], 0)
        self.assert_rounded(self.value("forecast_cost_usd", job_name, server="current"), here["forecast_cost"])
        self.assert_rounded(self.value("forecast_cost_usd", job_name, server="best"), best["forecast_cost"])
        self.assert_rounded(self.value("saving_usd", job_name), best["saving"])
        self.assertGreaterEqual(best["saving"], 0)
        told = next(s for s in advice["servers"] if s["server_id"] == best["server_id"])
        self.assert_rounded(self.value("forecast_duration_seconds", job_name, server="best"),
                               told["forecast_duration_seconds"])
        report = self.page_data(job_name)
        for key in ("duration", "demand", "best", "servers", "alternatives"):
            self.assertEqual(report[key], advice[key], key)
        past = self.server.get("/overview").json["jobs"]
        listed = next(j for j in past if j["job_name"] == job_name)
        self.assert_rounded(listed["cost"], advice["today"]["runs"][0]["cost"])
        self.assert_rounded(self.value("last_run_cost_usd", job_name), listed["cost"])
        return advice, here

    def test_two_lengths_under_one_name(self):
        self.post("two", [4] * 9 + [35] * 5)
        self.start_again()
        advice, here = self.check("two")
        self.assertEqual(advice["duration"]["expected_seconds"], 35)
        low, high = advice["duration"]["expected_low_seconds"], advice["duration"]["expected_high_seconds"]
        billed = sum(weight * max(60, -(-v // 1)) for weight, v in ((0.3, low), (0.4, 35), (0.3, high)))
        self.assert_rounded(here["forecast_cost"], here["price"] * billed / 3600)

    def test_few_and_steady_runs(self):
        self.post("few", [960, 961])
        self.post("steady", [960 + i % 3 for i in range(12)], cores=2)
        self.start_again()
        for job_name in ("few", "steady"):
            with self.subTest(job=job_name):
                self.check(job_name)

    def test_the_server_that_is_the_best_already(self):
        self.post("there", [960] * 6)
        best = self.server.get("/recommend?job_name=there&details=1").json["best"]
        self.assertFalse(best["is_current"])
        there = (best["vendor_id"], best["api_reference"], best["region"])
        self.post("moved", [960] * 6, where=there)
        best = self.server.get("/recommend?job_name=moved&details=1").json["best"]
        self.assertTrue(best["is_current"])
        self.assertEqual([best["saving"], best["saving_percent"]], [0, 0])
        self.assertEqual((best["vendor_id"], best["api_reference"]), there[:2])


if __name__ == "__main__":
    support.main()
