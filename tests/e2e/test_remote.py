"""Ended runs in a Prometheus-compatible store: written by --remote-write.url, read by --history.url.

The store is a double (store_double.py). tests/remote/run.sh does the same with real stores.
"""
import collections
import json
import pathlib
import sys
import threading
import time

import support
from store_double import Store
from support import wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "remote"))
import random_runs  # noqa: E402

# Numbers of a run that no recommendation reads, and that the store therefore does not get.
LOST = {"context_switches_involuntary", "context_switches_voluntary", "cpu_system_seconds", "cpu_user_seconds", "disk_read_bytes",
        "interval_seconds", "memory_huge_max_bytes", "memory_hugetlb_max_bytes", "memory_mean_bytes", "memory_pss_age_max_seconds",
        "memory_pss_deferred_max_processes", "page_faults_major", "page_faults_minor", "processes_max",
        "system_network_received_bytes", "system_network_sent_bytes", "threads_max", "vram_mean_bytes", "written_chars"}
WRITE, READ = "--remote-write.url=", "--history.url="


class Remote(support.Case):
    def store(self, **options):
        store = Store(**options)
        self.addCleanup(store.close)
        return store

    def writer(self, store, *flags):
        return self.serve(f"{WRITE}{store.url}/api/v1/write", "--web.allow-changes", "--no-cloud.discovery", *flags)

    def reader(self, store, *flags):
        server = self.start("serve", "--web.listen-address=127.0.0.1:0", f"{READ}{store.url}", "--no-jobs.recognise", "--no-cloud.discovery",
                            *flags)
        server.wait_address()
        return server

    def random_runs(self, jobs=4, runs=12):
        return list(random_runs.jobs(7, jobs, runs, time.time() - 60, 20))

    def post(self, server, runs):
        for i in range(0, len(runs), 12):
            answer = server.get("/runs", method="POST", body=json.dumps(runs[i:i + 12]), Content_Type="application/json")
            self.assertEqual(answer.status, 200, answer.text)
            self.assertFalse([one for one in answer.json["runs"] if "error" in one])

    def counted(self, server, name, **labels):
        return server.metrics().get((f"rightsize_remote_write_{name}", frozenset(labels.items())))

    def written(self, server, n):
        wait_until(lambda: self.counted(server, "runs_total", result="delivered") == n, f"{n} runs to be written")

    def ready(self, server):
        wait_until(lambda: server.get("/-/ready").status == 200, "the reader to be ready")

    def recommended(self, server, question):
        answer = server.get(f"/recommend?{question}")
        return answer.status, {key: value for key, value in answer.json.items() if key != "generated_at"}

    # ---- both ways ----

    def test_what_one_writes_others_answer(self):
        store, runs = self.store(), self.random_runs()
        writer = self.writer(store, "--store.header=X-Scope-OrgID: team")
        self.post(writer, runs)
        self.written(writer, len(runs))
        readers = [self.reader(store), self.reader(store)]
        names = sorted({random_runs.question(run) for run in runs})
        for reader in readers:
            self.ready(reader)
            self.assertEqual(reader.metrics()["rightsize_history_read_runs_total", frozenset({("result", "added")})], len(runs))
            for name in names:
                self.assertEqual(self.recommended(reader, name), self.recommended(writer, name))
        self.assertEqual(*({name: [run["run_id"] for run in reader.get(f"/runs?{name}").json["runs"]] for name in names}
                           for reader in readers))
        for reader in readers:
            self.assertEqual({(job["job_name"], job.get("namespace")): job["runs"] for job in reader.get("/jobs").json["jobs"]},
                             collections.Counter((run["job_name"], run["namespace"]) for run in runs))
        path, headers = store.requests[0]
        self.assertEqual((path, headers["Content-Encoding"], headers["Content-Type"], headers["X-Prometheus-Remote-Write-Version"],
                          headers["X-Scope-OrgID"]), ("/api/v1/write", "snappy", "application/x-protobuf", "0.1.0", "team"))
        for labels in store.samples:
            name = dict(labels)["__name__"]
            self.assertTrue(name.startswith("rightsize_run_"))
            if name != "rightsize_run_info":
                self.assertEqual(set(dict(labels)) - {"namespace", "container"}, {"__name__", "job_name", "outcome"})
        self.assertEqual({dict(labels).get("container", "") for labels in store.samples},
                         {json.loads(run["labels"] or "{}").get("container", "") for run in runs})

    def test_what_a_store_loses_of_a_run_is_known(self):
        """A number of a run that is no series any more is one more here."""
        store, runs = self.store(), self.random_runs()
        runs[0].update(ended_at=round(runs[0]["ended_at"]), started_at=round(runs[0]["ended_at"]) - runs[0]["duration_seconds"])
        writer = self.writer(store)
        self.post(writer, runs)
        self.written(writer, len(runs))
        reader = self.reader(store)
        self.ready(reader)
        given, lost = set(), set()
        for name in sorted({random_runs.question(run) for run in runs}):
            both = [server.get(f"/runs?{name}&details=true").json["runs"] for server in (reader, writer)]
            for ours, theirs in zip(*(sorted(some, key=lambda run: run["duration_seconds"]) for some in both)):
                for key, value in theirs.items():
                    if value is not None and ours.get(key) is None:
                        lost.add(key)
                    elif value is not None and key not in ("run_id", "labels"):
                        self.assertEqual(ours[key], value, key)
                        given.add(key)
        self.assertEqual(lost, LOST)
        self.assertFalse(lost & given)

    def test_containers_of_a_job_are_told_apart(self):
        store, (run, *_) = self.store(), self.random_runs()
        containers = ["main", "sidecar", None, "9" * 64]
        labels = [json.dumps({"app": "x", "container": name} if name else {"app": "x"}) for name in containers]
        runs = [dict(run, run_id=f"run-{i}", labels=text) for i, text in enumerate(labels)]
        writer = self.writer(store)
        self.post(writer, runs)
        self.written(writer, len(runs))
        self.assertEqual({dict(labels).get("container") for labels in store.samples}, {"main", "sidecar", None})
        self.assertEqual(self.counted(writer, "shifted_runs_total"), 1)  # the id of a container is no name
        reader = self.reader(store)
        self.ready(reader)
        told = [run.get("labels") for run in reader.get(f"/runs?{random_runs.question(run)}").json["runs"]]
        self.assertCountEqual(told, [{"container": "main"}, {"container": "sidecar"}, None, None])

    def test_runs_that_end_later_are_read_too(self):
        store = self.store()
        reader = self.reader(store)
        self.ready(reader)
        self.assertEqual(reader.get("/jobs").json["jobs"], [])
        self.run_job(["/bin/true"], flags=[f"{WRITE}{store.url}/write"])
        (run,) = store.runs()
        self.assertEqual(run[:2], ("job", "succeeded"))
        wait_until(lambda: reader.get("/runs?job_name=job").json.get("runs"), "the run", 60)

    # ---- writing ----

    def test_secrets_are_shown(self):
        store, token, password = self.store(), self.folder / "token", self.folder / "password"
        token.write_text("s3cret\n")
        password.write_text("user:pa ss\n")
        self.run_job(["/bin/true"], flags=[f"{WRITE}{store.url}/write", f"--store.token-file={token}"])
        self.run_job(["/bin/true"], flags=[f"{WRITE}{store.url}/write", f"--store.basic-auth-file={password}"])
        self.assertEqual([headers["Authorization"] for _, headers in store.requests], ["Bearer s3cret", "Basic dXNlcjpwYSBzcw=="])

    def test_a_store_that_cannot_take_them_gets_the_runs_later(self):
        store, runs = self.store(), self.random_runs(2, 6)
        store.answers = [(503, "overloaded"), (429, "later", {"Retry_After": "2"}), "drop", "slow"]
        writer = self.writer(store)
        self.post(writer, runs)
        self.written(writer, len(runs))
        self.assertEqual(len(store.runs()), len(runs))
        self.assertGreaterEqual(self.counted(writer, "failures_total"), 2)
        self.assertFalse(store.answers)
        self.assertEqual(self.counted(writer, "waiting_runs"), 0)

    def test_a_store_that_is_down_gets_the_runs_when_it_is_up(self):
        store = self.store()
        port = store.server.server_address[1]
        store.close()
        self.run_job(["/bin/true"], flags=[f"{WRITE}{store.url}/write", "--forward.timeout=0s"])
        store = self.store(port=port)
        writer = self.writer(store)
        self.written(writer, 1)
        self.assertEqual(len(store.runs()), 1)

    def test_what_a_store_refuses_for_good_is_not_sent_again(self):
        store, runs = self.store(), self.random_runs(3, 4)
        bad = runs[0]["job_name"]
        store.refuses = lambda name: "out of bounds\n" if name == bad else None
        writer = self.writer(store)
        self.post(writer, runs)
        n_bad = sum(run["job_name"] == bad for run in runs)
        self.written(writer, len(runs) - n_bad)
        wait_until(lambda: self.counted(writer, "runs_total", result="refused") == n_bad, "the refused runs")
        writer.says("out_of_order_time_window of Prometheus")
        n = len(store.requests)
        self.run_job(["/bin/true"], job_name="last")
        wait_until(lambda: store.runs("last"), "a further run")
        self.assertEqual(len(store.requests), n + 1)

    def test_two_runs_of_one_millisecond_both_arrive(self):
        store, runs = self.store(), self.random_runs(1, 3)
        for run in runs:
            run.update(outcome="succeeded", exit_code=0, exit_signal=None, ended_at=runs[0]["ended_at"],
                       started_at=runs[0]["ended_at"] - run["duration_seconds"])
        first, second = self.writer(store), None
        self.post(first, runs[:2])
        self.written(first, 2)
        self.assertEqual(self.counted(first, "shifted_runs_total"), 1)
        # Another writer does not know of them, but the store says so.
        self.history = str(self.folder / "other.db")
        second = self.writer(store)
        self.post(second, runs[2:])
        self.written(second, 1)
        self.assertEqual(len(store.runs()), 3)

    def test_many_runs_of_one_millisecond_need_few_requests(self):
        store, runs = self.store(), self.random_runs(1, 200)
        for run in runs:
            run.update(outcome="succeeded", exit_code=0, exit_signal=None, ended_at=runs[0]["ended_at"],
                       started_at=runs[0]["ended_at"] - run["duration_seconds"])
        store.answers = [(503, "later")]
        writer = self.writer(store)
        self.post(writer, runs)
        self.written(writer, len(runs))
        self.assertEqual(len(store.runs()), len(runs))
        self.assertLess(len(store.requests), len(runs) // 4)

    # ---- reading ----

    def test_it_is_not_ready_before_it_has_read_all(self):
        store, runs = self.store(), self.random_runs(2, 4)
        writer = self.writer(store)
        self.post(writer, runs)
        self.written(writer, len(runs))
        store.hold = threading.Event()
        reader = self.reader(store)
        wait_until(lambda: store.queries, "a query")
        wait_until(lambda: "no sample" not in reader.get("/-/ready").text, "the first sample")
        answer = reader.get("/-/ready")
        self.assertEqual((answer.status, answer.text), (503, "reading the history: 0 %\n"))
        store.hold.set()
        self.ready(reader)

    def test_a_run_that_has_not_arrived_wholly_waits(self):
        store, runs = self.store(), self.random_runs(1, 3)
        writer = self.writer(store)
        self.post(writer, runs)
        self.written(writer, len(runs))
        store.half = True
        reader = self.reader(store)
        self.ready(reader)
        read = ("rightsize_history_read_runs_total", frozenset({("result", "added")}))
        self.assertEqual(reader.metrics()[read], 0)

    def test_runs_that_the_limits_removed_are_counted_once(self):
        store, runs = self.store(), self.random_runs(1, 12)
        writer = self.writer(store)
        self.post(writer, runs)
        self.written(writer, len(runs))
        limits = f"--history.path={self.folder}/cache.db", "--history.runs-per-job=5"
        first = self.reader(store, *limits)
        self.ready(first)
        first.stop()
        again = self.reader(store, *limits)
        self.ready(again)
        self.assertEqual(again.get("/jobs").json["jobs"][0]["runs"], len(runs))

    def test_a_store_that_has_more_than_fits_is_read_as_there_is_room(self):
        store = self.store()
        writer = self.writer(store)
        self.post(writer, self.random_runs(1, 10))
        self.written(writer, 10)
        n, few = 260, store.samples
        store.samples = {tuple(sorted(dict(labels, job_name=f"job-{k}").items())): {at - 1000 * i: value for i in range(n // 10)
                                                                                    for at, value in samples.items()}
                         for labels, samples in few.items() for k in range(14)}
        reader = self.reader(store, "--history.max-size=1M", f"--history.path={self.folder}/cache.db")
        reader.says("the history is too small for the runs of the store; the reading waits")
        self.assertLess(sum(file.stat().st_size for file in self.folder.glob("cache.db*")), 1.5e6)
        added = "rightsize_history_read_runs_total", frozenset({("result", "added")})
        some = reader.metrics()[added]
        wait_until(lambda: reader.metrics()[added] > some, "it to go on")

    def test_a_store_that_is_gone_is_asked_again(self):
        store, runs = self.store(), self.random_runs(1, 3)
        writer = self.writer(store)
        self.post(writer, runs)
        self.written(writer, len(runs))
        port = store.server.server_address[1]
        samples, _ = store.samples, store.close()
        reader = self.reader(store)
        reader.says("the history cannot be read from the store")
        store = self.store(port=port)
        store.samples = samples
        self.ready(reader)
        self.assertEqual(self.recommended(reader, random_runs.question(runs[0])), self.recommended(writer, random_runs.question(runs[0])))

    def test_one_exporter_does_not_both(self):
        told = self.command("serve", f"{WRITE}http://a", f"{READ}http://a")
        self.assertEqual(told.returncode, 2)
        self.assertIn("an exporter reads a store or writes to it", told.stderr)


if __name__ == "__main__":
    support.main()
