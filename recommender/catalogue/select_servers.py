#!/usr/bin/env python3
"""Makes recommender/catalogue/servers.csv: the built-in catalogue, a selection of the Spare Cores server table.

    recommender/catalogue/select_servers.py servers.csv server_prices.csv[.gz] > recommender/catalogue/servers.csv

servers.csv: vendor_id, server_id, api_reference, family, status, architecture, cpu_allocation,
cpu_manufacturer, vcpus, memory_mib, gpu_*, storage_*, score1, score, min_price_ondemand, currency.
server_prices.csv: vendor_id, region, api_reference, allocation, price, currency.

Taken are current families that anyone may rent by the hour, in the usual sizes. The price is the list
price in one named region where the price table has it (PRICED_IN), because a minimum over all regions of
the world is rarely the user's own; elsewhere it is the vendor's lowest, and region_id stays empty.

Left out, and counted on stderr: what has no price; GPUs whose model or memory is not known; families whose
facts are known to be wrong in the table (WRONG); and a type whose regional price is below the vendor's
lowest, since one of the two must be wrong.
"""

import csv
import gzip
import sys
from collections import Counter

HEAD = """\
# The built-in catalogue: servers that can be rented by the hour, facts only. Made by select_servers.py.
# Specifications, benchmark scores and lowest prices: Spare Cores (https://sparecores.com), CC BY-SA 4.0,
# https://creativecommons.org/licenses/by-sa/4.0/ ; selected and renamed here; this file is shared alike.
# Prices in a named region: price tables of the Karpenter providers for AWS, GCP and Azure, Apache-2.0.
# Units are Keeper's: memory_amount and gpu_memory_* in MiB, storage_size in GB, prices per hour in currency.
# An empty region_id is the vendor's lowest price in any region. What the first line of a vendor or a region
# says of it holds for all. Billing rules and compliance: as Spare Cores lists them.
# source: Spare Cores and Karpenter price tables
# as_of: 2026-08
"""

COLUMNS = ("vendor_id server_id api_reference family cpu_architecture cpu_allocation cpu_manufacturer vcpus "
           "memory_amount gpu_count gpu_model gpu_memory_min gpu_memory_total storage_size storage_type score1 "
           "score region_id min_price_ondemand currency country_id continent billing_increment_seconds "
           "minimum_billing_seconds compliance").split()

PRICED_IN = {"aws": "us-east-1", "gcp": "us-central1", "azure": "eastus"}
COUNTRY = {"us-east-1": "US", "us-central1": "US", "eastus": "US"}
CONTINENT = {"US": "North America"}

# For each vendor: the billing increment and the minimum, in seconds, and the frameworks it complies with.
VENDORS = {
    "aws": (1, 60, "hipaa iso27001 soc2t2"),
    "gcp": (1, 60, "hipaa iso27001 soc2t2"),
    "azure": (1, 300, "hipaa iso27001 soc2t2"),
    "hcloud": (3600, 3600, "iso27001"),
    "upcloud": (3600, 3600, "iso27001"),
    "ovh": (3600, 3600, "iso27001 soc2t2"),
    "alicloud": (1, 600, "hipaa iso27001 soc2t2"),
    "vultr": (3600, 3600, "hipaa iso27001 soc2t2"),
}

FAMILIES = {
    "aws": "t3 t3a t4g m6i m7i m7a m7g m8g m8a c7i c7a c7g c8g c8a r7i r7a r7g r8g r8a x8g "
           "g4dn g5 g6 g6e p4d p4de p5 p5en",
    "gcp": "e2 n2d n4 c3d c4 t2d t2a m3 g2 a2 a3",
    "azure": "Basv2 Bpsv2 StandardDsv6 Dav6 StandardDpsv6 StandardEsv6 Eav6 StandardEpsv6 StandardFasv6 "
             "StandardFalsv6 StandardFamsv6 StandardNCADSA100v4 StandardNCadsH100v5",
    "hcloud": "cx cpx cax ccx",
    "upcloud": "General~Purpose CLOUDNATIVE High~CPU High~Memory GPU",
    "ovh": "General~Purpose Compute~Optimized Memory~Optimized Cloud~GPU",
    "alicloud": "ecs.g8a ecs.c8a ecs.r8a ecs.g8y ecs.c8y ecs.r8y ecs.gn7i",
    "vultr": "Cloud~Compute High~Performance VX1~Cloud~Compute Cloud~GPU",
}
SIZES = {1, 2, 4, 8, 16, 32, 48, 64, 96}
ODD = ("metal", "-lssd", "_cc_", "-nps1")  # variants of a type that is listed anyway
WRONG = {("gcp", "c4a"): "listed as x86_64, is arm64", ("gcp", "n4a"): "listed as x86_64, is arm64"}


