#!/usr/bin/env python3
"""Tests the Keeper client with a double of the Keeper, over real sockets: one row per fault.

    test_keeper.py KEEPER_GET OLD_CURL [--table]

KEEPER_GET is the program of tests/keeper/keeper_get.c, OLD_CURL the library of tests/keeper/old_curl.c. --table prints
the result of each fault."""

import concurrent.futures
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
DOUBLE = os.path.join(HERE, "..", "support", "keeper_double.py")
KEEPER_GET, OLD_CURL = sys.argv[1:3]
TABLE = "--table" in sys.argv
sys.path.insert(0, os.path.dirname(DOUBLE))
import keeper_data  # noqa: E402

# The calls: the state, three tables, benchmarks, two pages for each of three vendors, and three frameworks for each
# vendor.
CALLS = 1 + 3 + 1 + 3 * 2 + 1 + 3 * 3
COUNT = 300
ATTEMPTS = 6

# fault, number of calls with the fault, result: None = the whole catalogue, else a part of the error.
FAULTS = [
    ("429", 2, None),
    ("503", 3, None),
    ("500", 2, None),
    ("html", 1, None),
    ("other-json", 1, None),
    ("cut", 2, None),
    ("cut-json", 1, None),
    ("hang-up", 1, None),
    ("garbage", 1, None),
    ("slow", 1, None),
    ("silent", 1, None),
    ("bad-gzip", 1, None),
    ("headers", 1, None),
    ("redirect", 1, None),
    ("redirect-loop", 1, None),
    ("422", 1, "status 422: {\"detail\":[{\"type\":\"less_than_equal\""),
    ("bomb", 1, "more than 67108864 bytes"),
    ("redirect-loop", 1000, "redirects"),
    ("redirect-file", 1000, "file"),
    ("503", 1000, "status 503: {\"detail\":\"Temporarily unavailable: too many heavy jobs running\"}. It is broken or busy"),
    ("html", 1000, "a web page, perhaps of a proxy or a sign-in: open it in a browser: line 1: not a JSON"),
    ("hang-up", 1000, "127.0.0.1"),
    ("429", 1000, "status 429: Rate limit exceeded.. It grants each address 60 credits a minute"),
    ("other-json", 1000, "not the data of a Keeper: check --catalogue.url"),
    ("cut", 1000, "127.0.0.1"),
]
# Faults during an update that has an old catalogue: the double's arguments, the attempts of the call that fails, and
# the message. ATTEMPTS is for faults that may pass.
BREAKS = [
    ("a refusal", ("--fault", "403"), 1, "status 403: <html>Access denied</html>. It, or a proxy on the way"),
    ("too many calls", ("--fault", "429", "--retry-after", "90"), ATTEMPTS, "60 credits a minute: try again in some min"),
    ("an error of the server", ("--fault", "500"), ATTEMPTS, "status 500: Internal Server Error. It is broken or busy"),
    ("JSON that is cut off", ("--fault", "cut-json"), ATTEMPTS, "the answer is cut off or damaged: try again later"),
    ("a page to sign in", ("--fault", "html"), ATTEMPTS, "a web page, perhaps of a proxy or a sign-in"),
    ("a connection that ends", ("--fault", "cut"), ATTEMPTS, "the connection ended within the answer"),
    ("pages without end", ("--fault", "endless"), 1, "its pages of aws do not end"),
    ("values of other types", ("--fault", "wrong-types"), 1, "servers: 0 of 881 servers have a price that can be read"),
    ("an untrusted certificate", ("--certificate", "cert.pem", "--key", "key.pem"), 1,
     "its certificate is not trusted ("),
]
EVERY_CALL = ("--at", "2", "--times", "100000")  # the state of the Keeper is not part of an update


def expected_prices(region=None, allocations=("ondemand", "spot", "any")):
    """Returns the prices of a catalogue with the lowest prices anywhere, or of a region: by server and allocation."""
    tables = keeper_data.tables(COUNT)
    active = {(row["vendor_id"], row["server_id"]) for row in tables["server"] if row["status"] == "active"}
    kinds = {}
    for row in tables["server_price"]:
        key = row["vendor_id"], row["server_id"]
        if key in active and row["status"] == "active" and region in (None, (row["vendor_id"], row["region_id"])):
            kinds.setdefault(key, set()).add(row["allocation"])
    found = 0
    for kind in kinds.values():
        told = kind & {"ondemand", "spot"} or ({"any"} if region is None else set())
        found += len(told & set(allocations))
    return len(kinds), found

SERVERS = str(expected_prices()[0])


