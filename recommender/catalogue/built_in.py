#!/usr/bin/env python3
"""Makes and prints recommender/catalogue/built_in.pack: the built-in catalogue, facts of the Spare Cores server table.

    built_in.py pack servers.csv server_prices.csv[.gz] regions.csv > built_in.pack
    built_in.py list built_in.pack                # the servers and prices as CSV, which --catalogue.path reads
    built_in.py digest built_in.pack              # what tests/unit/test_built_in.c compares

servers.csv: vendor_id, server_id, api_reference, display_name, family, status, architecture, cpu_allocation,
cpu_manufacturer, vcpus, cpu_cores, memory_mib, gpu_*, storage_*, score1, score.
server_prices.csv: vendor_id, region (api_reference, or * for the lowest price anywhere), api_reference, allocation, price,
currency, source. regions.csv: vendor_id, region_id, api_reference, country_id, city.

The pack has every type that a vendor offers today, with its price in each region. If no region is known, it has the vendor's
lowest price, with an empty region. Types and prices that are left out are counted on stderr, each with the reason.

The pack is zlib data of tables. They are stored column by column, because similar values side by side compress well:
    source NUL date NUL
    4 tables, each: name NUL rows columns (numbers), then for each column: name NUL, length in bytes (number)
                    then the cells of each column, each cell with a NUL
    the prices of each row of the table "price": one number for each server of its vendor
Numbers are unsigned, 7 bits a byte, lowest first; the high bit says that more follow. 0 says that there is no price. Any
other number is 1 + the zigzag code of a difference: the price in units of 1e-7, minus the expected price. The expected price
is the price of the server before, times the ratio of the two servers' prices in the first row of the same vendor and
allocation. If one of these is not known, it is the price of the server before; for the first server, it is 0.

A unit of 1e-7 an hour is exact for prices of up to 7 decimals. The table has longer prices, computed from prices per vCPU
and GiB. Rounding changes them by at most 5e-8 an hour, which is 0.00004 in a month.
"""

import csv
import gzip
import statistics
import sys
import zlib
from collections import Counter, defaultdict

SOURCE = "Spare Cores (CC BY-SA 4.0), Karpenter price tables and spotinfo (Apache-2.0)"
AS_OF = "2026-08"
UNIT = 1e-7

# For each vendor: its name and country, the billing increment and the minimum in seconds, and the frameworks it complies with.
VENDORS = {
    "alicloud": ("Alibaba Cloud", "CN", "1", "600", "hipaa iso27001 soc2t2"),
    "aws": ("Amazon Web Services", "US", "1", "60", "hipaa iso27001 soc2t2"),
    "azure": ("Microsoft Azure", "US", "1", "300", "hipaa iso27001 soc2t2"),
    "gcp": ("Google Cloud Platform", "US", "1", "60", "hipaa iso27001 soc2t2"),
    "hcloud": ("Hetzner Cloud", "DE", "3600", "3600", "iso27001"),
    "ovh": ("OVHcloud", "FR", "3600", "3600", "iso27001 soc2t2"),
    "upcloud": ("UpCloud", "FI", "3600", "3600", "iso27001"),
    "vultr": ("Vultr", "US", "3600", "3600", "hipaa iso27001 soc2t2"),
}
CONTINENTS = {
    "Africa": "ZA",
    "Asia": "AE BH CN HK ID IL IN JP KR MY PH QA SA SG TH TW",
    "Europe": "AT BE CH DE DK ES FI FR GB IE IT NL NO PL SE",
    "North America": "CA MX US",
    "Oceania": "AU NZ",
    "South America": "BR CL",
}
CONTINENT = {country: continent for continent, countries in CONTINENTS.items() for country in countries.split()}
# Regions with prices that the table of regions does not have.
MORE_REGIONS = [{"vendor_id": "azure", "region_id": "swedensouth", "api_reference": "swedensouth", "country_id": "SE",
                 "city": "Staffanstorp"}]

