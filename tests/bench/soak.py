#!/usr/bin/env python3
"""Checks that the exporter's memory and descriptors do not grow: in half an hour of real time, or from files of bench_soak.

    tests/bench/soak.py real EXPORTER BENCH_CHURN [--minutes=30] [--processes=1000] [--churn=50]
    tests/bench/soak.py judge [--settled=0.2] [--allocated] FILE...

real: starts --processes processes, and replaces --churn of them each second. `run` watches them ten times a second and is
scraped once a second. Two `serve` do the same for the jobs that they recognise by default. The second `serve` runs without the
freed memory that glibc keeps for each thread, so any growth of it is a leak. FILE: CSV with the columns seconds,
resident_bytes, descriptors, allocated_bytes.

Flat memory: the first part of the time, in which caches fill, does not count (--settled, a share). The slope over the rest is zero
within its own error, which comes from the means of ten stretches; or the growth is less than 64 KiB (16 pages) in all. No leak of
descriptors: the minimum of the last stretch is at most the minimum of an earlier stretch. (A tick opens some descriptors for a
moment, so maxima say nothing.) Ticks: at most one in a thousand may be missed, plus as many as fit into the time that the sampler
waited for a CPU. The exporter's waiting time is printed.
"""
import argparse
import csv
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

STRETCHES = 10
SETTLED = 0.2
NOISE_BYTES = 64 * 1024
MISSED_SHARE = 0.001
T_95 = 2.306  # Student's t for ten stretches, two of which the line takes
MIB = 1 << 20
HISTORY = "history.db"
SERVERS = {"serve beside it": "", "serve, no thread cache": "glibc.malloc.tcache_count=0"}  # environment of glibc


def line(points):
    """Slope, and the half width of its 95 % interval."""
    xs, ys = zip(*points)
    x, y = statistics.fmean(xs), statistics.fmean(ys)
    xx = sum((v - x) ** 2 for v in xs)
    slope = sum((a - x) * (b - y) for a, b in points) / xx
    rest = sum((b - y - slope * (a - x)) ** 2 for a, b in points)
    return slope, T_95 * math.sqrt(rest / (len(points) - 2) / xx)


