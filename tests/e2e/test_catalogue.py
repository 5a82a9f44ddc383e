#!/usr/bin/env python3
"""Tests the sources of servers and prices: the commands of "catalogue", and the server that refreshes the catalogue.
The Keeper is a double (tests/support/keeper_double.py), so no test uses the network."""
import contextlib
import gzip
import json
import os
import pathlib
import sqlite3
import shutil
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

import support
from support import EXPORTER, wait_until

DOUBLE = pathlib.Path(__file__).parent.parent / "support" / "keeper_double.py"
OWN = """# as_of: 2026-10-01
vendor_id,server_id,vcpus,memory_amount,price,currency,region_id
rack,small,2,4096,0.02,USD,here
rack,large,16,65536,0.2,USD,here
"""


class Double:
    """The double as a process."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([sys.executable, "-B", DOUBLE, "--servers", "3", "--no-frameworks", *arguments],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[1]

    def calls(self):
        with urllib.request.urlopen(self.url + "/_calls", timeout=10) as reply:
            return [call["path"] for call in json.load(reply)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


class Catalogue(support.Case):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache" / "catalogue.db"
        self.environment["RIGHTSIZE_CATALOGUE_CACHE"] = str(self.cache)

    def run_it(self, *words, code=0, stdin=None):
        done = subprocess.run([EXPORTER, *map(str, words)], capture_output=True, timeout=120, check=False, input=stdin,
                              env=self.environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def servers(self, *words):
        return json.loads(self.run_it("servers", "--details", *words)[0])

    def own(self, name="own.csv", text=OWN):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def test_without_a_cache_the_built_in_one_answers(self):
        self.assertIn("built-in", self.run_it("catalogue", "info")[0])
        self.assertEqual(self.servers()["catalogue"]["source"], "built-in")

    def test_what_is_imported_answers_until_it_is_replaced(self):
        path = self.own()
        self.assertIn("imported 2 servers", self.run_it("catalogue", "import", path)[1])
        info = self.run_it("catalogue", "info")[0]
        self.assertIn(str(path), info)
        self.assertIn("2026-10-01", info)
        self.assertEqual([s["server_id"] for s in self.servers("--cpu=2")["servers"]], ["small", "large"])
        self.own(text=OWN.replace("small", "other"))
        self.run_it("catalogue", "import", path)
        self.assertEqual(self.servers("--limit=1")["servers"][0]["server_id"], "other")

    def test_files_of_every_kind_are_read(self):
        rows = [{"vendor_id": "rack", "server_id": "json", "vcpus": 1, "memory_amount": 1024, "price": 1}]
        for name, text in (("a.csv.gz", gzip.compress(OWN.encode())), ("a.json", json.dumps(rows)),
                           ("a.json.gz", gzip.compress(json.dumps(rows).encode()))):
            with self.subTest(name):
                self.run_it("catalogue", "import", self.own(name, text))
                self.assertEqual(self.servers()["catalogue"]["servers"], len(rows) if "json" in name else 2)
        self.run_it("catalogue", "import", "-", stdin=OWN.encode())
        self.assertEqual(self.servers()["catalogue"]["source"], "standard input")
        # The cache is an SQLite file in sc-data's schema, and so is its dump.
        copy, dump = self.folder / "copy.db", self.folder / "copy.sql"
        with contextlib.closing(sqlite3.connect(self.cache)) as cache:
            dump.write_text("\n".join(cache.iterdump()))
        copy.write_bytes(self.cache.read_bytes())
        for path in (copy, dump):
            with self.subTest(path):
                self.assertEqual(self.servers(f"--catalogue.path={path}")["catalogue"]["servers"], 2)

    def test_a_file_that_is_cut_or_no_file_leaves_the_cache(self):
        self.run_it("catalogue", "import", self.own())
        before = self.cache.read_bytes()
        cut = self.own("cut.csv.gz", gzip.compress(OWN.encode())[:-12])
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        writer = os.open(fifo, os.O_RDWR)  # a process has the FIFO open, and writes nothing
        self.addCleanup(os.close, writer)
        for path, said in ((cut, "the compressed file ends early"), (fifo, "not a regular file"),
                           ("/dev/zero", "not a regular file")):
            with self.subTest(path):
                self.assertIn(said, self.run_it("catalogue", "import", path, code=1)[1])
                self.assertIn(said, self.run_it("servers", f"--catalogue.path={path}", code=1)[1])
        self.assertEqual(self.cache.read_bytes(), before)
        self.run_it("catalogue", "import", "/dev/stdin", stdin=OWN.encode())  # a pipe

    def test_a_server_says_at_its_start_that_the_catalogue_is_wrong(self):
        path = self.own("bad.csv", OWN.replace("4096", "much"))
        server = self.serve(f"--catalogue.path={path}")
        server.says(r'level=warn.*--catalogue.path cannot be read.*bad.csv: line 3')
        for route in ("/servers?cpu=1", "/benchmarks"):
            reply = server.get(route)
            self.assertEqual((reply.status, reply.json["error"]["code"]), (503, "catalogue"), route)
            self.assertIn("bad.csv: line 3", reply.json["error"]["message"])
        self.assertEqual(server.get("/jobs").status, 200)
        self.own("bad.csv")
        self.assertEqual(server.get("/servers?cpu=1").status, 200)

    def test_a_cache_that_is_garbage_is_named(self):
        self.cache.parent.mkdir()
        self.cache.write_text("no database")
        out, err = self.run_it("servers", "--details")
        self.assertEqual(json.loads(out)["catalogue"]["source"], "built-in")
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn(str(self.cache), err)

    def test_wrong_input_is_named(self):
        (self.folder / "empty").write_bytes(b"")
        for words, code, said in (
                (["catalogue"], 2, "a word is missing: accepted is info, update, import or search"),
                (["catalogue", "fetch"], 2, '"fetch": accepted is info, update, import or search'),
                (["catalogue", "search"], 2, "TEXT is missing"),
                (["catalogue", "info", "more"], 2, 'unexpected argument "more"'),
                (["catalogue", "info", "--colour=red"], 2, "--colour=red"),
                (["catalogue", "import", self.folder / "none"], 1, "No such file"),
                (["catalogue", "import", self.folder], 1, "Is a directory"),
                (["catalogue", "import", self.folder / "empty"], 1, "no table"),
                (["catalogue", "import", self.own("a.xz", b"\xfd7zXZ\0\0")], 1, "xz -dc"),
                (["catalogue", "import", self.own("a.csv", "a,b\n1,2\n")], 1, "no column vendor_id"),
                (["catalogue", "import", self.own("b.csv", OWN.replace("4096", "much"))], 1, "line 3"),
                (["catalogue", "import", self.own("a.json", "[{}]")], 1, "vendor_id"),
                (["catalogue", "search", "no-such-server"], 1, "no-such-server"),
                (["catalogue", "update", "--catalogue.url=ftp://x"], 2, "https://"),
                (["servers", "--catalogue.rate=EUR"], 2, "EUR=1.16"),
                # As a person types them.
                (["servers", "--countries=Germany"], 2, "give two letters of ISO 3166, such as DE"),
                (["servers", "--currency=euro"], 2, "give three letters of ISO 4217, such as EUR"),
                (["servers", "--regions=us-east"], 2, "us-east-1\n"),
                (["servers", "--regions=us-east"], 2, "did you mean"),
                (["servers", "--continents=EU"], 2, "Europe\n"),
        ):
            with self.subTest(words):
                self.assertIn(said, self.run_it(*words, code=code)[1])
        self.assertFalse(self.cache.exists() and self.servers()["catalogue"]["source"] != "built-in")

    def test_search_lists_the_cheapest_first(self):
        self.run_it("catalogue", "import", self.own())
        lines = self.run_it("catalogue", "search", "a")[0].splitlines()
        self.assertEqual([line.split()[1] for line in lines], ["server", "small", "large"])

    def test_update_fetches_politely_and_tells_how_far_it_is(self):
        with Double() as double:
            _, progress = self.run_it("catalogue", "update", f"--catalogue.url={double.url}")
            self.assertIn("servers of aws", progress)
            self.assertIn("fetched 9 servers", progress)
        answer = self.servers("--vcpus-min=1")
        self.assertEqual(answer["catalogue"]["source"], double.url)
        self.assertEqual(answer["catalogue"]["servers"], 9)
        self.assertFalse(answer["catalogue"]["stale"])

    def test_an_update_that_fails_says_why_and_leaves_the_old_catalogue(self):
        self.run_it("catalogue", "import", self.own())
        for words, said in ((("--fault", "403", "--at", "2", "--times", "99"), "does not let this machine in"),
                            (("--fault", "422", "--at", "3"), "/table/vendor: status 422"),
                            (("--broken-health", "--fault", "endless", "--servers", "300"), "its pages of aws do not end")):
            with self.subTest(said), Double(*words) as double:
                self.assertIn(said, self.run_it("catalogue", "update", f"--catalogue.url={double.url}", code=1)[1])
                self.assertEqual(self.servers("--limit=1")["servers"][0]["server_id"], "small")
        with Double() as double:
            told = self.run_it("catalogue", "update", f"--catalogue.url={double.url}",
                               "--catalogue.cache=/proc/no-cache-here/catalogue.db", code=1)[1]
            self.assertIn("/proc/no-cache-here/catalogue.db", told)
        self.assertEqual(self.servers("--limit=1")["servers"][0]["server_id"], "small")

    def test_a_person_soon_learns_that_there_is_no_keeper(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            nobody = f"127.0.0.1:{closed.getsockname()[1]}"
        for host, said in ((nobody, "no connection"), ("no-such-host.invalid", "this name has no address")):
            with self.subTest(host):
                begun = time.monotonic()
                told = self.run_it("catalogue", "update", f"--catalogue.url=http://{host}", code=1)[1]
                self.assertLess(time.monotonic() - begun, 20, told)  # with all attempts of a server: 31 to 93 s
                self.assertIn(f"asking {host}, no answer yet: countries", told)
                self.assertIn(f"{host}: {said} (", told)

    def test_a_best_server_on_another_continent_is_told(self):
        table = self.folder / "continents.csv"
        table.write_text("vendor_id,server_id,vcpus,memory_amount,region_id,country_id,continent,price\n"
                         "acme,small,2,8192,oregon,US,North America,0.08\nacme,small,,,dublin,IE,Europe,0.05\n"
                         "acme,other,2,8192,ohio,US,North America,0.06\n")
        here = ["--server.vendor=acme", "--server.type=small", f"--catalogue.path={table}"]
        for region, asked, best, note in (
                ("oregon", [], "dublin", "in Europe; today's server is in North America"),
                ("oregon", ["--continents=North America"], "ohio", None),
                ("dublin", [], "dublin", None),
                ("nowhere", [], "dublin", None)):
            with self.subTest(region, asked=asked):
                words = [*here, f"--server.region={region}"]
                self.assertEqual(self.run_job(["sleep", "0.1"], job_name=region, flags=words).returncode, 0)
                answer = self.query("recommend", f"--job-name={region}", *words, *asked)
                self.assertEqual((answer["best"]["region"], answer["best"].get("region_note")), (best, note), answer)
                told = [text for text in answer["notes"] if "continents" in text]
                self.assertEqual(told, ['continents="North America" keeps to the continent of today\'s server.'] if note else [])

    @unittest.skipUnless(shutil.which("openssl"), "makes a certificate with openssl")
    def test_a_certificate_of_ones_own_is_trusted_when_it_is_named(self):
        certificate, key = self.folder / "cert.pem", self.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=x", "-addext",
                        "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        with Double("--certificate", certificate, "--key", key, "--servers", "1") as double:
            words = ["catalogue", "update", f"--catalogue.url={double.url}"]
            began = time.monotonic()
            self.assertIn("its certificate is not trusted", self.run_it(*words, code=1)[1])
            self.assertLess(time.monotonic() - began, 10, "it is not tried again")
            self.assertIn("fetched 3 servers", self.run_it(*words, f"--catalogue.ca-file={certificate}")[1])

    def test_an_update_that_was_killed_goes_on_where_it_was(self):
        self.run_it("catalogue", "import", self.own())
        with Double() as double:
            words = ["catalogue", "update", f"--catalogue.url={double.url}"]
            with subprocess.Popen([EXPORTER, *words], env=self.environment, stderr=subprocess.DEVNULL) as update:
                wait_until(lambda: len(double.calls()) >= 7, "the servers of the second vendor", 60)
                update.kill()
            self.assertEqual(self.servers("--limit=1")["servers"][0]["server_id"], "small")
            self.assertIn("fetched 9 servers", self.run_it(*words)[1])
            again = [path for path in set(double.calls()) if double.calls().count(path) > 1]
            # The Keeper's state is read each time. The call during which the process was killed has no page yet.
            self.assertLessEqual(len(again), 2, again)
            self.assertIn("/healthcheck", again)
        self.assertEqual(self.servers()["catalogue"]["source"], double.url)

    def test_prices_are_those_of_their_allocation(self):
        """aws-00001 has both prices, aws-00003 has a higher spot price, and gcp-00008 has only a spot price."""
        with Double("--servers", "13") as double:
            self.run_it("catalogue", "update", f"--catalogue.url={double.url}")
        with contextlib.closing(sqlite3.connect(self.cache)) as cache:
            rows = cache.execute("SELECT server_id, allocation, price FROM server_price").fetchall()
        found = {key: [(kind, price) for server, kind, price in rows if server == key] for key, _, _ in rows}
        self.assertEqual(sorted(found["aws-00001"]), [("ondemand", 0.0211), ("spot", 0.0063)])
        self.assertEqual(sorted(found["aws-00003"]), [("ondemand", 0.0831), ("spot", 0.1246)])
        self.assertEqual(found["gcp-00008"], [("spot", 0.0084)])
        self.assertEqual(found["aws-00012"], [("any", 0.1933)])

    def told(self, server):
        return server.get("/servers?details=1").json["catalogue"]

    def damage(self):
        """Damages the file as another version of the program might."""
        with contextlib.closing(sqlite3.connect(self.cache)) as cache, cache:
            cache.executescript("DELETE FROM _metadata; PRAGMA user_version = 77")

    def test_a_cache_that_is_set_aside_is_told(self):
        words = r"it is now \S*catalogue\.db\.corrupt-"
        self.assertNotRegex(self.run_it("catalogue", "import", self.own())[1], words)
        self.damage()
        self.assertRegex(self.run_it("catalogue", "import", self.own())[1], words)
        self.assertEqual(self.servers("--limit=1")["servers"][0]["server_id"], "small")
        with Double() as double:
            self.damage()
            self.environment["RIGHTSIZE_CATALOGUE_REFRESH"] = "true"
            server = self.serve(f"--catalogue.url={double.url}")
            self.told(server)
            server.says("the cache cannot be used: it is now")
            self.assertEqual(self.told(server)["source"], double.url)
            # The warning is not lost if nothing can be fetched: the next process finds the new, empty cache.
            nothing = f"--catalogue.url={double.url}/nothing"
            self.damage()
            server = self.serve(nothing, f"--history.path={self.folder / 'other.db'}")
            self.told(server)
            server.says("the cache cannot be used: it is now")
            self.damage()
            self.assertRegex(self.run_it("catalogue", "update", nothing, code=1)[1], words)
        self.assertEqual(len(list(self.cache.parent.glob("*.corrupt-*"))), 4)

    def test_the_region_of_this_server_has_prices_of_its_own(self):
        with Double() as double:
            # Hetzner's metadata and the Keeper name the data centre, people the location.
            for region, there in (("nbg1-dc3", True), ("nbg1", True), ("nowhere", False)):
                with self.subTest(region=region):
                    self.run_it("catalogue", "update", f"--catalogue.url={double.url}", "--server.vendor=hcloud",
                                f"--server.region={region}")
                    found = self.servers("--regions=nbg1-dc3", "--architecture=any", "--cpu-allocation=any")
                    self.assertEqual(found["servers_fitting"] is not None and found["servers_fitting"] > 0, there, found)
                    if there:
                        self.assertEqual({server["region"] for server in found["servers"]}, {"nbg1"})
                        same = self.servers("--regions=nbg1", "--architecture=any", "--cpu-allocation=any")
                        self.assertEqual(same["servers"], found["servers"])
                    else:  # unknown, and not none
                        self.assertIsNone(found["servers_fitting"])
                        self.assertRegex(found["notes"][0], "^Prices of 1 region were not fetched")

    def test_a_server_fetches_when_it_is_asked_and_serves_what_it_has_when_the_network_is_gone(self):
        self.environment["RIGHTSIZE_CATALOGUE_REFRESH"] = "true"
        with Double() as double:
            server = self.serve(f"--catalogue.url={double.url}")
            began = time.monotonic()
            self.assertEqual(self.told(server)["source"], "built-in")
            self.assertLess(time.monotonic() - began, 5)  # asking the Keeper takes longer than that
            wait_until(lambda: self.told(server)["source"] == double.url, "the fetched catalogue")
            self.assertEqual(self.told(server)["servers"], 9)
            server.stop()
        # The Keeper is gone, and the cache is a year old. The cache still answers, and the answer gives its age.
        with contextlib.closing(sqlite3.connect(self.cache)) as cache, cache:
            cache.execute("UPDATE _metadata SET value = value - 31536000 WHERE key = 'saved_at'")
            cache.execute("UPDATE page SET fetched_at = 0")
        server = self.serve(f"--catalogue.url={double.url}")
        found = self.told(server)
        self.assertEqual((found["source"], found["stale"]), (double.url, True))
        self.assertGreater(found["age_seconds"], 31000000)

    def test_own_rates_hold_for_what_is_only_in_memory(self):
        self.environment["RIGHTSIZE_CATALOGUE_REFRESH"] = "true"
        self.environment["RIGHTSIZE_CATALOGUE_CACHE"] = "/proc/no-cache-here/catalogue.db"
        with Double() as double:
            server = self.serve(f"--catalogue.url={double.url}", "--catalogue.rate=EUR=2")
            wait_until(lambda: self.told(server)["source"] == double.url, "the fetched catalogue")
            # Everything the Keeper sells is priced in dollars.
            dollars, euros = (server.get(f"/servers?limit=1&details=1&currency={c}").json["servers"][0] for c in ("USD", "EUR"))
            self.assertEqual((euros["server_id"], euros["currency"]), (dollars["server_id"], "EUR"))
            self.assertAlmostEqual(euros["price"] * 2, dollars["price"])

    def test_a_currency_without_prices_or_rate_is_refused(self):
        path = self.own()
        command = ["servers", f"--catalogue.path={path}", "--currency=ARS"]
        self.assertIn("ARS", self.run_it(*command, code=2)[1])
        answer = json.loads(self.run_it(*command, "--catalogue.rate=ARS=0.5")[0])
        self.assertEqual([s["price"] for s in answer["servers"]], [0.04, 0.4])

    def test_who_never_asks_fetches_nothing(self):
        self.environment["RIGHTSIZE_CATALOGUE_REFRESH"] = "true"
        server = self.serve("--catalogue.url=http://127.0.0.1:9")
        server.metrics()
        server.get("/jobs")
        server.stop()
        self.assertFalse(os.path.exists(self.cache))


if __name__ == "__main__":
    support.main()