# Places of regions, as the vendors name them: the table of regions lacks these. COUNTRY has the regions whose country is wrong in
# that table.
AREAS = {
    "aws": {"ap-southeast-5": "Malaysia", "ap-southeast-6": "Auckland", "ap-southeast-7": "Bangkok",
            "me-central-1": "United Arab Emirates", "me-south-1": "Bahrain", "mx-central-1": "Queretaro",
            "us-east-1": "N. Virginia", "us-east-2": "Ohio", "us-west-1": "N. California", "us-west-2": "Oregon"},
    "azure": {"belgiumcentral": "Brussels", "brazilsouth": "Sao Paulo State", "brazilus": "Brazil US",
              "centralindia": "Pune", "centralus": "Iowa", "centraluseuap": "Central US EUAP", "eastasia": "Hong Kong",
              "eastus2euap": "East US 2 EUAP", "eastusstg": "East US STG", "israelcentral": "Israel",
              "mexicocentral": "Queretaro State", "norwaywest": "Norway West", "southindia": "Chennai",
              "westeurope": "Netherlands", "westindia": "Mumbai", "westus": "California", "westus2": "Washington"},
    "gcp": {"asia-east1": "Changhua County", "asia-east2": "Hong Kong"},
}
COUNTRY = {("azure", "brazilsoutheast"): "BR", ("azure", "mexicocentral"): "MX"}

