#!/usr/bin/env python3
"""Measures what watching costs, compared with other programs that watch the same processes at the same time. Writes a
Markdown table and a plot.

    tests/bench/compare.py --build=DIRECTORY --peers=DIRECTORY [--plot=FILE.svg] [--seconds=20] [PROCESSES...]

There are two floors (bench_meter): a loop that reads only the children and stat files, and one that also reads the other files
that the exporter has open. Three measurements are made of all programs and floors:
1. They watch one tree once a second, all at the same time.
2. They are scraped once a second.
3. One after the other, they are scraped as fast as possible by 1, 8 and 64 connections (wrk: the next request follows each answer
   at once, so these latencies are those of a machine without a free CPU). Programs that can do it are also asked 10,000 times a
   second, spread evenly (h2load). All other programs are stopped meanwhile.
--peers is the folder that tests/bench/peers.sh filled. A program that it lacks is left out, and named below the table. Ratios
are comparable between machines; the other figures are not, so this machine's load is printed beside them. Exit code 1: one of
the aims (AIMS of compare_report.py) was missed, or was not measured although everything that it needs is installed.
"""
import argparse
import contextlib
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import compare_report
from compare_report import CONNECTIONS, PACE, US

TRACK = """
import sys
from resource_tracker import ProcessTracker
ProcessTracker(pid=int(sys.argv[1]), interval=1, children=True, output_file="/dev/null")
"""


def text_of(path):
    with open(path) as file:
        return file.read()


def cpu_ms(pid):
    """Returns the nanoseconds of the process's CPU clock: all its threads, including ended ones."""
    return time.clock_gettime((~pid << 3) | 2) * 1e3


def memory_mib(pid):
    rollup = text_of(f"/proc/{pid}/smaps_rollup")
    kib = {k: int(v) for k, v in re.findall(r"^(\w+):\s+(\d+) kB", rollup, re.M)}
    return kib["Rss"] / 1024, (kib["Private_Clean"] + kib["Private_Dirty"]) / 1024


def pressure():
    found = re.search(r"some .*avg60=([\d.]+)", text_of("/proc/pressure/cpu")) if os.path.exists("/proc/pressure/cpu") else None
    return f"{float(found[1]):.0f} %" if found else "unknown"


class Watcher:
    """One program that watches the tree. url None = only its own clock triggers it."""

    def __init__(self, name, arguments, url=None, **options):
        self.name, self.url = name, url
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        **options)
        self.pid = self.process.pid
        self.row = {}

    def end(self):
        self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def free_port():
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_us(o, n, folder, options=()):
    """Starts the wrapper, with the tree below it."""
    log, out = f"{folder}/log", f"{folder}/out"
    process = subprocess.Popen(
        [f"{o.build}/exporter/{US}", "run", "--job-name=bench", "--quiet", "--no-cloud.discovery", "--sample.interval=1s",
         "--web.listen-address=127.0.0.1:0", f"--history.path={folder}/history.db", *options, "--",
         f"{o.build}/tests/bench/bench_tree", str(n)], stdin=subprocess.PIPE, stdout=open(out, "w"), stderr=open(log, "w"))
    for _ in range(3000):
        found = re.search(r'listening.*address="?([\d.]+:\d+)', text_of(log))
        if found and "ready" in text_of(out):
            root = int(text_of(f"/proc/{process.pid}/task/{process.pid}/children"))
            us = Watcher.__new__(Watcher)
            us.name, us.url, us.process, us.pid, us.row = US, f"http://{found[1]}/metrics", process, process.pid, {}
            return us, root
        time.sleep(0.1)
    sys.exit(f"compare.py: the tree of {n} did not start: {text_of(log)}")


