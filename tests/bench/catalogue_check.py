#!/usr/bin/env python3
"""Compares the answers of /servers for a whole table with brute force, which is a second implementation in another
language.

    tests/bench/catalogue_check.py PROGRAM ALL.csv [QUESTIONS]

ALL.csv is what tests/bench/catalogue_csv.py makes. Every pick must satisfy every filter, and no server that does may be
cheaper; the counts of what each filter removed must add up. Prints how many questions were asked and answered.
"""
import csv
import http.client
import json
import math
import random
import subprocess
import sys
import tempfile
from urllib.parse import urlencode

GIB = 1024.0


def number(text):
    return float(text) if text else math.nan


def read(path):
    """Returns the servers with their prices, as a catalogue file has them."""
    servers = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            key = row["vendor_id"], row["server_id"]
            one = servers.setdefault(key, {"row": row, "prices": []})
            if row["price"]:
                one["prices"].append((row["region_id"], row["allocation"] or "ondemand", float(row["price"]),
                                      row["currency"] or "USD"))
    return servers


def question(random_, vendors, regions):
    asked = {}
    if random_.random() < 0.8:
        asked["cpu"] = random_.choice([0.5, 1, 1.5, 2, 3, 4, 7.5, 8, 16, 33, 64, 200])
    if random_.random() < 0.8:
        asked["memory"] = random_.choice([100, 411, 412, 512, 2560, 3931, 3932, 4096, 8192, 30000, 65000, 500000])
    if random_.random() < 0.15:
        asked["gpu"] = random_.choice([0.25, 1, 2, 8])
    if random_.random() < 0.15:
        asked["vram"] = random_.choice([8192, 8193, 16384, 81920])
    if random_.random() < 0.3:
        asked["vendor"] = random_.choice(vendors)
    if random_.random() < 0.3:
        asked["regions"] = "~".join(random_.choice(regions))
    if random_.random() < 0.4:
        asked["architecture"] = random_.choice(["x86_64", "arm64"])
    if random_.random() < 0.4:
        asked["cpu_allocation"] = random_.choice(["Dedicated", "Burstable", "Shared"])
    if random_.random() < 0.4:
        asked["allocation"] = random_.choice(["spot", "any"])
    if random_.random() < 0.2:
        asked["vcpus_max"] = random_.choice([2, 8, 64])
    if random_.random() < 0.2:
        asked["memory_min"] = random_.choice([0.5, 2.5, 8])
    asked["currency"] = "EUR" if random_.random() < 0.1 else "USD"
    asked["reserve"] = random_.choice(["system", "none"])
    asked["limit"] = random_.choice([1, 5, 20])
    return asked


def usable(row, reserve):
    """Returns the MiB for jobs. If this was not measured, the kernel has a 64th, and the system has 100 MiB."""
    sold = number(row["memory_amount"])
    return sold if reserve == "none" else sold * (1 - 1 / 64) - 100


def price_of(one, asked):
    """Returns the lowest allowed price, or None."""
    allowed = {"spot": ["spot"], "any": ["ondemand", "spot"]}.get(asked.get("allocation"), ["ondemand"])
    where = asked.get("regions", "~").split("~")[1]
    found = [price for region, allocation, price, currency in one["prices"]
             if allocation in allowed and currency == asked["currency"] and (not where or region == where)]
    return min(found, default=None)


def fits(one, asked):
    row = one["row"]
    if (row["status"] or "active") != "active":
        return False
    if "regions" in asked and row["vendor_id"] != asked["regions"].split("~")[0]:
        return False
    checks = [
        ("cpu", lambda v: number(row["vcpus"]) >= v), ("memory", lambda v: usable(row, asked["reserve"]) >= v),
        ("gpu", lambda v: number(row["gpu_count"]) >= v), ("vram", lambda v: number(row["gpu_memory_total"]) >= v),
        ("vendor", lambda v: row["vendor_id"] == v), ("architecture", lambda v: row["cpu_architecture"] == v),
        ("cpu_allocation", lambda v: row["cpu_allocation"].lower() == v.lower()),
        ("vcpus_max", lambda v: number(row["vcpus"]) <= v), ("memory_min", lambda v: number(row["memory_amount"]) >= v * GIB),
    ]
    return all(check(asked[name]) for name, check in checks if name in asked)


def check(servers, asked, answer):
    """Returns the fault of an answer, or None."""
    expected = sorted((price, key) for key, one in servers.items() if fits(one, asked)
                      for price in [price_of(one, asked)] if price is not None)
    if answer["servers_fitting"] != len(expected):
        return f"{answer['servers_fitting']} fit, not {len(expected)}"
    if answer["servers_fitting"] + sum(answer["filtered"].values()) != len(servers):
        return "the counts do not add up"
    prices = [pick["price"] for pick in answer["servers"]]
    if any(not math.isclose(a, b[0], rel_tol=5.1e-6) for a, b in zip(prices, expected)):
        return f"prices {prices}, not {[price for price, _ in expected[:len(prices)]]}"
    if len(prices) != min(asked["limit"], len(expected)):
        return f"{len(prices)} servers"
    allowed = {key for _, key in expected}
    strays = [pick["server_id"] for pick in answer["servers"] if (pick["vendor_id"], pick["server_id"]) not in allowed]
    return f"{strays} do not fit" if strays else None


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    servers = read(sys.argv[2])
    vendors = sorted({vendor for vendor, _ in servers})
    regions = sorted({(key[0], region) for key, one in servers.items() for region, *_ in one["prices"] if region})
    random_ = random.Random(1)
    asked = answered = 0
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(
            [sys.argv[1], "serve", "--web.listen-address=127.0.0.1:0", f"--history.path={folder}/history.db",
             f"--catalogue.path={sys.argv[2]}", "--no-jobs.recognise"], stderr=subprocess.PIPE, text=True) as server:
        try:
            line = next(line for line in server.stderr if "listening" in line)
            port = int(line.split("127.0.0.1:")[1].split()[0].strip('"'))
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else 300):
                words = question(random_, vendors, regions)
                connection.request("GET", "/servers?details=1&" + urlencode(words))
                answer = json.load(connection.getresponse())
                wrong = "error" in answer and answer["error"]["message"] or check(servers, words, answer)
                if wrong:
                    sys.exit(f"{words}: {wrong}")
                asked += 1
                answered += answer["servers_fitting"] > 0
        finally:
            server.terminate()
    print(f"{asked} questions to {len(servers)} servers, {answered} of them with an answer: all as by brute force")


if __name__ == "__main__":
    main()