# The server table names another architecture for these families of Google. Axion is Google's Arm processor
# (cloud.google.com/compute/docs/arm-on-compute).
ARM = {("gcp", "c4a"), ("gcp", "n4a")}
# The server table calls these CPUs dedicated. AWS says ("T1 micro instances") that they burst for a while above a small amount.
BURSTABLE = {("aws", "t1")}
# For types that run 32-bit and 64-bit programs, the server table names the older architecture (AWS, DescribeInstanceTypes).
OLDER_NAME = {"i386": "x86_64"}
# Families whose types have a part of a GPU: the memory of a whole GPU in MiB. The table lists one GPU for them, or none.
WHOLE_GPU = {
    ("alicloud", "ecs.sgn6i-vws"): 16384, ("alicloud", "ecs.sgn7i-vws"): 24576, ("alicloud", "ecs.sgn8ga-wy"): 49152,
    ("alicloud", "ecs.sgn8ia"): 49152, ("alicloud", "ecs.vgn5i"): 8192, ("alicloud", "ecs.vgn6i"): 16384,
    ("alicloud", "ecs.vgn6i-vws"): 16384, ("alicloud", "ecs.vgn7i-vws"): 24576, ("aws", "g6f"): 22888, ("aws", "gr6f"): 22888,
    ("azure", "NVSv4"): 16384, ("azure", "StandardNGADSV620v1"): 32768, ("azure", "StandardNVADSA10v5"): 24576,
    ("azure", "StandardNVadsV710v5"): 24576, ("gcp", "g4"): 98304,
}
# The memory of their parts in GiB, where the table has none: learn.microsoft.com/azure/virtual-machines/sizes/gpu-accelerated
# (nvv4, ngads-v-620, nvadsa10-v5, nvadsv710-v5), docs.cloud.google.com/compute/docs/accelerator-optimized-machines (G4).
GPU_GIB = {
    "Standard_NV4as_v4": 2, "Standard_NV8as_v4": 4, "Standard_NV16as_v4": 8, "Standard_NG8ads_V620_v1": 8,
    "Standard_NG16ads_V620_v1": 16, "Standard_NV6ads_A10_v5": 4, "Standard_NV12ads_A10_v5": 8, "Standard_NV18ads_A10_v5": 12,
    "Standard_NV4ads_V710_v5": 4, "Standard_NV8ads_V710_v5": 8, "Standard_NV12ads_V710_v5": 12, "Standard_NV24ads_V710_v5": 24,
    "g4-standard-6": 12, "g4-standard-12": 24, "g4-standard-24": 48,
}
# Lowest prices of these vendors are not used, because they are not prices of a whole server: GCP's leave out the GPUs
# (a2-megagpu-16g: 8.80 of 55.74).
DOUBTFUL_MINIMA = {"gcp"}
# In these families of Azure, about half of the prices by region include a Windows licence. Two examples: B4als_v2 is 0.152 in
# eastus, but 0.133 with Linux in Azure's price API. D2ads_v5 is 0.195, but 0.103 in eastus2, and 2 * 0.046 is the licence.
# Such prices can be recognised. The lowest price of a size is with Linux, and in a region all sizes of a family cost the same
# multiple of it. A licence adds 12 % or more: a size whose multiple exceeds the smallest one by MORE_THAN_LINUX has Windows.
WINDOWS_TOO = {"Basv2", "Bpsv2", "Bsv2", "DADSv5", "DASv5", "EADSv5", "EASv5"}
MORE_THAN_LINUX = 1.05
# In these regions, the prices of all sizes of the family include Windows: in 56 other regions DASv5 costs as much as DASv4, but here
# 1.94 times as much. EIASv5 has one size. It costs as much as EASv5 for each vCPU, but here 112 * 0.046 more.
ALL_WINDOWS = {("DASv5", "malaysiawest"), ("EIASv5", "mexicocentral")}
# AWS rents bare metal for the price of the virtual size with as many vCPUs, and not below the lowest price anywhere. Another
# list of AWS's prices (github.com/mixxor/eu-cloud-prices, 2026-08-14) has the same price for 41 of 41 pairs. A price of
# the table that is 6 to 10 % higher is that of dedicated tenancy: 2.3066 for c6g.metal, which is 1.06 * 2.176.
DEDICATED_FROM, DEDICATED_TO = 1.01, 1.11
# A price below this share of the type's median over all regions is left out as wrong: F4ams_v6 is 0.0449 in newzealandnorth and
# 0.231 to 0.5 in the other regions. The lowest ratio that another list confirms is 0.58 (D2as_v5 in centralindia).
BELIEVED_FROM = 0.4
# Hetzner's CPX and CCX cost two to four times as much as a year before. These prices are right: Hetzner raised the prices of
# new orders on 2026-06-15, and another list (gist.github.com/derhuerst/4ef9a832e031bf82d6e640e2dd6b2d24) has CPX12 for 13.67
# EUR a month with 19 % VAT on 2026-07-22, which is 0.0184 EUR an hour, as here. All prices of Hetzner come from one answer of
# its API.
# Types that are left out, because another list has another price for them: 6.38, not 5.50.
DOUBTFUL = {("azure", "Standard_NC144ds_xl_RTXPRO6000BSE_v6")}

NOT_FOR_SALE = {"ecs.poc-test"}

SERVER = ("vendor_id server_id api_reference display_name family cpu_architecture cpu_allocation cpu_manufacturer vcpus "
          "cpu_cores memory_amount gpu_count gpu_model gpu_memory_min gpu_memory_total storage_size storage_type "
          "score1 score").split()
VENDOR = "vendor_id name country_id billing_increment_seconds minimum_billing_seconds compliance".split()
REGION = "vendor_id region_id api_reference display_name aliases country_id continent".split()
PRICE = "vendor_id region_id allocation currency estimated".split()


def opened(path):
    return gzip.open(path, "rt", newline="") if path.endswith(".gz") else open(path, newline="")


def number(text):
    """Returns the shortest text of a number: 4.0 becomes 4."""
    return "%.12g" % float(text) if text else ""


