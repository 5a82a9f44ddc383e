"""Clients announce runs to a server over its Unix socket and over TCP, and report how they end."""
import contextlib
import http.client
import json
import os
import socket
import subprocess
import time

from support import DEADLINE, Answer, Case, main, python_job, wait_until

WAITING = python_job("import sys; sys.stdin.read(); sys.exit(3)")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=DEADLINE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Announce(Case):
    def setUp(self):
        super().setUp()
        self.socket = str(self.folder / "socket")

    def serve_unix(self, *flags):
        return self.serve(f"--web.unix-socket={self.socket}", *flags)

    def post(self, path, body):
        with contextlib.closing(UnixConnection(self.socket)) as connection:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            return Answer(response, response.read())

    def outcome(self, job_name):
        """The outcome of the only run of the job; None until the history has it, because POST answers before."""
        result = self.command("runs", f"--history.path={self.history}", f"--job-name={job_name}")
        return None if result.returncode and "is known" in result.stderr else self.only_run(job_name)["outcome"]

    def job(self):
        job = subprocess.Popen(WAITING, stdin=subprocess.PIPE)
        self.addCleanup(self.end, job)
        return job

    @staticmethod
    def end(job):
        if not job.stdin.closed:
            job.stdin.close()
        return job.wait()

    def test_the_pod_of_the_exporter_gives_the_namespace(self):
        self.environment = dict(self.environment, POD_NAMESPACE="etl")
        job = self.job()
        for flags, space in (((), "etl"), (("--jobs.namespace=ml",), "ml"), (("--no-jobs.pod-namespace",), None)):
            server = self.serve_unix(*flags)
            self.assertEqual(self.post("/jobs", {"pid": job.pid, "job_name": "load"}).json.get("namespace"), space, flags)
            self.assertEqual(self.post("/jobs", {"pid": job.pid, "job_name": "mine", "namespace": "own"}).json["namespace"], "own")
            server.stop()

    def test_announced_run_is_recorded_with_what_it_asked_for(self):
        server = self.serve_unix()
        job = self.job()
        answer = self.post("/jobs", {"pid": job.pid, "job_name": "etl/load", "labels": {"team": "data"},
                                     "requested": {"cpu": "2500m", "memory": "1Gi"}, "input_bytes": "77"})
        self.assertEqual(answer.status, 201, answer.text)
        self.assertEqual(server.job_value("rightsize_job_active_runs", "etl/load"), 1)
        again = self.post("/jobs", {"pid": job.pid, "job_name": "etl/load"})
        self.assertEqual((again.status, again.json["run_id"]), (200, answer.json["run_id"]))
        self.end(job)
        wait_until(lambda: self.only_run("etl/load")["outcome"] != "running", "the end of the run")
        run = self.only_run("etl/load")
        self.assertEqual(run["run_id"], answer.json["run_id"])
        self.assertEqual((run["requested_cpu_cores"], run["requested_memory_bytes"], run["input_bytes"]),
                         (2.5, 1 << 30, 77))
        self.assertIn((run["outcome"], run["exit_code"]), (("failed", 3), ("unknown", None)))

    def test_process_announces_itself_and_its_end(self):
        server = self.serve_unix()
        answer = self.post("/jobs", {"job_name": "self"})
        self.assertEqual((answer.status, answer.json["pid"]), (201, os.getpid()))
        run_id = answer.json["run_id"]
        self.assertEqual(self.post(f"/runs/{run_id}/finish", {"outcome": "great"}).status, 400)
        self.assertEqual(self.post(f"/runs/{run_id}/finish", {"outcome": "failed", "end_reason": ""}).status, 400)
        ended = self.post(f"/runs/{run_id}/finish", {"outcome": "oom_killed", "exit_code": 137})
        self.assertEqual(ended.status, 200, ended.text)
        wait_until(lambda: self.only_run("self")["outcome"] == "oom_killed", "the end of the run")
        self.assertEqual(self.only_run("self")["exit_code"], 137)
        self.assertEqual(server.job_value("rightsize_job_active_runs", "self"), 0)
        self.assertEqual(self.post(f"/runs/{run_id}/finish", {"outcome": "failed"}).status, 404)

    def test_an_attempt_is_a_small_number(self):
        self.serve_unix()
        for attempt, status in ((0, 400), (1001, 400), (1000, 201)):
            answer = self.post("/jobs", {"job_name": "retried", "attempt": attempt})
            self.assertEqual(answer.status, status, answer.text)
        run_id = answer.json["run_id"]
        self.post(f"/runs/{run_id}/finish", {"outcome": "succeeded"})
        wait_until(lambda: self.only_run("retried")["outcome"] == "succeeded", "the end of the run")
        self.assertEqual(self.only_run("retried")["attempt"], 1000)

    def test_the_line_to_paste_is_that_of_the_system_that_a_client_names(self):
        server = self.serve_unix()
        for system, line in (("metaflow", "@"), ("airflow", "V1ResourceRequirements"), (None, "--cpus=")):
            job_name = f"system/{system}"
            body = {"job_name": job_name, **({"system": system} if system else {})}
            run_id = self.post("/jobs", body).json["run_id"]
            self.assertEqual(self.post("/jobs", body).json["run_id"], run_id, "the same job at this process is one run")
            self.post(f"/runs/{run_id}/finish", {"outcome": "succeeded"})
            wait_until(lambda job_name=job_name: self.outcome(job_name) == "succeeded", "the end of the run")
            paste = server.get(f"/recommend?job_name={job_name}").json["paste"]
            self.assertEqual(paste["format"], system or "docker")
            self.assertIn(line, paste["text"])
            self.assertEqual(self.only_run(job_name)["system"], system or "announced")
        answer = self.post("/jobs", {"job_name": "other", "system": "cobol"})
        self.assertEqual(answer.status, 400)
        self.assertIn("metaflow, ", answer.text)

    def test_a_client_tells_that_a_time_limit_ended_a_run(self):
        self.serve_unix()
        for body, exit_code, reason in (({"outcome": "DeadlineExceeded"}, None, "DeadlineExceeded"),
                                        ({"outcome": "failed", "exit_code": 1, "end_reason": "DeadlineExceeded"}, 1, "DeadlineExceeded"),
                                        ({"outcome": "failed", "exit_code": 1}, 1, None)):
            job_name = f"cut/{exit_code}/{reason}"
            run_id = self.post("/jobs", {"job_name": job_name}).json["run_id"]
            self.assertEqual(self.post(f"/runs/{run_id}/finish", body).json["outcome"], "failed")
            wait_until(lambda job_name=job_name: self.outcome(job_name) == "failed", "the end of the run")
            run = self.only_run(job_name)
            self.assertEqual([run["exit_code"], run.get("end_reason")], [exit_code, reason])

    def test_a_peak_that_a_client_knows_raises_the_peaks_of_the_run(self):
        self.serve_unix()
        for known, status, source in ((7 << 30, 200, "rusage"), ("7Gi", 200, "rusage"), (1, 200, "samples"), (10 ** 17, 200, "samples"),
                                      (0, 400, None), (-1, 400, None), ("much", 400, None)):
            job_name = f"peak/{known}"
            run_id = self.post("/jobs", {"job_name": job_name, "from_now": True}).json["run_id"]
            answer = self.post(f"/runs/{run_id}/finish", {"outcome": "succeeded", "memory_peak_process_bytes": known})
            self.assertEqual(answer.status, status, answer.text)
            if status != 200:
                self.assertEqual(self.post(f"/runs/{run_id}/finish", {"outcome": "failed"}).status, 200)
                continue
            wait_until(lambda job_name=job_name: self.outcome(job_name) == "succeeded", "the end of the run")
            run = self.only_run(job_name)
            # The kernel's mark counts if it rose between two samples, as it may on a busy machine.
            self.assertIn(run["memory_source"], (source, "vmhwm") if source == "samples" else (source,))
            self.assertIsNone(run.get("not_measured"), "a peak that cannot be true takes nothing else with it")
            for key in ("memory_peak_bytes", "memory_peak_process_bytes"):
                if known == 10 ** 17 and run[key] is None:
                    continue
                (self.assertEqual if source == "rusage" else self.assertLess)(run[key], 7 << 30)

    def test_a_run_from_now_on_counts_nothing_from_before(self):
        self.serve_unix("--sample.interval=100ms")
        job = self.start_program(python_job(
            "import sys, time\n"
            "x = bytearray(b'x' * (200 << 20))\n"
            "del x\n"
            "while time.process_time() < 0.5: pass\n"
            "print(flush=True)\n"
            "sys.stdin.readline()\n"
            "y = bytearray(b'y' * (50 << 20))\n"
            "print(flush=True)\n"
            "sys.stdin.read()"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        job.process.stdout.readline()
        for name, from_now in (("whole", False), ("part", True)):
            answer = self.post("/jobs", {"pid": job.pid, "job_name": name, "from_now": from_now})
            self.assertEqual(answer.status, 201, answer.text)
            again = self.post("/jobs", {"pid": job.pid, "job_name": name, "from_now": from_now})
            self.assertEqual((again.status, again.json["run_id"]), (200, answer.json["run_id"]))
        job.process.stdin.write(b"\n")
        job.process.stdin.flush()
        job.process.stdout.readline()
        wait_until(lambda: self.outcome("part") and (self.only_run("part")["memory_peak_bytes"] or 0) > 50 << 20,
                   "the memory of the part")
        self.end(job.process)
        wait_until(lambda: {self.outcome(name) for name in ("whole", "part")} & {None, "running"} == set(), "the ends")
        whole, part = self.only_run("whole"), self.only_run("part")
        self.assertGreater(whole["memory_peak_bytes"], 200 << 20)
        self.assertLess(part["memory_peak_bytes"], 150 << 20)
        self.assertGreater(whole["cpu_seconds"], 0.5)
        self.assertLess(part["cpu_seconds"], 0.3)
        self.assertGreater(whole["duration_seconds"], part["duration_seconds"])

    def test_a_run_from_now_on_is_not_continued_by_a_later_server(self):
        job = self.job()
        server = self.serve_unix()
        body = {"pid": job.pid, "job_name": "part", "from_now": True}
        first = self.post("/jobs", body).json["run_id"]
        wait_until(lambda: self.outcome("part"), "the run in the history")
        server.kill()
        self.serve_unix()
        self.assertEqual(self.post(f"/runs/{first}/finish", {"outcome": "succeeded"}).status, 404)
        second = self.post("/jobs", body)
        self.assertEqual(second.status, 201, second.text)
        wait_until(lambda: {run["run_id"]: run["outcome"] for run in self.runs("part")} ==
                   {first: "interrupted", second.json["run_id"]: "running"}, "both runs")

    def test_exit_with_job_waits_for_a_run_that_began_just_now(self):
        server = self.start("serve", "--web.listen-address=none", f"--web.unix-socket={self.socket}", "--exit-with-job",
                            "--no-jobs.recognise", f"--history.path={self.history}", stdout=subprocess.DEVNULL)
        server.says(f"address=unix:{self.socket}")
        for i in range(8):
            run_id = self.post("/jobs", {"job_name": f"short/{i}", "from_now": True}).json["run_id"]
            self.assertEqual(self.post(f"/runs/{run_id}/finish", {"outcome": "succeeded"}).status, 200)
            self.assertIsNone(server.process.poll(), f"the server ended before run {i}")
            time.sleep(1)
        self.assertEqual(server.wait(), 0)

    def test_a_server_may_have_no_address_but_its_socket(self):
        server = self.start("serve", "--web.listen-address=none", f"--web.unix-socket={self.socket}",
                            f"--history.path={self.history}", stdout=subprocess.DEVNULL)
        server.says(f"address=unix:{self.socket}")
        self.assertEqual(self.post("/jobs", {"job_name": "self"}).status, 201)
        listening = subprocess.run(["ss", "-Htlnp"], stdout=subprocess.PIPE, check=False).stdout.decode()
        self.assertNotIn(f"pid={server.pid},", listening)
        server.stop()
        alone = self.start("serve", "--web.listen-address=none", f"--history.path={self.history}", stdout=subprocess.DEVNULL)
        self.assertEqual(alone.wait(), 1)
        alone.says("nothing to serve on")

    def test_announced_run_survives_a_restart_of_the_server(self):
        job = self.job()
        for end in ("stop", "kill"):
            with self.subTest(end=end):
                server = self.serve_unix()
                first = self.post("/jobs", {"pid": job.pid, "job_name": end}).json["run_id"]
                wait_until(lambda: self.only_run(end), "the run in the history")
                getattr(server, end)()
                server = self.serve_unix()
                self.assertEqual(self.post(f"/runs/{first}/finish", {"outcome": "succeeded"}).status, 200)
                following = self.post("/jobs", {"pid": job.pid, "job_name": end})
                self.assertEqual(following.status, 201, following.text)
                self.assertNotEqual(following.json["run_id"], first)
                wait_until(lambda: {run["run_id"]: run["outcome"] for run in self.runs(end)} ==
                           {first: "succeeded", following.json["run_id"]: "running"}, "both runs")
                server.stop()

    def test_nothing_is_announced_over_tcp_unless_it_is_allowed(self):
        body = json.dumps({"pid": os.getpid(), "job_name": "tcp"})
        server = self.serve()
        refused = server.get("/jobs", "POST", body, Content_Type="application/json")
        self.assertEqual((refused.status, refused.json["error"]["code"]), (403, "not_allowed"))
        server.stop()
        server = self.serve("--web.allow-changes")
        self.assertEqual(server.get("/jobs", "POST", body, Content_Type="application/json").status, 201)
        foreign = server.get("/jobs", "POST", body, Content_Type="application/json", Host="rebound.example")
        self.assertEqual((foreign.status, foreign.json["error"]["code"]), (403, "bad_host"))
        large = server.get("/jobs", "POST", " " * 300000, Content_Type="application/json")
        self.assertEqual((large.status, large.json["error"]["code"]), (413, "too_large"))
        self.assertEqual(server.get("/-/healthy").status, 200)

    def test_mistakes_are_explained(self):
        server = self.serve_unix()
        thread = max(int(t) for t in os.listdir(f"/proc/{server.pid}/task"))
        gone = subprocess.Popen(["true"])
        gone.wait()
        for body, status, said in (
                ({"pid": gone.pid, "job_name": "x"}, 404, "no process"),
                ({"pid": thread, "job_name": "x"}, 404, f"is a thread of process {server.pid}"),
                ({"pid": 0, "job_name": "x"}, 400, "whole number"),
                ({"job_name": ""}, 400, "accepted is a text"),
                ({}, 400, "needs job_name"),
                ({"job_name": "x", "requested": {"ram": 1}}, 400, "there are: cpu, memory"),
                ({"job_name": "x", "labels": {"a": 1}}, 400, "labels")):
            with self.subTest(body=body):
                answer = self.post("/jobs", body)
                self.assertEqual(answer.status, status, answer.text)
                self.assertIn(said, answer.json["error"]["message"])

    def test_socket_of_a_server_that_was_killed_is_replaced_and_a_live_one_is_not(self):
        first = self.serve_unix()
        second = self.start("serve", "--web.listen-address=127.0.0.1:0", f"--web.unix-socket={self.socket}",
                            f"--history.path={self.folder / 'other.db'}", stdout=subprocess.DEVNULL)
        self.assertEqual(second.wait(), 1)
        second.says("in use")
        first.kill()
        self.serve_unix()
        self.assertEqual(self.post("/jobs", {"job_name": "self"}).status, 201)
        self.assertEqual(os.stat(self.socket).st_mode & 0o777, 0o600)


if __name__ == "__main__":
    main()
