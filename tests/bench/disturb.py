#!/usr/bin/env python3
"""Does a job run slower because it is watched? Pairs of runs, one watched and one not, in turns.

    tests/bench/disturb.py EXPORTER BENCH_DISTURB [--pairs=20] [--work=3] [--interval=1s] [--job=calls|maps]

calls: caches and system calls. maps: a process with 2 GiB in a loop of mmap and munmap. Each pair gives the ratio of the
CPU time of the job itself (user and system), and of its wall time; printed are the median of the ratios with its 95 %
interval (by order statistics), and, as the noise of the machine, the same of unwatched runs among themselves.

The verdict goes by the interval: all of it within 0.5 %, all of it above (disturbed), or not told by so many pairs, and
then how many it would take. So that a bench which sees nothing is not taken for a job that nothing disturbs, "maps" is
also run while something reads its smaps_rollup 20 times a second: that costs a lot, and must be told.
"""
import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

BOUND = 0.005
ROLLUP_HZ = 20


def one(o, kind, watched, folder):
    command = [o.program, kind, str(o.work)]
    if watched:
        command = [o.exporter, "run", "--job-name=disturb", "--quiet", f"--sample.interval={o.interval}",
                   f"--history.path={folder}/history.db", "--", *command]
    user, system, wall = map(float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    return user + system, wall


def one_read(o, kind):
    """Watched in the dearest way there is."""
    with subprocess.Popen([o.program, kind, str(o.work)], stdout=subprocess.PIPE, text=True) as p:
        while p.poll() is None:
            try:
                with open(f"/proc/{p.pid}/smaps_rollup") as file:
                    file.read()
            except OSError:
                pass
            time.sleep(1 / ROLLUP_HZ)
        user, system, wall = map(float, p.stdout.read().split())
    return user + system, wall


def interval(ratios):
    """Median, and the order statistics that hold it with a probability of 95 %."""
    v, n = sorted(ratios), len(ratios)
    reach = 1.96 * math.sqrt(n) / 2
    low, high = max(0, math.floor(n / 2 - reach)), min(n - 1, math.ceil(n / 2 + reach))
    return statistics.median(v), v[low], v[high]


def percent(triple):
    return "{:+7.2f} ({:+.2f} to {:+.2f})".format(*(100 * (r - 1) for r in triple))


def measure(o, kind, folder):
    cpu, wall, noise = [], [], []
    for i in range(o.pairs):
        order = (False, True, False) if i % 2 else (True, False, False)
        seen = {True: [], False: []}
        for watched in order:
            seen[watched].append(one(o, kind, watched, folder))
        (w,), (a, b) = seen[True], seen[False]
        cpu.append(w[0] / a[0])
        wall.append(w[1] / a[1])
        noise.append(b[0] / a[0])
    c, w, n = interval(cpu), interval(wall), interval(noise)
    print(f"{kind:8} {percent(c):>32} {percent(w):>32} {percent(n):>32}  {verdict(c, len(cpu))}", flush=True)
    return c[1] - 1 <= BOUND


def verdict(c, pairs):
    if c[2] - 1 <= BOUND:
        return "within 0.5 %"
    if c[1] - 1 > BOUND:
        return "DISTURBED"
    # The interval shrinks with the root of the number of pairs.
    lacks = max(c[2] - c[0], c[0] - c[1], 1e-9) / max(abs(BOUND - (c[0] - 1)), 1e-4)
    return f"not told by {pairs} pairs; about {math.ceil(pairs * max(lacks, 1) ** 2)} would"


def control(o):
    """True when what is known to disturb is seen to."""
    cpu = []
    for i in range(o.pairs):
        seen = {read: (one_read(o, "maps") if read else one(o, "maps", False, None))[0] for read in (i % 2 == 0, i % 2 == 1)}
        cpu.append(seen[True] / seen[False])
    c = interval(cpu)
    print(f"{'control':8} {percent(c):>32} {'':>32} {'':>32}  maps, its smaps_rollup read at {ROLLUP_HZ} Hz: "
          f"{'seen' if c[1] - 1 > BOUND else 'NOT SEEN, so that nothing is told'}", flush=True)
    return c[1] - 1 > BOUND


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exporter")
    parser.add_argument("program")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--work", type=int, default=3)
    parser.add_argument("--interval", default="1s")
    parser.add_argument("--job", choices=("calls", "maps"), action="append", help="one of them only")
    o = parser.parse_args()
    print(f"median change in %, with its 95 % interval; {o.pairs} pairs, watched every {o.interval}\n")
    print(f"{'job':8} {'CPU time':>32} {'wall time':>32} {'CPU time, unwatched twice':>32}")
    with tempfile.TemporaryDirectory() as folder:
        kinds = o.job or ("calls", "maps")
        good = all([*(measure(o, kind, folder) for kind in kinds), "maps" not in kinds or control(o)])
    print(f"\nload {os.getloadavg()[0]:.0f} on {os.cpu_count()} CPUs")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
