#!/usr/bin/env python3
"""A double of the Spare Cores Keeper: speaks its HTTP API on made-up servers, and misbehaves on request.

    keeper_double.py [--port N] [--servers N] [--fault KIND --at N --times N] [--credits N] [--etag]
                     [--certificate FILE --key FILE]

Prints "listening URL" and serves until its standard input closes. What it knows: /healthcheck, /table/vendor,
/table/region, /table/country, /table/benchmark and /servers with paging, filters, parameter checks, rate limit
headers, Cache-Control, gzip and X-Total-Count, as the Keeper answers them.

The calls are counted from 1; those from --at on, --times of them, get the fault. /_calls answers what was asked.
"""

import argparse
import gzip
import json
import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

COSTS = {"/servers": 3, "/server_prices": 5, "/table/server_prices": 10, "/benchmark_score_stats": 10}
VENDORS = {"aws": ("US", 1, 60), "gcp": ("US", 1, 60), "hcloud": ("DE", 3600, 3600)}
REGIONS = {("aws", "us-east-1"): ("us-east-1", "US"), ("gcp", "1000"): ("us-central1", "US"),
           ("gcp", "1100"): ("europe-west4", "NL"), ("hcloud", "2"): ("nbg1-dc3", "DE")}
COUNTRIES = {"US": "North America", "NL": "Europe", "DE": "Europe"}
BENCHMARKS = {"stress_ng:best1": True, "stress_ng:bestn": True, "membench:latency": False}
OPTIONAL = ("family", "hypervisor", "cpu_cores", "cpu_manufacturer", "memory_amount_actual", "gpu_memory_min",
            "gpu_memory_total", "gpu_manufacturer", "gpu_family", "gpu_model", "storage_type",
            "network_speed_baseline", "average_time_to_start", "score", "min_price_spot", "score_per_price")


def server(vendor, number, args, benchmark):
    """One item of /servers."""
    vcpus = 1 << number % 7
    name = "%s-%05d" % (vendor, number)
    price = round(0.01 * vcpus + 0.001 * (number % 10), 4)
    item = {
        "vendor_id": vendor, "server_id": name, "name": name, "api_reference": name, "display_name": name,
        "description": "made up", "family": "f%d" % (number % 5), "vcpus": vcpus, "hypervisor": None,
        "cpu_allocation": ("Dedicated", "Shared", "Burstable")[number % 3], "cpu_cores": vcpus, "cpu_speed": 2.5,
        "cpu_architecture": ("x86_64", "arm64")[number % 2], "cpu_manufacturer": "Intel", "cpu_flags": ["fpu"] * 50,
        "memory_amount": 1024 * vcpus, "memory_amount_actual": None, "gpu_count": 0.0, "gpu_memory_min": None,
        "gpu_memory_total": None, "gpu_manufacturer": None, "gpu_family": None, "gpu_model": None, "gpus": [],
        "storage_size": 0, "storage_type": None, "storages": [], "network_speed_baseline": 1.0,
        "average_time_to_start": None, "inbound_traffic": 0.0, "outbound_traffic": 0.0, "ipv4": 0,
        "status": "active", "observed_at": "2026-08-22T00:00:00", "score": 1000.0 * vcpus, "price": price,
        "min_price": price, "min_price_spot": None, "min_price_ondemand": price,
        "min_price_ondemand_monthly": round(price * 730, 2), "score_per_price": None,
        "selected_benchmark_score": None if benchmark is None else 1000.0 + number,
        "selected_benchmark_score_per_price": None,
        "vendor": {"vendor_id": vendor, "name": vendor.upper(), "country_id": VENDORS[vendor][0]},
        "price_breakdown": {"compute_min_price": price},
    }
    if args.fault == "nulls":
        item.update({key: None for key in OPTIONAL})
        item.update({"vcpus": None, "memory_amount": None, "cpu_allocation": None, "vendor": None, "gpus": None})
    if args.fault == "unknown-fields":
        item.update({"quantum_bits": {"a": [1, {}]}, "cpu_allocation": "Borrowed", "cpu_architecture": "riscv64",
                     "family": ["a list", "now"], "vcpus": "four"})
    return item


class Refusal(Exception):
    """A status and its body."""

    def __init__(self, status, body):
        super().__init__(status)
        self.status, self.body = status, body


