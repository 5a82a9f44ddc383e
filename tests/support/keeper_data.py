"""Small made-up tables of sc-data, with every odd value of the real tables. The double of the Keeper answers from them,
and tests/keeper/real.py fills the database of the real Keeper with them. Rows have the names and values of the Keeper's
JSON."""

OBSERVED = "2026-08-22T00:00:00"
# vendor: country, billing increment and minimum in seconds, currency, frameworks
VENDORS = {"aws": ("US", 1, 60, "USD", ("hipaa", "soc2t2")), "gcp": ("US", 1, 60, "USD", ("soc2t2",)),
           "hcloud": ("DE", 3600, 3600, "EUR", ())}
FRAMEWORKS = ("hipaa", "iso27001", "soc2t2")
# (vendor, region_id): name, country. The ids of gcp and hcloud are numbers, as in sc-data.
REGIONS = {("aws", "us-east-1"): ("us-east-1", "US"), ("gcp", "1000"): ("us-central1", "US"),
           ("gcp", "1100"): ("europe-west4", "NL"), ("hcloud", "2"): ("nbg1-dc3", "DE")}
COUNTRIES = {"US": "North America", "NL": "Europe", "DE": "Europe"}
# benchmark: higher is better
BENCHMARKS = {"stress_ng:best1": True, "stress_ng:bestn": True, "geekbench:hdr": True, "membench:latency": False}

SERVER = {
    "description": "made up", "hypervisor": None, "cpu_speed": 2.5, "cpu_manufacturer": "Intel", "cpu_family": None,
    "cpu_model": None, "cpu_l1d_cache": None, "cpu_l1d_cache_total": None, "cpu_l1i_cache": None,
    "cpu_l1i_cache_total": None, "cpu_l2_cache": None, "cpu_l2_cache_total": None, "cpu_l3_cache": None,
    "cpu_l3_cache_total": None, "cpu_flags": ["fpu"] * 50, "cpus": [], "ecpus": None, "scalability": None,
    "hw_virt": None, "memory_amount_actual": None, "memory_generation": None, "memory_speed": None,
    "memory_ecc": None, "gpu_count": 0.0, "gpu_memory_min": None, "gpu_memory_total": None, "gpu_manufacturer": None,
    "gpu_family": None, "gpu_model": None, "gpus": [], "storage_size": 0, "storage_type": None, "storages": [],
    "network_speed_baseline": 1.0, "network_speed_max": None, "network_storage_speed_baseline": None,
    "network_storage_speed_max": None, "inbound_traffic": 0.0, "outbound_traffic": 0.0, "ipv4": 0,
    "average_time_to_start": None,
}


def server(vendor, number, active=True):
    vcpus = 1 << number % 7
    name = "%s-%05d" % (vendor, number)
    return {"vendor_id": vendor, "server_id": name, "name": name, "api_reference": name, "display_name": name,
            "family": "f%d" % (number % 5), "vcpus": vcpus, "cpu_cores": vcpus, "memory_amount": 1024 * vcpus,
            "cpu_allocation": ("Dedicated", "Shared", "Burstable")[number % 3],
            "cpu_architecture": ("x86_64", "arm64")[number % 2], "status": "active" if active else "inactive",
            "observed_at": OBSERVED, **SERVER}


def price(item, region, amount, allocation="ondemand", zone=1, **more):
    vendor = item["vendor_id"]
    return {"vendor_id": vendor, "region_id": region, "zone_id": "%s-z%d" % (region, zone),
            "server_id": item["server_id"], "operating_system": "Linux", "allocation": allocation, "unit": "hour",
            "price": amount, "price_upfront": 0.0, "price_tiered": [], "currency": VENDORS[vendor][3],
            "status": "active", "observed_at": OBSERVED, **more}