def gpus_of(row):
    """Returns the number of GPUs and their memory in MiB: that of each GPU and of all; empty if unknown."""
    gpus, whole = float(row["gpu_count"] or 0), WHOLE_GPU.get((row["vendor_id"], row["family"]))
    memory = [float(row[name]) for name in ("gpu_memory_min_mib", "gpu_memory_total_mib") if row[name]]
    if row["api_reference"] in GPU_GIB:
        memory = [GPU_GIB[row["api_reference"]] * 1024] * 2
    if whole and memory and memory[-1] <= whole:
        gpus = round(memory[-1] / whole, 4)
    return gpus, memory if gpus else []


def server_of(row):
    """Returns the columns of one server. Names that equal the id are left out; the reader of the pack fills them in."""
    gpus, gpu_memory = gpus_of(row)
    arm = (row["vendor_id"], row["family"]) in ARM
    architecture = "arm64" if arm else OLDER_NAME.get(row["architecture"], row["architecture"])
    return {
        "vendor_id": row["vendor_id"],
        "server_id": row["server_id"],
        "api_reference": row["api_reference"] if row["api_reference"] != row["server_id"] else "",
        "display_name": row["display_name"] if row["display_name"] != row["api_reference"] else "",
        "family": row["family"],
        "cpu_architecture": architecture,
        "cpu_allocation": "Burstable" if (row["vendor_id"], row["family"]) in BURSTABLE else row["cpu_allocation"].capitalize(),
        "cpu_manufacturer": row["cpu_manufacturer"],
        "vcpus": number(row["vcpus"]),
        "cpu_cores": number(row["cpu_cores"]),
        "memory_amount": number(row["memory_mib"]),
        "gpu_count": number("%r" % gpus),
        "gpu_model": row["gpu_model"] if gpus else "",
        # A server with a part of a GPU has at most the same part of its memory, so the smaller number counts.
        "gpu_memory_min": "%.12g" % min(gpu_memory) if len(gpu_memory) == 2 else "",
        "gpu_memory_total": "%.12g" % gpu_memory[1] if len(gpu_memory) == 2 else "",
        "storage_size": number(row["storage_gb"]),
        "storage_type": row["storage_type"].replace("_", " "),
        "score1": number(row["score1"]),
        "score": number(row["score"]),
    }


def servers_of(path, left_out):
    """Returns the selected servers by vendor and api_reference, in the order of the pack."""
    rows = []
    with opened(path) as lines:
        for row in csv.DictReader(lines):
            if row["status"] != "active":
                left_out["type: no longer offered"] += 1
            elif row["family"] in NOT_FOR_SALE:
                left_out["type: of the vendor's own tests"] += 1
            elif row["architecture"].endswith("_mac"):
                left_out["type: macOS, rented as a whole host for at least 24 hours"] += 1
            else:
                rows.append(row)
    rows.sort(key=lambda row: (row["vendor_id"], row["family"], float(row["vcpus"]), float(row["memory_mib"]),
                               row["server_id"]))
    return {(row["vendor_id"], row["api_reference"]): server_of(row) for row in rows}


def regions_of(path):
    """Returns the columns of each region."""
    regions = []
    with opened(path) as lines:
        for row in list(csv.DictReader(lines)) + MORE_REGIONS:
            name = row["api_reference"]
            country = COUNTRY.get((row["vendor_id"], name), row["country_id"])
            regions.append({"vendor_id": row["vendor_id"], "region_id": row["region_id"], "api_reference": name,
                            "display_name": row["city"] or AREAS[row["vendor_id"]][name], "aliases": "",
                            "country_id": country, "continent": CONTINENT[country]})
    regions.sort(key=lambda region: (region["vendor_id"], region["region_id"]))
    return regions


