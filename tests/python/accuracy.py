"""The hard jobs of tests/accuracy, each watched from Python by resource-tracker 0.5.0 and by rightsize_exporter. Prints a table.

The truth of CPU time is that of a control group made for the job alone, which takes root; that of a spike is its 500 MiB. Both
packages watch the Python process that starts the job, so its own CPU time is subtracted from what they say.
RIGHTSIZE_ACCURACY_TOOLS is the folder of accuracy_job.
"""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "accuracy"))
import groups  # noqa: E402

JOB = str(pathlib.Path(os.environ["RIGHTSIZE_ACCURACY_TOOLS"]) / "accuracy_job")
CASES = ("waited", "ignored", "daemons", "sessions", "threads", "storm", "storm_ignored", "exec_chain", "root_first", "parent_first", "brief",
         "busy")
SPIKES = ("spike_root", "spike_child", "spike_two", "spike_brief")
SPIKE_MIB = 500

# The job enters the group by itself, so the trackers are not in it. The run ends an interval after its last process, so that each tracker sees all of it.
WATCH = """
import json, os, resource, subprocess, sys, time
case, folders = sys.argv[1], sys.argv[2:]
def own():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime
def enter():
    for folder in folders:
        with open(folder + "/cgroup.procs", "w") as procs:
            procs.write("0")
START
time.sleep(1.2)
before = own()
subprocess.run([JOB, case], preexec_fn=enter, stdout=subprocess.DEVNULL)
while open(folders[0] + "/cgroup.procs").read():
    time.sleep(0.05)
time.sleep(1.2)
after = own()
tracker.stop()
table = tracker.process_metrics
cpu, peak = sum(table["utime"]) + sum(table["stime"]), tracker.stats()["process_memory_mib"]["max"]
print(json.dumps([cpu - (after - before), peak]))
"""
PACKAGES = {
    "resource-tracker 0.5.0": "from resource_tracker import ResourceTracker; tracker = ResourceTracker(interval=1); tracker.start()",
    "rightsize_exporter": "from rightsize_exporter import ResourceTracker; tracker = ResourceTracker(interval=1)",
}


def watched(package, case, number):
    """Returns the CPU seconds and the peak in MiB that the package tells, and the CPU seconds of the job's group."""
    group = groups.make(number)
    if isinstance(group, str):
        raise SystemExit(f"accuracy.py: {group}")
    code = WATCH.replace("START", PACKAGES[package]).replace("JOB", repr(JOB))
    try:
        done = subprocess.run([sys.executable, "-B", "-c", code, case, *map(str, group.folders)], stdout=subprocess.PIPE, check=True)
        group.wait_until_empty()
        return (*json.loads(done.stdout), group.usage())
    finally:
        group.remove()


def main():
    number = 0
    print(f"{'':14}{'truth':>12}" + "".join(f"{name:>30}" for name in PACKAGES))
    for case in CASES + SPIKES:
        cells, truth = [], None
        for package in PACKAGES:
            number += 1
            cpu, peak, used = watched(package, case, number)
            unit, told, truth = ("MiB", peak, SPIKE_MIB) if case in SPIKES else ("s", cpu, used)
            cells.append(f"{told:.2f} {unit} ({(told / truth - 1) * 100:+.0f} %)")
        print(f"{case:14}{truth:>10.2f} {unit:2}" + "".join(f"{cell:>30}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
