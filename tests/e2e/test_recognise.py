"""A server finds the runs of jobs by itself. The test's processes have the same data as those of each system."""
import json
import os
import pathlib
import signal
import subprocess
import unittest
import uuid

from support import EXPORTER, PYTHON, Case, main, python_job, wait_until

# Waits for the end of its input, and exits with the given code.
WAITING = "import sys; sys.stdin.read(); sys.exit(int(sys.argv[1]))"

# Sets its title to the first word of each line, as Ray's workers do by setproctitle, and works for so many seconds.
# arg_start and arg_end of proc(5) give the place of the command line.
WORKER = """
import ctypes, sys, time
field = open("/proc/self/stat").read().rsplit(")", 1)[1].split()
begin, end = int(field[45]), int(field[46])
for line in sys.stdin:
    title, seconds = line.split()
    ctypes.memmove(begin, title.encode().ljust(end - begin, bytes(1)), end - begin)
    until = time.process_time() + float(seconds)
    while time.process_time() < until: pass
    print("done", flush=True)
"""


# The data that each system gives to its processes (environment, command line after Python's own words), and the
# resulting name. Only this test uses MARK.
SYSTEMS = {
    "metaflow": ({"MF_PATHSPEC": "MARK/12/fit/34", "MF_ATTEMPT": "0"}, [], "MARK/fit"),
    "flyte": ({"FLYTE_INTERNAL_EXECUTION_WORKFLOW": "shop:production:MARK", "FLYTE_INTERNAL_TASK_NAME": "load",
               "FLYTE_INTERNAL_EXECUTION_ID": "f3a", "FLYTE_ATTEMPT_NUMBER": "0"}, [], "MARK/load"),
    "airflow": ({"AIRFLOW_CTX_DAG_ID": "MARK", "AIRFLOW_CTX_TASK_ID": "load", "AIRFLOW_CTX_TRY_NUMBER": "1",
                 "AIRFLOW_CTX_DAG_RUN_ID": "scheduled__2026-11-21T00:00:00+00:00"}, [], "MARK/load"),
    "kubeflow": ({}, ["--pipeline_name", "MARK", "--run_id", "5d0f", "--", "--function_to_execute", "train"],
                 "MARK/train"),
    "argo": ({"ARGO_TEMPLATE": '{"name":"load","inputs":{}}', "ARGO_NODE_ID": "MARK-x7k2p-1234567890"}, [],
             "MARK/load"),
    "dagster": ({"DAGSTER_RUN_JOB_NAME": "MARK", "DAGSTER_RUN_STEP_KEY": "load[7]", "DAGSTER_RUN_ID": "u"}, [],
                "MARK/load"),
    "prefect": ({"PREFECT__FLOW_NAME": "MARK", "PREFECT__DEPLOYMENT_NAME": "nightly", "PREFECT__FLOW_RUN_ID": "u"}, [],
                "MARK/nightly"),
    "snakemake": ({}, ["--target-jobs", "MARK:sample=A", "--cores", "1"], "snakemake/MARK"),
    "spark": ({}, ["org.apache.spark.deploy.SparkSubmit", "--deploy-mode", "client", "--py-files", "deps.py", "--class",
                   "org.apache.spark.deploy.PythonRunner", "local:///opt/MARK.py", "--name", "run-77"], "MARK"),
    "slurm": ({"SLURM_JOB_NAME": "MARK_20261121", "SLURM_JOB_ID": "103", "SLURM_ARRAY_JOB_ID": "100",
               "SLURM_ARRAY_TASK_ID": "3"}, [], "MARK"),
    "aws-batch": ({"AWS_BATCH_JQ_NAME": "MARK", "AWS_BATCH_JOB_ID": "u:3", "AWS_BATCH_JOB_ARRAY_INDEX": "3",
                   "AWS_BATCH_JOB_ATTEMPT": "1"}, [], "MARK"),
    "sagemaker": ({"TRAINING_JOB_NAME": "MARK-2026-11-21-08-45-12-123", "TRAINING_JOB_ARN": "arn"}, [], "MARK"),
    "github-actions": ({"GITHUB_REPOSITORY": "o/MARK", "GITHUB_WORKFLOW": "CI", "GITHUB_JOB": "test",
                        "GITHUB_RUN_ID": "9", "GITHUB_RUN_ATTEMPT": "1"}, [], "o/MARK/CI/test"),
    "gitlab-ci": ({"GITLAB_CI": "true", "CI_PROJECT_PATH": "g/MARK", "CI_JOB_NAME": "test 2/5", "CI_JOB_ID": "71",
                   "CI_PIPELINE_ID": "7"}, [], "g/MARK/test"),
    "buildkite": ({"BUILDKITE_PIPELINE_SLUG": "MARK", "BUILDKITE_STEP_KEY": "test", "BUILDKITE_BUILD_ID": "u",
                   "BUILDKITE_JOB_ID": "v"}, [], "MARK/test"),
    "jenkins": ({"JOB_NAME": "folder/MARK", "STAGE_NAME": "Test", "BUILD_TAG": "jenkins-12", "BUILD_NUMBER": "12"},
                [], "folder/MARK/Test"),
}


