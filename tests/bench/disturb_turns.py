#!/usr/bin/env python3
"""Measures whether a job is slower because the exporter watches it ten times a second: one job, watched and not, in turns.

    tests/bench/disturb_turns.py EXPORTER BENCH_DISTURB [--minutes=6] [--interval=100ms] [--slice=0.2] [--job=calls|maps]...

disturb.py compares the time around ticks with the time between them; ten ticks a second leave no such time. disturb_pairs.py
starts three new processes for each set, and their addresses change their speed by a few percent. This bench has one process,
which is never stopped, under one `rightsize-exporter run`. The exporter alone is stopped and continued, in turns of a slice.
The job records the clock and its CPU time after each of its units, so that its work in each slice is known.

Two neighbouring slices are a pair: one watched, one not, in random order, so that slow changes favour neither. CPU: how much
more CPU time a unit took in the watched slice. Work: how much less was done in a second. The mean over pairs and Student's
95 % interval are printed; pairs are independent because each has its own random order. Every third pair belongs to "null":
both of its slices are watched, or neither is, and one of them is drawn to count as watched. A smaller change than that of
"null" means nothing.

All of a slice counts. It begins right before the signal is sent. So the cost of continuing the exporter is in the watched slice.
The other slice has the end of the system call in which the exporter was stopped, some microseconds. A tick that becomes due during
a stop is not lost: the rest of the exporter's wait passes when it continues, so that a second of watched time has as many ticks as
the interval says. The ticks of both kinds of slices are counted in the history and printed; slices that are not watched have none.
The length of a slice varies by up to a fifth, so that turns have no period. Shorter slices give a narrower interval in the same
minutes, because the speed of the job changes less from one slice to the next; but each slice costs a signal.

The control is the job "maps", whose smaps_rollup another process reads once an interval; that process is stopped and continued in
the same way. If the control is not seen, there is no verdict. This bench cannot show a cost that remains while the exporter is
stopped: an inherited perf counter (see disturb_pairs.py), or later writes of the kernel to the disk. The exit codes are those of
disturb.py.
"""
import argparse
import bisect
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import disturb

# The exporter's work at its start is not part of its permanent work.
BEGIN_SECONDS = 2
CONTROL_MINUTES = 1
JITTER = 0.2
PAIRS_A_NULL = 3
PAIRS_LEAST = 6
READER = """
import sys, time
while True:
    print(time.monotonic(), flush=True)
    open(sys.argv[1], "rb").read()
    time.sleep(float(sys.argv[2]))
"""


class Slice:
    def __init__(self, begin, watched):
        self.begin, self.end, self.watched = begin, None, watched

    def seconds(self):
        return self.end - self.begin


def plan(number):
    """Returns whether the exporter runs in the two slices of a pair."""
    if number % PAIRS_A_NULL == PAIRS_A_NULL - 1:
        return [random.random() < 0.5] * 2
    return random.sample((True, False), 2)