class Double:
    """The double as a process."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([sys.executable, "-B", DOUBLE, "--servers", str(COUNT), *arguments],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[1]

    def calls(self):
        return json.load(urllib.request.urlopen(self.url + "/_calls"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


class Keeper(unittest.TestCase):
    """Each test has one temporary folder."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def get(self, url, *regions, ca="-", cache="cache.db", **more):
        """Returns the output of keeper_get as (ok, line, {name: value})."""
        done = subprocess.run([KEEPER_GET, url, os.path.join(self.folder, cache), ca, *regions],
                              capture_output=True, text=True, timeout=120, check=False, **more)
        self.assertEqual(done.stderr, "")
        self.assertIn(done.returncode, (0, 1))
        return done.returncode == 0, done.stdout.strip(), dict(re.findall(r"(\w+)=(\S*)", done.stdout))

    def age_cache(self, seconds):
        """Sets the fetch time of the pages back."""
        cache = sqlite3.connect(os.path.join(self.folder, "cache.db"))
        cache.execute("UPDATE page SET fetched_at = fetched_at - ?", (seconds * 10**9,))
        cache.commit()
        cache.close()

    def test_the_whole_catalogue(self):
        with Double() as double:
            ok, line, told = self.get(double.url)
            self.assertTrue(ok, line)
            servers, prices = expected_prices()
            self.assertEqual((told["servers"], told["prices"], told["calls"]), (str(servers), str(prices), str(CALLS)))
            self.assertEqual((told["as_of"], told["hash"]), ("2026-08-22", "double-300"))
            calls = double.calls()
        self.assertTrue(all("gzip" in call["encoding"] for call in calls))
        self.assertTrue(all("vcpus_min=1&" in call["path"] for call in calls if call["path"].startswith("/servers")))

    def test_prices_of_a_region(self):
        with Double() as double:
            ok, line, told = self.get(double.url, "us-central1", "hcloud~nbg1-dc3-alias")
        self.assertTrue(ok, line)
        prices = sum(expected_prices(region)[1] for region in (None, ("gcp", "1000"), ("hcloud", "2")))
        self.assertEqual((told["servers"], told["prices"]), (SERVERS, str(prices)))

    def test_pages_are_confirmed_by_etag(self):
        with Double("--etag") as double:
            self.assertTrue(self.get(double.url)[0])
            # A minute later all pages are fresh, so only the state is requested.
            self.age_cache(60)
            self.assertEqual(self.get(double.url)[2]["calls"], "1")
            self.age_cache(7200)
            told = self.get(double.url)[2]
            self.assertEqual((told["calls"], told["unmodified"]), (str(CALLS), str(CALLS - 1)))
            self.assertEqual(told["servers"], SERVERS)

    def test_the_real_pace_stays_within_the_credits(self):
        # The clock is set forward instead of waiting. The double therefore sees all calls within a second or two, or
        # more on a busy machine. The test checks the time that the client would have taken.
        with Double("--credits", "60") as double:
            began = time.monotonic()
            told = self.get(double.url)[2]
            took = time.monotonic() - began
        self.assertGreaterEqual(int(told["waited"]) + took, 6 * 1 + (CALLS - 6) * 3 - 3)

    def test_odd_answers(self):
        for fault in ("nulls", "unknown-fields"):
            with self.subTest(fault), Double("--fault", fault) as double:
                ok, line, told = self.get(double.url)
                self.assertTrue(ok, line)
                self.assertEqual(told["servers"], SERVERS)
            os.unlink(os.path.join(self.folder, "cache.db"))

    def with_fault(self, number):
        """Returns the output of keeper_get for a row of FAULTS."""
        fault, times, _ = FAULTS[number]
        # A temporary fault comes at the second page of a vendor. A permanent fault comes from the first call on.
        with Double("--fault", fault, "--at", "7" if times < 1000 else "1", "--times", str(times)) as double:
            return self.get(double.url, cache=f"{number}.db")

    def test_faults(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:  # they mostly wait
            results = list(pool.map(self.with_fault, range(len(FAULTS))))
        for (fault, times, expected), (ok, line, told) in zip(FAULTS, results):
            with self.subTest(fault=fault, times=times):
                if TABLE:
                    print("| %s x %s | %s |" % (fault, times if times < 1000 else "always", line.replace("|", "/")))
                if expected is None:
                    self.assertTrue(ok, line)
                    self.assertEqual(told["servers"], SERVERS)
                else:
                    self.assertFalse(ok, line)
                    self.assertIn(expected, line)

    def kept(self):
        """Returns the content of the cache: its Keeper, its servers and its prices."""
        cache = sqlite3.connect(os.path.join(self.folder, "cache.db"))
        (source,), (servers,), (prices,) = (cache.execute(query).fetchone() for query in (
            "SELECT value FROM _metadata WHERE key = 'source'", "SELECT count(*) FROM server",
            "SELECT count(*) FROM server_price"))
        cache.close()
        return source, servers, prices

    def certificate(self, name, address="127.0.0.1"):
        path, key = os.path.join(self.folder, name + ".pem"), os.path.join(self.folder, name + "_key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=x",
                        "-addext", "subjectAltName=IP:" + address, "-keyout", key, "-out", path],
                       check=True, capture_output=True)
        return path, key

    @unittest.skipUnless(shutil.which("openssl"), "makes certificates with openssl")
    def test_an_update_that_fails_leaves_the_old_catalogue(self):
        certificate = dict(zip(("cert.pem", "key.pem"), self.certificate("cert")))
        with Double() as double:
            self.assertTrue(self.get(double.url)[0])
            old = self.kept()
            self.assertEqual(old[0], double.url)
        for name, arguments, tries, said in BREAKS:
            with self.subTest(name), Double(*(certificate.get(word, word) for word in arguments), *EVERY_CALL) as double:
                ok, line, told = self.get(double.url)
                self.assertFalse(ok, line)
                self.assertIn(said, line)
                self.assertIn("127.0.0.1", line)
                self.assertEqual(int(told["retries"]), tries - 1)
                if "--retry-after" in arguments:
                    self.assertGreaterEqual(int(told["waited"].rstrip(";")), 90 * (tries - 1))
                self.assertEqual(self.kept(), old)

    def test_a_broken_state_of_the_keeper_costs_one_call(self):
        with Double("--broken-health") as double:
            ok, line, told = self.get(double.url)
        self.assertTrue(ok, line)
        self.assertEqual((told["servers"], told["calls"], told["retries"], told["hash"]), (SERVERS, str(CALLS), "0", ""))

    def test_a_full_disk_leaves_the_old_catalogue(self):
        def full():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        with Double() as double:
            self.assertTrue(self.get(double.url)[0])
        old = self.kept()
        size = os.path.getsize(os.path.join(self.folder, "cache.db")) // 2  # data beyond this limit cannot be written
        with Double() as double:
            ok, line, _ = self.get(double.url, preexec_fn=full)
        self.assertTrue(ok, line)  # the catalogue exists only in memory: "catalogue update" ends with 1
        self.assertRegex(line, "^notice: .*cache.db: .*(full|disk|I/O)")
        self.assertEqual(self.kept(), old)

    def test_nobody_listens(self):
        ok, line, told = self.get("http://127.0.0.1:9")
        self.assertFalse(ok)
        self.assertIn("127.0.0.1:9: no connection (", line)
        self.assertEqual(told["retries"], str(ATTEMPTS - 1))
        for url, said in (("ftp://127.0.0.1:9", "not of http:// or https://"),
                          ("http://no-such-host.invalid", "no-such-host.invalid: this name has no address"),
                          ("http://user:word@127.0.0.1:x/", "127.0.0.1:x: the URL is not valid")):
            with self.subTest(url):
                ok, line, told = self.get(url)
                self.assertFalse(ok)
                self.assertIn(said, line)
                self.assertNotIn("word", line)
                self.assertEqual(told["retries"], "0")

    def test_a_proxy_that_fails_is_told_from_the_keeper(self):
        with Double("--fault", "403", *EVERY_CALL) as proxy:
            for variable, url, said in (
                    ("http_proxy", "http://keeper.invalid", "keeper.invalid: the proxy cannot be reached ("),
                    ("http_proxy", "http://keeper.invalid", "the proxy's name has no address"),
                    ("https_proxy", "https://keeper.invalid", "keeper.invalid: the proxy refuses the connection (")):
                value = ("http://127.0.0.1:9" if "reached" in said else
                         proxy.url if "refuses" in said else "http://no-such-proxy.invalid:1")
                with self.subTest(said):
                    ok, line, told = self.get(url, env={**os.environ, variable: value, "no_proxy": ""})
                    self.assertFalse(ok)
                    self.assertIn(said, line)
                    self.assertEqual(told["retries"], "0")

    def test_an_older_libcurl_will_do(self):
        """The library in OLD_CURL forwards to the system's libcurl, and refuses options that are newer than 7.61."""
        old = {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(OLD_CURL)}
        with Double() as double:
            ok, line, told = self.get(double.url, env=old)
        self.assertTrue(ok, line)
        self.assertEqual(told["servers"], SERVERS)
        with Double("--fault", "redirect-file", *EVERY_CALL) as double:
            ok, line, _ = self.get(double.url, env=old)
        self.assertFalse(ok)
        self.assertIn("not of http:// or https://", line)

    @unittest.skipUnless(shutil.which("openssl"), "makes certificates with openssl")
    def test_certificates(self):
        (certificate, key), (other, other_key) = self.certificate("cert"), self.certificate("other", "10.1.2.3")
        with Double("--certificate", certificate, "--key", key) as double:
            ok, line, _ = self.get(double.url, ca=certificate)
            self.assertTrue(ok, line)
            self.age_cache(7200)  # fresh pages need no connection
            # The certificate is not signed by a trusted authority, and later it is signed, but for another address.
            ok, line, _ = self.get(double.url)
            self.assertFalse(ok)
            self.assertIn("127.0.0.1:%s: its certificate is not trusted (" % double.url.split(":")[2], line)
            self.assertIn("name its certificates with --catalogue.ca-file", line)
        with Double("--certificate", other, "--key", other_key) as double:
            ok, line, _ = self.get(double.url, ca=other)
            self.assertFalse(ok)
            self.assertIn("127.0.0.1", line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0 if TABLE else 1)
