"""Computes the expected answer of /servers a second time, by SQL over the table that the program reads. Shares no code
with the program.

A query is a dict of the route's parameters. Each server has one offer, the region and allocation that is best for it.
"""
import contextlib
import math
import re
import sqlite3

SECONDS_PER_MONTH = 730 * 3600.0  # as vendors count it


def memory_for_jobs(sold, actual, reserve):
    """Returns the MiB that a job may use. If a server's system was not measured, the kernel takes a 64th, and the
    system takes 100 MiB. A kubelet reserves more: the figures are those of Google's nodes
    (cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes).

    A kubelet keeps more: what Google's nodes keep (cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes).
    """
    if sold is None:
        return None
    seen = actual if actual is not None else sold * 63 / 64
    if reserve == "none":
        return actual if actual is not None else sold
    left = seen - 100
    if reserve == "kubernetes":
        left -= 255 if seen < 1024 else 0.25 * min(seen, 4096) + sum(
            share * min(max(seen - begin, 0), end - begin)
            for share, begin, end in ((0.2, 4096, 8192), (0.1, 8192, 16384), (0.06, 16384, 131072), (0.02, 131072, 1e12)))
    return max(left, 0)


def cores_for_jobs(vcpus, reserve):
    if vcpus is None or reserve != "kubernetes":
        return vcpus
    return vcpus - sum(share * min(max(vcpus - begin, 0), end - begin)
                       for share, begin, end in ((0.06, 0, 1), (0.01, 1, 2), (0.005, 2, 4), (0.0025, 4, 1e9)))


def expected_seconds(duration, spot, interruptions):
    """Returns the duration of a run that starts again after each interruption. Interruptions come at random, so many
    per hour."""
    if spot and interruptions:
        return math.expm1(interruptions * duration / 3600) / interruptions * 3600
    return duration


# Billing rules of vendors for which the table has none: step, minimum, and the most hours of a month that are billed.
# Sources: aws.amazon.com/ec2/pricing/on-demand, cloud.google.com/compute/vm-instance-pricing,
# docs.hetzner.com/cloud/billing/faq, docs.vultr.com/support/platform/billing. recommender/catalogue/billing.h has the
# dates.
RULES = {"aws": (1, 60, None), "gcp": (1, 60, None), "azure": (1, 300, None), "alicloud": (1, 600, None),
         "hcloud": (3600, 3600, 624), "ovh": (3600, 3600, None), "upcloud": (3600, 3600, None), "vultr": (3600, 3600, 672)}
ALICLOUD_LEAST = ((4, 120), (2, 300), (0, 600))  # by vCPUs
GPU_HOURS = {"vultr": 730}


def hours_of_clock(seconds, least):
    """Alibaba settles each hour of the clock. The hour in which the server is released costs at least the minimum.
    Returns the mean over the seconds at which a run may start."""
    def bill(start):
        in_last = min((start + seconds) % 3600 or 3600, seconds)
        return seconds + max(least - in_last, 0)

    # Between these points the bill is a straight line, so the middle is the mean.
    edges = sorted({0, 3600, *((edge - seconds) % 3600 for edge in (0, least))})
    return sum((end - begin) * bill((begin + end) / 2) for begin, end in zip(edges, edges[1:])) / 3600


def billed_seconds(seconds, vendor, vcpus, gpus, step, least):
    """Returns the seconds that are billed for a run of one length."""
    rule = RULES.get(vendor, (None, None, None))
    step, least = (own if own is not None else ruled for own, ruled in zip((step, least), rule))
    if step:
        seconds = float(math.ceil(round(seconds / step, 9))) * step
    if vendor == "alicloud":
        return hours_of_clock(seconds, next(least for size, least in ALICLOUD_LEAST if (vcpus or 0) >= size))
    seconds = max(seconds, least or 0)
    most = GPU_HOURS.get(vendor, rule[2]) if (gpus or 0) > 0 else rule[2]
    if most:
        months, rest = divmod(seconds, 730 * 3600)
        seconds = months * most * 3600 + min(rest, most * 3600)
    return seconds


class Query(dict):
    """The parameters with their defaults. Parameters that may repeat are lists."""

    def words(self, name):
        value = self.get(name, [])
        return value if isinstance(value, list) else [value]


FUNCTIONS = {"memory_for_jobs": (3, memory_for_jobs), "cores_for_jobs": (2, cores_for_jobs),
             "expected_seconds": (3, expected_seconds), "billed_seconds": (6, billed_seconds)}

