#!/usr/bin/env python3
"""What the history of a day, a month and a year takes: size of the file, and time of /stats and /recommend.

    tests/bench/compare_history.py --build=DIRECTORY [--catalogue=FILE]

One job that always runs, a run a day (bench_history), with the limits as they are by default but that no run is removed.
First: the first answer; then: the median of those after it. CPU is that of the server, so that a busy machine does not count.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

SPANS = ((1, 1), (30, 10), (365, 60))  # days, seconds between samples
ASKED = 15


def cpu_ms(pid):
    return time.clock_gettime((~pid << 3) | 2) * 1e3


def ask(pid, url):
    begin, cpu = time.monotonic(), cpu_ms(pid)
    urllib.request.urlopen(url, timeout=300).read()
    return (time.monotonic() - begin) * 1e3, cpu_ms(pid) - cpu


def serve(o, folder):
    log = f"{folder}/log"
    arguments = [f"{o.build}/exporter/rightsize-exporter", "serve", "--web.listen-address=127.0.0.1:0", "--sample.interval=1h",
                 "--history.runs-per-job=100000", f"--history.path={folder}/history.db"]
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


def span(o, days, interval):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([f"{o.build}/tests/bench/bench_history", f"{folder}/history.db", str(days), str(interval)], check=True)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--catalogue")
    o = parser.parse_args()
    print("| history | runs | MB | /stats first, ms (CPU) | then | /recommend first | then | resident MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for days, interval in SPANS:
        span(o, days, interval)
    print(f"\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")


if __name__ == "__main__":
    main()
