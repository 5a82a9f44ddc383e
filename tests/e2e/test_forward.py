"""Runs are forwarded to another exporter. Each is sent at least once, whatever fails in between, and no run is lost."""
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time

import support
from support import python_job, wait_until


class Central:
    """Takes POST /runs as the other exporter does: by id, so that what comes twice counts once.

    answers: what to do with the next ones, before all others are taken: a status, (a status, a body), "drop" (take it, but close the
    connection without a word), "hold" (do not answer before release() is called, then close), "late" (likewise, but answer then),
    "break" (close it without taking the run).
    always: for a job's name, what to do with each of its runs.
    takes_arrays: answers for each run of an array. Otherwise an array is refused, as by an exporter of an earlier version.
    """

    def __init__(self, answers=(), port=0, always=None, takes_arrays=False):
        self.answers = list(answers)
        self.always = dict(always or {})
        self.posts, self.runs, self.headers, self.arrays = [], {}, [], []
        self.lock = threading.Lock()
        self.held = threading.Event()
        self.released = threading.Event()
        central = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def send(self, status, text):
                answer = text.encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def take_array(self, runs):
                if not takes_arrays:
                    self.send(400, json.dumps({"error": {"code": "bad_body", "message":
                                                         "accepted is one run as a JSON object: this is another JSON value"}}))
                    return
                with central.lock:
                    central.arrays.append([run["run_id"] for run in runs])
                    told = [{"run_id": run["run_id"], "error": {"code": "bad_body", "message": "as told"}}
                            if central.always.get(run["job_name"]) == 400 else {"run_id": run["run_id"], "known": False} for run in runs]
                    central.runs.update((run["run_id"], run) for run, answer in zip(runs, told) if "error" not in answer)
                self.send(200, json.dumps({"runs": told}))

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if isinstance(json.loads(body), list):
                    self.take_array(json.loads(body))
                    return
                with central.lock:
                    central.posts.append((self.path, json.loads(body)))
                    do = central.always.get(central.posts[-1][1]["job_name"]) or (
                        central.answers.pop(0) if central.answers else 200)
                    central.headers.append(self.headers)
                    if do in (200, "drop", "hold", "late"):
                        central.runs[central.posts[-1][1]["run_id"]] = central.posts[-1][1]
                if do in ("hold", "late"):
                    central.held.set()
                    central.released.wait(support.DEADLINE)
                if do == "late":
                    do = 200
                if do in ("drop", "hold", "break"):
                    self.close_connection = True
                    with contextlib.suppress(OSError):
                        self.connection.shutdown(socket.SHUT_RDWR)
                    return
                error = {"code": {400: "bad_body"}.get(do, "told"), "message": "as told"}
                status, text = do if isinstance(do, tuple) else (do, json.dumps(
                    {"run_id": central.posts[-1][1]["run_id"], "known": False} if do == 200 else {"error": error}))
                self.send(status, text)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def stop(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(support.DEADLINE)

    def ids(self):
        with self.lock:
            return sorted(self.runs)

    def sent(self):
        with self.lock:
            return [post[1]["run_id"] for post in self.posts]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


QUICK = python_job("pass")


class Forward(support.Case):
    def central(self, *answers, port=0, always=None, takes_arrays=False):
        central = Central(answers, port, always, takes_arrays)
        self.addCleanup(central.stop)
        return central

    def own_counts(self, server):
        counts = {}
        for (name, labels), value in server.metrics().items():
            if name.startswith("rightsize_forward_"):
                counts[dict(labels).get("result", name.split("_")[2])] = value
        return counts

    def ids(self, job_name="job"):
        return sorted(run["run_id"] for run in self.runs(job_name))

    def test_a_run_arrives_with_all_that_is_known_of_it(self):
        central = self.central()
        token = self.folder / "token"
        token.write_text("secret-of-the-test\n")
        work = python_job("import time\nt = time.process_time()\nwhile time.process_time() - t < 0.3: pass")
        result = self.run_job(work, flags=[f"--forward.url={central.url}/", f"--forward.token-file={token}"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn(b"secret-of-the-test", result.stderr)
        run = self.only_run()
        self.assertEqual(central.sent(), [run["run_id"]])
        path, told = central.posts[0]
        self.assertEqual(path, "/runs")
        self.assertEqual(central.headers[0]["Authorization"], "Bearer secret-of-the-test")
        self.assertEqual(central.headers[0]["Content-Type"], "application/json")
        for key in ("job_name", "outcome", "exit_code", "duration_seconds", "host", "cpu_source", "memory_source",
                    "samples", "interval_seconds"):
            if key != "duration_seconds":
                self.assertEqual(told[key], "job" if key == "job_name" else run[key], key)
        # Forwarded runs have exact numbers. Answers have four digits, or milliseconds.
        self.assertAlmostEqual(told["duration_seconds"], run["duration_seconds"], delta=0.00051)
        self.assertAlmostEqual(told["columns"]["cpu_seconds"]["sum"], run["cpu_seconds"], delta=0.00051)
        self.assertEqual(told["columns"]["memory_peak_bytes"]["max"], run["memory_peak_bytes"])
        self.assertLess(told["started_at"], told["ended_at"])

    def test_a_server_hands_on_what_wrappers_record(self):
        central = self.central()
        self.serve(f"--forward.url={central.url}")
        for _ in range(3):
            self.run_job(QUICK)
        wait_until(lambda: len(central.ids()) == 3, "three runs at the other exporter")
        self.assertEqual(central.ids(), self.ids())
        self.assertEqual(len(central.sent()), 3)

    def test_runs_that_waited_go_in_one_request_and_a_wrong_one_keeps_no_other_out(self):
        for job in ("a", "wrong", "b", "c"):
            self.run_job(QUICK, job)
        central = self.central(always={"wrong": 400}, takes_arrays=True)
        server = self.serve(f"--forward.url={central.url}")
        wait_until(lambda: self.own_counts(server).get("delivered") == 3, "three runs handed on")
        self.assertEqual(central.ids(), sorted(self.ids("a") + self.ids("b") + self.ids("c")))
        self.assertEqual([len(ids) for ids in central.arrays], [4])
        self.assertEqual(central.sent(), [])
        counts = self.own_counts(server)
        self.assertEqual((counts["refused"], counts["waiting"]), (1, 0))

    def test_wrappers_drop_no_run_that_the_server_is_to_hand_on(self):
        central = self.central()
        central.stop()
        server = self.serve(f"--forward.url={central.url}", "--forward.timeout=0s")
        for _ in range(4):
            self.run_job(QUICK, flags=["--history.runs-per-job=2"])
        self.assertEqual(len(self.ids()), 4)
        wait_until(lambda: self.own_counts(server)["waiting"] == 4, "four runs that wait")
        self.assertEqual(self.own_counts(server)["lost"], 0)
        # Nor while it is away.
        server.stop()
        self.run_job(QUICK, flags=["--history.runs-per-job=2"])
        waiting = self.ids()
        self.assertEqual(len(waiting), 5)
        central = self.central()
        self.serve(f"--forward.url={central.url}")
        wait_until(lambda: central.ids() == waiting, "five runs at the other exporter")

    def test_runs_wait_on_disk_until_the_other_exporter_is_there(self):
        port = free_port()
        # The history may keep only a few runs.
        flags = [f"--forward.url=http://127.0.0.1:{port}", "--forward.timeout=0s", "--history.runs-per-job=1"]
        for _ in range(3):
            result = self.run_job(QUICK, flags=flags)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"they wait in the history", result.stderr)
            self.assertNotIn(b"forwarded again", result.stderr)
        central = self.central(port=port)
        self.run_job(QUICK, flags=[f"--forward.url={central.url}"])
        self.assertEqual(central.ids(), self.ids())
        self.assertEqual(len(central.sent()), 4)

    def test_failures_are_repeated_and_refusals_are_not(self):
        central = self.central(503, 401, 400)
        self.run_job(QUICK, job_name="refused")
        self.run_job(QUICK, job_name="taken")
        server = self.serve(f"--forward.url={central.url}")
        wait_until(lambda: len(central.ids()) == 1, "the second run at the other exporter")
        refused, taken = self.ids("refused") + self.ids("taken")
        self.assertEqual(central.sent(), [refused] * 3 + [taken])
        server.says("answers 503: .*as told")
        server.says(f"refused by the receiver.*{refused}")
        own = {"delivered": 1, "refused": 1, "failures": 2, "waiting": 0, "stuck": 0, "lost": 0}
        wait_until(lambda: self.own_counts(server) == own, f"{own} in its own metrics")
        server.stop()
        again = self.central()
        self.run_job(QUICK, flags=[f"--forward.url={again.url}"])
        self.assertEqual(again.ids(), self.ids(), "what was handed on or refused is not sent again")

    def test_what_stands_before_the_other_exporter_settles_nothing(self):
        page = "<html><title>The plain HTTP request was sent to HTTPS port</title></html>"
        answers = (400, page), (413, page), (200, "ok"), (200, page), (200, '{"run_id": "another"}')
        central = self.central(*answers)
        self.run_job(QUICK, flags=[f"--forward.url={central.url}"])
        self.assertEqual(central.sent(), self.ids() * (len(answers) + 1))
        self.assertEqual(central.ids(), self.ids())

    def test_a_run_that_always_fails_holds_up_no_other(self):
        for do, said in ((500, "answers 500: .*as told"), ("break", "run cannot be forwarded")):
            with self.subTest(do=do):
                bad, good = f"bad/{do}", f"good/{do}"
                central = self.central(always={bad: do})
                self.run_job(QUICK, job_name=bad)
                for _ in range(3):
                    self.run_job(QUICK, job_name=good)
                server = self.serve(f"--forward.url={central.url}")
                wait_until(lambda: central.ids() == self.ids(good), "those behind it at the other exporter")
                server.says(f"retried after others.*{self.ids(bad)[0]}.*{said}|{said}.*{self.ids(bad)[0]}")
                self.run_job(QUICK, job_name=good)
                wait_until(lambda: central.ids() == self.ids(good), "one that came later")
                own = {"delivered": 4, "refused": 0, "waiting": 1, "stuck": 1}
                wait_until(lambda: own.items() <= self.own_counts(server).items(), f"{own} in its own metrics")
                central.always.clear()
                wait_until(lambda: central.ids() == sorted(self.ids(good) + self.ids(bad)), "it is tried again")
                own = {"delivered": 5, "refused": 0, "waiting": 0, "stuck": 0}
                wait_until(lambda: own.items() <= self.own_counts(server).items(), f"{own} in its own metrics")
                server.stop()

    def test_a_run_that_always_fails_is_on_disk_when_the_program_ends(self):
        central = self.central(always={"bad": 500})
        self.run_job(QUICK, job_name="bad")
        result = self.run_job(QUICK, flags=[f"--forward.url={central.url}", "--forward.timeout=1s"])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(central.ids(), self.ids(), "what the wrapper ran is handed on at once")
        self.assertIn(b"they wait in the history", result.stderr)
        again = self.central()
        self.run_job(QUICK, flags=[f"--forward.url={again.url}"])
        self.assertIn(self.ids("bad")[0], again.ids())

    def test_one_that_answers_all_with_500_gets_all_in_the_end(self):
        central = self.central(*[500] * 7)
        for _ in range(5):
            self.run_job(QUICK)
        self.serve(f"--forward.url={central.url}")
        wait_until(lambda: central.ids() == self.ids(), "all runs")
        self.assertEqual(len(central.sent()), 5 + 7)

    def test_an_answer_that_is_lost_loses_no_run(self):
        central = self.central("drop")
        self.run_job(QUICK, flags=[f"--forward.url={central.url}"])
        self.assertEqual(central.sent(), self.ids() * 2)

    def test_a_run_that_is_corrected_while_it_is_handed_on_is_handed_on_again(self):
        """A run is being forwarded as interrupted when the history learns that it succeeded."""
        elsewhere, history = self.central(), self.history
        self.history = self.folder / "elsewhere.db"
        self.run_job(QUICK, flags=[f"--forward.url={elsewhere.url}"])
        self.history = history
        central = self.central("late")
        server = self.serve(f"--forward.url={central.url}", "--web.allow-changes")
        (_, run), = elsewhere.posts
        for outcome in ("interrupted", "succeeded"):
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
                connection.request("POST", "/runs", json.dumps({**run, "outcome": outcome}),
                                   {"Content-Type": "application/json"})
                self.assertIn(connection.getresponse().status, (200, 201))
            self.assertTrue(central.held.wait(support.DEADLINE))
        central.released.set()
        wait_until(lambda: len(central.posts) == 2, "the run a second time")
        self.assertEqual([told["outcome"] for _, told in central.posts], ["interrupted", "succeeded"])

    def test_kill_while_it_hands_on_loses_nothing(self):
        central = self.central("hold")
        for _ in range(3):
            self.run_job(QUICK)
        server = self.serve(f"--forward.url={central.url}")
        self.assertTrue(central.held.wait(support.DEADLINE))
        server.kill()
        central.released.set()
        self.serve(f"--forward.url={central.url}")
        wait_until(lambda: len(central.sent()) == 4, "the first one again, and the two others")
        self.assertEqual(central.ids(), self.ids())
        self.assert_history_intact()

    def test_the_end_comes_in_time_though_nobody_answers(self):
        central = self.central("hold")
        self.run_job(QUICK)
        server = self.serve(f"--forward.url={central.url}", "--forward.timeout=300ms")
        self.assertTrue(central.held.wait(support.DEADLINE))
        server.send(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)
        server.says("runs were not forwarded before the end")
        self.assertFalse(server.said("forwarded again"))
        self.assertFalse(central.released.is_set())

    def test_a_url_or_token_that_is_none_is_said(self):
        result = self.command("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}",
                              "--forward.url=central:9877")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--forward.url=central:9877: accepted is http://HOST:PORT", result.stderr)
        result = self.command("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}",
                              "--forward.url=http://user:word@central:9877")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--forward.token-file", result.stderr)
        self.assertNotIn("word@", result.stderr)
        result = self.run_job(QUICK, flags=["--forward.url=http://127.0.0.1:1", "--forward.timeout=2s",
                                            f"--forward.token-file={self.folder}/none"])
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"read the token", result.stderr)

    def test_a_pipe_for_a_token_holds_up_nobody(self):
        pipe = f"{self.folder}/pipe"
        os.mkfifo(pipe)
        server = self.serve(f"--web.changes-token-file={pipe}")
        server.says("refused until the token can be read")
        result = self.run_job(QUICK, flags=["--forward.url=http://127.0.0.1:1", "--forward.timeout=2s",
                                            f"--forward.token-file={pipe}"])
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"is empty", result.stderr)

    def test_a_second_signal_ends_the_waiting(self):
        central = self.central(*[503] * 1000)
        run = self.start(*self.wrapper_arguments(QUICK, flags=[f"--forward.url={central.url}", "--forward.timeout=1h"]))
        wait_until(lambda: central.posts, "the first attempt")
        run.send(signal.SIGTERM)
        self.assertEqual(run.wait(), 0)
        self.assertTrue(run.said("they wait in the history"))
        server = self.serve(f"--forward.url={central.url}", "--forward.timeout=1h")
        n = len(central.posts)
        wait_until(lambda: len(central.posts) > n, "the first attempt")
        server.send(signal.SIGTERM)
        wait_until(lambda: server.said("msg=stopping"), "the end")

        def ended():
            # The signal that began the end, and everything before the wait, do not count.
            server.send(signal.SIGTERM)
            return server.process.poll() is not None
        wait_until(ended, "the end")
        self.assertEqual(server.wait(), 0)

    def test_a_pipe_for_certificates_holds_up_nobody(self):
        pipe = f"{self.folder}/pipe"
        os.mkfifo(pipe)
        result = self.run_job(QUICK, flags=["--forward.url=https://127.0.0.1:1", "--forward.timeout=2s",
                                            f"--forward.ca-file={pipe}"])
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"is a pipe", result.stderr)

    def test_a_token_that_cannot_be_read_yet_is_said(self):
        server = self.serve(f"--web.changes-token-file={self.folder}/none", f"--forward.token-file={self.folder}/none")
        server.says("refused until the token can be read")
        server.says("have no effect: set --forward.url")

    def test_a_machine_that_slept_is_no_reason_to_wait_as_long(self):
        slept = ["unshare", "--user", "--map-root-user", "--time", "--boottime", "100000", "--fork"]
        if not shutil.which("unshare") or subprocess.run([*slept, "true"], capture_output=True, check=False).returncode:
            self.skipTest("clocks cannot be set apart here")
        arguments = self.wrapper_arguments(QUICK, flags=["--forward.url=http://127.0.0.1:1", "--forward.timeout=1s"])
        result = subprocess.run([*slept, support.EXPORTER, *arguments], env=self.environment, capture_output=True,
                                timeout=support.DEADLINE, check=False)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"wait in the history", result.stderr)


