#!/usr/bin/env python3
"""Compares the double of the Keeper and our catalogue with the real Keeper, on the same made-up tables.

    real.py PYTHON EXPORTER

PYTHON has sparecores-keeper. First the answers of the double are compared with those of the Keeper, key by key. Then
"catalogue update" fetches from the Keeper at the pace that it allows, and each price is compared with what SQL finds in
the Keeper's tables. tests/keeper/run.sh installs what is needed.
"""
import collections
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).parent
DOUBLE = HERE.parent / "support" / "keeper_double.py"
SERVERS = 40
CREDITS = "100000"
# Questions that the double answers as the Keeper does. All questions of /servers share these keys:
COMMON = "limit=250&order_by=server_id&vcpus_min=1"
QUERIES = [
    "/table/country", "/table/vendor", "/table/region", "/table/compliance_framework", "/table/benchmark",
    "/benchmark_configs", "/nothing",
    *(f"/servers?{COMMON}&vendor={vendor}&{more}" for vendor in ("aws", "gcp", "hcloud") for more in (
        "page=1", "page=1&add_total_count_header=true", "page=1&limit=7", "page=3&limit=7", "page=9&limit=7",
        "only_active=false", "vcpus_min=16", "benchmark_id=stress_ng:best1", "benchmark_id=geekbench:hdr",
        "benchmark_id=membench:latency", "benchmark_id=geekbench:hdr&benchmark_config=%7B%22cores%22%3A%20%22single%22%7D",
        "benchmark_id=geekbench:hdr&benchmark_config=nothing", "compliance_framework=hipaa&limit=1",
        "compliance_framework=soc2t2&limit=1", "compliance_framework=iso27001&limit=1",
        "compliance_framework=iso27001&limit=1&order_by=vendor_id&order_dir=desc",
        "best_price_allocation=ONDEMAND_ONLY", "best_price_allocation=SPOT_ONLY", "countries=US", "countries=NL",
        "order_by=min_price&limit=1", "order_by=min_price&order_dir=desc&limit=1")),
    *(f"/servers?{COMMON}&vendor_regions={place}&{more}" for place in ("aws~us-east-1", "gcp~1000", "gcp~1100", "hcloud~2")
      for more in ("page=1", "best_price_allocation=ONDEMAND_ONLY", "best_price_allocation=SPOT_ONLY",
                   "add_total_count_header=true")),
    "/servers?vcpus_min=0", "/servers?vcpus_min=257", "/servers?vcpus_min=x", "/servers?vendor=nobody",
    "/servers?vendor_regions=aws~mars", "/servers?compliance_framework=none", "/servers?countries=US&countries=NL",
    "/servers?best_price_allocation=NONE", "/servers?currency=ZZZ", "/servers?order_by=nothing", "/healthcheck",
]
HEADERS = ("Cache-Control", "X-RateLimit-Limit", "X-RateLimit-Cost", "X-Total-Count", "ETag", "Retry-After")
# A price on demand or on spot that the catalogue must have: the lowest of the vendor's regions, or of one region.
TRUTH = """SELECT vendor_id, server_id, lower(allocation), min(round(price * CASE currency WHEN 'EUR' THEN :euro ELSE 1 END,
4)) FROM server_price JOIN server USING (vendor_id, server_id) WHERE server_price.status = 'ACTIVE' AND server.status =
'ACTIVE' AND unit = 'HOUR' AND (:region = '' OR region_id = :region) GROUP BY 1, 2, 3"""
faults = []


def expect(what, found, right):
    if found != right:
        faults.append(what)
        print(f"{what}: found {found!r}, right is {right!r}")