def start_peers(o, root, folder):
    ret, missing = [], []
    usr = f"{o.peers}/debian/usr"
    node, process = f"{usr}/bin/prometheus-node-exporter", f"{usr}/bin/prometheus-process-exporter"
    apps, python = f"{usr}/lib/netdata/plugins.d/apps.plugin", f"{o.peers}/venv/bin/python"
    rust = f"{o.peers}/rust/bin/resource-tracker"
    with open(f"{folder}/groups.yml", "w") as file:
        file.write("process_names:\n  - name: bench\n    comm:\n      - bench_tree\n")

    def http(name, arguments):
        port = free_port()
        ret.append(Watcher(name, [*arguments, f"--web.listen-address=127.0.0.1:{port}"], f"http://127.0.0.1:{port}/metrics"))

    if os.path.exists(process):
        http("process-exporter", [process, f"-config.path={folder}/groups.yml"])
    if os.path.exists(node):
        http("node_exporter", [node])
    if os.path.exists(apps):
        # The choice of its groups is arbitrary. Without a file of groups it exits, so the file has one group for all
        # processes.
        with open(f"{folder}/apps_groups.conf", "w") as file:
            file.write("bench: bench_tree\n")
        ret.append(Watcher("netdata apps.plugin", [apps, "1"], env=os.environ | {"NETDATA_USER_CONFIG_DIR": folder}))
    if os.path.exists(python):
        ret.append(Watcher("resource-tracker (Python)", [python, "-c", TRACK, str(root)]))
    if os.path.exists(rust):
        ret.append(Watcher("resource-tracker (Rust)", [rust, "--interval=1", "--output=/dev/null", f"--pid={root}"]))
    for name, path in (("process-exporter", process), ("node_exporter", node), ("netdata apps.plugin", apps),
                       ("resource-tracker (Python)", python), ("resource-tracker (Rust)", rust)):
        if not os.path.exists(path):
            missing.append(name)
    for w in ret:
        for _ in range(100):
            try:
                if w.url is None or urllib.request.urlopen(w.url, timeout=300).read():
                    break
            except OSError:
                time.sleep(0.1)
    return ret, missing


def scrape(w, latencies):
    begin = time.monotonic()
    try:
        w.row["bytes"] = len(urllib.request.urlopen(w.url, timeout=60).read())
        latencies.append((time.monotonic() - begin) * 1e3)
    except OSError:
        w.row["errors"] = w.row.get("errors", 0) + 1


def alive(w):
    return w.process.poll() is None


def watch_ticks(o, us, root, watchers):
    """Measures a period without scrapes."""
    cpu, begin = {w: cpu_ms(w.pid) for w in watchers if alive(w)}, time.monotonic()
    floor = subprocess.run([f"{o.build}/tests/bench/bench_meter", str(us.pid), str(root), "1000", str(o.seconds)],
                           capture_output=True, text=True, check=True).stdout.split()
    seconds = time.monotonic() - begin
    for w in cpu:
        if alive(w):
            w.row["tick"] = (cpu_ms(w.pid) - cpu[w]) / seconds
    return *map(float, floor[1:4]), int(floor[6])


def watch_scrapes(o, watchers):
    """Measures a period with one scrape per second: the cost beyond the ticks."""
    for w in watchers:
        if not w.url or not alive(w):
            continue
        latencies, begin, cpu = [], time.monotonic(), cpu_ms(w.pid)
        while time.monotonic() - begin < o.seconds / 2:
            next_one = time.monotonic() + 1
            scrape(w, latencies)
            time.sleep(max(0, next_one - time.monotonic()))
        spent, seconds = cpu_ms(w.pid) - cpu, time.monotonic() - begin
        if latencies:
            w.row["slowest"] = max(latencies) / 1e3
            w.row["scrape"] = max(0, spent - w.row.get("tick", 0) * seconds) / len(latencies)


