#!/usr/bin/env python3
"""Tests the built-in catalogue as users get it: nothing is fetched, and the current server has a price. built_in.py
unpacks the catalogue with its own code, so its list must give the same answers as the built-in catalogue."""
import json
import pathlib
import re
import subprocess
import sys

import support

FOLDER = pathlib.Path(__file__).parents[2] / "recommender" / "catalogue"
# The identity and the costs of a server in an answer. If several regions cost the same, any of them may be named.
KEYS = ("vendor_id", "server_id", "vcpus", "memory_amount", "cpu_architecture", "gpu_model", "price", "currency")


class BuiltIn(support.Case):
    def setUp(self):
        super().setUp()
        self.environment["RIGHTSIZE_CATALOGUE_CACHE"] = str(self.folder / "none" / "catalogue.db")

    def tool(self, word):
        return subprocess.run([sys.executable, "-B", FOLDER / "built_in.py", word, FOLDER / "built_in.pack"],
                              stdout=subprocess.PIPE, text=True, check=True).stdout

    def servers(self, *words):
        answer = json.loads(self.command("servers", "--details", "--limit=20", *words).stdout)
        return [{key: server[key] for key in KEYS} for server in answer["servers"]]

    def test_the_list_of_it_answers_the_same(self):
        path = self.folder / "list.csv"
        path.write_text(self.tool("list"))
        for words in ([], ["--cpu=2", "--memory=4096"], ["--vendor=azure", "--cpu=8"], ["--vendor=gcp", "--regions=us-central1"],
                      ["--gpu=1", "--regions=eastus"], ["--allocation=spot", "--countries=DE"], ["--continents=Asia", "--cpu=32"],
                      ["--vendor=hcloud", "--currency=EUR"]):
            own, listed = self.servers(*words), self.servers(*words, f"--catalogue.path={path}")
            self.assertGreater(len(own), 4, words)
            self.assertEqual(own, listed, words)

    def test_today_has_a_price_without_a_network(self):
        for region, elsewhere in (("us-east-1", False), ("eu-west-1", True)):
            here = ["--server.vendor=aws", "--server.type=m5.xlarge", f"--server.region={region}"]
            self.assertEqual(self.run_job(["sleep", "1"], job_name=region, flags=here).returncode, 0)
            today = self.query("recommend", f"--job-name={region}", "--details", *here)["today"]
            self.assertEqual((today["server"]["api_reference"], today["server"]["region"]), ("m5.xlarge", region))
            # The price is 0.192 per hour, and at least 60 s are billed.
            self.assertGreaterEqual(today["cost_per_run"], 0.192 / 60)
            self.assertLess(today["cost_per_run"], 0.192 / 30)
            self.assertEqual(today["server"]["priced_in"], "us-east-1")
            self.assertEqual(elsewhere, "priced in us-east-1, the only region whose price is known" in today.get("note", ""), today)
            self.assertEqual(elsewhere, "note" in today, today)
            self.assertNotIn("price_note", today["server"])
        # The same price on spot is an estimate, and the answer says so.
        here[-1:] = ["--server.region=us-east-1", "--server.allocation=spot"]
        self.assertEqual(self.run_job(["sleep", "1"], job_name="spot", flags=here).returncode, 0)
        today = self.query("recommend", "--job-name=spot", *here)["today"]
        self.assertIn("estimated", today["server"]["price_note"], today)

    def test_unread_regions_are_named_only_where_a_server_may_fit(self):
        for words, vendors in ((["--vendor=azure"], {"azure"}), (["--vendor=aws"], {"aws"}), (["--vendor=gcp"], set()),
                               (["--vendor=azure", "--cpu=100000"], set())):
            notes = json.loads(self.command("servers", "--countries=US", *words).stdout)["notes"]
            named = {name for note in notes for name in re.findall(r"--catalogue\.region=(\w+)~", note)}
            self.assertEqual(named, vendors, (words, notes))

    def test_euros_are_offered_with_the_date_of_the_rate(self):
        first = self.servers("--vendor=hcloud", "--cpu=4")[0]
        self.assertEqual(first["currency"], "USD")
        self.assertAlmostEqual(first["price"], 0.0136 * 1.1172)
        for words, currencies in ((["--vendor=hcloud"], ["EUR"]), (["--vendor=hcloud", "--currency=CHF"], ["EUR", "CHF"]),
                                  (["--vendor=aws"], [])):
            rates = json.loads(self.command("servers", "--details", *words).stdout)["rates"]
            self.assertEqual([rate["currency"] for rate in rates], currencies)
            for rate in rates:
                self.assertEqual((rate["as_of"], rate["source"]), ("2026-10-30", "ECB reference rate"))
        self.assertIn("EUR at 1.1172 USD (ECB reference rate of 2026-10-30)", self.command("catalogue", "info").stdout)


if __name__ == "__main__":
    support.main()