def windows_of(rows, servers):
    """Returns the (vendor, api_reference, region) of prices that include a Windows licence."""
    minimum = {row["api_reference"]: float(row["price"]) for row in rows
               if row["vendor_id"] == "azure" and row["region"] == "*"}
    multiples, families = defaultdict(dict), WINDOWS_TOO | {family for family, _ in ALL_WINDOWS}
    for row in rows:
        server = servers.get((row["vendor_id"], row["api_reference"]))
        if row["vendor_id"] == "azure" and row["region"] != "*" and server and server["family"] in families:
            multiples[server["family"], row["region"]][row["api_reference"]] = float(row["price"]) / minimum[row["api_reference"]]
    return {("azure", name, region) for (family, region), of_name in multiples.items() for name, multiple in of_name.items()
            if multiple > MORE_THAN_LINUX * min(of_name.values()) or (family, region) in ALL_WINDOWS}


def shared_tenancy(rows, servers):
    """Corrects prices of AWS's bare metal, and the estimates that were computed from them. Returns the number of types."""
    minimum = {row["api_reference"]: float(row["price"]) for row in rows if row["vendor_id"] == "aws" and row["region"] == "*"}
    placed = [row for row in rows if row["vendor_id"] == "aws" and row["region"] != "*" and ("aws", row["api_reference"]) in servers]
    price, virtual = {}, {}
    for row in placed:
        if row["allocation"] == "ondemand":
            server, name = servers["aws", row["api_reference"]], row["api_reference"]
            size = server["family"], server["vcpus"], row["region"]
            if ".metal" in name:
                price[name, row["region"]] = size, float(row["price"])
            else:
                virtual[size] = float(row["price"])
    right = {}
    for (name, region), (size, told) in price.items():
        shared = max(virtual.get(size, 0), minimum[name])
        if DEDICATED_FROM * shared < told < DEDICATED_TO * shared:
            right[name, region] = shared / told
    for row in placed:
        row["price"] = float(row["price"]) * right.get((row["api_reference"], row["region"]), 1)
    return len(right)


def without_too_low(columns, left_out):
    """Leaves out on-demand prices that are far below the prices of the same type in other regions."""
    of_type = defaultdict(list)
    for (vendor, region, allocation, _, _), prices in columns.items():
        for name, price in prices.items():
            if region and allocation == "ondemand":
                of_type[vendor, name].append(price)
    for (vendor, region, allocation, _, _), prices in columns.items():
        for name in [*prices] if region and allocation == "ondemand" else ():
            if prices[name] < BELIEVED_FROM * statistics.median(of_type[vendor, name]):
                left_out["price: far below those of the other regions"] += 1
                print("left out: %s %s %s %.7f" % (vendor, name, region, prices[name] * UNIT), file=sys.stderr)
                del prices[name]


def prices_of(path, servers, regions, left_out):
    """Returns prices in units of UNIT: by column (vendor, region_id, allocation, currency, estimated), then by api_reference."""
    ids = {(region["vendor_id"], name): region["region_id"] for region in regions
           for name in {region["api_reference"], region["aliases"], region["region_id"]} if name}
    with opened(path) as lines:
        rows = [row for row in csv.DictReader(lines) if float(row["price"]) > 0]
    print("corrected, price: of dedicated tenancy: %d types" % shared_tenancy(rows, servers), file=sys.stderr)
    places = {(row["vendor_id"], row["api_reference"]) for row in rows
              if row["region"] != "*" and row["allocation"] == "ondemand"}
    ondemand = {(row["vendor_id"], row["api_reference"], row["region"]): float(row["price"]) for row in rows
                if row["allocation"] == "ondemand"}
    with_windows = windows_of(rows, servers)
    columns = defaultdict(dict)
    for row in rows:
        vendor, name, anywhere = row["vendor_id"], row["api_reference"], row["region"] == "*"
        if (vendor, name) not in servers:
            left_out["price: of a type that is left out"] += 1
        elif anywhere and (vendor, name) in places:
            left_out["price: a minimum anywhere, where prices by region are known"] += 1
        elif anywhere and vendor in DOUBTFUL_MINIMA:
            left_out["price: a minimum that is not on demand"] += 1
        elif (vendor, name) in DOUBTFUL:
            left_out["price: differs from another list"] += 1
        elif (vendor, name, row["region"]) in with_windows:
            left_out["price: with Windows"] += 1
        elif row["allocation"] == "spot" and float(row["price"]) >= ondemand[vendor, name, row["region"]]:
            left_out["price: spot, and not below the price on demand"] += 1
        else:
            region = "" if anywhere else ids[vendor, row["region"]]
            estimated = "true" if row["source"].startswith("estimated:") else ""
            columns[vendor, region, row["allocation"], row["currency"], estimated][name] = round(float(row["price"]) / UNIT)
    without_too_low(columns, left_out)
    return columns