class RealCentral(support.Case):
    """The other exporter is a real one, with its own history."""

    def central(self, *flags, port=0):
        server = self.start("serve", f"--web.listen-address=127.0.0.1:{port}", "--no-jobs.recognise",
                            f"--history.path={self.folder}/central.db", *flags)
        server.wait_address()
        server.url = f"http://127.0.0.1:{server.port}"
        return server

    def told(self, server, job_name="job"):
        return {run["run_id"]: run for run in server.get(f"/runs?job_name={job_name}&details=1").json.get("runs", [])}

    def test_it_recommends_from_the_runs_of_all(self):
        central = self.central("--web.allow-changes")
        for _ in range(3):
            self.run_job(QUICK, flags=[f"--forward.url={central.url}"])
        told = self.told(central)
        self.assertEqual(told, {run["run_id"]: run for run in self.runs()})
        answer = central.get("/recommend?job_name=job").json
        self.assertEqual(answer["based_on"]["runs"], 3)
        self.assertEqual(central.get("/jobs").json["jobs"][0]["runs"], 3)

    def batches(self, n, jobs):
        """Bodies of POST /runs with 40 runs each."""
        fixture = pathlib.Path(__file__).resolve().parents[1] / "fixtures/run_message.json"
        message = json.loads(fixture.read_text(encoding="utf-8"))
        ended = time.time()
        for batch in range(n):
            yield json.dumps([dict(message, run_id=f"r-{n}-{batch}-{i}", job_name=f"job-{(batch * 40 + i) % jobs}", ended_at=ended,
                                   started_at=ended - message["duration_seconds"]) for i in range(40) if i % 4 == 0])

    def multiply_runs(self, times):
        with contextlib.closing(sqlite3.connect(self.folder / "central.db")) as history, history:
            columns = ",".join(row[1] for row in history.execute("PRAGMA table_info(run)") if row[1] not in ("id", "run_id"))
            history.execute(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                            f"INSERT INTO run(run_id, {columns}) SELECT run_id || '-' || i, {columns} FROM n, run", (times,))
            history.execute("UPDATE job SET kept = (SELECT count(*) FROM run WHERE job = job.id)")
            history.execute("UPDATE circumstances SET runs = (SELECT count(*) FROM run WHERE circumstances = circumstances.id)")

    def test_the_limit_of_the_history_holds_while_runs_come_in(self):
        limit, jobs = 12_000_000, 200
        flags = ["--web.allow-changes", f"--history.max-size={limit}", "--history.runs-per-job=100000"]
        central = self.central(*flags)
        for body in self.batches(20, jobs):
            self.assertEqual(central.get("/runs", method="POST", body=body, Content_Type="application/json").status, 200)
        self.assertEqual(central.stop(), 0)
        self.multiply_runs(80)
        central = self.central(*flags)
        largest = refused = 0

        def taken(body):
            nonlocal largest, refused
            answer = central.get("/runs", method="POST", body=body, Content_Type="application/json")
            sizes = [pathlib.Path(f"{self.folder}/central.db{suffix}").stat().st_size for suffix in ("", "-wal")]
            largest = max(largest, sum(sizes))
            if answer.status == 503:
                refused += 1
                self.assertRegex(answer.json["error"]["message"], "limit of 12.0 MB .*old runs are being removed")
            return answer.status == 200
        for body in self.batches(300, jobs):
            wait_until(lambda body=body: taken(body), "room for more runs")
        print(f"{refused} times refused, at most {largest} bytes", flush=True)
        self.assertLess(largest, 1.05 * limit)
        self.assertGreater(largest, 0.9 * limit)
        self.assertEqual(central.get("/runs?job_name=job-196&namespace=etl").json["runs"][0]["run_id"], "r-300-299-36")

    def test_without_leave_nothing_is_taken(self):
        central = self.central()
        result = self.run_job(QUICK, flags=[f"--forward.url={central.url}", "--forward.timeout=2s"])
        self.assertIn(b"answers 403", result.stderr)
        self.assertEqual(self.told(central), {})

    def test_the_token_is_what_lets_runs_in(self):
        right, wrong = self.folder / "right", self.folder / "wrong"
        right.write_text("right")
        wrong.write_text("right-but-longer")
        central = self.central(f"--web.changes-token-file={right}")
        for flags in ([], [f"--forward.token-file={wrong}"]):
            result = self.run_job(QUICK, flags=[f"--forward.url={central.url}", "--forward.timeout=1s", *flags])
            self.assertIn(b"answers 401", result.stderr)
            self.assertNotIn(b"right-but-longer", result.stderr)
        self.run_job(QUICK, flags=[f"--forward.url={central.url}", f"--forward.token-file={right}"])
        self.assertEqual(len(self.told(central)), 3, "those that waited come along")
        right.write_text("changed")
        result = self.run_job(QUICK, flags=[f"--forward.url={central.url}", f"--forward.token-file={right}"])
        self.assertEqual(len(self.told(central)), 4, "both read the file anew")

    def test_kills_of_either_side_lose_nothing_and_count_nothing_twice(self):
        for _ in range(20):
            self.run_job(QUICK)
        central = self.central("--web.allow-changes")
        port = central.port
        for kills in range(6):
            server = self.serve(f"--forward.url=http://127.0.0.1:{port}")
            wait_until(lambda: len(self.told(central)) > kills * 2, "a few more of the runs")
            (server, central)[kills % 2].kill()
            if kills % 2:
                central = self.central("--web.allow-changes", port=port)
                server.stop()
        self.serve(f"--forward.url=http://127.0.0.1:{port}")
        wait_until(lambda: len(self.told(central)) == 20, "all runs")
        self.assertEqual(sorted(self.told(central)), sorted(run["run_id"] for run in self.runs()))
        self.assertEqual(central.get("/jobs").json["jobs"][0]["runs"], 20)
        self.assert_history_intact()

    def post(self, central, run):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", central.port)) as connection:
            connection.request("POST", "/runs", json.dumps(run), {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read().decode()

    @staticmethod
    def posted(run_id, now, columns, **more):
        columns = {name: {"n": 1, "min": v, "mean": v, "max": v, "p50": v, "p95": v, "p99": v, "sum": v}
                   for name, v in columns.items()}
        return {"run_id": run_id, "job_name": "posted", "started_at": now - 10, "ended_at": now, "duration_seconds": 10,
                "outcome": "succeeded", "columns": columns, "machine_cpus": 4, "machine_memory_bytes": 2**33, **more}

    def test_a_run_that_cannot_be_is_refused_at_its_bound(self):
        central = self.central("--web.allow-changes", "--history.retention=1h")
        now = time.time()
        for case, (columns, more, refused) in enumerate((
                ({"cpu_seconds": 48, "memory_peak_bytes": 2**33}, {}, None),
                ({"cpu_seconds": 48.1}, {}, "column cpu_seconds: sum is 48.1; possible is 0 to 48"),
                ({"memory_peak_bytes": 2**33 + 1}, {}, "column memory_peak_bytes: max is 8589934593"),
                ({"memory_peak_bytes": 1e15}, {"machine_memory_bytes": None}, "no machine has more"),
                ({}, {"started_at": 4e9, "ended_at": 4e9 + 10}, "started_at: accepted is a time up to 300 s after now"),
                ({}, {"started_at": now + 200, "ended_at": now + 210}, None),
                ({}, {"started_at": now - 3610, "ended_at": now - 3590}, "duration_seconds: accepted is"),
                ({}, {"started_at": now - 3550, "ended_at": now - 3540}, None),
                ({}, {"started_at": now - 3630, "ended_at": now - 3620}, "--history.retention"))):
            with self.subTest(refused=refused, case=case):
                status, said = self.post(central, self.posted(f"r{case}", now, columns, **more))
                self.assertEqual(status, 400 if refused else 201, said)
                self.assertIn(refused or "known", said)

    def test_a_run_that_was_not_measured_sizes_nothing(self):
        central = self.central("--web.allow-changes")
        now = time.time()
        for name, gib, more in (("good", 1, {}), ("bad", 8, {"not_measured": "nobody looked"}),
                                ("unsure", 1, {"cpu_missed_seconds": 9})):
            columns = {"memory_peak_bytes": gib * 2**30, "cpu_seconds": 20, "cpu_cores": 2}
            self.assertEqual(self.post(central, self.posted(name, now, columns, **more))[0], 201)
        advice = central.get("/recommend?job_name=posted").json
        self.assertEqual({key: advice["based_on"][key] for key in ("runs", "not_measured", "uncertain_cpu")},
                         {"runs": 2, "not_measured": 1, "uncertain_cpu": 1})
        self.assertLess(advice["resources"]["memory"], 2048)
        self.assertIn("runs: 1 successful run without numbers, of which only the duration counts: nobody looked.", advice["explain"])
        self.assertEqual(central.get("/stats?job_name=posted").json["runs_not_measured"], 1)
        runs = {run["run_id"]: run for run in central.get("/runs?job_name=posted&details=1").json["runs"]}
        self.assertEqual((runs["bad"]["not_measured"], runs["bad"]["memory_peak_bytes"], runs["bad"]["duration_seconds"]),
                         ("nobody looked", None, 10))

    def test_the_machine_of_a_run_is_handed_on(self):
        central = self.central("--web.allow-changes")
        self.run_job(QUICK, flags=[f"--forward.url={central.url}"])
        (run,) = self.told(central).values()
        self.assertEqual(run["machine_cpus"], os.cpu_count())
        memory = int(re.search(r"MemTotal: *(\d+) kB", pathlib.Path("/proc/meminfo").read_text()).group(1)) * 1024
        self.assertEqual(run["machine_memory_bytes"], memory)
        self.assertNotIn("not_measured", run)

    def test_what_is_no_run_is_refused(self):
        central = self.central("--web.allow-changes")
        for body, said in ((b"{}", "run_id is missing: accepted is a text of 1 to"), (b"[]", "runs: the array is empty"),
                           (b"", "one run as a JSON object, or an array of 1 to 1024 runs: the body is empty")):
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", central.port)) as connection:
                connection.request("POST", "/runs", body, {"Content-Type": "application/json"})
                response = connection.getresponse()
                self.assertEqual(response.status, 400)
                self.assertIn(said, response.read().decode())


class Ending(support.Case):
    def test_a_server_ends_with_the_job(self):
        server = self.serve("--exit-with-job")
        self.run_job(python_job("import time; time.sleep(0.5)"))
        self.assertEqual(server.wait(), 0)
        server.says('stopping.*reason="job ended"')

    def test_a_server_does_not_wait_for_a_job_for_ever(self):
        server = self.serve("--exit-with-job", "--exit-with-job.wait=1s")
        self.assertEqual(server.wait(), 0)
        server.says('stopping.*reason="no job began')

    def test_the_job_is_seen_however_seldom_samples_are_taken(self):
        server = self.serve("--exit-with-job", "--jobs.recognise", interval="1h")
        job = subprocess.Popen(["sleep", "600"], env={**self.environment, "RIGHTSIZE_JOB_NAME": "ending/job"})
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        wait_until(lambda: server.said('run found.*ending/job'), "the run")
        job.kill()
        self.assertEqual(server.wait(), 0)

    def test_runs_of_a_server_that_ends_with_the_job_end_with_it(self):
        job = subprocess.Popen(["sleep", "600"], env={**self.environment, "RIGHTSIZE_JOB_NAME": "ending/job"})
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        server = self.serve("--exit-with-job", "--jobs.recognise")
        wait_until(lambda: server.job_value("rightsize_job_active_runs", "ending/job") == 1, "the run")
        server.send(signal.SIGTERM)
        self.assertIsNone(server.process.poll(), "it waits for the job, which may end, too")
        server.send(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)
        self.assertEqual(self.only_run("ending/job")["outcome"], "interrupted")

    def test_a_server_stays_for_one_more_scrape(self):
        server = self.serve("--web.linger=1h")
        server.send(signal.SIGTERM)
        wait_until(lambda: server.said("waiting for a last scrape"), "that it is about to end")
        self.assertIsNone(server.process.poll())
        server.metrics()
        self.assertIsNone(server.process.poll(), "who does not say that he is a scraper is none")
        server.get("/metrics", X_Prometheus_Scrape_Timeout_Seconds="10")
        self.assertEqual(server.wait(), 0)

    def test_a_second_signal_ends_the_wait_for_a_scrape(self):
        server = self.serve("--web.linger=1h")
        server.send(signal.SIGTERM)
        wait_until(lambda: server.said("stopping"), "that it is about to end")
        server.send(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)


if __name__ == "__main__":
    support.main()