def number(text):
    """As short as it reads: 4.0 becomes 4."""
    return "%.12g" % float(text) if text else ""


def prices_of(path):
    lines = gzip.open(path, "rt", newline="") if path.endswith(".gz") else open(path, newline="")
    with lines:
        return {(row["vendor_id"], row["api_reference"]): row for row in csv.DictReader(lines)
                if row["allocation"] == "ondemand" and PRICED_IN.get(row["vendor_id"]) == row["region"]}


def left_out(row, regional):
    """Why a server of a chosen family is not taken, or None."""
    gpus = float(row["gpu_count"] or 0)
    name = row["api_reference"]
    if row["status"] != "active":
        return "inactive"
    if (row["vendor_id"], row["family"]) in WRONG:
        return WRONG[row["vendor_id"], row["family"]]
    if row["architecture"] not in ("x86_64", "arm64"):
        return "architecture"
    if any(word in name for word in ODD) or "-" in name and row["vendor_id"] == "azure":
        return "variant"
    if gpus and not (row["gpu_model"] and row["gpu_memory_total_mib"]):
        return "GPU not known"
    if gpus % 1:
        return "part of a GPU"
    if not gpus and int(row["vcpus"]) not in SIZES and row["vendor_id"] in PRICED_IN:
        return "size"
    if not regional and (row["vendor_id"] in PRICED_IN or not row["min_price_ondemand"]):
        return "no price"
    if regional and row["min_price_ondemand"] and float(regional["price"]) < 0.98 * float(row["min_price_ondemand"]):
        return "prices disagree"
    return None


def line_of(row, regional):
    """The columns of one server."""
    gpus = float(row["gpu_count"] or 0)
    return {
        "vendor_id": row["vendor_id"],
        "server_id": row["server_id"],
        "api_reference": row["api_reference"] if row["api_reference"] != row["server_id"] else "",
        "family": row["family"],
        "cpu_architecture": row["architecture"],
        "cpu_allocation": row["cpu_allocation"].capitalize(),
        "cpu_manufacturer": row["cpu_manufacturer"],
        "vcpus": number(row["vcpus"]),
        "memory_amount": number(row["memory_mib"]),
        "gpu_count": number(row["gpu_count"] or "0"),
        "gpu_model": row["gpu_model"] if gpus else "",
        "gpu_memory_min": number(row["gpu_memory_min_mib"]) if gpus else "",
        "gpu_memory_total": number(row["gpu_memory_total_mib"]) if gpus else "",
        "storage_size": number(row["storage_gb"]),
        "storage_type": row["storage_type"].replace("_", " "),
        "score1": number(row["score1"]),
        "score": number(row["score"]),
        "region_id": regional["region"] if regional else "",
        "min_price_ondemand": "%.5g" % float(regional["price"]) if regional else number(row["min_price_ondemand"]),
        "currency": regional["currency"] if regional else row["currency"],
    }


def tell_once(lines):
    """What is known of vendors and regions, on the first line of each."""
    vendors, regions = set(), set()
    for line in lines:
        vendor, region = line["vendor_id"], (line["vendor_id"], line["region_id"])
        if vendor not in vendors:
            (line["billing_increment_seconds"], line["minimum_billing_seconds"],
             line["compliance"]) = VENDORS[vendor]
        if region not in regions and line["region_id"]:
            line["country_id"] = COUNTRY[line["region_id"]]
            line["continent"] = CONTINENT[line["country_id"]]
        vendors.add(vendor)
        regions.add(region)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    regional = prices_of(sys.argv[2])
    families = {(vendor, name.replace("~", " ")) for vendor, names in FAMILIES.items() for name in names.split()}
    reasons, lines = Counter(), []
    with open(sys.argv[1], newline="") as servers:
        for row in csv.DictReader(servers):
            if (row["vendor_id"], row["family"]) not in families:
                reasons["family"] += 1
                continue
            price = regional.get((row["vendor_id"], row["api_reference"]))
            reason = left_out(row, price)
            if reason:
                reasons[reason] += 1
            else:
                lines.append(line_of(row, price))
    lines.sort(key=lambda line: (line["vendor_id"], line["family"], float(line["vcpus"]),
                                 float(line["memory_amount"]), line["server_id"]))
    tell_once(lines)
    sys.stdout.write(HEAD)
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    for reason, count in sorted(reasons.items()):
        print("left out, %s: %d" % (reason, count), file=sys.stderr)
    print("taken: %d" % len(lines), file=sys.stderr)


if __name__ == "__main__":
    main()
