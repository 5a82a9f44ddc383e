"""Writes runs to a real Prometheus-compatible store by one exporter, reads them by others, and compares all answers.

Usage: store_check.py [JOBS [RUNS [DAYS]]]     RIGHTSIZE_EXPORTER names the program, PROMETHEUS, VICTORIA_METRICS and THANOS the stores
       store_check.py HISTORY                  writes all runs of a copy of this file (bench_runs makes one), and reads them back
"""
import concurrent.futures
import contextlib
import http.server
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import random_runs

EXPORTER = os.environ["RIGHTSIZE_EXPORTER"]
OFF = ["--no-cloud.discovery", "--no-jobs.recognise", "--no-catalogue.refresh", "--history.runs-per-job=1000"]
FAILED, STARTED = [], []


def check(right, what):
    print("ok  " if right else "FAIL", what, flush=True)
    if not right:
        FAILED.append(what)


class Exporter:
    def __init__(self, *options):
        self.process = subprocess.Popen([EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", *OFF, *options], text=True,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.log, self.url = [], None
        STARTED.append(self)
        threading.Thread(target=self.read_log, daemon=True).start()
        wait(lambda: self.url or self.process.poll() is not None, "the exporter to listen", 30)

    def read_log(self):
        for line in self.process.stderr:
            self.log.append(line)
            if "msg=listening" in line:
                self.url = line.split("url=")[1].strip().rstrip("/")

    def get(self, path, data=None):
        request = urllib.request.Request(self.url + path, data=data, headers={"Content-Type": "application/json"} if data else {})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read().decode()

    def status(self, path):
        try:
            return 200, self.get(path)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, name):
        return sum(float(line.split()[1]) for line in self.get("/metrics").splitlines() if line.startswith(name + " ") or line.startswith(name + "{"))

    def stop(self):
        self.process.terminate()
        return self.process.wait(30)


def wait(condition, what, seconds=600):
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > seconds:
            raise SystemExit(f"FAIL waited {seconds} s for {what}")
        time.sleep(0.2)
    return time.monotonic() - begun


def post(writer, runs):
    for i in range(0, len(runs), 16):
        told = json.loads(writer.get("/runs", json.dumps(runs[i:i + 16]).encode()))["runs"]
        errors = [one["error"] for one in told if "error" in one]
        if errors:
            raise SystemExit(f"FAIL POST /runs: {errors[0]}")


def recommended(exporter, question):
    """Returns the answer without the time of the answer and the ids of runs, which a store does not have."""
    status, text = exporter.status(f"/recommend?{question}")
    answer = json.loads(text)
    answer.pop("generated_at", None)
    return status, json.dumps(answer, sort_keys=True)


def differences(left, right, names):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        pairs = list(pool.map(lambda name: (recommended(left, name), recommended(right, name)), names))
    return [(a, b) for a, b in pairs if a != b]


class Prometheus:
    name = "Prometheus"
    program = os.environ.get("PROMETHEUS", "prometheus")

    def __init__(self, folder, window="400d"):
        self.folder, self.port, self.window = folder, free_port(), window
        self.url = f"http://127.0.0.1:{self.port}"
        self.write_url = self.url + "/api/v1/write"
        (folder / "prometheus.yml").write_text(f"storage: {{tsdb: {{out_of_order_time_window: {window}}}}}\n" if window else "{}\n")
        self.start()

    def command(self):
        return [self.program, f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
                "--storage.tsdb.retention.time=400d", f"--web.listen-address=127.0.0.1:{self.port}", "--web.enable-remote-write-receiver"]

    def start(self):
        self.process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait(self.answers, f"{self.name} to start", 60)

    def answers(self):
        try:
            with urllib.request.urlopen(self.url + "/metrics", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def count(self):
        query = urllib.parse.urlencode({"nocache": 1, "query": "sum(count_over_time(rightsize_run_duration_seconds[400d]))"})
        with urllib.request.urlopen(f"{self.url}/api/v1/query?{query}", timeout=60) as answer:
            result = json.load(answer)["data"]["result"]
        return int(result[0]["value"][1]) if result else 0

    def kill(self):
        self.process.kill()
        self.process.wait()


class VictoriaMetrics(Prometheus):
    name = "VictoriaMetrics"
    program = os.environ.get("VICTORIA_METRICS", "victoria-metrics")

    def command(self):
        return [self.program, f"-storageDataPath={self.folder}/data", f"-httpListenAddr=127.0.0.1:{self.port}", "-retentionPeriod=400d",
                "-dedup.minScrapeInterval=1ms"]  # one of several samples with the same time


class Thanos(Prometheus):
    """Receive stores, Query answers; each adds labels of its own."""
    name = "Thanos"
    program = os.environ.get("THANOS", "thanos")

    def __init__(self, folder, window="400d"):
        self.grpc, self.receiver = free_port(), free_port()
        super().__init__(folder, window)
        self.write_url = f"http://127.0.0.1:{self.receiver}/api/v1/receive"

    def start(self):
        grpc = f"127.0.0.1:{self.grpc}"
        query = [self.program, "query", f"--http-address=127.0.0.1:{self.port}", f"--grpc-address=127.0.0.1:{free_port()}", f"--endpoint={grpc}",
                 "--query.replica-label=replica"]
        self.query = subprocess.Popen(query, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        super().start()

    def command(self):
        return [self.program, "receive", f"--tsdb.path={self.folder}/data", f"--grpc-address=127.0.0.1:{self.grpc}",
                f"--http-address=127.0.0.1:{free_port()}", f"--remote-write.address=127.0.0.1:{self.receiver}", '--label=replica="a"',
                f"--tsdb.out-of-order.time-window={self.window or '0s'}", "--tsdb.retention=400d"]

    def answers(self):
        """Query answers before it knows the receiver."""
        try:
            with urllib.request.urlopen(self.url + "/api/v1/stores", timeout=5) as answer:
                return "receive" in json.load(answer)["data"]
        except OSError:
            return False

    def kill(self):
        super().kill()
        self.query.kill()
        self.query.wait()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def written(writer, n, result="delivered"):
    wait(lambda: writer.metric(f'rightsize_remote_write_runs_total{{result="{result}"}}') >= n, f"{n} runs to be {result}")


def write_and_read(store, folder, runs):
    """All answers from the store are those from SQLite."""
    name, n = store.name, len(runs)
    writer = Exporter(f"--history.path={folder}/history.db", f"--remote-write.url={store.write_url}", "--web.allow-changes")
    begun = time.monotonic()
    post(writer, runs)
    posted = time.monotonic() - begun
    written(writer, n)
    took = time.monotonic() - begun
    check(True, f"{name}: {n} runs written: posted in {posted:.1f} s, in the store after {took:.1f} s; "
          f"{writer.metric('rightsize_remote_write_shifted_runs_total'):.0f} ended in the millisecond of another")
    took = wait(lambda: store.count() == n, f"{n} runs to be seen, not {store.count()}", 60)
    check(True, f"{name}: shows all of them {took:.1f} s later")
    reader = Exporter(f"--history.url={store.url}")
    took = wait(lambda: reader.status("/-/ready")[0] == 200, "the reader to be ready")
    read = reader.metric('rightsize_history_read_runs_total{result="added"}')
    check(read == n, f"{name}: {read:.0f} of {n} runs read back, ready after {took:.1f} s, {resident(reader.process)} MiB")
    names = sorted({random_runs.question(run) for run in runs})[:200]
    differ = differences(writer, reader, names)
    sized = sum(recommended(writer, one)[0] == 200 for one in names)
    check(not differ and sized > len(names) / 2,
          f"{name}: {len(names) - len(differ)} of {len(names)} answers of /recommend are equal to those from SQLite ({sized} have a size)")
    for a, b in differ[:2]:
        print(a[1][:3000], b[1][:3000], sep="\n")
    second = Exporter(f"--history.url={store.url}")
    wait(lambda: second.status("/-/ready")[0] == 200, "the second reader to be ready")
    check(not differences(reader, second, names), f"{name}: a second reader answers alike")
    ids = [[run["run_id"] for run in json.loads(e.get(f"/runs?{names[0]}&limit=100"))["runs"]] for e in (reader, second)]
    check(ids[0] and ids[0] == ids[1], f"{name}: the runs have the same ids there")
    return writer, reader


def two_writers(store, folder):
    """Two exporters write runs of one job that ended at one time. Neither knows the other's."""
    name, now = store.name, int(time.time()) - 3600
    made = [dict(run, job_name="twins", namespace=None, labels=None, outcome="succeeded", exit_code=0, exit_signal=None)
            for run in random_runs.jobs(3, 1, 80, now, 1)]
    ends = [now - 10 * (i // 2) + (0 if i < 40 else 0.437) for i in range(80)]  # half of them are rounded
    runs = [dict(run, run_id=f"twin-{i}", ended_at=end, started_at=end - run["duration_seconds"]) for i, (run, end) in enumerate(zip(made, ends))]
    writers = [Exporter(f"--history.path={folder}/twin-{i}.db", f"--remote-write.url={store.write_url}", "--web.allow-changes") for i in range(2)]
    before = store.count()
    for i, writer in enumerate(writers):
        post(writer, runs[i::2])
        written(writer, 40)
    wait(lambda: store.count() >= before + 60, "the runs of two writers to be seen", 60)
    time.sleep(3)
    reader = Exporter(f"--history.url={store.url}")
    wait(lambda: reader.status("/-/ready")[0] == 200, "the reader to be ready")
    told = lambda run: (round(run["duration_seconds"], 3), run.get("memory_peak_bytes"), round(run.get("cpu_seconds") or 0))
    sent = {told(dict(run, **{key: run["columns"].get(key, {}).get(statistic) for key, statistic in
                              (("memory_peak_bytes", "max"), ("cpu_seconds", "sum"))})): run["ended_at"] for run in runs}
    read = [told(run) for run in json.loads(reader.get("/runs?job_name=twins&limit=100"))["runs"]]
    rounded = sum(sent.get(one, 0.5) % 1 == 0 for one in read)
    collided = reader.metric('rightsize_history_read_runs_total{result="collided"}')
    check(rounded == 40, f"{name}: {rounded} of 40 runs of two writers with rounded ends are read")
    check(not [one for one in read if one not in sent], f"{name}: of 40 runs with one end each, {len(read) - rounded} are read, and {collided:.0f} pairs "
          "counted; none is mixed of two")
    for one in (*writers, reader):
        check(one.stop() == 0, f"{name}: an exporter of these ends")


def send_twice(store, folder, writer, n):
    """A writer that has forgotten what it sent."""
    check(writer.stop() == 0, f"{store.name}: the writer ends")
    with contextlib.closing(sqlite3.connect(folder / "history.db")) as history, history:
        history.execute("UPDATE run SET written_at = NULL")
    writer = Exporter(f"--history.path={folder}/history.db", f"--remote-write.url={store.write_url}", "--web.allow-changes")
    written(writer, n)
    time.sleep(3)
    check(store.count() == n, f"{store.name}: all runs sent a second time: {store.count()} of {n} runs are there")
    return writer


def disturb(store, writer, reader, runs, n):
    """The store is killed, and later stopped for a while, as runs end."""
    time.sleep(6)  # VictoriaMetrics has what it was given on disk after 5 s
    store.kill()
    half = len(runs) // 2
    post(writer, runs[:half])
    wait(lambda: writer.metric("rightsize_remote_write_failures_total") > 0, "a failure")
    check(reader.status(f"/recommend?{random_runs.question(runs[0])}")[0] in (200, 404, 409, 422), f"{store.name}: killed: the reader answers")
    store.start()
    written(writer, n + half)
    os.kill(store.process.pid, signal.SIGSTOP)
    post(writer, runs[half:])
    time.sleep(60)
    os.kill(store.process.pid, signal.SIGCONT)
    written(writer, n + len(runs))
    wait(lambda: store.count() == n + len(runs), f"{n + len(runs)} runs to be seen, not {store.count()}", 60)
    check(True, f"{store.name}: killed, and stopped for a minute: all runs arrive")
    wait(lambda: reader.metric('rightsize_history_read_runs_total{result="added"}') == n + len(runs), "the reader to see them, which ended days ago", 700)
    check(True, f"{store.name}: late runs are read")


class Moody(http.server.BaseHTTPRequestHandler):
    """A proxy before a store, which refuses, forgets to answer, or delivers twice."""
    protocol_version = "HTTP/1.1"
    url, moods = None, itertools.cycle(["429", "400", "500", "twice", "forget", "pass", "pass"])

    def do_POST(self):
        body, mood = self.rfile.read(int(self.headers["Content-Length"])), next(self.moods)
        status, text = (int(mood), b"a proxy says no") if mood.isdigit() else (0, b"")
        for _ in range({"twice": 2, "forget": 1, "pass": 1}.get(mood, 0)):
            headers = {name: value for name, value in self.headers.items() if name not in ("Host", "Content-Length")}
            try:
                with urllib.request.urlopen(urllib.request.Request(self.url, body, headers), timeout=60) as answer:
                    status, text = answer.status, answer.read()
            except urllib.error.HTTPError as error:
                status, text = error.code, error.read()
        if mood == "forget":
            self.close_connection = True
            return
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(text)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def through_a_proxy(store, folder):
    runs = [dict(run, job_name=f"proxied-{run['job_name']}") for run in random_runs.jobs(4, 5, 100, time.time() - 60, 2)]
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Proxy", (Moody,), {"url": store.write_url}))
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    writer = Exporter(f"--history.path={folder}/proxied.db", f"--remote-write.url=http://127.0.0.1:{proxy.server_port}/write", "--web.allow-changes")
    before = store.count()
    for i in range(0, len(runs), 50):
        post(writer, runs[i:i + 50])
        written(writer, i + 50)
    wait(lambda: store.count() == before + len(runs), f"{len(runs)} runs to be seen, not {store.count() - before}", 60)
    check(True, f"{store.name}: behind a proxy that answers 429, 400 and 500, loses answers and delivers twice: all {len(runs)} runs arrive once, "
          f"after {writer.metric('rightsize_remote_write_failures_total'):.0f} failures")
    check(writer.stop() == 0, f"{store.name}: the exporter ends")
    proxy.shutdown()


def refuse(kind, folder, made):
    """Prometheus and Thanos as they are by default take nothing that is older than what they have."""
    (folder / "default").mkdir()
    store = kind(folder / "default", window=None)
    try:
        writer = Exporter(f"--history.path={folder}/default.db", f"--remote-write.url={store.write_url}", "--web.allow-changes")
        told = lambda result: int(writer.metric(f'rightsize_remote_write_runs_total{{result="{result}"}}'))
        early = made[32:432]
        post(writer, early)
        wait(lambda: told("delivered") + told("refused") == len(early), "all to be told")
        wait(lambda: store.count() == told("delivered"), f"the {told('delivered')} delivered runs to be seen, not {store.count()}", 60)
        check(True, f"{store.name} without a window, empty: {told('delivered')} of {len(early)} runs of a month are "
              f"delivered and there, {told('refused')} refused")
        post(writer, [made[-1]])
        wait(lambda: told("delivered") + told("refused") == len(early) + 1, "the newest run to be written")
        refused = told("refused")
        post(writer, made[:32])
        written(writer, refused + 32, "refused")
        said = [line for line in writer.log if "refused" in line]
        check(said and "out_of_order_time_window" in said[0] and len(said) < 4, f"{store.name} without a window: 32 old runs are refused: {said[0]}")
        check(writer.stop() == 0, "the writer ends")
    finally:
        store.kill()


def resident(process):
    return int(pathlib.Path(f"/proc/{process.pid}/status").read_text().split("VmRSS:")[1].split()[0]) // 1024


def on_disk(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def write_history(store, folder, path):
    """200 random jobs of a large history have the same answers from the store as from SQLite."""
    name, copy = store.name, folder / "history.db"
    shutil.copy(path, copy)
    writer = Exporter(f"--history.path={copy}", f"--remote-write.url={store.write_url}")
    with contextlib.closing(sqlite3.connect(copy)) as history:
        n, = history.execute("SELECT count(*) FROM run").fetchone()
    took = wait(lambda: writer.metric('rightsize_remote_write_runs_total{result="delivered"}') >= n, f"{n} runs to be written", 7200)
    check(True, f"{name}: {n} runs of {path} written in {took:.0f} s; the writer has {resident(writer.process)} MiB, the store "
          f"{resident(store.process)} MiB")
    reader = Exporter(f"--history.url={store.url}", f"--history.path={folder}/cache.db")
    took = wait(lambda: reader.status("/-/ready")[0] == 200, "the reader to be ready", 7200)
    at_once = reader.metric('rightsize_history_read_runs_total{result="added"}')
    wait(lambda: reader.metric('rightsize_history_read_runs_total{result="added"}') >= n, f"all {n} runs to be read, not {at_once:.0f}")
    read = reader.metric('rightsize_history_read_runs_total{result="added"}')
    check(read == n, f"{name}: {read:.0f} of {n} runs read back, {at_once:.0f} when ready after {took:.0f} s; the reader has {resident(reader.process)} MiB, "
          f"the store {resident(store.process)} MiB and {on_disk(folder / 'data') / n:.0f} bytes a run on disk")
    made, jobs = random.Random(1), []
    total = json.loads(writer.get("/jobs?limit=1"))["total"]
    for offset in sorted(made.sample(range(total), min(200, total))):
        job, = json.loads(writer.get(f"/jobs?limit=1&sort=name&offset={offset}"))["jobs"]
        jobs.append(random_runs.question({"namespace": None, **job}))
    differ = differences(writer, reader, jobs)
    check(not differ, f"{name}: {len(jobs) - len(differ)} of {len(jobs)} answers of /recommend about random jobs are equal to those from SQLite")
    for a, b in differ[:2]:
        print(a[1][:3000], b[1][:3000], sep="\n")
    check(writer.stop() == 0 and reader.stop() == 0, f"{name}: the exporters end")


def main():
    if len(sys.argv) == 2 and pathlib.Path(sys.argv[1]).is_file():
        return check_stores(lambda store, folder: write_history(store, folder, pathlib.Path(sys.argv[1])))
    n_jobs, n_runs, days = [int(x) for x in sys.argv[1:]] + [200, 20, 30][len(sys.argv) - 1:]
    now = time.time()
    made = list(random_runs.jobs(int(now), n_jobs, n_runs + 1, now, days))
    runs, more = made[:n_jobs * n_runs], made[n_jobs * n_runs:]

    def check_store(store, folder):
        writer, reader = write_and_read(store, folder, runs)
        writer = send_twice(store, folder, writer, len(runs))
        disturb(store, writer, reader, more[:32], len(runs))
        check(writer.stop() == 0 and reader.stop() == 0, f"{store.name}: the exporters end")
        two_writers(store, folder)
        through_a_proxy(store, folder)
        if type(store) is not VictoriaMetrics:
            refuse(type(store), folder, made)

    return check_stores(check_store)


def check_stores(check_store):
    for kind in (Prometheus, VictoriaMetrics, Thanos):
        if not shutil.which(kind.program):
            print(f"skip {kind.name}: {kind.program} is not installed")
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            store = kind(folder)
            try:
                check_store(store, folder)
            finally:
                store.kill()
    return 1 if FAILED else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    finally:
        for one in STARTED:
            one.process.kill()
