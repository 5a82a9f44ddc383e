#!/usr/bin/env python3
"""Measures a history of a day, a month and a year: its file size, the time of /stats and /recommend, and the cost of watching.

    tests/bench/compare_history.py --build=DIRECTORY [--catalogue=FILE] [--seconds=12] [--wrk-seconds=2]

bench_history writes one job that always runs, one run a day. The limits of the history are the defaults, except that no run is
removed. For each path, the first answer is measured, and then the median of later answers. CPU time is that of the server, so that
a busy machine does not change it.

Then `rightsize-exporter run` continues each of these histories, and an empty one, one after the other: two at once would share
pages of memory. It watches a tree of 100 processes once a second, and is measured as in compare.py. Exit code 1: a part of that
could not be measured. The whole takes about three minutes.
"""
import argparse
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import compare
import compare_report
from compare import cpu_ms

SPANS = ((1, 1), (30, 10), (365, 60))  # days, seconds between samples
ASKED = 15
PROCESSES = 100
KEEP_RUNS = "--history.runs-per-job=100000"


def ask(pid, url):
    begin, cpu = time.monotonic(), cpu_ms(pid)
    urllib.request.urlopen(url, timeout=300).read()
    return (time.monotonic() - begin) * 1e3, cpu_ms(pid) - cpu


def serve(o, folder):
    log = f"{folder}/log"
    arguments = [f"{o.build}/exporter/rightsize-exporter", "serve", "--web.listen-address=127.0.0.1:0", "--sample.interval=1h",
                 KEEP_RUNS, f"--history.path={folder}/history.db"]
    if o.catalogue:
        arguments.append(f"--catalogue.path={o.catalogue}")
    with open(log, "w") as file:
        process = subprocess.Popen(arguments, stderr=file, stdout=subprocess.DEVNULL)
    for _ in range(600):
        with open(log) as file:
            found = re.search(r'listening.*address="?([\d.]+:\d+)', file.read())
        if found:
            return process, f"http://{found[1]}"
        time.sleep(0.1)
    sys.exit("compare_history.py: the server did not start")


def span(o, days, interval, folder):
    """Makes the history in a folder."""
    subprocess.run([f"{o.build}/tests/bench/bench_history", f"{folder}/history.db", str(days), str(interval), str(int(time.time()))],
                   check=True)
    size = sum(os.path.getsize(f"{folder}/{f}") for f in os.listdir(folder) if f.startswith("history.db"))
    process, url = serve(o, folder)
    try:
        time.sleep(1)
        cells = []
        for path in ("/stats?job_name=etl/load", "/recommend?job_name=etl/load"):
            first = ask(process.pid, url + path)
            rest = [ask(process.pid, url + path) for _ in range(ASKED)]
            cells.append(f"{first[0]:.1f} ({first[1]:.1f})")
            cells.append(f"{statistics.median(r[0] for r in rest):.1f} ({statistics.median(r[1] for r in rest):.1f})")
        with open(f"/proc/{process.pid}/status") as file:
            resident = int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) / 1024
    finally:
        process.terminate()
        process.wait()
    print(f"| {days} days, every {interval} s | {days} | {size / 1e6:.1f} | {' | '.join(cells)} | {resident:.1f} |", flush=True)


def goes_on(o, histories):
    """Returns True when all was measured. Prints the cost of watching for each {name: folder} as a table."""
    results = [compare.measure(o, PROCESSES, folder, [KEEP_RUNS]) | dict(name=name) for name, folder in histories.items()]
    loads = ", ".join(r["load"][0] for r in results)
    print(f"\n`run` with a history that is there already, a tree of {PROCESSES} processes, once a second; load {loads} on "
          f"{os.cpu_count()} CPUs:\n")
    compare_report.print_ours(results)
    return all(map(is_measured, results))


def is_measured(result):
    row = compare_report.ours(result)
    figures = [row.get(name, math.nan) for name in ("tick", "scrape", "bytes", "resident", "private")]
    return not math.isnan(sum(figures) + compare_report.most_scrapes(result) + compare_report.errors(result))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--catalogue")
    parser.add_argument("--seconds", type=int, default=12)
    parser.add_argument("--wrk-seconds", type=int, default=2)
    parser.set_defaults(peers=None)
    o = parser.parse_args()
    compare.needs(parser)
    print("| history | runs | MB | /stats first, ms (CPU) | then | /recommend first | then | resident MiB |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as root:
        histories = {"empty": f"{root}/empty"}
        os.mkdir(histories["empty"])
        for days, interval in SPANS:
            folder = histories[f"{days} days, every {interval} s"] = f"{root}/{days}"
            os.mkdir(folder)
            span(o, days, interval, folder)
        print(f"\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
        return 0 if goes_on(o, histories) else 1


if __name__ == "__main__":
    sys.exit(main())