def take_turns(o, pid, minutes):
    """Runs pairs of slices. `pid` is the watching process."""
    slices, until = [], time.monotonic() + 60 * minutes
    while time.monotonic() < until or len(slices) < 2 * PAIRS_LEAST:
        for watched in plan(len(slices) // 2):
            slices.append(Slice(time.monotonic(), watched))
            os.kill(pid, signal.SIGCONT if watched else signal.SIGSTOP)
            time.sleep(o.slice * random.uniform(1 - JITTER, 1 + JITTER))
    end = time.monotonic()
    for s, after in zip(slices, [*(s.begin for s in slices[1:]), end]):
        s.end = after
    os.kill(pid, signal.SIGCONT)
    time.sleep(0.1)  # the job records a unit after the last slice
    return list(zip(slices[::2], slices[1::2]))


def change(told, whole, pair):
    """Returns the changes (CPU, work not done) in the watched slice, as shares of the usual values."""
    if pair[0].watched == pair[1].watched:
        watched, other = random.sample(pair, 2)
    else:
        watched, other = sorted(pair, key=lambda s: not s.watched)
    (cpu, work), (other_cpu, other_work) = (told.done((s.begin, s.end)) for s in (watched, other))
    # If other processes left no time for more, a unit in the pair weighs as much as any other unit.
    weight = (work + other_work) / 2 / whole[1]
    return (cpu - other_cpu) / whole[0] * weight, (other_work - work) / whole[1]


def estimates(told, pairs):
    """Returns [(mean, low, high) of CPU, and of work]."""
    whole = told.done((pairs[0][0].begin, pairs[-1][1].end))
    changes = [change(told, whole, pair) for pair in pairs]
    return [disturb.estimate([[c[i]] for c in changes], 1) for i in (0, 1)]


def null(pairs, is_null):
    return [pair for pair in pairs if (pair[0].watched == pair[1].watched) == is_null]


def rates(pairs, ticks):
    """Returns the ticks per second of watched time, and of other time."""
    ticks = sorted(ticks)
    ret = []
    for watched in (True, False):
        slices = [s for pair in pairs for s in pair if s.watched == watched]
        n = sum(bisect.bisect(ticks, s.end) - bisect.bisect(ticks, s.begin) for s in slices)
        ret.append(n / sum(s.seconds() for s in slices))
    return ret


def watch(o, kind, folder):
    """Returns (the job's records, pairs, ticks, CPU seconds of the exporter)."""
    exporter, job, history, told = disturb.start_watched(o, kind, folder)
    try:
        time.sleep(BEGIN_SECONDS)
        cpu = disturb.cpu_of(exporter.pid)
        pairs = take_turns(o, exporter.pid, o.minutes)
        cpu = disturb.cpu_of(exporter.pid) - cpu
    finally:
        exporter.send_signal(signal.SIGCONT)
        os.kill(job, signal.SIGTERM)
        exporter.wait()
    return disturb.Told(told), pairs, disturb.monotonic(disturb.ticks_in(history)), cpu


def watch_dearly(o, folder):
    """Measures the same for a job that is watched in the most expensive way."""
    path, log = folder / "told", folder / "read"
    job = subprocess.Popen([o.program, "maps", str(path)])
    disturb.begun(job, path)
    with log.open("w") as file:
        reader = subprocess.Popen([sys.executable, "-c", READER, f"/proc/{job.pid}/smaps_rollup", str(o.seconds)], stdout=file)
    try:
        time.sleep(BEGIN_SECONDS)
        pairs = take_turns(o, reader.pid, min(o.minutes, CONTROL_MINUTES))
    finally:
        reader.kill()
        reader.wait()
        job.terminate()
        job.wait()
    return disturb.Told(path), pairs, [float(text) for text in log.read_text().split()]


def print_rates(pairs, ticks, last=""):
    print(" {:.1f} ticks in a second of watched time, {:.1f} of other time".format(*rates(pairs, ticks)) + last + "\n", flush=True)


def measure(o, kind, folder):
    told, pairs, ticks, cpu = watch(o, kind, folder)
    changes = estimates(told, null(pairs, False))
    disturb.line(kind, len(null(pairs, False)), changes, disturb.verdicts(changes))
    disturb.line(" null", len(null(pairs, True)), estimates(told, null(pairs, True)))
    n = bisect.bisect(ticks, pairs[-1][1].end) - bisect.bisect(ticks, pairs[0][0].begin)
    print_rates(pairs, ticks, f"; a tick took {1000 * cpu / max(n, 1):.2f} ms of CPU")
    return disturb.worst(map(disturb.verdict, changes))


def control(o, folder):
    told, pairs, ticks = watch_dearly(o, folder)
    code = disturb.control_seen(len(null(pairs, False)), estimates(told, null(pairs, False)))
    print_rates(pairs, ticks)
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exporter")
    parser.add_argument("program")
    parser.add_argument("--minutes", type=float, default=6, help="for each job; of the control one at most")
    parser.add_argument("--interval", default="100ms")
    parser.add_argument("--slice", type=float, default=0.2, help="seconds of one turn")
    parser.add_argument("--job", choices=("calls", "maps"), action="append", help="one of them only")
    o = parser.parse_args()
    o.seconds = disturb.seconds_of(o.interval)
    kinds = o.job or ("calls", "maps")
    print(f"change in %, with its 95 % interval; watched every {o.interval}, in turns of {o.slice:g} s\n")
    print(f"{'job':8} {'pairs':>6} {'CPU':>24} {'work not done':>24}")
    codes = []
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            codes.append(measure(o, kind, pathlib.Path(folder)))
    if "maps" in kinds:
        with tempfile.TemporaryDirectory() as folder:
            codes.append(control(o, pathlib.Path(folder)))
    return disturb.conclude(codes)


if __name__ == "__main__":
    sys.exit(main())
