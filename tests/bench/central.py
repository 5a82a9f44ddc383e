#!/usr/bin/env python3
"""Measures a central exporter with a large history in a control group with little memory: taking runs, /recommend, /jobs, /overview.

    tests/bench/central.py --build=DIRECTORY HISTORY [--memory=64] [--runs=20000] [--asked=200] [--p99=MILLISECONDS] [--rate=RUNS]

bench_runs makes HISTORY, which is copied. --memory: MiB of the group, which also holds the kernel's cache of the file. The last row
has all requests at once, by one connection each, beside 4 connections that send runs. Exit code 1: a request failed, the kernel killed
the server, the p99 of /recommend is above --p99, or fewer runs a second were taken than --rate. 2: no such group can be made here.
"""
import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

FOLDER = pathlib.Path(__file__).parent
sys.path.append(str(FOLDER.parent / "accuracy"))
import groups  # noqa: E402

BATCH = 40
FAILED = collections.Counter()


def check(right, what):
    FAILED[what] += not right


class Server:
    def __init__(self, o, folder, group):
        self.log = pathlib.Path(folder, "log")
        with open(self.log, "w") as file:
            self.process = subprocess.Popen(
                [f"{o.build}/exporter/rightsize-exporter", "serve", "--web.listen-address=127.0.0.1:0", f"--history.path={folder}/history.db",
                 "--history.max-size=100G", "--history.retention=36500d", "--no-jobs.recognise", "--no-cloud.discovery",
                 "--no-catalogue.refresh", "--web.allow-changes"], stderr=file, stdout=subprocess.DEVNULL,
                preexec_fn=lambda: (group / "cgroup.procs").write_text("0"))
        for _ in range(1200):
            found = re.search(r'listening.*address="?([\d.]+):(\d+)', self.log.read_text())
            if found:
                break
            time.sleep(0.1)
        else:
            sys.exit("central.py: the server did not start")
        self.address = found[1], int(found[2])
        while self.ask(self.connect(), "/-/ready")[1] != 200:
            time.sleep(0.5)

    def connect(self):
        return http.client.HTTPConnection(*self.address, timeout=120)

    @staticmethod
    def ask(connection, path, body=None):
        """Returns the milliseconds, the status and the answer."""
        begin = time.monotonic()
        connection.request("POST" if body else "GET", path, body, {"Content-Type": "application/json"} if body else {})
        response = connection.getresponse()
        text = response.read()
        return (time.monotonic() - begin) * 1e3, response.status, text

    def cpu_ms(self):
        return time.clock_gettime((~self.process.pid << 3) | 2) * 1e3

    def pss_mib(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(re.search(r"Pss: *(\d+)", text)[1]) / 1024


def kept_message():
    """Returns a run with the statistics that a forwarder sends."""
    like = json.loads((FOLDER.parent / "fixtures/run_message.json").read_text())
    source = (FOLDER.parents[1] / "recommender/kept_statistics.c").read_text()
    kept = set(re.findall(r'^\t\{"(\w+)"', source, re.M))
    like["columns"] = {name: {k: v for k, v in column.items() if v is not None} for name, column in like["columns"].items() if name in kept}
    return like


def batches(jobs, runs, mark):
    like, made, now = kept_message(), random.Random(mark), time.time()
    for first in range(0, runs, BATCH):
        batch = []
        for i in range(first, min(first + BATCH, runs)):
            job, end = made.choice(jobs), now - made.uniform(0, 100)
            batch.append(dict(like, run_id=f"{mark}-{now:.0f}-{i}", job_name=job["job_name"], namespace=job.get("namespace"), ended_at=end,
                              started_at=end - like["duration_seconds"], host=f"node-{made.randrange(500)}"))
        yield json.dumps(batch)


def send(server, bodies):
    connection = server.connect()
    for body in bodies:
        status = 503
        while status == 503:
            _, status, answer = server.ask(connection, "/runs", body)
        check(status == 200 and not any("error" in one for one in json.loads(answer)["runs"]), f"POST /runs: {status} {answer[:200]}")


def row(server, name, work):
    """Calls work(), which returns the milliseconds of its requests, and prints them."""
    memory, cpu, begin = server.pss_mib(), server.cpu_ms(), time.monotonic()
    took = sorted(work())
    cpu, seconds = server.cpu_ms() - cpu, time.monotonic() - begin
    p99 = took[len(took) * 99 // 100]
    print(f"| {name} | {len(took):,} | {took[len(took) // 2]:.1f} | {p99:.1f} | {took[-1]:.1f} | {cpu / len(took):.2f} | "
          f"{max(memory, server.pss_mib()):.1f} |", flush=True)
    return p99, len(took) / seconds


def asked(server, paths):
    connection = server.connect()
    for path in paths:
        milliseconds, status, answer = server.ask(connection, path)
        check(status == 200, f"{path.split('?')[0]}: {status} {answer[:200]}")
        yield milliseconds


def recommend(jobs):
    return ["/recommend?" + urllib.parse.urlencode({key: job[key] for key in ("job_name", "namespace") if job.get(key)}) for job in jobs]


def all_jobs(server, sort):
    connection, ret = server.connect(), []
    while len(ret) % 1000 == 0:
        page = json.loads(server.ask(connection, f"/jobs?limit=1000&offset={len(ret)}&sort={sort}")[2])["jobs"]
        if not page:
            break
        ret += page
    return ret


def at_once(server, paths, bodies):
    took, lock = collections.defaultdict(list), threading.Lock()

    def ask(name, some):
        times = list(asked(server, some))
        with lock:
            took[name] += times

    threads = [threading.Thread(target=ask, args=item) for item in paths.items()]
    threads += [threading.Thread(target=send, args=(server, bodies[i::4])) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [one for times in took.values() for one in times]


def measure(server, o):
    jobs = all_jobs(server, "-runs")
    made = random.Random(1)
    print(f"{len(jobs):,} jobs, {sum(job['runs'] for job in jobs):,} runs; {o.memory} MiB; load {os.getloadavg()[0]:.1f}\n\n"
          "| | requests | p50 ms | p99 ms | most ms | CPU ms | memory MiB |\n|---|---|---|---|---|---|---|")
    bodies = list(batches(jobs, o.runs, "a"))

    def posts():
        connection = server.connect()
        for body in bodies:
            milliseconds, status, answer = server.ask(connection, "/runs", body)
            check(status == 200, f"POST /runs: {status} {answer[:200]}")
            yield milliseconds

    _, batches_a_second = row(server, f"POST /runs of {BATCH}", posts)
    p99, _ = row(server, "/recommend, random jobs", lambda: asked(server, recommend(made.sample(jobs, min(o.asked, len(jobs))))))
    row(server, f"/recommend, {jobs[0]['runs']} to {jobs[:o.asked][-1]['runs']} runs", lambda: asked(server, recommend(jobs[:o.asked])))
    pages = {route: [f"/{route}?limit=100&offset={made.randrange(len(jobs))}" for _ in range(o.asked)] for route in ("jobs", "overview")}
    for route, paths in pages.items():
        row(server, f"/{route}", lambda paths=paths: asked(server, paths))
    row(server, "/metrics", lambda: asked(server, ["/metrics"] * 20))
    mixed = dict(pages, recommend=recommend(made.sample(jobs, min(o.asked, len(jobs)))), metrics=["/metrics"] * 20)
    row(server, "all at once", lambda: at_once(server, mixed, list(batches(jobs, o.runs, "b"))))
    print(f"\n{batches_a_second * BATCH:,.0f} runs a second by one connection, beside this program")
    check(not o.p99 or p99 <= o.p99, f"/recommend: p99 {p99:.1f} ms, above {o.p99}")
    check(batches_a_second * BATCH >= o.rate, f"fewer than {o.rate} runs a second")


def kills(group):
    """Returns how many processes of the group the kernel killed, and the most memory that the group had, MiB."""
    files = {name: group / name for name in ("memory.oom_control", "memory.events", "memory.max_usage_in_bytes", "memory.peak")}
    events = next(files[name].read_text() for name in ("memory.events", "memory.oom_control") if files[name].exists())
    peak = next((files[name].read_text() for name in ("memory.peak", "memory.max_usage_in_bytes") if files[name].exists()), "nan")
    return int(re.search(r"oom_kill (\d+)", events)[1]), float(peak) / (1 << 20)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("history")
    parser.add_argument("--build", default="build/e2e")
    parser.add_argument("--memory", type=int, default=64)
    parser.add_argument("--runs", type=int, default=20000)
    parser.add_argument("--asked", type=int, default=200)
    parser.add_argument("--p99", type=float)
    parser.add_argument("--rate", type=float, default=0)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, groups.limited_memory("central", o.memory << 20) as group:
        if isinstance(group, str):
            print(group)
            return 2
        for end in ("", "-wal"):
            if os.path.exists(o.history + end):
                shutil.copy(o.history + end, f"{folder}/history.db{end}")
        server = Server(o, folder, group)
        try:
            measure(server, o)
            check(server.process.poll() is None, "the server ended")
        finally:
            server.process.terminate()
            server.process.wait()
        killed, peak = kills(group)
        print(f"{peak:.0f} MiB at most in the group, with the kernel's cache of files; {killed} processes killed")
        check(killed == 0, "the kernel killed the server")
    for what, n in (+FAILED).items():
        print(f"FAILED {n} times: {what}")
    return 1 if FAILED.total() else 0


if __name__ == "__main__":
    sys.exit(main())
