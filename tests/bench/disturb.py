#!/usr/bin/env python3
"""Measures whether a job is slower because the exporter watches it: the job's work around each tick, compared with its work
between ticks.

    tests/bench/disturb.py EXPORTER BENCH_DISTURB [--minutes=10] [--interval=1s] [--job=calls|maps]

The job "calls" uses caches and system calls. The job "maps" is a process with 2 GiB in a loop of mmap and munmap. A job works
in equal units of about a millisecond. After each unit it records the clock and its CPU time. `rightsize-exporter run` watches
the job. It works at its ticks and sleeps between them, and its history says when each tick was. Each tick has a window, which
is a tenth of the interval long and begins a little before the tick. The time between this window and the windows of the
neighbouring ticks is the comparison: as much time before the window as after it. The units in the window are compared with
the units in the comparison.

Whole runs, or blocks of seconds, with and without the exporter would take hours to show a change of 0.5 %: everything else
that happens to a job changes its speed by 5 % within seconds, on this machine and on other shared machines. A tick takes a
thousandth of a second. Its cost is ten times as large a part of a window as it is of the interval. "profile" prints the
change in each tenth of the interval, and so shows whether the cost ends with the window. A window lies where the tick was due,
not where it began: on a busy machine a tick begins when a CPU is free, and then the job has a free CPU too.

CPU: the change of the CPU time of a unit. Work: the decrease of the units done in a second, which includes waiting. The
printed value is the mean, times the windows' share of the time. No tick is left out, and no median is taken, because a cost at
few ticks must count. Now and then the exporter is stopped for a random part of the interval, so that its ticks keep no fixed
phase to other periodic work. The ticks between two stops are a group. The 95 % interval is Student's t over the means of the
groups; they are independent because their phases are. "noise" is the same calculation, half an interval after each tick.

"control" proves that the bench can see a disturbance: the job "maps" runs while another process reads its smaps_rollup once
an interval, which costs much. If the bench does not see that, it gives no verdict.

The verdict follows from the 95 % interval. Within: all of it is below 0.5 %. Disturbed: all of it is above. Not told: it
includes 0.5 %, or the control was not seen. The bench cannot show a cost that is the same at ticks and between them: see
disturb_pairs.py. It cannot show a cost that leaves no time between ticks, as ten ticks a second do: see disturb_turns.py.

Exit code 0: all within 0.5 %. 1: disturbed. 2: at least one verdict is "not told", and none is "disturbed". disturb_pairs.py
and disturb_turns.py have the same exit codes.
"""
import argparse
import array
import bisect
import contextlib
import math
import os
import pathlib
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

BOUND = 0.005
TICKS_A_GROUP = 20
SHORTEST_WINDOW = 0.03
# The share of a window that is before the tick.
BEFORE = 0.25
CONTROL_MINUTES = 1
SECONDS = {"s": 1, "ms": 0.001}
JOB_STARTS = 100
WITHIN, DISTURBED, NOT_TOLD = 0, 1, 2  # exit codes


def numbers_at(file, n, count):
    return array.array("Q", os.pread(file.fileno(), 8 * count, 8 * n))


def count_told(file):
    """Returns the number of units that a job has recorded."""
    n = os.fstat(file.fileno()).st_size // 16
    return bisect.bisect_left(range(n), True, key=lambda i: numbers_at(file, 1 + 2 * i, 1)[0] == 0)


def told_pid(path):
    """Returns the job's pid; 0 = the job has not begun."""
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return (numbers_at(file, 0, 1) or [0])[0]


def last_told(path):
    """Returns (units done, CPU seconds used) of a job so far."""
    with path.open("rb") as file:
        n = count_told(file)
        return n, numbers_at(file, 2 * n, 1)[0] / 1e9


class Told:
    """The records of a job: see disturb.c. Times are from the monotonic clock."""

    def __init__(self, path):
        with path.open("rb") as file:
            numbers = numbers_at(file, 1, 2 * count_told(file))
        self.at, self.cpu = [x / 1e9 for x in numbers[0::2]], [x / 1e9 for x in numbers[1::2]]

    def covers(self, begin, end):
        return begin > self.at[0] and end < self.at[-1]

    def by(self, at):
        """Returns (units done, CPU seconds used, time) at a time. The current unit counts in part."""
        i = bisect.bisect_right(self.at, at) - 1
        part = (at - self.at[i]) / (self.at[i + 1] - self.at[i])
        return i + part, self.cpu[i] + part * (self.cpu[i + 1] - self.cpu[i]), at

    def done(self, *spans):
        """Returns (CPU seconds per unit, units per second) within spans of time."""
        units, cpu, seconds = (sum(by) for by in zip(*(
            [b - a for a, b in zip(self.by(begin), self.by(end))] for begin, end in spans)))
        return cpu / units, units / seconds


