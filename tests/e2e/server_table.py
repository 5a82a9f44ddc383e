"""Tables of servers in the schema of sc-data, as SQLite files: a small generated one, and one from a folder of CSV
files. The small table has all cases of real tables: prices in two currencies, spot prices, nulls, equal prices, and
servers that are not for rent."""
import contextlib
import csv
import gzip
import json
import pathlib
import random
import sqlite3

SCHEMA = """
CREATE TABLE country (country_id TEXT PRIMARY KEY, continent TEXT);
CREATE TABLE vendor (vendor_id TEXT PRIMARY KEY, name TEXT, country_id TEXT, billing_increment_seconds REAL,
 minimum_billing_seconds REAL);
CREATE TABLE vendor_compliance_link (vendor_id TEXT, compliance_framework_id TEXT, status TEXT);
CREATE TABLE region (vendor_id TEXT, region_id TEXT, name TEXT, api_reference TEXT, display_name TEXT, aliases TEXT,
 country_id TEXT, PRIMARY KEY (vendor_id, region_id));
CREATE TABLE server (vendor_id TEXT, server_id TEXT, name TEXT, api_reference TEXT, display_name TEXT, family TEXT,
 vcpus REAL, cpu_cores REAL, cpu_architecture TEXT, cpu_allocation TEXT, cpu_manufacturer TEXT, memory_amount REAL,
 memory_amount_actual REAL, gpu_count REAL, gpu_memory_min REAL, gpu_memory_total REAL, gpu_manufacturer TEXT,
 gpu_family TEXT, gpu_model TEXT, storage_size REAL, storage_type TEXT, average_time_to_start REAL, score REAL,
 score1 REAL, status TEXT, PRIMARY KEY (vendor_id, server_id));
CREATE TABLE server_price (vendor_id TEXT, region_id TEXT, zone_id TEXT, server_id TEXT, operating_system TEXT,
 allocation TEXT, unit TEXT, price REAL, currency TEXT, status TEXT);
CREATE INDEX server_price_of ON server_price (vendor_id, server_id);
CREATE TABLE storage_price (vendor_id TEXT, region_id TEXT, storage_id TEXT, unit TEXT, price REAL, currency TEXT, status TEXT);
CREATE TABLE ipv4_price (vendor_id TEXT, region_id TEXT, unit TEXT, price REAL, currency TEXT, status TEXT);
CREATE TABLE currency (base TEXT, quote TEXT, rate REAL);
CREATE TABLE _metadata (key TEXT, value TEXT);
"""
EUR = 1.1172

# Vendors' billing: seconds of a step and the least, None = the table does not say. Two vendors have rules of their own.
VENDORS = {"north": (1, 60), "south": (60, 60), "hourly": (3600, 3600), "hcloud": (None, None), "alicloud": (1, 600),
           "silent": (None, None)}
PLACES = [("US", "North America"), ("DE", "Europe"), ("FI", "Europe"), ("JP", "Asia"), ("BR", "South America")]


def insert(table, into, /, **values):
    table.execute(f"INSERT INTO {into} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
                  list(values.values()))


def regions_of_vendor(table, chance, vendor, n):
    """Some vendors, such as GCP and Hetzner, have ids that nobody types. One region has no country. Most have prices of
    extras."""
    ids = []
    for i in range(n):
        country = PLACES[(i + len(vendor)) % len(PLACES)][0] if i != 3 else None
        name = f"{vendor}-{(country or 'xx').lower()}-{i}"
        region_id = str(1000 + i) if vendor in ("south", "hcloud") else name
        insert(table, "region", vendor_id=vendor, region_id=region_id, name=name, api_reference=name,
               display_name=f"{vendor.title()} {i} ({country})", aliases=json.dumps([f"{vendor}{i}", "old " + name]),
               country_id=country)
        money = {"currency": "EUR" if vendor == "hcloud" else "USD", "status": "ACTIVE"}
        if vendor != "silent" and i != 2:
            for extra in (0.02, 0.05):  # the lowest counts
                insert(table, "storage_price", vendor_id=vendor, region_id=region_id, storage_id=f"disk{extra}",
                       unit="GB_MONTH", price=round(chance.uniform(0.03, 0.2) + extra, 4), **money)
            insert(table, "ipv4_price", vendor_id=vendor, region_id=region_id,
                   **({"unit": "HOUR", "price": 0.005} if i % 2 else {"unit": "MONTH", "price": 0.71}), **money)
        ids.append(region_id)
    return ids


