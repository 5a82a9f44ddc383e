"""Random queries about servers, and a program that answers them from a table of their own.

RIGHTSIZE_TABLE=FOLDER takes servers.csv, server_prices.csv.gz and regions.csv of a folder for the table of 300 servers;
RIGHTSIZE_QUERIES is the number of queries, and RIGHTSIZE_SEED is the seed of the random numbers."""
import os
import random
import urllib.parse

import expected_servers
import server_table
import support

SEED = int(os.environ.get("RIGHTSIZE_SEED", "30"))
QUERIES = int(os.environ.get("RIGHTSIZE_QUERIES", "300"))
FOLDER = os.environ.get("RIGHTSIZE_TABLE")
PAGE = 1000  # the largest that exists
# The regions that a CSV or JSON file has: it has no table of regions, only those of its prices.
PRICED = "(SELECT * FROM region WHERE (vendor_id, region_id) IN (SELECT vendor_id, region_id FROM server_price))"


class Queries:
    """Random queries about a table."""

    def __init__(self, table, chance, regions="region"):
        self.chance = chance
        self.vendors = self.column(table, "SELECT DISTINCT vendor_id FROM server ORDER BY 1")
        self.regions = self.column(table, f"SELECT vendor_id || '~' || region_id FROM {regions} UNION SELECT api_reference FROM {regions}"
                                          f" UNION SELECT display_name FROM {regions} WHERE display_name IS NOT NULL ORDER BY 1")
        self.countries = self.column(table, f"SELECT DISTINCT country_id FROM {regions} WHERE country_id IS NOT NULL ORDER BY 1")
        self.continents = self.column(table, f"SELECT DISTINCT continent FROM country JOIN {regions} USING (country_id) ORDER BY 1")
        self.frameworks = self.column(table, "SELECT DISTINCT compliance_framework_id FROM vendor_compliance_link ORDER BY 1")
        self.servers = self.column(table, "SELECT vendor_id || '~' || server_id FROM server UNION SELECT api_reference FROM server"
                                          " ORDER BY 1")
        self.known = {name: self.column(table, f"SELECT DISTINCT {name} FROM server WHERE {name} IS NOT NULL ORDER BY 1")
                      for name in ("family", "gpu_manufacturer", "gpu_family", "gpu_model")}
        self.known["storage_type"] = self.column(table, "SELECT DISTINCT replace(lower(storage_type), '_', ' ') FROM server"
                                                        " WHERE storage_type IS NOT NULL ORDER BY 1")

    @staticmethod
    def column(table, sql):
        return [row[0] for row in table.db.execute(sql)]

    def some(self, words, most=2):
        return self.chance.sample(words, min(len(words), self.chance.randint(1, most)))  # empty = none

    def demand(self):
        pick = self.chance.choice
        return {
            "cpu": lambda: pick([0.5, 1, 1.5, 2, 3, 4, 8, 31]), "memory": lambda: pick([100, 512, 1024, 3000, 7964, 7965, 30000]),
            "gpu": lambda: pick([0, 0.25, 1, 2]), "vram": lambda: pick([2000, 16384, 40000]), "disk": lambda: pick([10, 40, 41, 200]),
        }

    def filters(self):
        pick, some = self.chance.choice, self.some
        return {
            "vendor": lambda: some(self.vendors, 3), "regions": lambda: some(self.regions, 3),
            "countries": lambda: some(self.countries), "continents": lambda: some(self.continents),
            "compliance_framework": lambda: some(self.frameworks),
            "architecture": lambda: some(["x86_64", "arm64", "any"]),
            "cpu_allocation": lambda: some(["Dedicated", "Shared", "Burstable", "any"]),
            "vcpus_min": lambda: pick([1, 2, 8]), "vcpus_max": lambda: pick([2, 8, 64]),
            "memory_min": lambda: pick([1, 4, 16]), "memory_max": lambda: pick([4, 16, 128]),
            "gpu_min": lambda: pick([0.25, 1, 2]), "gpu_memory_min": lambda: pick([4, 16, 24]),
            "gpu_memory_total": lambda: pick([4, 24, 100]), "storage_size": lambda: pick([1, 40, 41, 500]),
            **{name: (lambda words=words: some(words)) for name, words in self.known.items() if name != "family"},
            "include": lambda: some(self.known["family"], 4) if self.chance.random() < 0.5 else some(self.servers, 6),
            "exclude": lambda: some(self.known["family"], 3) if self.chance.random() < 0.5 else some(self.servers, 6),
            "only_active": lambda: "false",
        }

    def one(self):
        """Few demands and few filters, so that most queries have an answer."""
        q = {}
        for parts, most in ((self.demand(), 3), (self.filters(), 3)):
            for name in self.chance.sample(sorted(parts), self.chance.randint(0, most)):
                value = parts[name]()
                if value != []:
                    q[name] = value
        if self.chance.random() < 0.75:
            q["duration"] = self.chance.choice([20, 59, 60, 61, 600, 3599, 3600, 3601, 5000.5, 40000, 2400000])
        q["allocation"] = self.chance.choice(["ondemand", "ondemand", "spot", "any"])
        q["currency"] = self.chance.choice(["USD", "USD", "EUR"])
        q["reserve"] = self.chance.choice(["system", "system", "none", "kubernetes"])
        q["ipv4"] = self.chance.choice(["true", "false", "false"])
        q["spot_interruptions"] = self.chance.choice([0, 0.05, 0.05, 0.5])
        objectives = ["price", "efficiency"]
        if "duration" in q:
            objectives += ["cost", "cost", "cost", "fastest"]
            if self.chance.random() < 0.2:
                q["max_cost"] = self.chance.choice([0.001, 0.02, 0.3, 5])
            if self.chance.random() < 0.2:
                q["deadline"] = q["duration"] * self.chance.choice([0.7, 1, 1.3])
                objectives += ["deadline"] * 3
        q["objective"] = self.chance.choice(objectives)
        for least, most in (("vcpus_min", "vcpus_max"), ("memory_min", "memory_max")):
            if q.get(least, 0) > q.get(most, q.get(least, 0)):
                q[least], q[most] = q[most], q[least]  # the other order is refused
        return q


class ServersCase(support.Case):
    """A server with a catalogue of its own. The second implementation has the same table."""

    def setUp(self):
        super().setUp()
        self.path = self.folder / "servers.db"
        if FOLDER:
            server_table.from_folder(self.path, FOLDER)
        else:
            server_table.made(self.path)
        self.table = expected_servers.Table(self.path)
        self.addCleanup(self.table.close)
        self.queries = Queries(self.table, random.Random(SEED))
        self.server = self.serve(f"--catalogue.path={self.path}")

    def read(self, path):
        """Another program answers from another file."""
        self.server.stop()
        self.server = self.serve(f"--catalogue.path={path}", f"--catalogue.rate=EUR={server_table.EUR}")

    def ask(self, query, **more):
        answer = self.server.get("/servers?" + urllib.parse.urlencode({"details": 1, **query, **more}, doseq=True))
        if answer.status == 200:
            return answer.json
        self.assertIn(answer.status, (404, 422), f"{query}: {answer.text}")
        return {"servers": [], "servers_fitting": 0, "error": answer.json}

    def all_of(self, query):
        """Returns every server that fits, page by page, and the last answer."""
        servers = []
        for page in range(1, 100):
            answer = self.ask(query, limit=PAGE, page=page)
            servers += answer["servers"]
            if len(answer["servers"]) < PAGE:
                break
        return servers, answer


def name_of(server):
    return server["vendor_id"], server["server_id"]
