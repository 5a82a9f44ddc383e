#!/usr/bin/env python3
"""Properties of every answer of /servers, checked by brute force: no better server exists, no better price of a server
exists, and answers change with the question as expected.

servers_world.py says how to run it on another table.
"""
import math
import re

import support
from servers_world import PAGE, QUERIES, ServersCase, name_of

TRIES = max(QUERIES // 10, 1)
STEPS = {"cpu": (0.5, 1, 2, 4, 8, 16, 32, 64), "memory": (100, 500, 1000, 3000, 8000, 30000, 60000), "disk": (0, 10, 50, 200, 1000),
         "duration": (1, 59, 60, 61, 600, 3599, 3600, 3601, 7201, 50000)}


def sure(servers):
    """Returns servers with a price of a known kind. Other servers come last, and none of them is the best."""
    return [s for s in servers if s["allocation"]]


def no_more(lower, higher):
    return lower <= higher * (1 + 1e-9)


class Properties(ServersCase):
    def some(self, **fixed):
        """Returns queries that at least two servers fit, with some parameters set."""
        found = 0
        for _ in range(20 * TRIES):
            query = {**self.queries.one(), **fixed}
            query = {k: v for k, v in query.items() if v is not None}
            answer = self.ask(query, limit=PAGE)
            if answer["servers_fitting"] >= 2:
                found += 1
                yield query, answer["servers"]
            if found == TRIES:
                return
        self.fail(f"only {found} queries have two servers")

    def costs(self, query):
        return {name_of(s): s["forecast_cost"] for s in self.all_of(query)[0]}

    def test_no_server_is_cheaper_than_the_first(self):
        for query, servers in self.some(objective="cost", duration=1000, max_cost=None, deadline=None):
            costs = [s["forecast_cost"] for s in sure(servers)]
            self.assertEqual(sure(servers), servers[:len(costs)], "servers in doubt are not last")
            self.assertEqual(costs, sorted(costs), query)
            # A server has no cheaper offer in a single region, or for a single allocation.
            first = servers[0]
            for alone in [{"regions": [r]} for r in self.regions_of(first)] + [{"allocation": a} for a in self.ways(query)]:
                narrow = {**query, "include": "~".join(name_of(first)), **alone}
                if "regions" in alone and "regions" in query:
                    continue
                for s in sure(self.ask(narrow)["servers"]) if sure([first]) else []:
                    self.assertTrue(no_more(first["forecast_cost"], s["forecast_cost"]), f"{query}: {alone} {s}\n{first}")

    def regions_of(self, server):
        rows = self.table.db.execute("SELECT DISTINCT vendor_id || '~' || region_id FROM server_price WHERE vendor_id = ? AND"
                                     " server_id = ? AND region_id != ''", name_of(server))
        return [row[0] for row in rows]

    @staticmethod
    def ways(query):
        return ["ondemand", "spot"] if query["allocation"] == "any" else [query["allocation"]]

    def test_without_the_first_the_second_is_first(self):
        for query, servers in self.some():
            excluded = [*self.words(query, "exclude"), "~".join(name_of(servers[0]))]
            left = self.ask({**query, "exclude": excluded}, limit=PAGE)["servers"]
            self.assertEqual([name_of(s) for s in left], [name_of(s) for s in servers[1:]][:len(left)], query)

    @staticmethod
    def words(query, name):
        value = query.get(name, [])
        return value if isinstance(value, list) else [value]

    def test_a_filter_never_adds_servers(self):
        filters = self.queries.filters()
        for query, _ in self.some():
            before = set(self.costs(query))
            for name, value in filters.items():
                words = value()
                bound = re.sub("_(min|max)$", "", name)
                if words == [] or name == "only_active" or any(key.startswith(bound) for key in query):
                    continue  # no filter, a filter that only removes servers, or a filter that may contradict another
                with self.subTest(name=name, words=words):
                    self.assertLessEqual(set(self.costs({**query, name: words})), before, query)

    def test_who_needs_less_never_pays_more(self):
        for name, steps in STEPS.items():
            for query, _ in self.some(objective="cost", max_cost=None, deadline=None, **({"duration": 1000} if name != "duration" else {})):
                least = 0
                for step in steps:
                    servers = self.ask({**query, name: step}, limit=1)["servers"]
                    if not servers:
                        break
                    cost = servers[0]["forecast_cost"] if sure(servers) else least
                    self.assertTrue(no_more(least, cost), f"{name}={step}: {query}")
                    least = cost

    def test_pages_follow_each_other(self):
        for query, servers in self.some():
            size = max(len(servers) // 3, 1)
            paged = []
            for page in range(1, 7):
                paged += self.ask(query, limit=size, page=page)["servers"]
            self.assertEqual([name_of(s) for s in paged], [name_of(s) for s in servers][:len(paged)], query)
            self.assertGreaterEqual(len(paged), min(6 * size, len(servers)))

    def test_a_currency_only_scales(self):
        rate = self.table.db.execute("SELECT rate FROM currency WHERE base = 'EUR' AND quote = 'USD'").fetchone()[0]
        for query, _ in self.some(max_cost=None, duration=1000):
            dollars, euros = ({name_of(s): s for s in self.all_of({**query, "currency": c})[0]} for c in ("USD", "EUR"))
            self.assertEqual(dollars.keys(), euros.keys(), query)
            for name, s in dollars.items():
                for part in ("price", "forecast_cost"):
                    self.assertTrue(math.isclose(s[part], euros[name][part] * rate, rel_tol=1.1e-5), f"{query}: {s} {euros[name]}")

    def test_interruptions_cost(self):
        for query, _ in self.some(allocation="spot", duration=1000, max_cost=None):
            none, some = (self.costs({**query, "spot_interruptions": often}) for often in (0, 0.5))
            self.assertEqual(none.keys(), some.keys(), query)
            for name, cost in none.items():
                self.assertTrue(no_more(cost, some[name]), f"{query}: {name}")

    def test_each_objective_has_its_best_first(self):
        for objective, value in (("price", lambda s: s["price"]), ("fastest", lambda s: s["forecast_duration_seconds"])):
            for query, servers in self.some(objective=objective, duration=1000, deadline=None, max_cost=None):
                values = [value(s) for s in sure(servers)]
                self.assertEqual(values, sorted(values), f"{objective}: {query}")

    def test_a_job_of_one_core_gets_no_server_of_many(self):
        """A server with only more cores is neither faster nor better value for such a job."""
        for objective in ("efficiency", "fastest"):
            for query, servers in self.some(objective=objective, cpu=1, duration=1000, vcpus_min=None, gpu_min=None, disk=None):
                first = servers[0]
                speed = self.single(first)
                for s in sure(servers)[1:]:
                    if self.single(s) is None or speed is None:
                        continue
                    worth = (lambda x: self.single(x) / x["price"]) if objective == "efficiency" else self.single
                    self.assertTrue(worth(s) <= worth(first) * 1.0101, f"{objective} {query}:\n{s}\n{first}")

    def single(self, server):
        row = self.table.db.execute("SELECT score1 FROM server WHERE vendor_id = ? AND server_id = ?", name_of(server)).fetchone()
        return row[0]


if __name__ == "__main__":
    support.main()