def unsigned(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return out


def expected(before, reference):
    """Returns the expected price of the server after `before`, which is (its price, its reference price or None)."""
    price, base = before
    return int(price * reference / base + 0.5) if reference and base else price


def table(name, columns, rows):
    cells = ["".join(row[column] + "\0" for row in rows).encode() for column in columns]
    head = name.encode() + b"\0" + unsigned(len(rows)) + unsigned(len(columns))
    for column, data in zip(columns, cells):
        head += column.encode() + b"\0" + unsigned(len(data))
    return head + b"".join(cells)


def packed_prices(column, reference, names):
    out, before = bytearray(), (0, None)
    for name in names:
        price = column.get(name)
        if price is None:
            out.append(0)
            continue
        difference = price - expected(before, reference.get(name))
        out += unsigned(1 + (2 * difference if difference >= 0 else -2 * difference - 1))
        before = (price, reference.get(name))
    return out


def pack(servers_path, prices_path, regions_path):
    left_out = Counter()
    servers = servers_of(servers_path, left_out)
    regions = regions_of(regions_path)
    columns = prices_of(prices_path, servers, regions, left_out)
    # The row with the most prices comes first, because it is the reference for the other rows.
    order = sorted(columns, key=lambda key: (key[0], key[2], -len(columns[key]), key))
    names = defaultdict(list)
    for vendor, name in servers:
        names[vendor].append(name)
    out = SOURCE.encode() + b"\0" + AS_OF.encode() + b"\0"
    out += table("vendor", VENDOR, [dict(zip(VENDOR, (vendor, *about))) for vendor, about in VENDORS.items()])
    out += table("region", REGION, regions)
    out += table("server", SERVER, list(servers.values()))
    out += table("price", PRICE, [dict(zip(PRICE, key)) for key in order])
    group, reference = None, {}
    for key in order:
        new = (key[0], key[2]) != group
        if new:
            group, reference = (key[0], key[2]), {}
        out += packed_prices(columns[key], reference, names[key[0]])
        if new:
            reference = columns[key]
    for reason, count in sorted(left_out.items()):
        print("left out, %s: %d" % (reason, count), file=sys.stderr)
    priced = {(key[0], name) for key in order for name in columns[key]}
    print("taken: %d types, %d of them with a price; %d prices; %d regions; %d bytes before packing"
          % (len(servers), len(priced), sum(map(len, columns.values())), len(regions), len(out)), file=sys.stderr)
    packed = zlib.compress(bytes(out), 9)
    _, _, vendors, *tables, listed = read(Reader(packed))
    found = {(*(row[name] for name in PRICE), server["api_reference"] or server["server_id"], price) for row, server, price in listed}
    if found != {(*key, name, price) for key in order for name, price in columns[key].items()} \
            or tables[:2] != [regions, list(servers.values())] or {row["vendor_id"] for row in vendors} != set(VENDORS):
        sys.exit("the pack does not hold what the tables say")
    sys.stdout.buffer.write(packed)


class Reader:
    def __init__(self, packed):
        self.data, self.at = zlib.decompress(packed), 0

    def text(self):
        end = self.data.index(0, self.at)
        text, self.at = self.data[self.at:end].decode(), end + 1
        return text

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def table(self):
        self.text()
        rows, columns = self.number(), self.number()
        names = [(self.text(), self.number())[0] for _ in range(columns)]
        cells = [[self.text() for _ in range(rows)] for _ in names]
        return [dict(zip(names, row)) for row in zip(*cells)]

    def prices(self, rows, servers):
        """Yields (row, server, price in units) in the order of the pack."""
        group, reference = None, {}
        for row in rows:
            new = (row["vendor_id"], row["allocation"]) != group
            if new:
                group, reference = (row["vendor_id"], row["allocation"]), {}
            before, column = (0, None), {}
            for server in servers:
                code = self.number() if server["vendor_id"] == row["vendor_id"] else 0
                if code:
                    base = reference.get(server["server_id"])
                    code -= 1
                    price = expected(before, base) + (-(code + 1) // 2 if code & 1 else code // 2)
                    before = (price, base)
                    column[server["server_id"]] = price
                    yield row, server, price
            if new:
                reference = column


def read(reader):
    source, as_of = reader.text(), reader.text()
    vendors, regions, servers, rows = (reader.table() for _ in range(4))
    prices = list(reader.prices(rows, servers))
    return source, as_of, vendors, regions, servers, prices


def print_list(reader):
    source, as_of, vendors, regions, servers, prices = read(reader)
    places = {(region["vendor_id"], region["region_id"]): region for region in regions}
    about = {vendor["vendor_id"]: vendor for vendor in vendors}
    columns = SERVER + ["region_id", "allocation", "price", "currency", "estimated", "aliases", "country_id", "continent"]
    columns += VENDOR[3:]
    of_server = defaultdict(list)
    for row, server, price in prices:
        of_server[server["vendor_id"], server["server_id"]].append((row, price))
    print("# source: %s\n# as_of: %s" % (source, as_of))
    out = csv.DictWriter(sys.stdout, columns, lineterminator="\n", restval="", extrasaction="ignore")
    out.writeheader()
    for server in servers:
        of_vendor = about.pop(server["vendor_id"], {})
        lines = [{**row, "price": "%.7f" % (price * UNIT)} for row, price in of_server[server["vendor_id"], server["server_id"]]]
        for i, line in enumerate(lines or [{}]):
            place = places.get((server["vendor_id"], line.get("region_id")), {})
            billing = {name: of_vendor.get(name, "") for name in VENDOR[3:]}
            names = "|".join(name for name in (place.get("api_reference"), place.get("display_name"), place.get("aliases")) if name)
            own = server if i == 0 else {name: server[name] for name in ("vendor_id", "server_id")}
            out.writerow({**place, **line, **billing, **{name: "" for name in SERVER}, **own, "aliases": names})
            of_vendor = {}


def print_digest(reader):
    """Prints counts and a checksum over each price, in the order of the catalogue in memory."""
    _, _, _, regions, servers, prices = read(reader)
    place = {("", ""): 0}
    for i, region in enumerate(regions):
        place[region["vendor_id"], region["region_id"]] = i + 1
    lines = []
    for row, server, price in prices:
        index = place.get((row["vendor_id"], row["region_id"]), 0)
        lines.append((server["vendor_id"].encode(), server["server_id"].encode(), ("ondemand", "spot").index(row["allocation"]),
                      index, row["currency"], row["estimated"] == "true", price))
    text = "".join("%s %s %d %d %s %d %d\n" % (vendor.decode(), server.decode(), *rest) for vendor, server, *rest in sorted(lines))
    print("servers %d, prices %d, regions %d, checksum %08x" % (len(servers), len(prices), len(regions), zlib.crc32(text.encode())))


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "pack":
        pack(*sys.argv[2:])
    elif len(sys.argv) == 3 and sys.argv[1] in ("list", "digest"):
        with open(sys.argv[2], "rb") as packed:
            (print_list if sys.argv[1] == "list" else print_digest)(Reader(packed.read()))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
