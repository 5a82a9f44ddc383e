"""A server that finds the runs of jobs by itself: real processes that carry what each system gives to its own."""
import os
import subprocess
import uuid

from support import PYTHON, Case, main, python_job, wait_until

# Waits for the end of its input, and ends as it was told.
WAITING = "import sys; sys.stdin.read(); sys.exit(int(sys.argv[1]))"


class Recognise(Case):
    def setUp(self):
        super().setUp()
        # Other tests of this kind may run on the same machine: names of ours are not theirs.
        self.mark = "t" + uuid.uuid4().hex[:12].translate(str.maketrans("0123456789", "ghijklmnop"))

    def begin(self, environment, command=None, code=0, **options):
        """A job that waits, with nothing in its environment but what is given."""
        process = subprocess.Popen(command or python_job(WAITING, str(code)), stdin=subprocess.PIPE,
                                   env={"PATH": os.environ["PATH"], **environment}, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.stdin and not process.stdin.closed:
            process.stdin.close()
        return process.wait()

    def found(self, server, job_name):
        wait_until(lambda: server.job_value("rightsize_job_active_runs", job_name) == 1, f"a run of {job_name}")

    def ended(self, server, job_name):
        wait_until(lambda: not server.job_value("rightsize_job_active_runs", job_name), f"the end of {job_name}")
        wait_until(lambda: all(run["outcome"] != "running" for run in self.runs(job_name)), "its record")

    def test_job_named_by_our_variable_is_recorded(self):
        server = self.serve("--jobs.recognise")
        name = f"{self.mark}/load"
        job = self.begin({"RIGHTSIZE_JOB_NAME": name, "RIGHTSIZE_INPUT_BYTES": "1234"}, code=3)
        self.found(server, name)
        self.assertEqual(server.get(f"/runs?job_name={name}").json["runs"][0]["outcome"], "running")
        self.end(job)
        self.ended(server, name)
        run = self.only_run(name)
        self.assertEqual(run["input_bytes"], 1234)
        self.assertIn((run["outcome"], run["exit_code"]), (("failed", 3), ("unknown", None)))
        self.assertGreater(run["memory_peak_bytes"], 1 << 20)
        self.assertGreater(run["cpu_seconds"], 0)
        self.assertGreater(run["samples"], 0)

    def test_job_that_was_there_before_the_server_is_found(self):
        name = f"{self.mark}/early"
        self.begin({"RIGHTSIZE_JOB_NAME": name})
        self.found(self.serve("--jobs.recognise"), name)

    def test_step_of_metaflow_is_found_by_its_environment(self):
        server = self.serve("--jobs.recognise")
        name = f"{self.mark}/fit"
        job = self.begin({"METAFLOW_FLOW_NAME": self.mark, "METAFLOW_STEP_NAME": "fit",
                          "METAFLOW_RUN_ID": "argo-train-x7k2p", "METAFLOW_RETRY_COUNT": "1"})
        self.found(server, name)
        self.end(job)
        self.ended(server, name)
        self.assertEqual(self.only_run(name)["attempt"], 2)

    def test_step_of_metaflow_is_found_by_its_command_line(self):
        server = self.serve("--jobs.recognise")
        script = self.folder / f"{self.mark}.py"
        script.write_text(WAITING.replace("int(sys.argv[1])", "0"))
        self.begin({}, [PYTHON, "-u", str(script), "--quiet", "step", "fit", "--run-id", "12", "--task-id", "34",
                        "--retry-count", "0"])
        self.found(server, f"{self.mark}/fit")

    def test_what_a_job_starts_is_of_the_same_run(self):
        server = self.serve("--jobs.recognise")
        name = f"{self.mark}/tree"
        self.begin({"RIGHTSIZE_JOB_NAME": name}, ["sh", "-c", "exec 3<&0; cat <&3 & env -i cat <&3 & cat; wait"])
        wait_until(lambda: server.job_value("rightsize_job_processes", name) == 4, "four processes")
        self.assertEqual(server.job_value("rightsize_job_active_runs", name), 1)

    def test_name_that_is_set_before_an_exec_is_found(self):
        server = self.serve("--jobs.recognise")
        name = f"{self.mark}/exec"
        job = self.begin({"NAME": name}, ["sh", "-c", "read go; export RIGHTSIZE_JOB_NAME=$NAME; exec cat"])
        # A scrape looks at all there is: the shell is known, and has no name.
        server.metrics()
        self.assertIsNone(server.job_value("rightsize_job_active_runs", name))
        job.stdin.write(b"go\n")
        job.stdin.flush()
        self.found(server, name)

    def test_what_a_wrapper_runs_is_recorded_once(self):
        server = self.serve("--jobs.recognise")
        name = f"{self.mark}/wrapped"
        wrapper = self.start_run(python_job(WAITING, "0"), name, stdin=subprocess.PIPE,
                                 env={**self.environment, "RIGHTSIZE_JOB_NAME": name})
        self.found(server, name)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        self.ended(server, name)
        self.assertEqual(self.only_run(name)["outcome"], "succeeded")

    def test_run_goes_on_after_a_restart_of_the_server(self):
        name = f"{self.mark}/long"
        spin = python_job("""
import sys, time
for line in sys.stdin:
    end = time.process_time() + 0.3
    while time.process_time() < end: pass
    print("done", flush=True)
""")
        job = self.begin({"RIGHTSIZE_JOB_NAME": name}, spin, stdout=subprocess.PIPE)

        def work():
            job.stdin.write(b"go\n")
            job.stdin.flush()
            self.assertEqual(job.stdout.readline(), b"done\n")

        server = self.serve("--jobs.recognise")
        self.found(server, name)
        work()
        server.stop()
        first = self.only_run(name)
        self.assertEqual(first["outcome"], "running")
        self.assertGreater(first["cpu_seconds"], 0.25)
        work()
        server = self.serve("--jobs.recognise")
        self.found(server, name)
        server.kill()
        work()
        server = self.serve("--jobs.recognise")
        self.found(server, name)
        work()
        job.stdout.close()
        self.end(job)
        self.ended(server, name)
        run = self.only_run(name)
        self.assertEqual((run["run_id"], run["started_at"]), (first["run_id"], first["started_at"]))
        self.assertIn(run["outcome"], ("succeeded", "unknown"))
        # Once what was used while no server ran, and nothing twice.
        self.assert_close(run["cpu_seconds"], 1.25, 0.1, 0.1, "CPU seconds over three servers")
        self.assertLess(run["cpu_cores_max"], 1.7)

    def test_nothing_is_found_when_it_is_switched_off(self):
        server = self.serve()
        name = f"{self.mark}/off"
        self.begin({"RIGHTSIZE_JOB_NAME": name})
        server.metrics()
        self.assertNotIn(name, [job["job_name"] for job in server.get("/jobs").json.get("jobs", [])])


if __name__ == "__main__":
    main()
