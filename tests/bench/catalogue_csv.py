#!/usr/bin/env python3
"""Joins the tables of Spare Cores to one catalogue file: input of bench_catalogue.

    tests/bench/catalogue_csv.py servers.csv server_prices.csv[.gz] regions.csv > all.csv

Every server and every price is taken. recommender/catalogue/built_in.py describes the columns of the tables.
"""

import csv
import gzip
import sys

COLUMNS = ("vendor_id server_id api_reference display_name family status cpu_architecture cpu_allocation "
           "cpu_manufacturer vcpus cpu_cores memory_amount gpu_count gpu_model gpu_memory_min gpu_memory_total "
           "storage_size storage_type score1 score region_id country_id continent allocation price currency").split()
RENAMED = {"cpu_architecture": "architecture", "memory_amount": "memory_mib", "gpu_memory_min": "gpu_memory_min_mib",
           "gpu_memory_total": "gpu_memory_total_mib", "storage_size": "storage_gb"}
EUROPE = set("AT BE CH CZ DE DK ES FI FR GB GR IE IT NL NO PL PT SE".split())


def opened(path):
    return gzip.open(path, "rt", newline="") if path.endswith(".gz") else open(path, newline="")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n", restval="")
    out.writeheader()
    ids, country = {}, {}
    with opened(sys.argv[3]) as regions:
        for row in csv.DictReader(regions):
            country[row["vendor_id"], row["api_reference"]] = row["country_id"]
    with opened(sys.argv[1]) as servers:
        for row in csv.DictReader(servers):
            ids[row["vendor_id"], row["api_reference"]] = row["server_id"]
            out.writerow({name: row[RENAMED.get(name, name)] for name in COLUMNS
                          if RENAMED.get(name, name) in row and name != "currency"})
    with opened(sys.argv[2]) as prices:
        for row in csv.DictReader(prices):
            region = "" if row["region"] == "*" else row["region"]
            where = country.get((row["vendor_id"], region), "")
            out.writerow({"vendor_id": row["vendor_id"], "server_id": ids[row["vendor_id"], row["api_reference"]],
                          "region_id": region, "country_id": where, "continent": "Europe" if where in EUROPE else "",
                          "allocation": row["allocation"], "price": row["price"], "currency": row["currency"]})


if __name__ == "__main__":
    main()
