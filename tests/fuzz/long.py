#!/usr/bin/python3
"""Runs the fuzz targets for a long time, in slices. The target with the least time comes first.

Usage: long.py BUILD CPU-SECONDS|keep [TARGET...]     BUILD is one of preset fuzz; exit code 1 when a fault was found

tests/fuzz/hours.tsv has the time of each target with the version of its parsers. The time counts as long as the version
is the same. Each slice begins by reading the known inputs, which does not count. BUILD/long/log has the runs since the
last "keep". "keep" adds the log to hours.tsv, and adds to the corpus the inputs that reach code which no other input
reaches."""
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys

from parsers import PARSERS, ROOT, version

SLICE_SECONDS = 300
HOURS = ROOT / "tests/fuzz/hours.tsv"
COLUMNS = ("target", "version", "cpu_seconds", "executions", "edges", "features")
FLAGS = ("-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1")


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cpu_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Slice:
    """One run of a target: its output, its CPU time, and the executions after it had read all known inputs."""

    def __init__(self, command):
        before, lines = cpu_of_children(), []
        read, read_seconds = 0, None  # the known inputs
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                              preexec_fn=lambda: os.nice(19)) as process:
            for line in process.stderr:
                lines.append(line)
                inited = re.match(r"#(\d+)\s+INITED", line)
                if inited:
                    read, read_seconds = int(inited[1]), cpu_of(process.pid)
        self.exit_code = process.returncode
        self.said = "".join(lines)
        executed = re.findall(r"number_of_executed_units:\s*(\d+)", self.said)
        self.executions = int(executed[-1]) - read if executed and read else 0
        self.cpu_seconds = cpu_of_children() - before - read_seconds if read else 0
        features = re.findall(r"cov: (\d+) ft: (\d+)", self.said)
        self.edges, self.features = map(int, features[-1]) if features else (0, 0)


def kept():
    """The rows of hours.tsv."""
    lines = HOURS.read_text().splitlines() if HOURS.exists() else []
    for line in lines[1:]:
        row = dict(zip(COLUMNS, line.split("\t"), strict=True))
        yield row | {c: int(row[c]) for c in COLUMNS[2:]}


class Long:
    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.folder = self.build / "long"
        self.found = self.folder / "found"
        self.found.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "log"

    def entries(self, target):
        """Returns the rows about the current version of the target: the kept ones, and those logged since."""
        now = version(target)
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [e for e in (*kept(), *map(json.loads, lines)) if e["target"] == target and e["version"] == now]

    def total(self, target):
        """One row of the table."""
        entries = self.entries(target)
        return {"target": target, "version": version(target),
                "cpu_seconds": round(sum(e["cpu_seconds"] for e in entries)),
                "executions": sum(e["executions"] for e in entries),
                "edges": max((e["edges"] for e in entries), default=0),
                "features": max((e["features"] for e in entries), default=0)}

    def seconds(self, target):
        return self.total(target)["cpu_seconds"]

    def keep(self, targets):
        rows = [row for row in map(self.total, PARSERS) if row["cpu_seconds"]]
        lines = ["\t".join(COLUMNS), *("\t".join(str(row[c]) for c in COLUMNS) for row in rows)]
        HOURS.write_text("\n".join(lines) + "\n")
        self.log.unlink(missing_ok=True)
        for target in targets:
            # Counts only edges. If it also counted how often each edge was taken, the corpus would get thousands of
            # files.
            own = self.folder / target
            if own.exists():
                subprocess.run([self.build / "tests/fuzz" / f"fuzz_{target}", "-merge=1", "-use_counters=0",
                                ROOT / "tests/fuzz/corpus" / target, own], check=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)

    def findings(self, target):
        return sorted(path.name for path in self.found.glob(f"{target}-*"))

    def tell_findings(self, target):
        if self.findings(target):
            print(f"{target} is not run on until these are mended and removed: "
                  + " ".join(str(self.found / name) for name in self.findings(target)), flush=True)

    def run(self, target, wanted):
        # If a target gets more than wanted, other targets that wait lack it.
        seconds = min(SLICE_SECONDS, math.ceil(wanted - self.seconds(target)))
        own = self.folder / target
        own.mkdir(exist_ok=True)
        dictionary = ROOT / "tests/fuzz" / f"{target}.dict"
        command = [self.build / "tests/fuzz" / f"fuzz_{target}", *FLAGS, f"-max_total_time={seconds}",
                   f"-artifact_prefix={self.found}/{target}-"]
        if dictionary.exists():
            command.append(f"-dict={dictionary}")
        at = version(target)
        s = Slice([*command, own, ROOT / "tests/fuzz/corpus" / target])
        (self.folder / f"{target}.said").write_text(s.said)
        entry = {"target": target, "version": at, "cpu_seconds": round(s.cpu_seconds, 1), "executions": s.executions,
                 "edges": s.edges, "features": s.features, "exit_code": s.exit_code}
        with self.log.open("a") as log:
            log.write(json.dumps(entry) + "\n")
        self.tell_findings(target)

    def table(self, targets):
        print(f"{'target':15} {'CPU s':>8} {'executions':>12} {'edges':>7} {'features':>9}  findings")
        for row in map(self.total, targets):
            print(f"{row['target']:15} {row['cpu_seconds']:8} {row['executions']:12} {row['edges']:7} "
                  f"{row['features']:9}  {' '.join(self.findings(row['target'])) or 'none'}")


def main():
    every = Long(sys.argv[1])
    targets = sys.argv[3:] or list(PARSERS)
    if sys.argv[2] == "keep":
        every.keep(targets)
    for target in targets:
        every.tell_findings(target)
    wanted = 0 if sys.argv[2] == "keep" else float(sys.argv[2])
    while True:
        # A target with a finding is not run again, because it would find the same fault.
        left = [t for t in targets if every.seconds(t) < wanted and not every.findings(t)]
        if not left:
            break
        every.run(min(left, key=every.seconds), wanted)
    every.table(targets)
    return int(any(every.findings(t) for t in targets))


if __name__ == "__main__":
    sys.exit(main())