@contextlib.contextmanager
def others_stopped(w, watchers):
    """Stops the other programs. With 4,000 processes their ticks take more than one CPU, which w and its client would
    lack."""
    others = [other for other in watchers if other is not w and alive(other)]
    for other in others:
        os.kill(other.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for other in others:
            os.kill(other.pid, signal.SIGCONT)


def output_of(arguments):
    """Returns no output of a failed program, so that nothing is taken for measured."""
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode:
        print(f"compare.py: {arguments[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip()}", file=sys.stderr)
    return "" if done.returncode else done.stdout


def hurry(o, w, connections):
    seconds = max(o.wrk_seconds, min(20, round(3 * w.row.get("slowest", 1))))  # long enough for some answers
    out = output_of(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout=20s", "--latency", w.url])

    def time_of(label):
        found = re.search(rf"{label}\s+([\d.]+)(us|ms|s|m)\b", out)
        return float(found[1]) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}[found[2]] if found else math.nan
    rate = re.search(r"Requests/sec:\s+([\d.]+)", out)
    bad = re.search(r"Non-2xx.*: (\d+)", out)
    socket_errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    errors = (int(bad[1]) if bad else 0) + (sum(map(int, socket_errors.groups())) if socket_errors else 0)
    w.row[connections] = (float(rate[1]), time_of("50%"), time_of("99%"), errors) if rate else [math.nan] * 4


def pace(o, w, connections):
    """Returns milliseconds per answer (p50, p99, slowest), the number of requests without an answer of status 200, and
    answers per second. NaN = not measured."""
    with tempfile.NamedTemporaryFile() as log:
        total = PACE * o.wrk_seconds
        # One client begins in each millisecond. Otherwise all clients would send at the same time, again and again.
        out = output_of(["h2load", "--h1", f"-c{connections}", "-t1", "-r1", "--rate-period=1ms", f"-n{total}",
                         f"--rps={-(-PACE // connections)}", f"--log-file={log.name}", w.url])
        rows = [line.split("\t") for line in text_of(log.name).splitlines()]
    took = sorted(int(row[2]) / 1e3 for row in rows)
    rate = re.search(r"finished in .*?, ([\d.]+) req/s", out)
    if not took or not rate:
        return [math.nan] * 5
    return (took[len(took) // 2], took[len(took) * 99 // 100], took[-1],
            total - sum(row[1] == "200" for row in rows), float(rate[1]))


def measure(o, n, folder, options=()):
    """Measures everything. `folder` may have a history to continue. Without o.peers, only our program is measured."""
    us, root = start_us(o, n, folder, options)
    peers, missing = start_peers(o, root, folder) if o.peers else ([], [])
    watchers = [us, *peers]
    try:
        time.sleep(3)  # the first reads are over
        kept, opened, same, found = watch_ticks(o, us, root, watchers)
        watch_scrapes(o, watchers)
        for w in watchers:
            if alive(w):
                w.row["resident"], w.row["private"] = memory_mib(w.pid)
            with others_stopped(w, watchers):
                for connections in CONNECTIONS if w.url and alive(w) else ():
                    hurry(o, w, connections)
                    if w.row[connections][0] > PACE:
                        w.row["pace", connections] = pace(o, w, connections)
        load = f"{os.getloadavg()[0]:.0f}", pressure()
    finally:
        for w in peers:
            w.end()
        us.process.stdin.close()
        us.process.wait()
    return dict(n=n, found=found, kept=kept, opened=opened, same=same, load=load, missing=missing,
                rows=[(w.name, w.row) for w in watchers])


def measure_size(o, n):
    with tempfile.TemporaryDirectory() as folder:
        return measure(o, n, folder)


def needs(parser):
    missing = [name for name in ("wrk", "h2load") if not shutil.which(name)]
    if missing:
        parser.error(f"not installed: {', '.join(missing)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--plot")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--wrk-seconds", type=int, default=3)
    parser.add_argument("processes", nargs="*", type=int, default=[10, 100, 1000, 4000])
    o = parser.parse_args()
    needs(parser)
    results = [measure_size(o, n) for n in o.processes]
    compare_report.print_ratios(results)
    compare_report.print_ours(results)
    compare_report.print_all(results)
    print()
    if o.plot:
        compare_report.draw(results, o.plot)
    return 0 if compare_report.print_aims(results) else 1


if __name__ == "__main__":
    sys.exit(main())
