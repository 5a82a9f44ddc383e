"""A server and a wrapper continue when no process and no thread can be started."""
import base64
import contextlib
import http.client
import os
import pathlib
import signal
import subprocess
import sys
import unittest

from support import AS_ROOT, DEADLINE, SOMEBODY, STEADY, Machine, main, python_job, samples, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "accuracy"))
import groups  # noqa: E402

FAILING = [*STEADY[:-1], STEADY[-1] + "sys.exit(3)\n"]


class Limits(Machine):
    QUESTIONS = ("/", "/metrics", "/-/healthy", "/-/ready", "/jobs", "/runs?job_name=job", "/recommend?job_name=job",
                 "/stats?job_name=job", "/servers", "/overview", "/server")

    # The password is "pass".
    USERS = "basic_auth_users:\n  ann: $2b$04$u8vOThsn0r9KAgkKR8QFIOXU8wJ4ibNrjImnQYNIChUuO0aOzcImW\n"
    AUTHORIZATION = {"Authorization": "Basic " + base64.b64encode(b"ann:pass").decode()}

    def get(self, path, password="pass"):
        return self.server.get(path, Authorization="Basic " + base64.b64encode(f"ann:{password}".encode()).decode())

    def value(self, name, **labels):
        return samples(self.get("/metrics").text).get((name, frozenset(labels.items())))

    def goes_on(self, identity, options, shut):
        """shut(server, wrapper) makes it impossible for both to start threads and processes. Both were started with the
        options, before there were users and requests. Afterwards passwords, streams and scrapes are answered, jobs are
        found and followed, and both end as usual."""
        users = self.folder / "web.yml"
        users.write_text("# Those who come later.\n")
        self.environment["RIGHTSIZE_CATALOGUE_CACHE"] = str(self.folder / "theirs" / "cache.db")
        program = self.place_of(identity)

        def start(command, *flags, **more):
            return self.start_program([program, *flags, f"--history.path={self.history}", "--sample.interval=100ms", *command],
                                      **options, **more)
        self.server = start([], "serve", "--web.listen-address=127.0.0.1:0", "--jobs.recognise", f"--web.config.file={users}",
                            "--catalogue.refresh", "--catalogue.url=http://127.0.0.1:9")
        self.server.wait_address()
        self.assertEqual(start(["--", "true"], "run", "--job-name=job").wait(), 0)
        wrapper = start(["--", *FAILING], "run", "--job-name=job", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        wrapper.process.stdout.readline()
        shut(self.server, wrapper)
        self.assertEqual(self.server.get("/-/healthy").status, 200)
        users.write_text(self.USERS)
        wait_until(lambda: self.server.get("/-/healthy").status == 401, "the users")
        self.assertEqual(self.get("/metrics", "past").status, 401)
        self.assertEqual(self.get("/metrics").status, 200)
        self.assertEqual({path: self.get(path).status for path in self.QUESTIONS}, dict.fromkeys(self.QUESTIONS, 200))
        self.assertIn("start the thread", self.get("/servers").json["catalogue"]["problem"])
        looks = set()

        def looked(times):
            looks.add(self.value("rightsize_snapshot_timestamp_seconds"))
            return len(looks) >= times
        wait_until(lambda: looked(3), "two later looks")
        self.assertIn(b"event: samples", self.first_event())
        self.finds_and_follows(identity)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 3)
        self.assertEqual(sorted((r["outcome"], r["exit_code"]) for r in self.runs()), [("failed", 3), ("succeeded", 0)])
        self.server.send(signal.SIGTERM)
        self.assertEqual(self.server.wait(), 0)

    def finds_and_follows(self, identity):
        """A job that begins now, elsewhere, and that no client announces."""
        found = subprocess.Popen(STEADY, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env={"RIGHTSIZE_JOB_NAME": "found"},
                                 **identity)
        self.addCleanup(found.wait)
        self.addCleanup(found.stdin.close)
        wait_until(lambda: self.value("rightsize_job_active_runs", job_name="found") == 1, "the job that is found")
        used = self.value("rightsize_job_cpu_seconds_total", job_name="found")
        wait_until(lambda: self.value("rightsize_job_cpu_seconds_total", job_name="found") > used, "what it uses")
        found.stdin.close()
        found.wait()
        wait_until(lambda: self.value("rightsize_job_active_runs", job_name="found") == 0, "its end")

    def first_event(self):
        """Returns the first event of the running run."""
        run_id = next(r["run_id"] for r in self.runs() if r["outcome"] == "running")
        with contextlib.closing(http.client.HTTPConnection(self.server.host, self.server.port, timeout=DEADLINE)) as connection:
            connection.request("GET", f"/events?run={run_id}", headers=self.AUTHORIZATION)
            response, read = connection.getresponse(), b""
            self.assertEqual(response.status, 200, response.read() if response.status != 200 else "")
            while b"\n\n" not in read:
                read += response.read1()
            return read

    def test_going_on_needs_no_process_and_no_thread(self):
        """The limit is that of a user who is not root."""
        def shut(*programs):
            for program in programs:
                # Without CAP_SYS_RESOURCE, root may not set limits of other processes. A process may set its own
                # limits.
                subprocess.run(["prlimit", f"--pid={program.pid}", "--nproc=0"], check=True, **self.somebody)
        self.goes_on(self.somebody, self.somebody, shut)

    def goes_on_in_a_full_group(self, identity):
        folder = self.enterContext(groups.limited("pids", ("pids.max", "pids.max"), "pids", "max"))
        if isinstance(folder, str):
            self.skipTest(folder)

        def enter():
            (folder / "cgroup.procs").write_text("0")
            if identity:
                os.setgroups([])
                os.setgid(SOMEBODY)
                os.setuid(SOMEBODY)

        def shut(server, wrapper):
            members = (folder / "cgroup.procs").read_text().split()
            self.assertLessEqual({str(server.pid), str(wrapper.pid)}, set(members))
            # The limit is below the current number. Otherwise the end of a thread or of the job would make room.
            (folder / "pids.max").write_text("1")
            fork = subprocess.run(python_job("import os; os.fork()"), preexec_fn=enter, capture_output=True, check=False)
            self.assertIn(b"BlockingIOError", fork.stderr)
        self.goes_on(identity, {"preexec_fn": enter}, shut)

    def test_in_a_full_group_of_somebody(self):
        self.goes_on_in_a_full_group(self.somebody)

    @unittest.skipUnless(AS_ROOT, "only root has the rights of root")
    def test_in_a_full_group_of_root(self):
        self.goes_on_in_a_full_group({})


if __name__ == "__main__":
    main()