def prices_of(item, number):
    """Covers every combination of allocations: depending on the number, a server has only one allocation, or a higher
    spot price."""
    vendor = item["vendor_id"]
    regions = [region for owner, region in REGIONS if owner == vendor]
    amount = round(0.01 * item["vcpus"] + 0.001 * (number % 10) + 0.0001, 4)
    kind = number % 16
    rows = []
    for nth, region in enumerate(regions):
        here = round(amount * (1 + nth / 4), 4)
        # 8: only spot; 12: only reserved; 7: only in the first region
        if kind not in (8, 12) and not (kind == 7 and nth):
            rows.append(price(item, region, here))
            rows.append(price(item, region, round(here * 1.1, 4), zone=2))
        if kind == 12:
            rows.append(price(item, region, round(here * 0.6, 4), "reserved"))
        if vendor != "hcloud" and (kind == 8 or kind % 2 and not nth):
            rows.append(price(item, region, round(here * (1.5 if kind == 3 else 0.3), 4), "spot"))
    if kind == 4:  # prices that are no longer valid
        rows.append(price(item, regions[0], 0.0001, "ondemand", 3, status="inactive"))
        rows.append(price(item, regions[0], 0.0001, "spot", 3, status="inactive"))
    if kind == 6:  # the first hours of a month cost more than those above a cap
        rows[0]["price_tiered"] = [{"lower": 0.0, "upper": 500.0, "price": rows[0]["price"]},
                                   {"lower": 500.0, "upper": "Infinity", "price": 0.0}]
    return rows


def scores_of(item, number):
    def row(benchmark, score, config):
        return {"vendor_id": item["vendor_id"], "server_id": item["server_id"], "benchmark_id": benchmark,
                "config": config, "score": float(score), "framework_version": None, "kernel_version": None,
                "score_breakdown": None, "note": None, "status": "active", "observed_at": OBSERVED}

    if number % 5 == 4:  # not measured
        return []
    return [row("stress_ng:best1", 1000 + number, {}), row("stress_ng:bestn", 1000 * item["vcpus"], {}),
            row("geekbench:hdr", 2000 + number, {"cores": "single"}),
            row("geekbench:hdr", 1500 * item["vcpus"] + 2000, {"cores": "multi"}),
            row("membench:latency", 80 + number, {"size_kb": 64})]


def tables(count):
    """Returns `count` active servers of each vendor, and one that is no longer for rent."""
    made = {"country": [{"country_id": key, "continent": value, "status": "active", "observed_at": OBSERVED}
                        for key, value in COUNTRIES.items()],
            "compliance_framework": [{"compliance_framework_id": key, "name": key.upper(), "abbreviation": key,
                                      "description": None, "logo": None, "homepage": None, "status": "active",
                                      "observed_at": OBSERVED} for key in FRAMEWORKS],
            "benchmark": [{"benchmark_id": key, "name": key, "description": None, "category": "Other", "framework": "f",
                           "note": None, "source": {"kind": "measured"},
                           "measurement": None, "unit": "u", "config_fields": {}, "higher_is_better": better,
                           "status": "active", "observed_at": OBSERVED} for key, better in BENCHMARKS.items()],
            "vendor": [], "vendor_compliance_link": [], "region": [], "zone": [], "server": [], "server_price": [],
            "benchmark_score": []}
    for key, (country, increment, least, _, frameworks) in VENDORS.items():
        made["vendor"].append({
            "vendor_id": key, "name": key.upper(), "logo": None, "homepage": None, "country_id": country, "state": None,
            "city": None, "address_line": None, "zip_code": None, "founding_year": 2000, "status_page": None,
            "stopped_server_charged": None, "billing_increment_seconds": increment, "minimum_billing_seconds": least,
            "billing_comment": None, "status": "active", "observed_at": OBSERVED})
        made["vendor_compliance_link"] += [
            {"vendor_id": key, "compliance_framework_id": framework, "comment": None, "status": "active",
             "observed_at": OBSERVED} for framework in frameworks]
        for number in range(count + 1):
            item = server(key, number, number < count)
            made["server"].append(item)
            made["server_price"] += prices_of(item, number)
            made["benchmark_score"] += scores_of(item, number)
    for (vendor, region), (name, country) in REGIONS.items():
        place = {"vendor_id": vendor, "region_id": region, "name": name, "api_reference": name, "display_name": name}
        made["region"].append({**place, "aliases": [name + "-alias"], "country_id": country, "state": None,
                               "city": None, "address_line": None, "zip_code": None, "lon": None, "lat": None,
                               "founding_year": None, "green_energy": None, "status": "active",
                               "observed_at": OBSERVED})
        made["zone"] += [{**place, "zone_id": "%s-z%d" % (region, nth), "status": "active", "observed_at": OBSERVED}
                         for nth in (1, 2, 3)]
    return made
