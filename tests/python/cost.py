"""The cost of watching: rightsize_exporter beside resource-tracker 0.5.0, on the same job. Prints a table.

The job keeps 300 MiB and computes for SECONDS. Each tracker has a job of its own, one after the other.
"""
import json
import os
import statistics
import subprocess
import sys
import time

SECONDS = 15
ATTACHES = 20

JOB = f"""
import json, os, sys, time
def family(pid):
    for thread in os.listdir(f"/proc/{{pid}}/task"):
        for child in open(f"/proc/{{pid}}/task/{{thread}}/children").read().split():
            yield int(child)
            yield from family(int(child))
def exporters():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{{pid}}/cmdline", "rb").read().split(b"\\0")
        except OSError:
            continue
        if b"--exit-with-job" in words and os.environ["RIGHTSIZE_HISTORY_PATH"].encode() in b" ".join(words):
            yield int(pid)
def use(pids):
    cpu = pss = 0
    for pid in pids:
        fields = open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()
        cpu += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        pss += int(next(l for l in open(f"/proc/{{pid}}/smaps_rollup") if l.startswith("Pss:")).split()[1]) / 1024
    return cpu, pss
t = time.perf_counter(); START; attach = time.perf_counter() - t
held = bytearray(b"x" * (300 << 20))
until = time.time() + {SECONDS}
while time.time() < until:
    sum(range(100000))
watchers = list(family(os.getpid())) or list(exporters())
cpu, pss = use(watchers)
t = time.perf_counter(); tracker.stop(); end = time.perf_counter() - t
time.sleep(0.5)
peak = tracker.stats()["process_memory_mib"]["max"]
print(json.dumps({{"attach_ms": attach * 1e3, "end_ms": end * 1e3, "cpu_s": cpu, "pss_mib": pss, "peak_mib": peak}}))
"""
STARTS = {
    "resource-tracker 0.5.0": "from resource_tracker import ResourceTracker; tracker = ResourceTracker(); tracker.start()",
    "rightsize, first run ever": "from rightsize_exporter import ResourceTracker; tracker = ResourceTracker()",
    "rightsize, later": "from rightsize_exporter import ResourceTracker; tracker = ResourceTracker()",
}
SPEED = f"""
import json, time, rightsize_exporter as r
first = r.track("cost/first"); first.__enter__()
attach, end = [], []
for _ in range({ATTACHES}):
    t = time.perf_counter(); one = r.track("cost/one"); one.__enter__(); attach.append((time.perf_counter() - t) * 1e3)
    t = time.perf_counter(); one.__exit__(None, None, None); end.append((time.perf_counter() - t) * 1e3)
    time.sleep(0.05)
first.__exit__(None, None, None)
print(json.dumps([attach, end]))
"""


def answer(code):
    return json.loads(subprocess.run([sys.executable, "-B", "-c", code], stdout=subprocess.PIPE, check=True,
                                     env=os.environ).stdout)


def main():
    print(f"{'':28}{'attach ms':>11}{'end ms':>9}{'CPU s':>8}{'PSS MiB':>9}{'peak MiB':>10}   a job of {SECONDS} s, 1 core, 300 MiB")
    for name, start in STARTS.items():
        time.sleep(7)  # the exporter of the row before has ended
        row = answer(JOB.replace("START", start))
        print(f"{name:28}{row['attach_ms']:11.1f}{row['end_ms']:9.1f}{row['cpu_s']:8.2f}{row['pss_mib']:9.1f}{row['peak_mib']:10.1f}")
    attach, end = answer(SPEED)
    print(f"{'rightsize, a server runs':28}{statistics.median(attach):11.1f}{statistics.median(end):9.1f}   medians of {ATTACHES}; at most "
          f"{max(attach):.1f} and {max(end):.1f}; 1 minute load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