def stretches(rows, settled):
    rows = rows[int(len(rows) * settled):]
    return [rows[len(rows) * i // STRETCHES:len(rows) * (i + 1) // STRETCHES] for i in range(STRETCHES)]


def judge(name, rows, settled=SETTLED):
    """Prints a row of the table. Returns True when the row is as it should be."""
    parts = stretches(rows, settled)
    slope, error = line([(statistics.fmean(r[0] for r in p), statistics.fmean(r[1] for r in p)) for p in parts])
    span = parts[-1][-1][0] - parts[0][0][0]
    flat = abs(slope) <= error or abs(slope) * span <= NOISE_BYTES
    fds = [min(r[2] for r in p) for p in parts]
    fds_before, fds_last = max(fds[:-1]), fds[-1]
    print(f"{name:24} {rows[-1][0] / 3600:8.2f} {rows[0][1] / MIB:8.2f} {rows[-1][1] / MIB:8.2f} "
          f"{max(r[1] for r in rows) / MIB:8.2f} {slope * 3600 / 1024:+9.1f} ± {error * 3600 / 1024:<8.1f} "
          f"{fds_before:6} {fds_last:6}  {'flat' if flat else 'GROWS'}, "
          f"{'no leak' if fds_last <= fds_before else 'LEAK'}")
    return flat and fds_last <= fds_before


def print_levels(rows):
    """Prints when the memory stops growing, and at which level."""
    hours = [h for h in (1, 4, 8, 16, 24, 48, 72, 96, 192) if h * 3600 <= rows[-1][0] + 3600]
    near = [[r[1] for r in rows if (h - 1) * 3600 <= r[0] < h * 3600] for h in hours]
    print("  MiB in the hour before " + ", ".join(f"{h} h: {statistics.fmean(v) / MIB:.2f}" for h, v in zip(hours, near) if v))


def head():
    print(f"{'':24} {'':8} {'resident MiB':^26} {'slope KiB/h':^20} {'descriptors':^13}")
    print(f"{'':24} {'hours':>8} {'first':>8} {'last':>8} {'most':>8} {'':20} {'before':>6} {'last':>6}")


def read_csv(path, column):
    with open(path, newline="") as file:
        return [(float(r["seconds"]), float(r[column]), int(r["descriptors"])) for r in csv.DictReader(file)]


def judge_file(o, path):
    rows = read_csv(path, "allocated_bytes" if o.allocated else "resident_bytes")
    good = judge(os.path.basename(path).removesuffix(".csv"), rows, o.settled)
    print_levels(rows)
    return good


def text_of(path):
    with open(path) as file:
        return file.read()


def resident(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", text_of(f"/proc/{pid}/status"))[1]) * 1024


def cpu_seconds(pid):
    fields = text_of(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_waits(pid):
    """Returns the seconds in which each thread was ready but had no CPU."""
    return {t: int(text_of(f"/proc/{pid}/task/{t}/schedstat").split()[1]) / 1e9 for t in os.listdir(f"/proc/{pid}/task")}


def pressure():
    match = re.search(r"avg300=([\d.]+)", text_of("/proc/pressure/cpu")) if os.path.exists("/proc/pressure/cpu") else None
    return f"{float(match[1]):.0f} %" if match else "unknown"


def metric(text, name):
    match = re.search(rf"^{name} (\S+)$", text, re.M)
    return float(match[1]) if match else math.nan


def start(o, folder, name, arguments, history, ready="", tunables=""):
    """Starts one exporter. Returns it with its address. `ready` is the text that it prints when it is ready."""
    log, out = open(f"{folder}/{name}.log", "w"), open(f"{folder}/{name}.out", "w")
    process = subprocess.Popen(
        [o.exporter, *arguments[:1], "--sample.interval=100ms", "--web.listen-address=127.0.0.1:0",
         f"--history.path={folder}/{history}", *arguments[1:]], stdin=subprocess.PIPE, stdout=out, stderr=log,
        env=os.environ | {"GLIBC_TUNABLES": tunables})
    for _ in range(1200):
        found = re.search(r'listening.*address="?([\d.]+:\d+)', text_of(log.name))
        if found and ready in text_of(out.name):
            return process, f"http://{found[1]}/metrics"
        time.sleep(0.1)
    sys.exit(f"soak.py: it did not start: {text_of(log.name)}")


def held(process, url):
    """Returns the memory and descriptors of an exporter after a scrape."""
    urllib.request.urlopen(url, timeout=60).read()
    return resident(process.pid), len(os.listdir(f"/proc/{process.pid}/fd"))


def watch(o, process, url, servers):
    """Returns the wrapper's work, and the memory and descriptors of each server as rows."""
    begin = time.monotonic()
    cpu, waits, rows, slowest, bodies = cpu_seconds(process.pid), cpu_waits(process.pid), [], 0, []
    server_rows = [[] for _ in servers]
    first = metric(urllib.request.urlopen(url).read().decode(), "rightsize_history_samples_missed_total")
    while (now := time.monotonic() - begin) < o.minutes * 60:
        asked = time.monotonic()
        text = urllib.request.urlopen(url, timeout=60).read().decode()
        slowest = max(slowest, time.monotonic() - asked)
        bodies.append(metric(text, 'rightsize_job_processes{job_name="soak"}'))
        rows.append((now, resident(process.pid), len(os.listdir(f"/proc/{process.pid}/fd"))))
        for of_server, server in zip(server_rows, servers):
            of_server.append((now, *held(*server)))
        time.sleep(max(0, begin + len(rows) - time.monotonic()))
    spent = time.monotonic() - begin
    missed = metric(text, "rightsize_history_samples_missed_total") - first
    waited = {t: w - waits.get(t, 0) for t, w in cpu_waits(process.pid).items()}
    return rows, server_rows, dict(seconds=spent, missed=missed, waited=waited, cpu=cpu_seconds(process.pid) - cpu, slowest=slowest,
                                   seen=statistics.median(bodies), dropped=metric(text, "rightsize_history_samples_dropped_total"))


def real(o):
    with tempfile.TemporaryDirectory() as folder:
        before = os.getloadavg()[0], pressure()
        process, url = start(o, folder, "run", ["run", "--job-name=soak", "--quiet", "--", o.churn_program,
                                                str(o.processes), str(o.churn)], HISTORY, "ready")
        servers = [start(o, folder, f"serve {n}", ["serve", "--jobs.recognise"],
                         f"other-{n}.db" if n else HISTORY, tunables=t)  # only one server records into a file
                   for n, t in enumerate(SERVERS.values())]
        rows, server_rows, seen = watch(o, process, url, servers)
        process.stdin.close()
        code = process.wait()
        for server, _ in servers:
            server.terminate()
        server_codes = [server.wait() for server, _ in servers]
    ticks, longest = seen["seconds"] * 10, max(seen["waited"].values())
    allowed = MISSED_SHARE * ticks + longest / 0.1
    head()
    measured = {"run, 10 Hz, real time": rows} | dict(zip(SERVERS, server_rows))
    ok = all([judge(name, r) for name, r in measured.items()])
    print()
    for name, r in measured.items():
        print(f"{name:24} KiB in each tenth: " + " ".join(f"{statistics.fmean(v[1] for v in part) / 1024:.0f}"
                                                        for part in stretches(r, 0)))
    print(f"\nprocesses {o.processes:.0f} ({seen['seen']:.0f} in the median scrape), {o.churn:.0f} replaced a second; "
          f"scrapes {len(rows)}, slowest {seen['slowest'] * 1e3:.0f} ms; CPU {seen['cpu'] / seen['seconds'] * 100:.1f} % of one")
    print(f"ticks {ticks:.0f}, missed {seen['missed']:.0f} ({seen['missed'] / ticks * 100:.2f} %), samples dropped {seen['dropped']:.0f}; "
          f"the thread that waited most for a CPU did so for {longest:.1f} s ({longest / seen['seconds'] * 100:.1f} % of the time): "
          f"at most {allowed:.0f} may be missed")
    print(f"load before {before[0]:.1f}, after {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs; CPU pressure (some, 300 s) "
          f"before {before[1]}, after {pressure()}; the job ended with {code}, the servers with {server_codes}")
    return ok and not any(server_codes) and seen["missed"] <= allowed and seen["dropped"] == 0 and code == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    p = commands.add_parser("real")
    p.add_argument("exporter")
    p.add_argument("churn_program")
    p.add_argument("--minutes", type=float, default=30)
    p.add_argument("--processes", type=int, default=1000)
    p.add_argument("--churn", type=int, default=50)
    p = commands.add_parser("judge")
    p.add_argument("--settled", type=float, default=SETTLED)
    p.add_argument("--allocated", action="store_true")
    p.add_argument("file", nargs="+")
    o = parser.parse_args()
    if o.command == "real":
        good = real(o)
    else:
        head()
        good = all([judge_file(o, f) for f in o.file])
    print("\nverdict:", "it stays as it is" if good else "NOT GOOD")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
