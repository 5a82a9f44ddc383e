"""Exporters and declared helpers inside a job are not in any number of the run. All children of the job itself are."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "accuracy"))
import groups  # noqa: E402
from support import DEADLINE, EXPORTER, Case, main, python_job, wait_until  # noqa: E402
from test_announce import UnixConnection  # noqa: E402

# A process of a job. work() uses CPU time and memory, and told() writes the usage of the process to a file.
WORK = """
import os, signal, subprocess, sys, time
def work(seconds, megabytes=0):
    global held
    held = bytearray(b"x" * (megabytes << 20))
    end = time.process_time() + seconds
    while time.process_time() < end: pass
def told(path):
    open(path, "w").write(str(time.process_time()))
"""


def worker(code):
    return python_job(WORK + code)


class Helpers(Case):
    def setUp(self):
        super().setUp()
        self.socket = str(self.folder / "socket")
        self.serve_words = ["serve", "--web.listen-address=127.0.0.1:0", f"--web.unix-socket={self.socket}",
                            f"--history.path={self.history}", "--sample.interval=200ms", "--no-jobs.recognise"]

    def post(self, path, body):
        with contextlib.closing(UnixConnection(self.socket)) as connection:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, json.loads(response.read())

    def ended_run(self, job_name="job"):
        def ended():
            runs = self.runs(job_name)
            return runs and all(run["outcome"] != "running" for run in runs)
        wait_until(ended, f"the end of the run of {job_name}")
        return self.only_run(job_name)

    def run_so_far(self, job_name):
        """Returns the only run of the job; {} until the history has it, because POST /jobs answers before."""
        result = self.command("runs", f"--history.path={self.history}", f"--job-name={job_name}")
        if result.returncode and "is known" in result.stderr:
            return {}
        return self.only_run(job_name)

    def exporter_in(self, parent):
        """The pid of the exporter below a process."""
        def find():
            for pid in filter(str.isdigit, os.listdir("/proc")):
                with contextlib.suppress(OSError, IndexError):
                    words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    if f"--web.unix-socket={self.socket}".encode() in words and int(fields[1]) == parent:
                        return int(pid)
            return None
        return wait_until(find, "the exporter of the job")

    def wait_for_socket(self):
        def answers():
            with contextlib.suppress(OSError):
                return self.post("/jobs", {"helper": True})[0]
            return None
        wait_until(answers, "the exporter's socket")

    @staticmethod
    def is_gone(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    def start_job(self, words, program=EXPORTER, before=""):
        """A Python job that starts an exporter and waits; reads commands to exec from its input."""
        code = f"""
{before}
exporter = subprocess.Popen([{program!r}, *{words!r}], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
for line in sys.stdin: exec(line)
"""
        began_at = time.time()
        job = self.start_program(worker(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        job.began_at = began_at
        self.addCleanup(self.end_exporter, pid := self.exporter_in(job.pid))
        self.wait_for_socket()
        return job, pid

    def end_exporter(self, pid):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: self.is_gone(pid), "the end of the exporter")

    def tell(self, job, line):
        job.process.stdin.write((line + "; print(flush=True)\n").encode())
        job.process.stdin.flush()
        job.process.stdout.readline()

    def test_killed_job_that_started_the_exporter_ends_as_failed(self):
        for exits in (True, False):
            with self.subTest(exits=exits):
                name = f"killed/{exits}"
                flags = ["--exit-with-job", "--web.linger=0s"] if exits else []
                job, exporter = self.start_job([*self.serve_words, *flags])
                began_at = job.began_at
                status, answer = self.post("/jobs", {"pid": job.pid, "job_name": name})
                self.assertEqual(status, 201, answer)
                self.tell(job, "child = subprocess.Popen(['sleep', '1000'])")
                self.tell(job, "time.sleep(1); child.kill(); child.wait()")
                killed_at = time.time()
                job.kill()
                run = self.ended_run(name)
                self.assertEqual((run["outcome"], run["exit_code"], run["exit_signal"]), ("failed", None, 9), run)
                self.assertEqual(run["processes_max"], 2)
                # Two intervals, plus the delay of a busy machine.
                self.assertLess(run["duration_seconds"], killed_at - began_at + 2.4)
                if exits:
                    wait_until(lambda: self.is_gone(exporter), "the end of the exporter")
                else:
                    self.assertFalse(self.is_gone(exporter))
                    self.end_exporter(exporter)

    def test_job_that_is_killed_for_memory_beside_its_exporter(self):
        with groups.limited_memory("helpers", 100 << 20) as folder:
            if isinstance(folder, str):
                self.skipTest(folder)
            before = f"open({str(folder / 'cgroup.procs')!r}, 'w').write('0')"
            job, exporter = self.start_job([*self.serve_words, "--exit-with-job"], before=before)
            self.assertEqual(self.post("/jobs", {"pid": job.pid, "job_name": "oom"})[0], 201)
            wait_until(lambda: self.run_so_far("oom").get("processes_max"), "a sample")
            job.killed = True
            job.process.stdin.write(b"work(0, 200)\n")
            job.process.stdin.flush()
            job.process.wait(DEADLINE)
            run = self.ended_run("oom")
            self.assertEqual((run["outcome"], run["exit_signal"], run["processes_max"]), ("oom_killed", 9, 1), run)
            wait_until(lambda: self.is_gone(exporter), "the end of the exporter")

    def test_exporter_in_the_background_of_the_script_that_is_the_job(self):
        words = " ".join(self.serve_words)
        busy = worker("work(0.5, 40); sys.stdin.read()")
        serve = f"{EXPORTER} {words} 2>/dev/null"
        for form in (f"{serve} & exec \"$@\"", f"{serve} & \"$@\"", f"(setsid {serve} &) ; \"$@\""):
            with self.subTest(form=form):
                name = f"script/{len(form)}"
                job = self.start_program(["sh", "-c", form, "sh", *busy], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
                self.wait_for_socket()
                status, answer = self.post("/jobs", {"pid": job.pid, "job_name": name})
                self.assertEqual(status, 201, answer)
                wait_until(lambda: (self.run_so_far(name).get("cpu_seconds") or 0) > 0.4, "the work")
                job.process.stdin.close()
                job.process.wait(DEADLINE)
                run = self.ended_run(name)
                self.assertEqual(run["processes_max"], 1 if "exec" in form else 2, run)
                self.assertEqual(run["outcome"], "succeeded" if run["exit_code"] == 0 else "unknown", run)
                self.assert_close(run["cpu_seconds"], 0.5, 0, 0.15, "CPU time")
                for pid in filter(str.isdigit, os.listdir("/proc")):
                    with contextlib.suppress(OSError):
                        if self.history.encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                            self.end_exporter(int(pid))

    def test_copy_with_another_name_is_recognised_by_its_file(self):
        other = self.folder / "watcher"
        shutil.copy(EXPORTER, other)
        job, _ = self.start_job(self.serve_words, program=str(other))
        self.assertEqual(self.post("/jobs", {"pid": job.pid, "job_name": "renamed"})[0], 201)
        self.tell(job, "work(0.3)")
        job.kill()
        self.assertEqual(self.ended_run("renamed")["processes_max"], 1)

    def test_two_exporters_below_one_job(self):
        second = ["serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.folder}/other.db", "--no-jobs.recognise"]
        before = f"other = subprocess.Popen([{EXPORTER!r}, *{second!r}], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)"
        job, _ = self.start_job(self.serve_words, before=before)
        self.assertEqual(self.post("/jobs", {"pid": job.pid, "job_name": "two"})[0], 201)
        self.tell(job, "time.sleep(1); other.terminate(); other.wait()")
        job.kill()
        run = self.ended_run("two")
        self.assertEqual((run["processes_max"], run["exit_signal"]), (1, 9), run)

    def used(self, *names):
        """Returns the CPU times that the processes with these names wrote down. An interpreter uses a little more at its end."""
        return sum(float((self.folder / name).read_text()) for name in names)

    def helper_job(self, environment):
        """A job with a child, and with a busy helper that has a child, too. All are waited for."""
        def told(name):
            return f"told({str(self.folder / name)!r}); time.sleep(0.5)"
        nested = worker(f"work(0.4, 60); {told('nested')}")
        helper = worker(f"subprocess.run({nested!r}); work(0.6, 60); {told('helper')}")
        child = worker(f"work(0.3, 30); {told('child')}")
        return worker(f"""
helper = subprocess.Popen({helper!r}, env={{**os.environ, **{environment!r}}})
child = subprocess.Popen({child!r})
work(0.2)
child.wait(); helper.wait()
{told('job')}
""")

    def test_declared_helper_and_its_children_are_left_out_of_a_wrapped_run(self):
        for flags in ((), ("--no-run.cgroup",)):
            for value in (None, "1", "0"):
                with self.subTest(flags=flags, value=value):
                    name = f"wrapped/{len(flags)}/{value}"
                    job = self.helper_job({"RIGHTSIZE_HELPER": value} if value else {})
                    result = self.run_job(job, name, ["--sample.interval=100ms", "--quiet", *flags])
                    self.assertEqual(result.returncode, 0, result.stderr)
                    run = self.only_run(name)
                    counted = ("job", "child") if value == "1" else ("job", "child", "helper", "nested")
                    self.assertEqual(run["processes_max"], len(counted))
                    self.assert_close(run["cpu_seconds"], self.used(*counted), 0.02, 0.04 * len(counted), "CPU time")
                    if value == "1":
                        self.assertLess(run["memory_peak_bytes"], 85 << 20)
                    else:
                        self.assertGreater(run["memory_peak_bytes"], 120 << 20)

    def test_variable_in_the_environment_of_the_job_itself_declares_nothing(self):
        self.environment["RIGHTSIZE_HELPER"] = "1"
        child = worker("work(0.4); time.sleep(0.5)")
        self.run_job(worker(f"subprocess.run({child!r})"), "whole", ["--sample.interval=100ms", "--quiet"])
        run = self.only_run("whole")
        self.assertEqual(run["processes_max"], 2)
        self.assert_close(run["cpu_seconds"], 0.4, 0.05, 0.15, "CPU time")

    def test_process_declares_itself_or_another_over_the_socket(self):
        self.serve(f"--web.unix-socket={self.socket}")
        busy = worker("work(0.5); print(flush=True); sys.stdin.read()")
        code = f"""
child = subprocess.Popen({busy!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
helper = subprocess.Popen({busy!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline(); helper.stdout.readline()
print(child.pid, helper.pid, flush=True)
sys.stdin.readline()
helper.communicate(b""); child.communicate(b"")
"""
        job = self.start_program(worker(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child, helper = map(int, job.process.stdout.readline().split())
        self.assertEqual(self.post("/jobs", {"pid": job.pid, "job_name": "posted"})[0], 201)
        wait_until(lambda: (self.run_so_far("posted").get("processes_max")) == 3, "all processes")
        self.assertEqual(self.post("/jobs", {"pid": helper, "helper": True}), (200, {"pid": helper, "helper": True}))
        self.assertEqual(self.post("/jobs", {"pid": job.pid, "job_name": "posted/after"})[0], 201)
        wait_until(lambda: self.run_so_far("posted/after").get("processes_max"), "a sample")
        job.process.stdin.write(b"\n")
        job.process.stdin.close()
        job.process.wait(DEADLINE)
        run = self.ended_run("posted/after")
        self.assertEqual(run["processes_max"], 2)
        self.assert_close(run["cpu_seconds"], 0.5, 0, 0.2, "CPU time")
        self.assertNotEqual(child, helper)
        for body, status, said in (
                ({"helper": True, "job_name": "x"}, 400, "has no job"),
                ({"helper": "yes"}, 400, "true or false"),
                ({"helper": False}, 400, "needs job_name"),
                ({"pid": helper, "helper": True}, 404, "no process")):
            with self.subTest(body=body):
                answer = self.post("/jobs", body)
                self.assertEqual(answer[0], status, answer)
                self.assertIn(said, answer[1]["error"]["message"])

    def test_busy_exporter_inside_a_wrapped_run(self):
        words = " ".join(self.serve_words).replace(self.history, str(self.folder / "other.db"))
        job = worker(f"""
import socket
def ask():
    s = socket.socket(socket.AF_UNIX)
    s.connect({self.socket!r})
    s.sendall(b"GET /servers HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n")
    while s.recv(65536): pass
while True:
    try: ask(); break
    except OSError: time.sleep(0.02)
for i in range(2500): ask()
told({str(self.folder / 'job')!r})
time.sleep(0.5)
""")
        for flags in ((), ("--no-run.cgroup",)):
            with self.subTest(flags=flags):
                name = f"nested/{len(flags)}"
                script = (f"{EXPORTER} {words} & \"$@\"; cut -d' ' -f14,15 /proc/$!/stat >{self.folder}/exporter; "
                          "kill $!; wait $!; sleep 0.5")
                result = self.run_job(["sh", "-c", script, "sh", *job], name, ["--sample.interval=100ms", "--quiet", *flags])
                self.assertEqual(result.returncode, 0, result.stderr)
                run = self.only_run(name)
                exporter = sum(map(int, (self.folder / "exporter").read_text().split())) / os.sysconf("SC_CLK_TCK")
                self.assertGreater(exporter, 0.2)
                self.assertEqual(run["processes_max"], 2)
                self.assert_close(run["cpu_seconds"], self.used("job"), 0.02, 0.12, "CPU time")

    def group(self):
        """Returns a function with which a process enters a control group of its own."""
        group = groups.make("helpers")
        if isinstance(group, str):
            self.skipTest(group)
        self.addCleanup(group.remove)
        return group.enter

    def test_helper_that_enters_the_group_of_the_job(self):
        enter = self.group()
        server = self.serve(f"--web.unix-socket={self.socket}")
        for value in ("1", "0"):
            with self.subTest(value=value):
                name = f"group/{value}"
                child = worker(f"work(0.3); told({str(self.folder / 'child')!r})")
                job = self.start_program(worker(f"""
sys.stdin.readline()
subprocess.run({child!r}); work(0.2); told({str(self.folder / 'job')!r})
sys.stdin.read()
"""), stdin=subprocess.PIPE, preexec_fn=enter)
                self.assertEqual(self.post("/jobs", {"pid": job.pid, "job_name": name})[0], 201)
                # This process is not a child of the job, like a process that kubectl exec starts in the job's
                # container.
                helper = self.start_program(worker(f"work(0.6); told({str(self.folder / 'helper')!r}); sys.stdin.read()"),
                                            stdin=subprocess.PIPE, preexec_fn=enter,
                                            env={**self.environment, "RIGHTSIZE_HELPER": value})
                job.process.stdin.write(b"\n")
                job.process.stdin.flush()
                wait_until(lambda: all((self.folder / name).exists() for name in ("helper", "job")), "the work")
                server.look_at_jobs()
                for process in (helper, job):
                    process.process.stdin.close()
                    process.process.wait(DEADLINE)
                run = self.ended_run(name)
                counted = ("job", "child") if value == "1" else ("job", "child", "helper")
                self.assertEqual(run["cpu_source"], "cgroup")
                self.assert_close(run["cpu_seconds"], self.used(*counted), 0.02, 0.04 * len(counted), "CPU time")
                for path in ("job", "child", "helper"):
                    (self.folder / path).unlink()

    def test_exporter_in_the_group_of_the_job_does_not_call_the_group_the_job_s(self):
        enter = self.group()
        server = self.start(*self.serve_words, stdout=subprocess.DEVNULL, preexec_fn=enter)
        server.wait_address()
        job = self.start_program(worker(f"""
sys.stdin.readline()
work(0.3); told({str(self.folder / 'job')!r})
sys.stdin.read()
"""), stdin=subprocess.PIPE, preexec_fn=enter)
        self.assertEqual(self.post("/jobs", {"pid": job.pid, "job_name": "beside"})[0], 201)
        job.process.stdin.write(b"\n")
        job.process.stdin.flush()
        wait_until((self.folder / "job").exists, "the work")
        job.process.stdin.close()
        job.process.wait(DEADLINE)
        run = self.ended_run("beside")
        self.assertEqual(run["processes_max"], 1)
        self.assertNotEqual(run["cpu_source"], "cgroup")
        self.assert_close(run["cpu_seconds"], self.used("job"), 0.02, 0.05, "CPU time")
        server.stop()


if __name__ == "__main__":
    main()
