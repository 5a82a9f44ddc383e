#!/usr/bin/python3
"""Long runs of the fuzz targets, in slices, the one that had the least first.

Usage: long.py BUILD CPU-SECONDS [TARGET...]     BUILD is one of preset fuzz; exit code 1 when something was found
"""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys

from parsers import PARSERS, ROOT, version

SLICE_SECONDS = 60
FLAGS = ("-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1", f"-max_total_time={SLICE_SECONDS}")


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Long:
    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.folder = self.build / "long"
        self.found = self.folder / "found"
        self.found.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "log"

    def entries(self, target):
        """What was logged of the target as it is now."""
        now = version(target)
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [e for e in map(json.loads, lines) if e["target"] == target and e["version"] == now]

    def seconds(self, target):
        return sum(e["cpu_seconds"] for e in self.entries(target))

    def findings(self, target):
        return sorted(path.name for path in self.found.glob(f"{target}-*"))

    def run(self, target):
        own = self.folder / target
        own.mkdir(exist_ok=True)
        dictionary = ROOT / "tests/fuzz" / f"{target}.dict"
        command = [self.build / "tests/fuzz" / f"fuzz_{target}", *FLAGS,
                   f"-artifact_prefix={self.found}/{target}-"]
        if dictionary.exists():
            command.append(f"-dict={dictionary}")
        before = cpu_of_children()
        at = version(target)
        result = subprocess.run([*command, own, ROOT / "tests/fuzz/corpus" / target], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, check=False, preexec_fn=lambda: os.nice(19))
        said = result.stderr.decode("utf-8", "replace")
        (self.folder / f"{target}.said").write_text(said)
        executed = re.findall(r"number_of_executed_units:\s*(\d+)", said)
        features = re.findall(r"cov: (\d+) ft: (\d+)", said)
        entry = {"target": target, "version": at, "cpu_seconds": round(cpu_of_children() - before, 1),
                 "executions": int(executed[-1]) if executed else 0,
                 "edges": int(features[-1][0]) if features else 0,
                 "features": int(features[-1][1]) if features else 0, "exit_code": result.returncode}
        with self.log.open("a") as log:
            log.write(json.dumps(entry) + "\n")

    def table(self, targets):
        print(f"{'target':15} {'CPU s':>8} {'executions':>12} {'edges':>7} {'features':>9}  findings")
        for target in targets:
            entries = self.entries(target)
            print(f"{target:15} {self.seconds(target):8.0f} {sum(e['executions'] for e in entries):12} "
                  f"{max((e['edges'] for e in entries), default=0):7} "
                  f"{max((e['features'] for e in entries), default=0):9}  "
                  f"{' '.join(self.findings(target)) or 'none'}")


def main():
    every = Long(sys.argv[1])
    wanted = float(sys.argv[2])
    targets = sys.argv[3:] or list(PARSERS)
    while True:
        # What has a finding is not run on: it would find the same again.
        left = [t for t in targets if every.seconds(t) < wanted and not every.findings(t)]
        if not left:
            break
        every.run(min(left, key=every.seconds))
    every.table(targets)
    return int(any(every.findings(t) for t in targets))


if __name__ == "__main__":
    sys.exit(main())