def shape(chance, i):
    """vCPUs, memory and GPUs of a server."""
    vcpus = chance.choice([1, 1, 2, 2, 2, 4, 4, 8, 16, 32, 64, 0.5])
    if i % 61 == 60:
        vcpus = None
    gpus = chance.choice([0, 0, 0, 0, None, 1, 1, 2, 0.25, 8])
    each = chance.choice([4096, 16384, 24576, None])
    maker = chance.choice(["NVIDIA", "NVIDIA", "AMD", None]) if gpus else None
    family, model = (chance.choice(["Ampere", "Turing"]), chance.choice(["A10G", "T4", "MI210"])) if gpus else (None, None)
    return {
        "vcpus": vcpus, "cpu_cores": vcpus and max(vcpus // 2, 0.5),
        "memory_amount": None if i % 67 == 66 else int((vcpus or 2) * chance.choice([512, 1024, 2048, 4096, 4096, 8192])),
        "gpu_count": gpus, "gpu_memory_min": each if gpus else None,
        "gpu_memory_total": each and gpus and each * max(gpus, 1) or None,
        # The exporter knows who makes a T4, so only a model that it does not know has no manufacturer.
        "gpu_manufacturer": maker, "gpu_family": family, "gpu_model": model if maker or not gpus else "X1",
    }


def server(chance, vendor, i):
    of = shape(chance, i)
    speed = chance.choice([60.0, 75.5, 100.0, 120.25])
    of["score1"] = None if i % 5 == 4 else speed * 10
    of["score"] = None if i % 5 == 4 or i % 13 == 12 or not of["vcpus"] else round(
        speed * 10 * of["vcpus"] ** chance.choice([1, 0.9]), 2)
    of["memory_amount_actual"] = of["memory_amount"] and chance.choice([None, None, of["memory_amount"] * 0.97])
    return {"vendor_id": vendor, "server_id": f"{vendor[:2]}{i}.{of['vcpus']}", "name": f"{vendor[:2]}{i}",
            "api_reference": f"{vendor[:2]}{i}-api", "display_name": f"{vendor.title()} {i}",
            "family": f"family-{i % 7}", "cpu_architecture": chance.choice(["X86_64", "X86_64", "X86_64", "ARM64"]),
            "cpu_allocation": chance.choice(["DEDICATED", "DEDICATED", "SHARED", "BURSTABLE", None]),
            "cpu_manufacturer": chance.choice(["Intel", "AMD", None]), **of,
            "storage_size": chance.choice([0, 0, None, 40, 100, 900]), "storage_type": chance.choice(["SSD", "NVME_SSD", None]),
            "average_time_to_start": chance.choice([None, None, 15, 90]), "status": "INACTIVE" if i % 19 == 18 else "ACTIVE"}


def prices_of(table, chance, of, regions):
    """Returns the prices of one server: more in some regions, some by zone, cheaper on spot, and some deliberately
    equal to the prices of other servers."""
    base = round((of["vcpus"] or 1) * chance.choice([0.02, 0.025, 0.05]) + (of["gpu_count"] or 0) * 0.5, 4)
    row = {"vendor_id": of["vendor_id"], "server_id": of["server_id"], "operating_system": "Linux", "unit": "HOUR",
           "currency": "EUR" if of["vendor_id"] == "hcloud" else "USD", "status": "ACTIVE", "zone_id": ""}
    there = chance.sample(regions, chance.choice([0, 1, 1, 2, 2, len(regions)]))
    for k, region in enumerate(there):
        price = base if k % 2 else round(base * chance.choice([1, 1.1, 1.25]), 4)
        insert(table, "server_price", **{**row, "region_id": region, "allocation": "ONDEMAND", "price": price})
        if chance.random() < 0.4:
            for zone in ("a", "b"):
                insert(table, "server_price", **{**row, "region_id": region, "zone_id": zone, "allocation": "SPOT",
                                                 "price": round(price * chance.choice([0.3, 0.3, 0.6]), 5)})
        # These rows must be ignored.
        nothing = {**row, "region_id": region, "price": 0.0001}
        insert(table, "server_price", **{**nothing, "allocation": "ONDEMAND", "operating_system": "Windows Server"})
        insert(table, "server_price", **{**nothing, "allocation": "ONDEMAND", "status": "INACTIVE"})
        insert(table, "server_price", **{**nothing, "allocation": "SPOT", "unit": "MONTH"})
        insert(table, "server_price", **{**nothing, "allocation": "RESERVED"})
    if not there or chance.random() < 0.05:
        # The lowest of all prices, of an unknown allocation. It counts only for a server without an on-demand price.
        insert(table, "server_price", **{**row, "region_id": chance.choice(["", regions[0]]), "allocation": "ANY",
                                         "price": round(base * 0.2, 5)})
    if chance.random() < 0.05:
        insert(table, "server_price", **{**row, "region_id": regions[0], "allocation": "ONDEMAND", "price": 0.001,
                                         "currency": "XTS"})  # a currency without a rate


def made(path, seed=20261126, n=300):
    """Makes a table of n servers of six vendors in about twenty regions."""
    chance = random.Random(seed)
    with contextlib.closing(sqlite3.connect(path)) as table, table:
        table.executescript(SCHEMA)
        for country, continent in PLACES:
            insert(table, "country", country_id=country, continent=continent)
        insert(table, "currency", base="EUR", quote="USD", rate=EUR)
        insert(table, "_metadata", key="published_at", value="2026-11-01T00:00:00")
        regions = {}
        for i, (vendor, (step, least)) in enumerate(VENDORS.items()):
            insert(table, "vendor", vendor_id=vendor, name=vendor.title(), country_id="US",
                   billing_increment_seconds=step, minimum_billing_seconds=least)
            for framework in ("hipaa", "soc2t2", "iso27001")[:i % 4]:
                insert(table, "vendor_compliance_link", vendor_id=vendor, compliance_framework_id=framework, status="ACTIVE")
            regions[vendor] = regions_of_vendor(table, chance, vendor, 5 if i % 2 else 2)
        for i in range(n):
            of = server(chance, list(VENDORS)[i % len(VENDORS)], i)
            insert(table, "server", **of)
            prices_of(table, chance, of, regions[of["vendor_id"]])


FLAT = """
SELECT s.*, p.price, p.zone_id, lower(p.allocation) AS allocation, p.currency, coalesce(p.region_id, '') AS region_id, r.country_id, c.continent,
 CASE WHEN r.region_id IS NOT NULL THEN r.api_reference || '|' || r.display_name END AS names,
 v.billing_increment_seconds, v.minimum_billing_seconds,
 (SELECT group_concat(compliance_framework_id, ' ') FROM vendor_compliance_link l WHERE l.vendor_id = s.vendor_id) AS compliance,
 (SELECT min(price) FROM storage_price e WHERE e.vendor_id = r.vendor_id AND e.region_id = r.region_id) AS storage_price_gb_month,
 (SELECT min(CASE unit WHEN 'HOUR' THEN price ELSE price / 730 END) FROM ipv4_price e
  WHERE e.vendor_id = r.vendor_id AND e.region_id = r.region_id) AS ipv4_price_hour,
 (SELECT min(currency) FROM ipv4_price e WHERE e.vendor_id = r.vendor_id AND e.region_id = r.region_id) AS extras_currency
FROM server s JOIN vendor v ON v.vendor_id = s.vendor_id
LEFT JOIN server_price p ON p.vendor_id = s.vendor_id AND p.server_id = s.server_id AND p.status = 'ACTIVE' AND p.unit = 'HOUR'
 AND p.operating_system = 'Linux'
LEFT JOIN region r ON r.vendor_id = p.vendor_id AND r.region_id = p.region_id
LEFT JOIN country c ON c.country_id = r.country_id ORDER BY s.rowid, p.rowid
"""


def flat_rows(path):
    """Returns the table with one price per row, as a user's own file has it. The names of a region are its aliases."""
    with contextlib.closing(sqlite3.connect(path)) as table:
        table.row_factory = sqlite3.Row
        for row in table.execute(FLAT):
            row = dict(row)
            row["aliases"] = row.pop("names")
            yield {k: v for k, v in row.items() if k != "name"}


def as_csv(path, target):
    rows = list(flat_rows(path))
    with open(target, "w", encoding="utf-8", newline="") as file:
        file.write(f"# rate: EUR {EUR}\n# as_of: 2026-11-01\n")
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def as_json(path, target):
    rows = []
    for row in flat_rows(path):
        region = {k: row.pop(k) for k in ("country_id", "continent", "aliases", "storage_price_gb_month", "ipv4_price_hour", "extras_currency")}
        vendor = {k: row.pop(k) for k in ("billing_increment_seconds", "minimum_billing_seconds", "compliance")}
        region["region_id"], vendor["vendor_id"] = row["region_id"], row["vendor_id"]
        rows.append({**row, "vendor": vendor, **({"region": region} if row["region_id"] else {})})
    pathlib.Path(target).write_text(json.dumps(rows), encoding="utf-8")


# The ISO 3166 countries of the folder's regions. Other regions have no continent here.
CONTINENTS = {"Europe": "AT BE CH DE DK ES FI FR GB IE IT NL NO PL PT SE", "North America": "CA MX US",
              "South America": "BR CL CO", "Asia": "AE BH CN HK ID IL IN JP KR MY PH QA SA SG TH TW",
              "Oceania": "AU NZ", "Africa": "ZA"}


def read_rows(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        for row in csv.DictReader(file):
            yield {k: v or None for k, v in row.items()}


def from_folder(path, folder):
    """A table of servers.csv, server_prices.csv.gz and regions.csv."""
    folder = pathlib.Path(folder)
    with contextlib.closing(sqlite3.connect(path)) as table, table:
        table.executescript(SCHEMA)
        for continent, countries in CONTINENTS.items():
            for country in countries.split():
                insert(table, "country", country_id=country, continent=continent)
        insert(table, "currency", base="EUR", quote="USD", rate=EUR)
        known, at_vendor = set(), {}
        for row in read_rows(folder / "regions.csv"):
            insert(table, "region", **{k: row[k] for k in ("vendor_id", "region_id", "api_reference", "country_id")},
                   display_name=row["city"])
            at_vendor[row["vendor_id"], row["api_reference"]] = row["region_id"]
        for row in read_rows(folder / "servers.csv"):
            known.add((row["vendor_id"], row["server_id"]))
            same = ("vendor_id", "server_id", "api_reference", "display_name", "family", "status", "cpu_allocation",
                    "cpu_manufacturer", "vcpus", "cpu_cores", "gpu_count", "gpu_model", "storage_type", "score", "score1")
            insert(table, "server", **{k: row[k] for k in same}, cpu_architecture=row["architecture"],
                   memory_amount=row["memory_mib"], gpu_memory_min=row["gpu_memory_min_mib"],
                   gpu_memory_total=row["gpu_memory_total_mib"], storage_size=row["storage_gb"])
        for vendor in sorted({vendor for vendor, _ in known}):
            insert(table, "vendor", vendor_id=vendor, name=vendor)
        api = {(v, a): s for v, s, a in table.execute("SELECT vendor_id, server_id, api_reference FROM server")}
        for row in read_rows(folder / "server_prices.csv.gz"):
            server_id = api.get((row["vendor_id"], row["api_reference"]))
            region = "" if row["region"] == "*" else at_vendor.get((row["vendor_id"], row["region"]), row["region"])
            if server_id:
                insert(table, "server_price", vendor_id=row["vendor_id"], server_id=server_id, region_id=region, zone_id="",
                       operating_system="Linux", allocation=row["allocation"].upper(), unit="HOUR", price=row["price"],
                       currency=row["currency"], status="ACTIVE")
