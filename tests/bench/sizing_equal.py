#!/usr/bin/env python3
"""Whether the shipped rules allocate what another implementation of the same formulas does, run by run.

sizing_equal.py DUMP REFERENCE: DUMP by bench_sizing --dump, REFERENCE likewise: source,label,run,rule,MiB on each line.
Rules, labels and runs that only one of them has are not compared. Prints the largest relative difference of each rule;
exit code 1 when it is above 1e-6, or nothing could be compared.
"""
import sys

TOLERANCE = 1e-6


def read(path):
    allocations = {}
    with open(path) as file:
        for line in file:
            source, rest = line.rstrip("\n").split(",", 1)
            label, run, rule, mib = rest.rsplit(",", 3)  # a label may have commas
            allocations[source, label, run, rule] = float(mib)
    return allocations


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    shipped, reference = read(sys.argv[1]), read(sys.argv[2])
    rules = {}
    for key, mib in shipped.items():
        if key in reference:
            rules.setdefault(key[3], []).append((abs(mib - reference[key]) / reference[key], key))
    print(f"{'rule':14} {'runs':>6} {'largest relative difference':>28}")
    for rule, differences in rules.items():
        largest, (source, label, run, _) = max(differences)
        where = f"  {source}, {label}, run {run}" if largest > TOLERANCE else ""
        print(f"{rule:14} {len(differences):6} {largest:28.2g}{where}")
    largest = max((max(differences)[0] for differences in rules.values()), default=float("inf"))
    return 0 if largest <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