def whole(query, name, fallback, least=None, most=None):
    """A whole number among the parameters, checked as FastAPI does."""
    text = query.get(name, [str(fallback)])[-1]
    try:
        value = int(text)
    except ValueError:
        raise Refusal(422, {"detail": [{"type": "int_parsing", "loc": ["query", name], "input": text}]}) from None
    if least is not None and value < least or most is not None and value > most:
        raise Refusal(422, {"detail": [{"type": "less_than_equal", "loc": ["query", name], "input": text,
                                        "ctx": {"le": most}}]})
    return value


def servers(query, args, headers):
    """/servers."""
    vcpus_min = whole(query, "vcpus_min", 1, 1, 256)
    limit, page = whole(query, "limit", 25), whole(query, "page", 1)
    vendors = query.get("vendor", list(VENDORS))
    places = [tuple(value.split("~", 1)) for value in query.get("vendor_regions", [])]
    for vendor in vendors:
        if vendor not in VENDORS:
            raise Refusal(422, {"detail": [{"type": "enum", "loc": ["query", "vendor", 0], "input": vendor}]})
    if any(place not in REGIONS for place in places):
        raise Refusal(422, {"detail": [{"type": "enum", "loc": ["query", "vendor_regions", 0]}]})
    if len(places) > 3:
        raise Refusal(400, {"detail": "Max 3 regions can be queried at a time without authentication."})
    if query.get("order_by", ["min_price"])[-1] not in ("min_price", "server_id", "min_price_ondemand", "vcpus"):
        raise Refusal(400, {"detail": "Unknown order_by field."})
    if query.get("currency", ["USD"])[-1] not in ("USD", "EUR"):
        raise Refusal(400, {"detail": "Invalid currency code"})
    if places:
        vendors = [vendor for vendor, _ in places]
    benchmark = query.get("benchmark_id", [None])[-1]
    found = [server(vendor, number, args, benchmark) for vendor in sorted(set(vendors))
             for number in range(args.servers)]
    if args.fault not in ("nulls", "unknown-fields"):
        found = [item for item in found if item["vcpus"] >= vcpus_min]
    found.sort(key=lambda item: item["server_id"])
    if query.get("add_total_count_header", ["false"])[-1] == "true":
        headers["X-Total-Count"] = str(len(found))
    return found if limit < 1 else found[(page - 1) * limit:page * limit]


def answer(path, query, args, headers):
    """The body of a path."""
    if path == "/healthcheck":
        headers["Cache-Control"] = "private, no-store"
        return {"packages": {"sparecores-keeper": "0.3.6"}, "database_last_updated": 1787356800.0,
                "database_hash": "double-%d" % args.servers, "database_alembic_version": "x"}
    if path == "/table/vendor":
        return [{"vendor_id": vendor, "name": vendor.upper(), "country_id": facts[0], "status": "active",
                 "billing_increment_seconds": facts[1], "minimum_billing_seconds": facts[2]}
                for vendor, facts in VENDORS.items()]
    if path == "/table/region":
        return [{"vendor_id": vendor, "region_id": region, "name": facts[0], "api_reference": facts[0],
                 "display_name": facts[0], "aliases": [facts[0] + "-alias"], "country_id": facts[1],
                 "status": "active"} for (vendor, region), facts in REGIONS.items()]
    if path == "/table/country":
        return [{"country_id": country, "continent": continent} for country, continent in COUNTRIES.items()]
    if path == "/table/benchmark":
        return [{"benchmark_id": name, "name": name, "category": "c", "unit": "u", "higher_is_better": better}
                for name, better in BENCHMARKS.items()]
    if path == "/servers":
        return servers(query, args, headers)
    raise Refusal(404, {"detail": "Not Found"})


