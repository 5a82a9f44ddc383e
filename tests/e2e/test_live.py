"""A server and wrappers share one history. The server shows the job while it runs and afterwards."""
import datetime
import subprocess

from support import Case, main, python_job, wait_until

# Uses CPU time for a given time at each line of input, and prints a line when it is done.
ON_DEMAND = python_job("""
import sys, time
block = bytearray(b"x") * (64 << 20)
for line in sys.stdin:
    end = time.process_time() + float(line)
    while time.process_time() < end: pass
    print("done", flush=True)
""")


class Live(Case):
    def begin(self, job_name="job", flags=()):
        return self.start_run(ON_DEMAND, job_name, flags, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def spin(self, wrapper, seconds):
        wrapper.process.stdin.write(f"{seconds}\n".encode())
        wrapper.process.stdin.flush()
        self.assertEqual(wrapper.process.stdout.readline(), b"done\n")

    def end(self, wrapper):
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)

    def test_a_run_is_seen_while_it_lasts(self):
        server = self.serve()
        wrapper = self.begin()
        wait_until(lambda: server.job_value("rightsize_job_active_runs", "job") == 1, "the run")
        self.spin(wrapper, 0.5)
        # The served sample may be a moment older than the last one.
        wait_until(lambda: server.job_value("rightsize_job_cpu_seconds_total", "job") >= 0.5, "all of its CPU time")
        self.assertGreaterEqual(server.job_value("rightsize_job_memory_bytes", "job"), 64 << 20)
        self.assertGreaterEqual(server.job_value("rightsize_job_memory_peak_bytes", "job"), 64 << 20)
        self.assertEqual(server.job_value("rightsize_job_processes", "job"), 1)
        self.assertEqual(server.recorded_runs("job")[0]["outcome"], "running")
        self.end(wrapper)

    def test_the_outlook_of_a_run_comes_from_earlier_ones_and_its_own_use(self):
        for _ in range(3):
            self.run_job(["sleep", "1.5"])
        server = self.serve()
        wrapper = self.begin(flags=["--request-memory=1G", "--request-cpu=4"])
        name = "rightsize_job_expected_duration_seconds"
        wait_until(lambda: server.job_value(name, "job") is not None, "the outlook")
        self.assertGreater(server.job_value(name, "job"), 1)
        self.spin(wrapper, 0.5)
        left = server.job_value("rightsize_job_overprovisioned_ratio", "job", resource="memory")
        self.assertLess(left, 16)
        self.assertGreater(left, 4)
        self.assertGreater(server.job_value("rightsize_job_overprovisioned_ratio", "job", resource="cpu"), 3.5)
        wait_until(lambda: server.get("/stats?job_name=job").json["running"], "the run in /stats")
        running = server.get("/stats?job_name=job").json["running"][0]
        self.assertGreater(running["expected_duration_seconds"], 1)
        self.assertEqual(running["run_id"], self.runs()[0]["run_id"])
        self.end(wrapper)
        wait_until(lambda: not server.job_value("rightsize_job_active_runs", "job"), "no active run")
        self.assertIsNone(server.job_value(name, "job"))

    def test_an_ended_run_is_counted_with_its_exact_figures(self):
        server = self.serve()
        wrapper = self.begin()
        wait_until(lambda: server.job_value("rightsize_job_active_runs", "job") == 1, "the run")
        self.spin(wrapper, 0.3)
        self.end(wrapper)
        wait_until(lambda: server.job_value("rightsize_job_runs_total", "job", outcome="succeeded") == 1, "its end")
        wait_until(lambda: not server.job_value("rightsize_job_active_runs", "job"), "no active run")
        run = self.only_run()
        self.assert_close(server.job_value("rightsize_job_cpu_seconds_total", "job"), run["cpu_seconds"], 0.01, 0.02,
                          "CPU seconds of the server")
        self.assertIsNone(server.job_value("rightsize_job_processes", "job") or None)

    def test_outcomes_are_counted_apart(self):
        server = self.serve()
        for code in (0, 1, 0, 2):
            self.run_job(["sh", "-c", f"exit {code}"])
        wait_until(lambda: (server.job_value("rightsize_job_runs_total", "job", outcome="succeeded"),
                            server.job_value("rightsize_job_runs_total", "job", outcome="failed")) == (2, 2),
                   "two successful and two failed runs")
        jobs = server.get("/jobs").json["jobs"]
        self.assertEqual(len(jobs), 1)
        self.assertEqual((jobs[0]["job_name"], jobs[0]["last_outcome"]), ("job", "failed"))

    def test_the_last_end_is_known_of_runs_that_nobody_followed(self):
        self.run_job(["false"])
        server = self.serve()
        wait_until(lambda: server.job_value("rightsize_job_runs_total", "job", outcome="failed") == 1, "the run")
        ended = datetime.datetime.fromisoformat(self.only_run()["ended_at"].replace("Z", "+00:00"))
        self.assertAlmostEqual(server.job_value("rightsize_job_last_end_timestamp_seconds", "job"),
                               ended.timestamp(), delta=0.01)

    def test_runs_that_were_over_before_the_server_came_are_counted(self):
        self.run_job(["true"])
        server = self.serve()
        wait_until(lambda: server.job_value("rightsize_job_runs_total", "job", outcome="succeeded") == 1, "the run")

    def test_cpu_counter_never_falls_over_several_runs(self):
        server = self.serve()
        seen = [0]
        total = 0

        def look():
            value = server.job_value("rightsize_job_cpu_seconds_total", "job")
            if value is not None:
                self.assertGreaterEqual(value, seen[-1])
                seen.append(value)
            return value or 0

        for _ in range(3):
            wrapper = self.begin()
            wait_until(lambda: look() and server.job_value("rightsize_job_active_runs", "job") == 1, "the run")
            for _ in range(3):
                self.spin(wrapper, 0.1)
                look()
            self.end(wrapper)
            total = sum(run["cpu_seconds"] for run in self.runs())
            wait_until(lambda: not server.job_value("rightsize_job_active_runs", "job"), "its end")
        try:
            wait_until(lambda: abs(look() - total) < 0.02 + 0.02 * total, "the CPU seconds of all runs together")
        except AssertionError as e:
            raise AssertionError(f"{e}: {total}, and not {seen[-1]}; {self.runs()}; {server.log}") from e

    def test_parallel_runs_of_a_job_are_added(self):
        server = self.serve()
        wrappers = [self.begin() for _ in range(3)]
        wait_until(lambda: server.job_value("rightsize_job_active_runs", "job") == 3, "three runs")
        for wrapper in wrappers:
            self.spin(wrapper, 0.2)
        wait_until(lambda: server.job_value("rightsize_job_cpu_seconds_total", "job") >= 0.6, "the CPU time of all three")
        self.assertEqual(server.job_value("rightsize_job_processes", "job"), 3)
        for wrapper in wrappers:
            self.end(wrapper)

    def test_final_figures_wait_to_be_scraped(self):
        server = self.serve()
        wrapper = self.begin()
        wait_until(lambda: server.job_value("rightsize_job_active_runs", "job") == 1, "the run")
        self.spin(wrapper, 0.2)
        self.end(wrapper)
        # No client scrapes: the test waits for the end through another route.
        wait_until(lambda: server.recorded_runs("job")[0]["outcome"] == "succeeded", "the end")
        run = self.only_run()
        self.assert_close(server.job_value("rightsize_job_memory_peak_bytes", "job"), run["memory_peak_bytes"], 0.01,
                          0, "memory peak at the first scrape after the end")

    def test_server_can_ask_about_a_job_while_it_runs(self):
        server = self.serve()
        self.run_job(["true"])
        wrapper = self.begin()
        wait_until(lambda: server.job_value("rightsize_job_active_runs", "job") == 1, "the run")
        self.assertEqual([r["outcome"] for r in server.recorded_runs("job", 2)], ["running", "succeeded"])
        self.assertEqual(server.get("/recommend?job_name=job").json["based_on"]["runs"], 1)
        self.end(wrapper)


if __name__ == "__main__":
    main()