def begun(process, path):
    """Returns the pid of the job, once it works."""
    while process.poll() is None:
        if told_pid(path) and last_told(path)[0] > JOB_STARTS:
            return told_pid(path)
        time.sleep(0.1)
    sys.exit("the job ended before it began")


def cpu_of(pid):
    """Returns the CPU seconds of all threads of a process."""
    return sum(int(path.read_text().split()[0]) for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def ticks_in(history):
    with contextlib.closing(sqlite3.connect(history)) as db:
        return [at for at, in db.execute("SELECT at FROM sample WHERE kind = 0 ORDER BY id")]


def monotonic(times):
    """Converts times of the wall clock to the clock of the job's records."""
    wall = time.time() - time.monotonic()
    return [at - wall for at in times]


def start_watched(o, kind, folder):
    """Returns (the exporter, the pid of the job that it watches, its history, the job's records)."""
    history, told = folder / "history.db", folder / "told"
    exporter = subprocess.Popen(
        [o.exporter, "run", "--job-name=disturb", "--quiet", f"--sample.interval={o.interval}",
         f"--history.path={history}", "--no-cloud.discovery", "--", o.program, kind, str(told)])
    return exporter, begun(exporter, told), history, told


def watch(o, kind, folder, minutes):
    """Returns (the job's records, groups of ticks, CPU seconds of the exporter)."""
    exporter, job, history, told = start_watched(o, kind, folder)
    try:
        stops = []
        cpu = cpu_of(exporter.pid)
        until = time.monotonic() + 60 * minutes
        while time.monotonic() < until:
            time.sleep(o.seconds * TICKS_A_GROUP)
            exporter.send_signal(signal.SIGSTOP)
            stops.append(time.monotonic())
            time.sleep(o.seconds * random.random())
            exporter.send_signal(signal.SIGCONT)
        cpu = cpu_of(exporter.pid) - cpu
    finally:
        os.kill(job, signal.SIGTERM)
        exporter.wait()
    ticks = monotonic(ticks_in(history))
    groups = [[] for _ in range(len(stops) - 1)]
    for tick in ticks:
        at = bisect.bisect(stops, tick)
        if 0 < at < len(stops):
            groups[at - 1].append(tick)
    return Told(told), [due(group, o.seconds) for group in groups if group], cpu / sum(map(len, groups))


def due(ticks, interval):
    """Returns the times at which the ticks were due. The exporter keeps to a grid, which the least late tick shows
    best."""
    found, run = [], []
    for tick in [*ticks, math.inf]:
        # A tick that was late by an interval begins a new grid.
        if run and tick - run[-1] > 1.5 * interval:
            places = [round((t - run[0]) / interval) for t in run]
            first = min(t - place * interval for t, place in zip(run, places))
            found += [first + place * interval for place in places]
            run = []
        run.append(tick)
    return found


def read_rollup(o, folder, minutes):
    """Measures the same for a job that is watched in the most expensive way."""
    path = folder / "told"
    job = subprocess.Popen([o.program, "maps", str(path)])
    begun(job, path)
    groups = []
    until = time.monotonic() + 60 * minutes
    while time.monotonic() < until:
        groups.append([])
        time.sleep(o.seconds * random.random())
        for _ in range(TICKS_A_GROUP):
            groups[-1].append(time.monotonic())
            pathlib.Path(f"/proc/{job.pid}/smaps_rollup").read_bytes()
            time.sleep(max(0, o.seconds - (time.monotonic() - groups[-1][-1])))
    time.sleep(2 * o.seconds)
    job.terminate()
    job.wait()
    return Told(path), groups, math.nan


class Study:
    """The work of a job around ticks."""

    def __init__(self, o, told, groups, _):
        self.told, self.groups, self.interval = told, groups, o.seconds
        self.window = max(o.seconds / 10, SHORTEST_WINDOW)
        # All changes are shares of these values.
        self.cpu, self.work = told.done((told.at[JOB_STARTS], told.at[-2]))

    def change(self, centre):
        """Returns the changes (CPU, work not done) in a window, compared with the time around it."""
        begin = centre - BEFORE * self.window
        end = begin + self.window
        around = (self.interval - 2 * self.window) / 2
        if not self.told.covers(begin - around, end + around):
            return None
        cpu, work = self.told.done((begin, end))
        other_cpu, other_work = self.told.done((begin - around, begin), (end, end + around))
        # If other processes left no time for more, a unit in the window weighs as much as any other unit.
        return (cpu - other_cpu) / self.cpu * work / self.work, (other_work - work) / self.work

    def estimates(self, after):
        """Returns [(mean, low, high) of CPU, and of work], this long after each tick."""
        changes = [[c for tick in group if (c := self.change(tick + after))] for group in self.groups]
        share = self.window / self.interval
        return [estimate([[c[i] for c in group] for group in changes if group], share) for i in (0, 1)]

    def profile(self):
        """Returns how much less work is done in each tenth of the interval after a tick, compared with the whole
        interval."""
        tenth = self.interval / 10
        sums = [0] * 10
        for tick in (tick for group in self.groups for tick in group):
            begin = tick - BEFORE * tenth
            if self.told.covers(begin, begin + self.interval):
                for i in range(10):
                    sums[i] += self.told.done((begin + i * tenth, begin + (i + 1) * tenth))[1]
        return [1 - s / statistics.fmean(sums) for s in sums]


def student(freedom):
    """Two-sided 95 % of Student's t, as a series in 1/freedom: right to 0.01 from 5 on."""
    z = 1.959964
    return z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)