# Selects every usable price of every usable server, in the requested currency.
OFFERS = """
WITH usd(code, rate) AS (SELECT base, rate FROM currency WHERE quote = 'USD' UNION SELECT 'USD', 1),
extra(vendor_id, region_id, storage, ipv4) AS (
 SELECT region.vendor_id, region.region_id,
  (SELECT min(p.price * usd.rate) FROM storage_price p JOIN usd ON usd.code = p.currency
   WHERE p.vendor_id = region.vendor_id AND p.region_id = region.region_id AND p.unit = 'GB_MONTH'),
  (SELECT min(CASE p.unit WHEN 'HOUR' THEN p.price ELSE p.price / 730.0 END * usd.rate) FROM ipv4_price p
   JOIN usd ON usd.code = p.currency WHERE p.vendor_id = region.vendor_id AND p.region_id = region.region_id)
 FROM region),
offer AS (
 SELECT s.*, s.rowid AS number, p.region_id, lower(p.allocation) AS allocation,
  p.price * f.rate / t.rate AS price, r.country_id, c.continent, r.api_reference AS region_api,
  memory_for_jobs(s.memory_amount, s.memory_amount_actual, :reserve) AS memory_left,
  cores_for_jobs(s.vcpus, :reserve) AS cores_left,
  v.billing_increment_seconds AS step, v.minimum_billing_seconds AS least,
  max(coalesce(:disk, 0) - coalesce(s.storage_size, 0), 0) AS rented_gb,
  extra.storage / t.rate AS storage_rate, extra.ipv4 / t.rate AS ipv4_rate
 FROM server s JOIN server_price p ON p.vendor_id = s.vendor_id AND p.server_id = s.server_id
 JOIN vendor v ON v.vendor_id = s.vendor_id
 JOIN usd f ON f.code = p.currency JOIN usd t ON t.code = :currency
 LEFT JOIN region r ON r.vendor_id = p.vendor_id AND r.region_id = p.region_id
 LEFT JOIN country c ON c.country_id = r.country_id
 LEFT JOIN extra ON extra.vendor_id = p.vendor_id AND extra.region_id = p.region_id
 WHERE lower(p.status) = 'active' AND lower(p.unit) = 'hour' AND lower(p.operating_system) NOT LIKE '%windows%'
  AND (lower(p.allocation) IN ('ondemand', 'spot') OR lower(p.allocation) = 'any' AND NOT EXISTS (
   SELECT 1 FROM server_price o WHERE o.vendor_id = s.vendor_id AND o.server_id = s.server_id
   AND lower(o.allocation) = 'ondemand' AND lower(o.status) = 'active' AND lower(o.unit) = 'hour'
   AND lower(o.operating_system) NOT LIKE '%windows%'))),
fit AS MATERIALIZED (SELECT * FROM offer WHERE {fits}),
timed AS (
 SELECT *, expected_seconds(:duration, allocation = 'spot', :interruptions) AS seconds FROM fit),
billed AS MATERIALIZED (
 SELECT *, billed_seconds(seconds + coalesce(average_time_to_start, 0), vendor_id, vcpus, gpu_count, step, least) AS bill FROM timed),
costed AS (
 SELECT *, bill / 3600.0 * price + coalesce(rented_gb * storage_rate * bill / :month, 0)
  + CASE WHEN :ipv4 THEN coalesce(ipv4_rate * bill / 3600.0, 0) ELSE 0 END AS cost FROM billed)
SELECT * FROM costed WHERE :max_cost IS NULL OR cost <= :max_cost
"""

# Each filter has the parameter, and the condition for one of its words or numbers.
ANY_OF = {
    "vendor": "vendor_id = {}",
    "regions": "is_region({}, vendor_id, region_id)",
    "countries": "country_id = {}",
    "continents": "continent = {}",
    "architecture": "{0} = 'any' OR lower(cpu_architecture) = {0}",
    "cpu_allocation": "{0} = 'any' OR lower(cpu_allocation) = lower({0})",
    "gpu_manufacturer": "gpu_manufacturer = {}",
    "gpu_family": "gpu_family = {}",
    "gpu_model": "gpu_model = {}",
    "storage_type": "replace(lower(storage_type), '_', ' ') = {}",
    "include": "is_server({}, vendor_id, server_id, name, api_reference, display_name, family)",
}
ALL_OF = {"compliance_framework": "EXISTS (SELECT 1 FROM vendor_compliance_link l WHERE l.vendor_id = offer.vendor_id"
                                  " AND l.compliance_framework_id = {})",
          "exclude": "NOT is_server({}, vendor_id, server_id, name, api_reference, display_name, family)"}
NUMBERS = {
    "cpu": "cores_left >= {}", "memory": "memory_left >= {}", "gpu": "{0} = 0 OR gpu_count >= {0}",
    "vram": "{0} = 0 OR gpu_memory_total >= {0}",
    "vcpus_min": "vcpus >= {}", "vcpus_max": "vcpus <= {}",
    "memory_min": "memory_amount >= {} * 1024", "memory_max": "memory_amount <= {} * 1024",
    "gpu_min": "gpu_count >= {}", "gpu_memory_min": "gpu_memory_min >= {} * 1024",
    "gpu_memory_total": "gpu_memory_total >= {} * 1024", "storage_size": "storage_size >= {}",
    "deadline": "expected_seconds(:duration, allocation = 'spot', :interruptions) <= {}",
}


