#!/usr/bin/env python3
"""Compares /servers with a second implementation (expected_servers.py) on the same table: the servers that fit, their
order, prices and costs.

servers_world.py says how to run it on another table, and with more queries.
"""
import itertools
import json
import math

import server_table
import support
from servers_world import PRICED, QUERIES, SEED, Queries, ServersCase, name_of

ROUNDED = 5.1e-6  # half a unit of the sixth digit, to which the program rounds money


class Agree(ServersCase):
    def difference(self, query):
        """Returns a difference between the program and the second implementation, or None."""
        expected = self.table.ranking(query)
        servers, answer = self.all_of(query)
        named = {name_of(s): s for s in servers}
        wanted = {name_of(o): o for _, o in expected}
        for which, more in (("missing", wanted.keys() - named.keys()), ("too many", named.keys() - wanted.keys())):
            if more:
                name = min(more)
                return f"{which}: {len(more)} servers, such as {name}: {dict(wanted.get(name) or named.get(name))}"
        if answer["servers_fitting"] != len(expected):
            return f"servers_fitting is {answer['servers_fitting']}, expected are {len(expected)}"
        for name, s in named.items():
            told = self.told(s, wanted[name], query)
            if told:
                return f"{name}: {told}\nprogram: {json.dumps(s)}\nexpected: {dict(wanted[name])}"
        return self.order(servers, wanted, [key for key, _ in expected])

    def order(self, servers, wanted, keys):
        """Servers that are equal except for the last bit may come in any order."""
        begin = 0
        for _, equal in itertools.groupby(keys, key=lambda key: key[:2]):
            names = [key[-2:] for key in equal]
            said = [name_of(s) for s in servers[begin:begin + len(names)]]
            if said != names and (sorted(said) != sorted(names) or len({self.exact(wanted[name]) for name in names}) == 1):
                i = next(i for i, pair in enumerate(zip(said, names)) if pair[0] != pair[1])
                return (f"place {begin + i + 1} has {said[i]}, expected is {names[i]}\nprogram: {json.dumps(servers[begin + i])}\n"
                        f"expected: {dict(wanted[names[i]])}\n{dict(wanted[said[i]]) if said[i] in wanted else ''}")
            begin += len(names)
        return None

    @staticmethod
    def exact(offer):
        return offer["price"], offer["cost"], offer["score"]

    @staticmethod
    def told(s, o, query):
        """Returns the first number of a server that differs."""
        checks = [("price", s["price"], o["price"]), ("memory_for_jobs", s["memory_for_jobs"], math.floor(o["memory_left"])
                                                       if o["memory_left"] is not None else None)]
        if query.get("duration") is not None:
            checks += [("forecast_cost", s["forecast_cost"], o["cost"]), ("billed_seconds", s["cost"]["billed_seconds"], o["bill"])]
        for what, ours, theirs in checks:
            if (ours is None) != (theirs is None) or ours is not None and not math.isclose(
                    ours, theirs, rel_tol=ROUNDED, abs_tol=0.00051 if "seconds" in what else 1e-12):
                return f"{what} is {ours}, expected is {theirs}"
        return None

    def test_the_same_table_as_csv_and_json_has_the_same_answers(self):
        for write, name in ((server_table.as_csv, "own.csv"), (server_table.as_json, "own.json")):
            with self.subTest(name):
                write(self.path, self.folder / name)
                self.read(self.folder / name)
                self.queries = Queries(self.table, self.queries.chance, PRICED)
                for _ in range(QUERIES // 15):
                    query = self.queries.one()
                    self.assertIsNone(self.difference(query), query)

    def test_random_queries_have_the_expected_answers(self):
        equal, answered = 0, 0
        for i in range(QUERIES):
            query = self.queries.one()
            different = self.difference(query)
            if different:
                self.fail(f"query {i + 1} of seed {SEED} ({equal} were equal):\n{query}\n{different}")
            equal += 1
            answered += bool(self.table.ranking(query))
        self.assertGreater(answered, QUERIES / 3, "most queries fit no server: they show little")
        print(f"{equal} of {QUERIES} queries are equal, {answered} of them have servers")


if __name__ == "__main__":
    support.main()
