"""A real Prometheus scrapes the server every second. Its query API returns the usage of the job."""
import subprocess
import time

from monitoring import Monitored
from support import children_of, main, python_job, wait_until

# Half a core and 100 MiB until the end of input.
HALF_BUSY = python_job("""
import select, sys, time
block = bytearray(b"x") * (100 << 20)
while not select.select([sys.stdin], [], [], 0.05)[0]:
    end = time.process_time() + 0.05
    while time.process_time() < end: pass
""")
SCRAPES = 5


class Prometheus(Monitored):
    def check_rate(self, prometheus):
        """rate() is the growth of the counter from the first sample in its range to the last."""
        cpu, now = 'rightsize_job_cpu_seconds_total{job_name="etl/load"}', time.time()
        rate = float(self.results(prometheus, f"rate({cpu}[1m])", time=now)[0]["value"][1])
        points = [(at, float(v)) for at, v in self.results(prometheus, f"{cpu}[1m]", time=now)[0]["values"]]
        (begin, first), (end, last) = points[0], points[-1]
        self.assertGreater(last, first)
        # It is extrapolated to the ends of the range, if few samples may be missing there.
        self.assertLess(rate, (last - first) / (end - begin) * 1.001)
        self.assertGreater(rate, (last - first) / 60 * 0.999)

    def test_returns_cpu_and_memory_of_the_job(self):
        server = self.serve()
        prometheus = self.start_prometheus(server)
        wrapper = self.start_run(HALF_BUSY, "etl/load", stdin=subprocess.PIPE)
        # Prometheus waits up to five seconds before its first scrape.
        wait_until(lambda: (self.ask(prometheus, 'count_over_time(rightsize_job_cpu_seconds_total[1m])') or 0) >= SCRAPES,
                   f"{SCRAPES} scrapes with the job")
        self.check_rate(prometheus)
        (job, _), = children_of(wrapper.pid)
        self.assertLessEqual(self.ask(prometheus, 'rightsize_job_cpu_seconds_total{job_name="etl/load"}'),
                             time.clock_gettime((~job << 3) | 2))
        for name in ("memory_bytes", "memory_peak_bytes"):
            memory = f'max_over_time(rightsize_job_{name}{{job_name="etl/load"}}[1m])'
            wait_until(lambda: self.ask(prometheus, memory) > 100 << 20, f"{name} with the whole block")
            self.assertLess(self.ask(prometheus, memory), 130 << 20)

        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        ended = 'rightsize_job_runs_total{job_name="etl/load",outcome="succeeded"}'
        wait_until(lambda: self.ask(prometheus, ended) == 1, "the end of the run")
        self.assert_close(self.ask(prometheus, 'max_over_time(rightsize_job_cpu_seconds_total[1m])'),
                          self.only_run("etl/load")["cpu_seconds"], 0.01, 0.02, "CPU seconds")

        self.assertEqual(self.ask(prometheus, 'min_over_time(up{job="rightsize"}[1m])'), 1)
        targets = prometheus.get("/api/v1/targets").json["data"]["activeTargets"]
        self.assertEqual([(t["health"], t["lastError"]) for t in targets], [("up", "")])
        self.assertIsNone(self.ask(prometheus, 'count({exported_job=~".+"})'))


if __name__ == "__main__":
    main()