class Double(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def misbehave(self, kind, headers, body):
        """True when the fault has answered already; the body that is sent else."""
        if kind == "429":
            self.send(429, {"X-RateLimit-Limit": "60", "X-RateLimit-Cost": "3", "X-RateLimit-Remaining": "0"},
                      b"Rate limit exceeded.")
        elif kind == "503":
            self.send(503, {"Cache-Control": "private, no-store"},
                      b'{"detail":"Temporarily unavailable: too many heavy jobs running"}')
        elif kind == "500":
            self.send(500, {}, b"Internal Server Error")
        elif kind == "422":
            self.send(422, {}, b'{"detail":[{"type":"less_than_equal","loc":["query","vcpus_min"]}]}')
        elif kind == "html":
            self.send(200, {"Content-Type": "text/html"}, b"<html><body>Sign in to the network</body></html>")
        elif kind == "other-json":
            self.send(200, {}, b'{"message":"moved to v3"}')
        elif kind == "cut":
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:len(body) // 2])
            self.hang_up()
        elif kind == "cut-json":
            self.send(200, headers, body[:len(body) // 2])
        elif kind == "hang-up":
            self.hang_up()
        elif kind == "slow":
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                for byte in body:
                    self.wfile.write(bytes([byte]))
                    time.sleep(0.05)
            except OSError:
                pass
            self.close_connection = True
        elif kind == "silent":
            self.server.stopped.wait(20)
            self.hang_up()
        elif kind == "redirect":
            self.send(307, {"Location": "/moved" + self.path}, b"")
        elif kind == "redirect-loop":
            self.send(307, {"Location": self.path}, b"")
        elif kind == "redirect-file":
            self.send(302, {"Location": "file:///etc/passwd"}, b"")
        elif kind == "bad-gzip":
            self.send(200, {"Content-Encoding": "gzip"}, b"this is not gzip" * 10)
        elif kind == "bomb":
            self.send(200, {"Content-Encoding": "gzip"}, self.server.bomb)
        elif kind == "headers":
            self.send(200, {"ETag": '"' + "x" * 5000 + '"', "X-Total-Count": "many", "Cache-Control": "max-age=never",
                            "Retry-After": "soon"}, body)
        elif kind == "garbage":
            self.wfile.write(b"\x00\x01\x02 not HTTP at all\r\n\r\n" * 20)
            self.hang_up()
        else:
            return False
        return True

    def do_GET(self):  # noqa: N802 (the name that http.server asks for)
        double, args = self.server, self.server.args
        parts = urlsplit(self.path)
        path = parts.path[len("/moved"):] if parts.path.startswith("/moved/") else parts.path
        if path == "/_calls":
            return self.send(200, {}, json.dumps(double.calls).encode())
        cost = next((cost for prefix, cost in COSTS.items() if path.startswith(prefix)), 1)
        with double.lock:
            double.calls.append({"path": self.path, "at": time.monotonic(),
                                 "etag": self.headers.get("If-None-Match"),
                                 "encoding": self.headers.get("Accept-Encoding")})
            number = len(double.calls)
            now = time.monotonic()
            double.spent = [(at, credits) for at, credits in double.spent if at > now - 60]
            left = args.credits - sum(credits for _, credits in double.spent)
            double.spent.append((now, cost if left >= cost else 0))
        headers = {"Content-Type": "application/json", "X-RateLimit-Limit": str(args.credits),
                   "X-RateLimit-Cost": str(cost), "X-RateLimit-Remaining": str(max(0, left - cost)),
                   "Cache-Control": "public, max-age=3600, stale-while-revalidate=900, stale-if-error=1800"}
        if left < cost:
            return self.send(429, headers, b"Rate limit exceeded.")
        status = 200
        try:
            body = json.dumps(answer(path, parse_qs(parts.query), args, headers)).encode()
        except Refusal as refusal:
            status, body = refusal.status, json.dumps(refusal.body).encode()
        if args.at <= number < args.at + args.times and self.misbehave(args.fault, headers, body):
            return None
        if args.etag and status == 200:
            headers["ETag"] = '"%d-%d"' % (len(body), args.servers)
            if self.headers.get("If-None-Match") == headers["ETag"]:
                return self.send(304, headers, b"")
        if len(body) >= 100 and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, 1)
            headers["Content-Encoding"] = "gzip"
        return self.send(status, headers, body)


class DoubleServer(ThreadingHTTPServer):
    """What the connections share."""

    daemon_threads = True

    def __init__(self, args):
        super().__init__(("127.0.0.1", args.port), Double)
        self.args, self.calls, self.spent = args, [], []
        self.lock, self.stopped = threading.Lock(), threading.Event()
        self.bomb = gzip.compress(b" " * (100 << 20), 1) if args.fault == "bomb" else b""
        if args.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(args.certificate, args.key)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, request, client_address):
        """A client that hung up is no news."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--servers", type=int, default=300, help="of each vendor")
    parser.add_argument("--fault", default="")
    parser.add_argument("--at", type=int, default=1)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--credits", type=int, default=1000000, help="a minute; the Keeper gives 60")
    parser.add_argument("--etag", action="store_true")
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    args = parser.parse_args()
    double = DoubleServer(args)
    threading.Thread(target=double.serve_forever, daemon=True).start()
    print("listening %s://127.0.0.1:%d" % ("https" if args.certificate else "http", double.server_address[1]),
          flush=True)
    sys.stdin.read()
    double.stopped.set()


if __name__ == "__main__":
    main()
