#!/usr/bin/env python3
"""Measures whether a job is slower because the exporter watches it: the same job, watched and not watched, in turns.

    tests/bench/disturb_pairs.py EXPORTER BENCH_DISTURB [--minutes=9] [--interval=1s] [--seconds=3] [--slice=0.3]
                                 [--job=calls|maps|switch|fork]... [--nobody] [-- OPTIONS OF run...]

disturb.py compares the time around ticks with the time between them, and the exporter watches the job in both. This bench
also sees costs that are there all the time: an inherited perf counter, for example, costs something at each context switch and
each fork. disturb.c describes the jobs.

A set is three new processes of the same job on one CPU: two that are not watched, and one under `rightsize-exporter run`. They
take turns of a slice, in an order that is drawn anew for each round. All others are stopped meanwhile, and the exporter is
stopped with its job. CPU: how much more CPU time a unit of the watched job took than the mean of the other two. Work: how much
less it did in a second of its own turns. "null" compares the two jobs that are not watched with each other: a smaller change
than that means nothing. The addresses of a process may make it faster or slower for its whole life, so the set is the unit
of the statistics: the mean over sets and Student's 95 % interval are printed. The exporter gets twice the interval as its
option: a tick that became due during a stop comes in the exporter's next turn. So there is one tick in each interval of
the job's own time; the number of ticks is printed.

The source of the CPU time is printed too, and whether the perf counter stays open. --nobody: runs as a user without rights.
The exit codes are those of disturb.py.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import disturb

JOBS = "calls", "maps", "switch", "fork"
NOBODY = 65534
WATCHED = 2
WARM_ROUNDS = 1
SETS_LEAST = 4
# The exporter's work at its start is not part of its permanent work.
BEGIN_SECONDS = 0.5


class Contender:
    """One process of a set, and the program that watches it, as a process group that can be stopped."""

    def __init__(self, o, kind, folder, cpu, watched):
        self.told, self.history, self.seconds = folder / "told", folder / "history.db", 0
        command = [o.program, kind, str(self.told), str(cpu)]
        if watched:
            command = [o.exporter, "run", "--job-name=disturb", "--quiet", f"--sample.interval={2 * o.seconds_of_interval}s",
                       f"--history.path={self.history}", "--no-cloud.discovery", *o.options, "--", *command]
        user = dict(user=NOBODY, group=NOBODY, extra_groups=[]) if o.nobody else {}
        if o.nobody:
            os.chown(folder, NOBODY, NOBODY)
        self.process = subprocess.Popen(command, start_new_session=True, **user)
        disturb.begun(self.process, self.told)

    def signal(self, number):
        os.killpg(self.process.pid, number)

    def turn(self, seconds):
        begin = time.monotonic()
        self.signal(signal.SIGCONT)
        time.sleep(seconds)
        self.signal(signal.SIGSTOP)
        self.seconds += time.monotonic() - begin

    def begin(self):
        self.seconds, self.began, (self.units, self.cpu) = 0, time.time(), disturb.last_told(self.told)

    def done(self):
        """Returns (CPU seconds per unit, units per second of its turns)."""
        units, cpu = disturb.last_told(self.told)
        return (cpu - self.cpu) / (units - self.units), (units - self.units) / self.seconds

    def has_counter(self):
        return any("perf_event" in os.readlink(f) for f in pathlib.Path(f"/proc/{self.process.pid}/fd").glob("*"))

    def end(self):
        self.signal(signal.SIGCONT)
        told = disturb.told_pid(self.told)
        os.kill(told or self.process.pid, signal.SIGTERM)
        self.process.wait()


class Seen:
    """The way in which the exporter watched."""

    def __init__(self):
        self.counter, self.source, self.ticks, self.seconds = set(), set(), 0, 0

    def add(self, o, contender, counter):
        answer = json.loads(subprocess.run([o.exporter, "runs", "--job-name=disturb", f"--history.path={contender.history}"],
                                           check=True, capture_output=True).stdout)["runs"][0]
        self.counter.add("open" if counter else "closed")
        self.source.add(answer["cpu_source"])
        self.ticks += sum(at > contender.began for at in disturb.ticks_in(contender.history))
        self.seconds += contender.seconds

    def text(self):
        return (f"cpu_source {', '.join(sorted(self.source))}; counter {', '.join(sorted(self.counter))}; "
                f"{self.ticks / self.seconds:.2f} ticks in a second of its turns")


def one_set(o, kind, folder, seen):
    """Returns [(CPU, work)] of the watched process, and of "null"."""
    cpu, begun = random.choice(sorted(os.sched_getaffinity(0))), {}
    try:
        # The process that begins first may have an advantage, so any of them may begin.
        for i in random.sample(range(WATCHED + 1), WATCHED + 1):
            (folder / str(i)).mkdir()
            begun[i] = Contender(o, kind, folder / str(i), cpu, i == WATCHED)
            time.sleep(BEGIN_SECONDS)
            begun[i].signal(signal.SIGSTOP)
        contenders = [begun[i] for i in sorted(begun)]
        counter = contenders[WATCHED].has_counter()
        for number in range(WARM_ROUNDS + max(1, round(o.seconds / o.slice))):
            if number == WARM_ROUNDS:
                for c in contenders:
                    c.begin()
            for c in random.sample(contenders, len(contenders)):
                c.turn(o.slice)
        (cpu_a, work_a), (cpu_b, work_b), (cpu_w, work_w) = (c.done() for c in contenders)
    finally:
        for c in begun.values():
            c.end()
    seen.add(o, contenders[WATCHED], counter)
    bare = (cpu_a + cpu_b) / 2, (work_a + work_b) / 2
    return (cpu_w / bare[0] - 1, 1 - work_w / bare[1]), (cpu_b / cpu_a - 1, 1 - work_b / work_a)


def measure(o, kind, minutes):
    until, sets, seen = time.monotonic() + 60 * minutes, [], Seen()
    took = 0
    while len(sets) < SETS_LEAST or time.monotonic() + took < until:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            sets.append(one_set(o, kind, pathlib.Path(folder), seen))
        took = time.monotonic() - begin
    (watched, null) = ([disturb.estimate([[s[who][i]] for s in sets], 1) for i in (0, 1)] for who in (0, 1))
    disturb.line(kind, len(sets), watched, disturb.verdicts(watched))
    disturb.line(" null", "", null)
    print(f" {seen.text()}\n", flush=True)
    return disturb.worst(map(disturb.verdict, watched))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exporter", type=os.path.abspath)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--minutes", type=float, default=9, help="for all jobs together")
    parser.add_argument("--interval", default="1s")
    parser.add_argument("--seconds", type=float, default=3, help="turns of each of a set, together")
    parser.add_argument("--slice", type=float, default=0.3, help="seconds of one turn")
    parser.add_argument("--job", choices=JOBS, action="append")
    parser.add_argument("--nobody", action="store_true")
    arguments, options = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, options = arguments[:at], arguments[at + 1:]
    o = parser.parse_args(arguments)
    o.options = options
    o.seconds_of_interval = disturb.seconds_of(o.interval)
    if o.nobody and os.geteuid() != 0:
        parser.error("--nobody takes root")
    kinds = o.job or JOBS
    print(f"change in %, with its 95 % interval; watched every {o.interval}\n")
    print(f"{'job':8} {'sets':>6} {'CPU':>24} {'work not done':>24}")
    return disturb.conclude([measure(o, kind, o.minutes / len(kinds)) for kind in kinds])


if __name__ == "__main__":
    sys.exit(main())