class Table:
    """The table, opened for queries."""

    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.db.row_factory = sqlite3.Row
        for name, (n, function) in FUNCTIONS.items():
            self.db.create_function(name, n, self.of_known(function, n), deterministic=True)
        self.db.create_function("is_region", 3, self.is_region, deterministic=True)
        self.db.create_function("is_server", 7, self.is_server, deterministic=True)
        self.names = {(r["vendor_id"], r["region_id"]): [r["region_id"], r["api_reference"], r["display_name"],
                                                        *re.findall(r'"([^"]*)"', r["aliases"] or "")]
                      for r in self.db.execute("SELECT * FROM region")}

    def close(self):
        self.db.close()

    @staticmethod
    def of_known(function, n):
        """If the first argument is unknown, so is the value."""
        return lambda *arguments: None if arguments[0] is None else function(*arguments[:n])

    def is_region(self, word, vendor, region):
        at, _, name = word.rpartition("~")
        return (not at or at == vendor) and name in self.names.get((vendor, region), [])

    @staticmethod
    def is_server(word, vendor, *names):
        at, _, name = word.rpartition("~")
        return (not at or at == vendor) and name in names

    def conditions(self, query):
        """Returns the SQL conditions except for the cost, and their values."""
        found, values = [], []
        for filters, between in ((ANY_OF, " OR "), (ALL_OF, " AND ")):
            for name, condition in filters.items():
                words = query.words(name)
                if words:
                    found.append("(" + between.join(f"({condition.format(f'?{len(values) + i + 1}')})"
                                                    for i in range(len(words))) + ")")
                    values += words
        for name, condition in NUMBERS.items():
            if query.get(name) is not None:
                found.append("(" + condition.format(f"?{len(values) + 1}") + ")")
                values.append(query[name])
        if query.get("only_active", "true") == "true":
            found.append("lower(coalesce(status, 'active')) = 'active'")
        ways = {"ondemand": "'ondemand', 'any'", "spot": "'spot'", "any": "'ondemand', 'any', 'spot'"}
        found.append(f"allocation IN ({ways[query.get('allocation', 'ondemand')]})")
        return found, values

    def offers(self, query):
        """Returns all offers that fit, as rows."""
        given = {"reserve": query.get("reserve", "system"), "disk": query.get("disk"), "month": SECONDS_PER_MONTH,
                 "currency": query.get("currency", "USD"), "duration": query.get("duration"),
                 "interruptions": query.get("spot_interruptions", 0.05), "ipv4": query.get("ipv4") == "true",
                 "max_cost": query.get("max_cost")}
        found, values = self.conditions(query)
        given.update({f"v{i}": value for i, value in enumerate(values, 1)})
        fits = re.sub(r"\?(\d+)", r":v\1", " AND ".join(found) or "1")
        with contextlib.closing(self.db.execute(OFFERS.format(fits=fits), given)) as rows:
            return rows.fetchall()

    def ranking(self, query):
        """Returns the best offer of each server, best server first: [(key, offer)]."""
        query = Query(query)
        best = {}
        for offer in self.offers(query):
            key = self.key(query, offer)
            if key is not None:
                found = (key, (*key[:2], *self.preference(query, offer)), offer)
                number = offer["number"]
                best[number] = min(best.get(number, found), found, key=lambda f: f[1])
        return [(key, offer) for key, _, offer in sorted(best.values(), key=lambda f: f[0])]

    @staticmethod
    def key(query, offer):
        """Returns the sort key of an offer, smallest first; None = the offer cannot be ranked. Offers without doubts
        come first. Equal offers are sorted by the cost of a run, the price, more memory, and the name."""
        objective = query.get("objective") or ("deadline" if "deadline" in query else "cost")
        if objective in ("cost", "deadline") and offer["cost"] is None:
            objective = "price"
        speed = usable_score(offer, query.get("cpu"))
        first = {
            "price": lambda: offer["price"],
            "cost": lambda: offer["cost"],
            "deadline": lambda: offer["cost"],
            # steps of 1 %, because no measurement is more exact
            "fastest": lambda: speed and -round(math.log(speed) / 0.01),
            "efficiency": lambda: speed and -speed / offer["price"],
        }[objective]()
        if first is None:
            return None
        return (offer["allocation"] == "any", rounded(first), rounded(offer["cost"] or 0), rounded(offer["price"]), -(offer["memory_amount"] or 0),
                offer["vendor_id"], offer["server_id"])

    @staticmethod
    def preference(query, offer):
        """Chooses between equally good offers of one server: the cheaper run, then the offer without unknown values."""
        lacks = ((offer["rented_gb"] > 0 and offer["storage_rate"] is None)
                 + (query.get("ipv4") == "true" and offer["ipv4_rate"] is None))
        return rounded(offer["cost"] or 0), lacks, rounded(offer["price"]), offer["region_id"]


def usable_score(server, cores):
    """Returns the score that a job with this number of busy cores can use. More cores do not help such a job."""
    if cores is not None and cores <= 1:
        return server["score1"]
    if cores is None or server["score"] is None or server["vcpus"] is None:
        return server["score"]
    if server["score1"]:
        return min(cores * server["score1"], server["score"])
    return server["score"] * min(cores, server["vcpus"]) / server["vcpus"]


def rounded(number):
    """Makes two sums of the same numbers in different orders equal."""
    return float(f"{number:.10g}")
