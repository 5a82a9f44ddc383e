#!/usr/bin/env python3
"""The Keeper client against a double of the Keeper, over real sockets: one row a fault.

    test_keeper.py KEEPER_GET [--table]

KEEPER_GET is the program of tests/keeper/keeper_get.c. --table prints what each fault led to.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
DOUBLE = os.path.join(HERE, "..", "support", "keeper_double.py")
KEEPER_GET = sys.argv[1]
TABLE = "--table" in sys.argv
CALLS = 11  # state, three tables, benchmarks, two pages for each of three vendors

# fault, how many calls of it, what comes of it: None = the whole catalogue, else a part of the error.
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
    ("503", 1000, "status 503: {\"detail\":\"Temporarily unavailable"),
    ("html", 1000, "not a JSON"),
    ("hang-up", 1000, "127.0.0.1"),
    ("429", 1000, "status 429: Rate limit exceeded."),
    ("cut", 1000, "127.0.0.1"),
]


class Double:
    """The double as a process."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([sys.executable, "-B", DOUBLE, "--servers", "300", *arguments],
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
    """One temporary folder a test."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def get(self, url, *regions, ca="-"):
        """What keeper_get printed, as (ok, line, {name: value})."""
        done = subprocess.run([KEEPER_GET, url, os.path.join(self.folder, "cache.db"), ca, *regions],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.stderr, "")
        self.assertIn(done.returncode, (0, 1))
        return done.returncode == 0, done.stdout.strip(), dict(re.findall(r"(\w+)=(\S*)", done.stdout))

    def age_cache(self, seconds):
        """Sets back the time at which the pages were fetched."""
        cache = sqlite3.connect(os.path.join(self.folder, "cache.db"))
        cache.execute("UPDATE page SET fetched_at = fetched_at - ?", (seconds * 10**9,))
        cache.commit()
        cache.close()

    def test_the_whole_catalogue(self):
        with Double() as double:
            ok, line, told = self.get(double.url)
            self.assertTrue(ok, line)
            self.assertEqual((told["servers"], told["prices"], told["calls"]), ("900", "900", str(CALLS)))
            self.assertEqual((told["as_of"], told["hash"]), ("2026-08-22", "double-300"))
            calls = double.calls()
        self.assertTrue(all("gzip" in call["encoding"] for call in calls))
        self.assertTrue(all("vcpus_min=1&" in call["path"] for call in calls if call["path"].startswith("/servers")))

    def test_prices_of_a_region(self):
        with Double() as double:
            ok, line, told = self.get(double.url, "us-central1", "hcloud~nbg1-dc3-alias")
        self.assertTrue(ok, line)
        self.assertEqual((told["servers"], told["prices"]), ("900", "1500"))

    def test_pages_are_confirmed_by_etag(self):
        with Double("--etag") as double:
            self.assertTrue(self.get(double.url)[0])
            # A minute later all is fresh: only the state is asked for.
            self.age_cache(60)
            self.assertEqual(self.get(double.url)[2]["calls"], "1")
            self.age_cache(7200)
            told = self.get(double.url)[2]
            self.assertEqual((told["calls"], told["unmodified"]), (str(CALLS), str(CALLS - 1)))
            self.assertEqual(told["servers"], "900")

    def test_the_real_pace_stays_within_the_credits(self):
        # The clock is set forward instead of waiting, so the double sees all calls in a second or two, on a busy machine
        # in more: what counts here is how long the client would have taken.
        with Double() as double:
            began = time.monotonic()
            told = self.get(double.url)[2]
            took = time.monotonic() - began
        self.assertGreaterEqual(int(told["waited"]) + took, 5 * 1 + 5 * 3 - 3)

    def test_odd_answers(self):
        for fault in ("nulls", "unknown-fields"):
            with self.subTest(fault), Double("--fault", fault) as double:
                ok, line, told = self.get(double.url)
                self.assertTrue(ok, line)
                self.assertEqual(told["servers"], "900")
            os.unlink(os.path.join(self.folder, "cache.db"))

    def test_faults(self):
        for fault, times, expected in FAULTS:
            with self.subTest(fault=fault, times=times):
                # At the second page of a vendor when it passes; from the first call on when it stays.
                at = "7" if times < 1000 else "1"
                with Double("--fault", fault, "--at", at, "--times", str(times)) as double:
                    ok, line, told = self.get(double.url)
                cache = os.path.join(self.folder, "cache.db")
                if os.path.exists(cache):
                    os.unlink(cache)
                if TABLE:
                    print("| %s x %s | %s |" % (fault, times if times < 1000 else "always", line.replace("|", "/")))
                if expected is None:
                    self.assertTrue(ok, line)
                    self.assertEqual(told["servers"], "900")
                else:
                    self.assertFalse(ok, line)
                    self.assertIn(expected, line)

    def test_nobody_listens(self):
        ok, line, _ = self.get("http://127.0.0.1:9")
        self.assertFalse(ok)
        self.assertIn("http://127.0.0.1:9/healthcheck", line)
        ok, line, _ = self.get("ftp://127.0.0.1:9")
        self.assertFalse(ok)

    @unittest.skipUnless(shutil.which("openssl"), "makes certificates with openssl")
    def test_certificates(self):
        certificate, key = os.path.join(self.folder, "cert.pem"), os.path.join(self.folder, "key.pem")
        other, other_key = os.path.join(self.folder, "other.pem"), os.path.join(self.folder, "other_key.pem")
        for name, path, key_path in (("127.0.0.1", certificate, key), ("10.1.2.3", other, other_key)):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=x",
                            "-addext", "subjectAltName=IP:" + name, "-keyout", key_path, "-out", path],
                           check=True, capture_output=True)
        with Double("--certificate", certificate, "--key", key) as double:
            ok, line, _ = self.get(double.url, ca=certificate)
            self.assertTrue(ok, line)
            # Signed by nobody who is trusted; then by somebody, but for another address.
            ok, line, _ = self.get(double.url)
            self.assertFalse(ok)
            self.assertIn("certificate", line)
        with Double("--certificate", other, "--key", other_key) as double:
            ok, line, _ = self.get(double.url, ca=other)
            self.assertFalse(ok)
            self.assertIn("127.0.0.1", line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0 if TABLE else 1)
