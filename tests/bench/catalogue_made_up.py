#!/usr/bin/env python3
"""Makes up a catalogue as large as the real one of November 2026, the same each time: input of recommend.py.

    tests/bench/catalogue_made_up.py [SERVERS [PRICES]] > all.csv        default: 5873 and 92000

Sizes, families and prices are similar to those of clouds: sizes are powers of two, and prices are about in proportion to them.
Every server has an on-demand price. Some servers have more prices, in more regions or on the spot market.
"""
import csv
import random
import sys

import catalogue_csv

VENDORS = {"alicloud": 30, "aws": 30, "azure": 50, "gcp": 40, "hcloud": 6, "ovh": 12, "upcloud": 14}
COUNTRIES = "US DE IE NL FR GB SE FI SG JP AU BR IN CA PL".split()
LIKE_THE_REAL_ONE = 5873, 92000
HOUR_OF_CORE, HOUR_OF_GIB, HOUR_OF_GPU = 0.03, 0.004, 1.2


def server(draw, number):
    vendor = draw.choice(sorted(VENDORS))
    vcpus = 2 ** draw.choice([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7])
    memory = vcpus * draw.choice([1, 2, 4, 4, 8, 16]) * 1024
    gpus = draw.choice([1, 2, 4, 8]) if draw.random() < 0.08 else 0
    name = f"f{number % 97}.{number}"
    row = {"vendor_id": vendor, "server_id": name, "api_reference": name, "display_name": name, "family": f"f{number % 97}",
           "status": "active" if draw.random() < 0.95 else "inactive", "cpu_architecture": draw.choice(["x86_64"] * 4 + ["arm64"]),
           "cpu_allocation": draw.choice(["Dedicated"] * 5 + ["Burstable", "Shared"]), "cpu_manufacturer": "Maker",
           "vcpus": vcpus, "cpu_cores": vcpus, "memory_amount": memory, "gpu_count": gpus, "storage_size": 0}
    if gpus:
        row |= {"gpu_model": "G1", "gpu_memory_min": 24576, "gpu_memory_total": gpus * 24576}
    if draw.random() < 0.6:
        score = vcpus * draw.uniform(800, 2500)
        row |= {"score1": f"{score / vcpus:.1f}", "score": f"{score:.1f}"}
    hour = (vcpus * HOUR_OF_CORE + memory / 1024 * HOUR_OF_GIB + gpus * HOUR_OF_GPU) * draw.uniform(0.7, 1.4)
    return row, hour


def price(draw, row, hour, spot):
    region = draw.randrange(VENDORS[row["vendor_id"]])
    where = COUNTRIES[region % len(COUNTRIES)]
    return {"vendor_id": row["vendor_id"], "server_id": row["server_id"], "region_id": f"region-{region}", "country_id": where,
            "continent": "Europe" if where in catalogue_csv.EUROPE else "", "allocation": "spot" if spot else "ondemand",
            "price": f"{hour * draw.uniform(0.9, 1.3) * (draw.uniform(0.2, 0.6) if spot else 1):.6f}", "currency": "USD"}


def main():
    if len(sys.argv) > 3 or not all(a.isdigit() and int(a) > 0 for a in sys.argv[1:]):
        sys.exit(__doc__)
    servers, prices = [*map(int, sys.argv[1:]), *LIKE_THE_REAL_ONE[len(sys.argv) - 1:]]
    draw = random.Random(1)
    out = csv.DictWriter(sys.stdout, catalogue_csv.COLUMNS, lineterminator="\n", restval="")
    out.writeheader()
    rows = [server(draw, i) for i in range(servers)]
    for row, _ in rows:
        out.writerow(row)
    for i in range(max(prices, servers)):
        row, hour = rows[i] if i < servers else draw.choice(rows)
        out.writerow(price(draw, row, hour, i >= servers and draw.random() < 0.15))


if __name__ == "__main__":
    main()