class Recognise(Case):
    def setUp(self):
        super().setUp()
        # Other tests of this kind may run on the same machine. Their job names are different.
        self.mark = "t" + uuid.uuid4().hex[:12].translate(str.maketrans("0123456789", "ghijklmnop"))

    def begin(self, environment, command=None, code=0, **options):
        """Starts a job that waits, with only the given variables in its environment."""
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
        self.assertEqual(server.recorded_runs(name)[0]["outcome"], "running")
        self.end(job)
        self.ended(server, name)
        run = self.only_run(name)
        self.assertEqual(run["input_bytes"], 1234)
        self.assertIn((run["outcome"], run["exit_code"]), (("failed", 3), ("unknown", None)))
        self.assertGreater(run["memory_peak_bytes"], 1 << 20)
        self.assertGreater(run["cpu_seconds"], 0)
        self.assertGreater(run["samples"], 0)

    def test_numbers_that_the_wrapper_refuses_are_not_known(self):
        server = self.serve("--jobs.recognise")
        most = str(2**64 - 1)
        for name, attempt, size, cores, known in (
                ("low", "0", "0", "0", (None, 0, None)), ("high", most, most, most, (None, None, None)),
                ("least", "1", "1", "1", (1, 1, 1)), ("most", "1000", str(10**18), str(10**6), (1000, 1e18, 1e6)),
                ("beyond", "1001", str(10**18 + 10**3), str(10**6 + 1), (None, None, None))):
            with self.subTest(name):
                self.begin({"RIGHTSIZE_JOB_NAME": self.mark + name, "RIGHTSIZE_ATTEMPT": attempt, "RIGHTSIZE_INPUT_BYTES": size,
                            "SLURM_JOB_ID": "1", "SLURM_JOB_NAME": self.mark + name, "SLURM_CPUS_PER_TASK": cores})
                self.found(server, self.mark + name)
                (run,) = server.recorded_runs(self.mark + name)
                self.assertEqual(tuple(run.get(k) for k in ("attempt", "input_bytes", "requested_cpu_cores")), known)

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
        run = self.only_run(name)
        self.assertEqual((run["attempt"], run["system"], run["system_run"], run["labels"]),
                         (2, "metaflow", "argo-train-x7k2p", {"flow": self.mark, "step": "fit"}))

    def test_step_of_metaflow_is_found_by_its_command_line(self):
        server = self.serve("--jobs.recognise")
        script = self.folder / f"{self.mark}.py"
        script.write_text(WAITING.replace("int(sys.argv[1])", "0"))
        self.begin({}, [PYTHON, "-u", str(script), "--quiet", "step", "fit", "--run-id", "12", "--task-id", "34",
                        "--retry-count", "0"])
        self.found(server, f"{self.mark}/fit")

    def step_of(self, script, flow):
        """Starts a step whose script has a class of this name, or none."""
        text = WAITING.replace("int(sys.argv[1])", "0")
        if flow:
            text = (f"class {flow}(object):\n    def __init__(self):\n"
                    + "".join(f"        {line}\n" for line in text.splitlines() if line)
                    + f"if __name__ == '__main__':\n    {flow}()\n")
        (self.folder / script).write_text(text)
        return self.begin({}, [PYTHON, "-u", script, "--quiet", "step", "fit", "--run-id", "12", "--task-id", "34"],
                          cwd=self.folder)

    def test_step_of_metaflow_has_the_name_of_its_flow_s_class(self):
        server = self.serve("--jobs.recognise")
        self.step_of("train.py", self.mark)
        self.found(server, f"{self.mark}/fit")

    def test_runs_that_were_named_after_the_file_of_a_flow_get_the_name_of_its_class(self):
        server = self.serve("--jobs.recognise")
        old, new = self.mark, self.mark.upper()
        for flow, text in ((old, None), (new, new)):
            job = self.step_of(f"{self.mark}.py", text)
            self.found(server, f"{flow}/fit")
            self.end(job)
            self.ended(server, f"{flow}/fit")
        self.assertEqual(len(self.runs(f"{new}/fit")), 2)
        self.assertNotIn(f"{old}/fit", [job["job_name"] for job in self.query("jobs")["jobs"]])

    def test_processes_of_every_system_are_found_with_their_words(self):
        server = self.serve("--jobs.recognise")
        names = {}
        for system, (environment, arguments, name) in SYSTEMS.items():
            mark = self.mark + system.replace("-", "")
            self.begin({k: v.replace("MARK", mark) for k, v in environment.items()},
                       python_job(WAITING, "0", *(a.replace("MARK", mark) for a in arguments)))
            names[system] = name.replace("MARK", mark)
        names["nextflow"], names["ray"] = f"{self.mark}:ALIGN", f"ray/{self.mark}"
        (self.folder / ".command.run").write_text(f"#!/bin/bash\n### ---\n### name: '{names['nextflow']} (s 1)'\n### ...\ncat\n")
        self.begin({}, ["sh", ".command.run"], cwd=self.folder)
        self.begin({"RAY_JOB_ID": "01"}, [f"ray::{self.mark}", "-S", "-E", "-c", WAITING, "0"], executable=PYTHON)
        wait_until(lambda: {name for name in names.values() if server.job_value("rightsize_job_active_runs", name)}
                   == set(names.values()), "a run of each system")
        for system, name in names.items():
            with self.subTest(system=system):
                self.assertEqual(server.recorded_runs(name)[0]["system"], system)

    def test_worker_has_a_run_for_each_task_with_what_it_used_for_it(self):
        server = self.serve("--jobs.recognise")
        names = [f"ray/{self.mark}{i}" for i in range(2)]
        worker = self.begin({"RAY_JOB_ID": "01"}, python_job(WORKER, "x" * 200), stdout=subprocess.PIPE)

        def work(title, seconds):
            worker.stdin.write(f"ray::{title} {seconds}\n".encode())
            worker.stdin.flush()
            self.assertEqual(worker.stdout.readline(), b"done\n")

        work("IDLE", 0.6)
        for name in names:
            title = name.removeprefix("ray/")
            work(title, 0)
            self.found(server, name)
            work(title, 0.3)
            work("IDLE", 0)
            self.ended(server, name)
            work("IDLE", 0.6)
        worker.stdout.close()
        self.end(worker)
        for name in names:
            run = self.only_run(name)
            self.assert_close(run["cpu_seconds"], 0.3, 0.1, 0.15, f"CPU seconds of {name}")
            self.assertEqual((run["outcome"], run["exit_code"], run["system"]), ("unknown", None, "ray"))

    def test_what_a_job_starts_is_of_the_same_run(self):
        server = self.serve("--jobs.recognise")
        name = f"{self.mark}/tree"
        self.begin({"RIGHTSIZE_JOB_NAME": name}, ["sh", "-c", "exec 3<&0; cat <&3 & env -i cat <&3 & cat; wait"])
        wait_until(lambda: server.job_value("rightsize_job_processes", name) == 4, "four processes")
        self.assertEqual(server.job_value("rightsize_job_active_runs", name), 1)

    def test_run_goes_on_without_the_first_thread_of_its_root(self):
        server = self.serve("--jobs.recognise")
        name = f"{self.mark}/threads"
        job = self.begin({"RIGHTSIZE_JOB_NAME": name}, python_job("""
import ctypes, os, sys, threading
def work():
    block = b"x" * (100 << 20)
    sys.stdin.read()
    os._exit(7)
threading.Thread(target=work).start()
ctypes.CDLL(None).pthread_exit(None)
"""))
        wait_until(lambda: pathlib.Path(f"/proc/{job.pid}/stat").read_text().rsplit(")")[1].startswith(" Z"),
                   "the first thread to end")
        wait_until(lambda: (server.job_value("rightsize_job_memory_bytes", name) or 0) > 100 << 20, "its memory")
        self.assertEqual(server.job_value("rightsize_job_active_runs", name), 1)
        job.stdin.close()
        self.assertEqual(job.wait(), 7)
        self.ended(server, name)
        # If the kernel does not report the exit status to other processes, it is unknown.
        self.assertIn(self.only_run(name)["exit_code"], (7, None))

    def test_name_that_is_set_before_an_exec_is_found(self):
        server = self.serve("--jobs.recognise")
        name = f"{self.mark}/exec"
        job = self.begin({"NAME": name}, ["sh", "-c", "read go; export RIGHTSIZE_JOB_NAME=$NAME; exec cat"])
        # The finder checks all processes. The shell is known, and has no name.
        server.look_at_jobs()
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
        # Runs that the killed server left seem interrupted, until the server that continues them has written this.
        wait_until(lambda: self.only_run(name)["outcome"] != "interrupted", "its end by who went on with it")
        run = self.only_run(name)
        self.assertEqual((run["run_id"], run["started_at"]), (first["run_id"], first["started_at"]))
        self.assertIn(run["outcome"], ("succeeded", "unknown"))
        # CPU time that was used while no server ran counts once.
        self.assert_close(run["cpu_seconds"], 1.25, 0.1, 0.1, "CPU seconds over three servers")
        self.assertLess(run["cpu_cores_max"], 1.7)

    def write_rules(self, prefix):
        rules = self.folder / "rules.yaml"
        rules.write_text(f"""
rules:
  - command_line: 'ignored-{self.mark}'
    ignore: true
  - name: scripts
    command_line: '(?<flow>{self.mark}\\w*)\\.py --step (?<step>\\w+)'
    working_directory: '^{self.folder}$'
    job_name: '{prefix}{{flow}}/{{step}}'
""")
        return str(rules)

    def test_rules_of_the_site_name_jobs_and_are_read_again(self):
        rules = self.write_rules("")
        script = self.folder / f"{self.mark}.py"
        script.write_text(WAITING.replace("int(sys.argv[1])", "0"))
        server = self.serve("--jobs.recognise", f"--jobs.rules={rules}", "--web.allow-changes")
        first = self.begin({}, [PYTHON, str(script), "--step", "one"], cwd=self.folder)
        self.found(server, f"{self.mark}/one")
        # Rules take precedence over the built-in systems, and an ignored process is no job. Our own variable takes
        # precedence over both.
        self.begin({"AIRFLOW_CTX_DAG_ID": self.mark, "AIRFLOW_CTX_TASK_ID": "t", "AIRFLOW_CTX_DAG_RUN_ID": "r"},
                   python_job(WAITING, "0", f"ignored-{self.mark}"))
        self.begin({"RIGHTSIZE_JOB_NAME": f"{self.mark}/own"}, python_job(WAITING, "0", f"ignored-{self.mark}"))
        self.found(server, f"{self.mark}/own")
        self.assertIsNone(server.job_value("rightsize_job_active_runs", f"{self.mark}/t"))

        self.write_rules("new-")
        server.send(signal.SIGHUP)
        wait_until(lambda: len([line for line in server.log if "rules are in force" in line]) == 2, "the new rules")
        self.begin({}, [PYTHON, str(script), "--step", "two"], cwd=self.folder)
        self.found(server, f"new-{self.mark}/two")
        self.assertEqual(server.job_value("rightsize_job_active_runs", f"{self.mark}/one"), 1)

        (self.folder / "rules.yaml").write_text("rules:\n- user: '('\n  job_name: x\n")
        refused = server.get("/-/reload", "POST")
        self.assertEqual(refused.status, 500)
        self.assertIn("rules.yaml:2: user: missing closing parenthesis", refused.json["error"]["message"])
        self.begin({}, [PYTHON, str(script), "--step", "three"], cwd=self.folder)
        self.found(server, f"new-{self.mark}/three")
        (self.folder / "rules.yaml").unlink()
        os.mkfifo(self.folder / "rules.yaml")
        refused = server.get("/-/reload", "POST")
        self.assertEqual((refused.status, refused.json["error"]["code"]), (500, "bad_file"))
        self.assertIn("no program wrote", refused.json["error"]["message"])
        self.end(first)

    def test_rules_are_tried_without_a_server(self):
        rules = self.write_rules("")
        script = self.folder / f"{self.mark}.py"
        script.write_text(WAITING.replace("int(sys.argv[1])", "0"))
        job = self.begin({"SECRET": "hidden", "RIGHTSIZE_INPUT_BYTES": "5"},
                         [PYTHON, str(script), "--step", "one"], cwd=self.folder)
        wait_until(lambda: str(script) in pathlib.Path(f"/proc/{job.pid}/cmdline").read_text(), "the job's start")
        one = self.command("rules", "test", f"--jobs.rules={rules}", f"--pid={job.pid}").stdout
        self.assertIn("rule 1 (line 3): command_line does not match", one)
        self.assertIn(f"rule 2 (line 5, scripts) names it {self.mark}/one", one)
        captured = self.command("rules", "capture").stdout
        self.assertNotIn("SECRET", captured)
        (self.folder / "f.json").write_text(captured)
        process = next(p for p in json.loads(captured)["processes"] if p["pid"] == job.pid)
        self.assertEqual(process["environment"], {"RIGHTSIZE_INPUT_BYTES": "5"})
        self.assertEqual(process["working_directory"], str(self.folder))
        again = self.command("rules", "test", f"--jobs.rules={rules}", f"--processes={self.folder}/f.json").stdout
        self.assertIn(f"names it {self.mark}/one", again)
        self.assertEqual(self.command("rules", "check", f"--jobs.rules={rules}").stdout, f"{rules}: 2 rules\n")
        (self.folder / "bad.yaml").write_text("rules: 1")
        bad = self.command("rules", "check", f"--jobs.rules={self.folder}/bad.yaml")
        self.assertEqual(bad.returncode, 1)
        self.assertIn("bad.yaml:1: rules must be a list", bad.stderr)

    def test_what_a_system_says_of_a_run_is_told_with_its_name(self):
        job = self.begin({"SLURM_JOB_NAME": f"fit-{self.mark}", "SLURM_JOB_ID": "42", "SLURM_RESTART_COUNT": "2",
                          "SLURM_JOB_PARTITION": "long"}, ["sh", "-c", "cat; : \x1b[2J\r"])
        wait_until(lambda: "cat" in pathlib.Path(f"/proc/{job.pid}/cmdline").read_text(), "the job's start")
        told = self.command("rules", "test", f"--pid={job.pid}").stdout
        self.assertIn(f"slurm names it fit-{self.mark} job=fit-{self.mark} partition=long run=42 attempt=3\n", told)
        # A sequence that would clear a terminal is shown in another form.
        self.assertIn(f"{job.pid} sh -c cat; : ?[2J? \n", told)

    def test_name_in_a_file_is_captured_and_nothing_else_of_it(self):
        (self.folder / ".command.run").write_text(
            f"#!/bin/bash\n### ---\n### name: '{self.mark}:ALIGN (s 1)'\n### ...\nexport KEY=hidden{self.mark}\ncat\n")
        job = self.begin({}, ["sh", ".command.run"], cwd=self.folder)
        wait_until(lambda: ".command.run" in pathlib.Path(f"/proc/{job.pid}/cmdline").read_text(), "the job's start")
        captured = self.command("rules", "capture").stdout
        self.assertNotIn(f"hidden{self.mark}", captured)
        (self.folder / "f.json").write_text(captured)
        again = self.command("rules", "test", f"--processes={self.folder}/f.json", f"--pid={job.pid}").stdout
        self.assertIn(f"nextflow names it {self.mark}:ALIGN", again)

    def serve_pod(self, script, *flags):
        """Starts a server in a PID namespace of its own. Its first process stands for the pause process of a pod."""
        exporter = [EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}",
                    "--sample.interval=200ms", "--jobs.pod", *flags]
        pod = self.start_program(
            ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
             f'exec 3<&0; "$@" & {script} wait', "pause", *exporter],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            env={**self.environment, "POD_NAME": f"{self.mark}-28868640-x7k2p", "POD_UID": "uid"})
        # The namespace ends with its first process, which waits for its children.
        self.addCleanup(pod.kill)
        pod.wait_address()
        return pod

    def test_all_of_a_pod_but_the_exporter_is_one_run(self):
        self.needs_pid_namespaces()
        pod = self.serve_pod("env -i cat <&3 & env -i sh -c 'cat & cat' <&3 &")
        wait_until(lambda: pod.job_value("rightsize_job_processes", self.mark) in (3, 4), "the pod's processes")
        self.assertEqual(pod.job_value("rightsize_job_active_runs", self.mark), 1)
        self.assertEqual([job["job_name"] for job in pod.get("/jobs").json["jobs"]], [self.mark])

    def needs_pid_namespaces(self):
        if subprocess.run(["unshare", "--pid", "--fork", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("no right to make a PID namespace")

    def test_a_pod_ends_however_short_its_job_was(self):
        self.needs_pid_namespaces()
        pod = self.serve_pod("", "--exit-with-job", "--sample.interval=1h")
        pause = pathlib.Path(f"/proc/{pod.pid}/task/{pod.pid}/children").read_text().split()[0]
        # No sample sees it.
        subprocess.run(["nsenter", f"--target={pause}", "--pid", "sleep", "2"], check=True)
        self.assertEqual(pod.wait(), 0)
        pod.says('stopping.*reason="job ended"')
        self.assertFalse(pod.said("run found"))

    def test_a_pod_without_a_shared_namespace_ends_and_says_why(self):
        self.needs_pid_namespaces()
        pod = self.start_program(
            ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", EXPORTER, "serve", "--jobs.pod",
             "--exit-with-job", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}"],
            env={**self.environment, "POD_NAME": "p"})
        self.assertEqual(pod.wait(), 0)
        pod.says("shareProcessNamespace: true")

    def test_too_many_names_are_refused_and_counted(self):
        # The runs are announced, so that other jobs of this machine take no places.
        server = self.serve("--jobs.max=2", "--web.allow-changes")
        for i in range(4):
            body = json.dumps({"pid": os.getpid(), "job_name": f"{self.mark}/{i}"})
            answer = server.get("/jobs", "POST", body, Content_Type="application/json")
            self.assertEqual(answer.status, 201 if i < 2 else 503, answer.text)
        self.assertIn("--jobs.max", answer.json["error"]["message"])
        refused = server.metrics()[("rightsize_job_search_problems_total", frozenset({("problem", "too_many_jobs")}))]
        self.assertEqual(refused, 2)

    @unittest.skipIf(os.geteuid() != 0, "starts a process of another user")
    def test_names_of_one_user_without_a_run_make_room_for_those_of_another(self):
        # The runs are announced, so that other jobs of this machine take no places.
        server = self.serve("--jobs.max=3", "--web.allow-changes")

        def announce(name, process):
            body = json.dumps({"pid": process.pid, "job_name": f"{self.mark}/{name}"})
            return server.get("/jobs", "POST", body, Content_Type="application/json").status

        theirs = self.begin({}, user=65534, group=65534, extra_groups=[])
        self.assertEqual([announce(f"evil{i}", theirs) for i in range(5)], [201, 201, 201, 503, 503])
        self.end(theirs)
        for i in range(3):
            self.ended(server, f"{self.mark}/evil{i}")
        again = self.begin({}, user=65534, group=65534, extra_groups=[])
        self.assertEqual(announce("evil3", again), 503)
        self.assertEqual(announce("payroll", self.begin({})), 201)
        self.found(server, f"{self.mark}/payroll")
        # A name that lost its place loses nothing else. It gets the place of another name of its user.
        self.assertEqual(announce("evil0", again), 201)

    def test_nothing_is_found_when_it_is_switched_off(self):
        server = self.serve()
        name = f"{self.mark}/off"
        self.begin({"RIGHTSIZE_JOB_NAME": name})
        server.metrics()
        self.assertNotIn(name, [job["job_name"] for job in server.get("/jobs").json.get("jobs", [])])


if __name__ == "__main__":
    main()