@contextlib.contextmanager
def listening(command, **environment):
    """Starts a server process that prints its URL. It ends with the block."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, env={**os.environ, **environment}) as process:
        try:
            for line in process.stdout:
                if line.startswith("listening "):
                    break
            else:
                sys.exit(f"{command}: ended before it listened")
            yield line.split()[1]
        finally:
            process.kill()


def ask(url):
    try:
        with urllib.request.urlopen(url, timeout=60) as reply:
            return reply.status, reply.headers, reply.read()
    except urllib.error.HTTPError as reply:
        return reply.code, reply.headers, reply.read()


def leaves(value, at=""):
    """Returns {path: value} of a JSON value, so that each difference is one key."""
    if isinstance(value, dict):
        return {name: leaf for key in value for name, leaf in leaves(value[key], f"{at}.{key}").items()} or {at: {}}
    if isinstance(value, list):
        return {name: leaf for nth, item in enumerate(value) for name, leaf in leaves(item, f"{at}[{nth}]").items()} or {
            at: []}
    return {at: value}


def compare(double, real):
    keys = 0
    for query in QUERIES:
        (status, headers, body), (right, right_headers, right_body) = ask(double + query), ask(real + query)
        expect(f"{query}: status", status, right)
        for name in HEADERS:
            expect(f"{query}: {name}", headers.get(name), right_headers.get(name))
        if status != 200 or right != 200:
            continue
        found, truth = json.loads(body), json.loads(right_body)
        if query == "/benchmark_configs":  # in the order of the Keeper's pages, on which no client relies
            found, truth = (sorted(rows, key=json.dumps) for rows in (found, truth))
        if "order_by=vendor_id" in query:  # the Keeper does not define which server of the vendor comes first
            found, truth = ([row["vendor_id"] for row in rows] for rows in (found, truth))
        found, truth = leaves(found), leaves(truth)
        expect(f"{query}: keys", sorted(found.keys() - truth.keys()), sorted(truth.keys() - found.keys()))
        for key in found.keys() & truth.keys():
            expect(f"{query}: {key}", found[key], truth[key])
        keys += len(truth)
    print(f"double and Keeper: {len(QUERIES)} questions, {keys} values compared")


def prices(cache, region):
    """Returns {(vendor, server, allocation): price in dollars} of our catalogue."""
    found = collections.defaultdict(set)
    for vendor, server, allocation, price, currency in cache.execute(
            "SELECT vendor_id, server_id, allocation, price, currency FROM server_price WHERE coalesce(region_id, '') = ?",
            (region,)):
        expect(f"{server}: currency", currency, "USD")
        found[vendor, server, allocation].add(price)
    return {key: min(values) for key, values in found.items()}


def check_prices(cache, keeper, euro):
    """The catalogue has each lowest price, and no other price. Reserved prices are only prices of any allocation."""
    for region, vendor in (("", None), ("1100", "gcp"), ("us-east-1", "aws")):
        truth = {}
        for owner, server, allocation, price in keeper.execute(TRUTH, {"euro": euro, "region": region}):
            truth[owner, server, allocation] = price
        ours = prices(cache, region)
        if not region:
            for owner, server in {key[:2] for key in truth if key[2] == "reserved"}:
                if not {(owner, server, "ondemand"), (owner, server, "spot")} & truth.keys():
                    truth[owner, server, "any"] = truth[owner, server, "reserved"]
        truth = {key: price for key, price in truth.items() if key[2] != "reserved" and vendor in (None, key[0])}
        expect(f"prices in {region or 'all regions'}", ours, truth)
        print(f"prices in {region or 'all regions'}: {len(truth)} equal to SQL's" if ours == truth else "differ", flush=True)


def check_rest(cache, keeper):
    frameworks = "SELECT vendor_id, compliance_framework_id FROM vendor_compliance_link ORDER BY 1, 2"
    expect("frameworks", cache.execute(frameworks).fetchall(), keeper.execute(frameworks).fetchall())
    expect("frameworks known", cache.execute("SELECT min(known) FROM vendor").fetchone(), (1,))
    expect("regions known", cache.execute("SELECT region_id FROM region WHERE known ORDER BY 1").fetchall(),
           [("1100",), ("us-east-1",)])
    for config, like in (("IS NULL", "%multi%"), ("IS NOT NULL", "%single%")):
        scores = "SELECT vendor_id, server_id, score FROM benchmark_score WHERE benchmark_id = 'geekbench:hdr' AND "
        expect(f"scores {like}", cache.execute(f"{scores} config {config} ORDER BY 1, 2").fetchall(), keeper.execute(
            f"{scores} config LIKE ? AND (vendor_id, server_id) IN (SELECT vendor_id, server_id FROM server JOIN "
            "server_price USING (vendor_id, server_id) WHERE server.status = 'ACTIVE') ORDER BY 1, 2", (like,)).fetchall())


def main():
    python, exporter = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        database, ours = folder + "/keeper.db", folder + "/catalogue.db"
        euro = float(subprocess.run([python, HERE / "fill.py", database, str(SERVERS)], check=True, capture_output=True,
                                    text=True).stdout)
        serve = [python, HERE / "serve.py"]
        own = {"SC_DATA_DB_PATH": database, "SC_DATA_NO_UPDATE": "1", "XDG_CACHE_HOME": folder, "RATE_LIMIT_ENABLED": "1"}
        with listening([sys.executable, "-B", DOUBLE, "--servers", str(SERVERS), "--euro", repr(euro), "--credits", CREDITS,
                        "--broken-health"]) as double, \
                listening(serve, **own, RATE_LIMIT_CREDITS_PER_MINUTE=CREDITS) as real:
            compare(double, real)
        with listening(serve, **own) as real:
            subprocess.run([exporter, "catalogue", "update", f"--catalogue.url={real}", f"--catalogue.cache={ours}",
                            "--catalogue.region=europe-west4", "--catalogue.region=us-east-1",
                            "--catalogue.benchmark=geekbench:hdr"], check=True)
        with contextlib.closing(sqlite3.connect(ours)) as cache, contextlib.closing(sqlite3.connect(database)) as keeper:
            check_prices(cache, keeper, euro)
            check_rest(cache, keeper)
    sys.exit(1 if faults else 0)


main()