def estimate(groups, share):
    """Returns (mean, low, high). The mean is over all values. The means of groups give its uncertainty."""
    n = len(groups)
    mean = statistics.fmean(x for group in groups for x in group)
    size = sum(map(len, groups)) / n
    spread = math.sqrt(sum((sum(group) - len(group) * mean) ** 2 for group in groups) / (n - 1)) / size
    reach = student(n - 1) * spread / math.sqrt(n)
    return [share * x for x in (mean, mean - reach, mean + reach)]


VERDICTS = {WITHIN: "within 0.5 %", DISTURBED: "DISTURBED", NOT_TOLD: "NOT TOLD"}


def verdict(e):
    if e[2] <= BOUND:
        return WITHIN
    return DISTURBED if e[1] > BOUND else NOT_TOLD


def worst(codes):
    """One disturbed result decides, even if other results are uncertain."""
    codes = set(codes)
    return next(code for code in (DISTURBED, NOT_TOLD, WITHIN) if code in codes)


def verdicts(changes):
    cpu, work = (VERDICTS[verdict(e)] for e in changes)
    return cpu if cpu == work else f"CPU {cpu}, work {work}"


def conclude(codes):
    """Prints the conclusion, and returns the exit code."""
    code = worst(codes)
    print(f"\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    print("verdict: " + {WITHIN: "within 0.5 %", DISTURBED: "DISTURBED by more than 0.5 %", NOT_TOLD:
                         "NOT TOLD whether it is within 0.5 %: more minutes or a quieter machine are needed"}[code])
    return code


def line(name, n, estimates, last=""):
    texts = ["{:+6.2f} ({:+.2f} to {:+.2f})".format(*(100 * x for x in e)) for e in estimates]
    print(f"{name:8} {n:>6} {texts[0]:>24} {texts[1]:>24}  {last}", flush=True)


def measure(o, kind, folder):
    told, groups, cpu = watch(o, kind, folder, o.minutes)
    study = Study(o, told, groups, cpu)
    changes = study.estimates(0)
    line(kind, sum(map(len, groups)), changes, verdicts(changes))
    line(" noise", "", study.estimates(o.seconds / 2))
    print(" profile ", *(f"{100 * x:+.1f}" for x in study.profile()), "% less work in each tenth of the interval")
    print(f" {len(groups)} groups; a tick took {1000 * cpu:.2f} ms of CPU\n", flush=True)
    return worst(map(verdict, changes))


def control(o, folder):
    study = Study(o, *read_rollup(o, folder, CONTROL_MINUTES))
    return control_seen(sum(map(len, study.groups)), study.estimates(0))


def control_seen(n, changes):
    """Checks that a job that is known to be disturbed was seen as disturbed."""
    seen = verdict(changes[1]) == DISTURBED
    line("control", n, changes, "seen" if seen else "NOT SEEN, so that nothing is told")
    return WITHIN if seen else NOT_TOLD


def seconds_of(duration):
    number = duration.rstrip("ms")
    return float(number) * SECONDS[duration[len(number):]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exporter")
    parser.add_argument("program")
    parser.add_argument("--minutes", type=float, default=10, help="for each job")
    parser.add_argument("--interval", default="1s")
    parser.add_argument("--job", choices=("calls", "maps"), action="append", help="one of them only")
    o = parser.parse_args()
    o.seconds = seconds_of(o.interval)
    kinds = o.job or ("calls", "maps")
    print(f"change in %, with its 95 % interval; watched every {o.interval}\n")
    print(f"{'job':8} {'ticks':>6} {'CPU':>24} {'work not done':>24}")
    codes = []
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            codes.append(measure(o, kind, pathlib.Path(folder)))
    if "maps" in kinds:
        with tempfile.TemporaryDirectory() as folder:
            codes.append(control(o, pathlib.Path(folder)))
    return conclude(codes)


if __name__ == "__main__":
    sys.exit(main())
