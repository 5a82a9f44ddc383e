"""A real Prometheus scrapes the server every second, and its query API returns what the job used."""
import subprocess

from monitoring import Monitored
from support import main, python_job, wait_until

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
    def test_returns_cpu_and_memory_of_the_job(self):
        server = self.serve()
        prometheus = self.start_prometheus(server)
        wrapper = self.start_run(HALF_BUSY, "etl/load", stdin=subprocess.PIPE)
        # Prometheus waits up to five seconds before its first scrape.
        wait_until(lambda: (self.ask(prometheus, 'count_over_time(rightsize_job_cpu_seconds_total[1m])') or 0) >= SCRAPES,
                   f"{SCRAPES} scrapes with the job")
        # rate() and increase() divide by the whole range, which must be one that the job fills.
        cores = self.ask(prometheus, f'rate(rightsize_job_cpu_seconds_total{{job_name="etl/load"}}[{SCRAPES - 1}s])')
        # Half a core at most; how much less depends on who else wants the CPU. The total is compared below.
        self.assertTrue(0.02 < cores < 0.8, cores)
        memory = self.ask(prometheus, 'max_over_time(rightsize_job_memory_bytes{job_name="etl/load"}[1m])')
        self.assertTrue(100 << 20 < memory < 130 << 20, memory)
        peak = self.ask(prometheus, 'rightsize_job_memory_peak_bytes{job_name="etl/load"}')
        self.assertTrue(100 << 20 < peak < 130 << 20, peak)

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
