#!/usr/bin/env python3
"""A double of the Spare Cores Keeper. It has the same HTTP API with made-up servers, and makes faults on request.

    keeper_double.py [--port N] [--servers N] [--fault KIND --at N --times N] [--credits N] [--etag]
                     [--certificate FILE --key FILE]

Prints "listening URL" and serves until its standard input closes. It supports /healthcheck, the tables,
/benchmark_configs and /servers with paging, places, frameworks, allocations, parameter checks, rate limit headers,
Cache-Control, gzip and X-Total-Count, as the Keeper answers them. tests/keeper/run.sh compares it with the real one.

The calls are counted from 1. The fault applies to --times calls, beginning with call --at. /_calls returns the list of
calls."""

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

import keeper_data

COSTS = {"/servers": 3, "/server_prices": 5, "/table/server_prices": 10, "/benchmark_score_stats": 10}
OPTIONAL = ("family", "hypervisor", "cpu_cores", "cpu_manufacturer", "memory_amount_actual", "gpu_memory_min",
            "gpu_memory_total", "gpu_manufacturer", "gpu_family", "gpu_model", "storage_type",
            "network_speed_baseline", "average_time_to_start", "score", "min_price_spot", "score_per_price")
# best_price_allocation: the minimum that counts as price
BEST = {"ANY": "min_price", "SPOT_ONLY": "min_price_spot", "ONDEMAND_ONLY": "min_price_ondemand"}
ORDERS = (*BEST.values(), "server_id", "vendor_id", "vcpus")
MONTH = 730  # hours
BREAKDOWN = ("traffic_inbound_hourly", "traffic_inbound_monthly", "traffic_outbound_hourly", "traffic_outbound_monthly",
             "traffic_hourly", "traffic_monthly", "extra_storage_hourly", "extra_storage_monthly")


class Refusal(Exception):
    """A status and its body."""

    def __init__(self, status, body):
        super().__init__(status)
        self.status, self.body = status, body


def monthly(row):
    """Returns the price of a month on demand, with the tiers of the price."""
    if not row["price_tiered"]:
        return round(row["price"] * MONTH, 2)
    left, sum_ = float(MONTH), 0.0
    for tier in row["price_tiered"]:
        used = max(0.0, min(left, float(tier["upper"]) - float(tier["lower"])))
        sum_, left = sum_ + used * tier["price"], left - used
    return round(sum_, 2)


class Data:
    """The tables, and the data that /servers needs from them."""

    def __init__(self, args):
        self.rate = {"USD": 1.0, "EUR": args.euro}
        self.tables = keeper_data.tables(args.servers)
        self.vendors = {row["vendor_id"]: row for row in self.tables["vendor"]}
        self.countries = {(row["vendor_id"], row["region_id"]): row["country_id"] for row in self.tables["region"]}
        self.prices, self.scores = {}, {}
        for row in self.tables["server_price"]:
            if row["status"] == "active":
                self.prices.setdefault((row["vendor_id"], row["server_id"]), []).append(row)
        for row in self.tables["benchmark_score"]:
            self.scores.setdefault((row["vendor_id"], row["server_id"], row["benchmark_id"]), []).append(row)
        self.anywhere = {key: self.minima(rows) for key, rows in self.prices.items()}

    def dollars(self, row, amount, digits):
        return round(amount * self.rate[row["currency"]], digits)

    def minima(self, rows):
        """Returns the lowest prices: of all, of spot, on demand, and of a month on demand."""
        def lowest(allocation, digits=4, amount=lambda row: row["price"]):
            found = [self.dollars(row, amount(row), digits) for row in rows
                     if allocation in (None, row["allocation"])]
            return min(found, default=None)

        return {"min_price": lowest(None), "min_price_spot": lowest("spot"), "min_price_ondemand": lowest("ondemand"),
                "min_price_ondemand_monthly": lowest("ondemand", 2, monthly)}

    def within(self, key, query):
        """Returns the minima in the places of the query; None = the query names no place."""
        countries, regions = query.get("countries", []), query.get("regions", [])
        places = [tuple(value.split("~", 1)) for value in query.get("vendor_regions", [])]
        if not (countries or regions or places):
            return None
        return self.minima([row for row in self.prices.get(key, [])
                            if not (countries and self.countries[row["vendor_id"], row["region_id"]] not in countries)
                            and not (regions and row["region_id"] not in regions)
                            and not (places and (row["vendor_id"], row["region_id"]) not in places)])

    def score(self, key, benchmark, config=None):
        found = [row["score"] for row in self.scores.get((*key, benchmark), [])
                 if config is None or json.dumps(row["config"]) == config]
        return max(found, default=None)


def item_of(data, row, query):
    """Returns one item of /servers, and the price that counts."""
    key = row["vendor_id"], row["server_id"]
    anywhere = data.anywhere.get(key)
    within = data.within(key, query)
    counted = within if within is not None else anywhere or {}
    best = counted.get(BEST[query.get("best_price_allocation", ["ANY"])[-1]])
    benchmark = query.get("benchmark_id", [None])[-1]
    item = {**row, "score": None, "price": None, "min_price": None, "min_price_spot": None, "min_price_ondemand": None,
            "min_price_ondemand_monthly": None, "score_per_price": None, "selected_benchmark_score": None,
            "selected_benchmark_score_per_price": None, "vendor": data.vendors[row["vendor_id"]],
            "price_breakdown": dict.fromkeys(("compute_min_price", "compute_min_price_spot", "compute_min_price_ondemand",
                                              "compute_min_price_ondemand_monthly", *BREAKDOWN))}
    if not anywhere:
        return item, best
    # If a place has no price of this kind, the lowest price anywhere is used, as in the Keeper.
    for name, amount in anywhere.items():
        item[name] = amount if within is None or within[name] is None else within[name]
    item["price_breakdown"] = {**{"compute_" + name: item[name] for name in anywhere}, **dict.fromkeys(BREAKDOWN, 0.0)}
    item["min_price"] = item[BEST[query.get("best_price_allocation", ["ANY"])[-1]]]
    item["price"] = item["min_price"]
    item["score"] = data.score(key, "stress_ng:bestn")
    if item["score"] and item["min_price"]:
        item["score_per_price"] = round(item["score"] / item["min_price"], 4)
    if benchmark:
        score = data.score(key, benchmark, query.get("benchmark_config", [None])[-1])
        item["selected_benchmark_score"] = score
        if score and item["min_price"]:
            item["selected_benchmark_score_per_price"] = score / item["min_price"]
    return item, best


def spoilt(item, kind):
    """Returns an item with odd values."""
    if kind == "nulls":
        item = {**item, **dict.fromkeys(OPTIONAL), "vcpus": None, "memory_amount": None, "cpu_allocation": None,
                "vendor": None, "gpus": None}
    if kind == "unknown-fields":
        item = {**item, "quantum_bits": {"a": [1, {}]}, "cpu_allocation": "Borrowed", "cpu_architecture": "riscv64",
                "family": ["a list", "now"], "vcpus": "four"}
    if kind == "wrong-types":
        item = {**item, "price": "0.1", "min_price": [0.1], "min_price_ondemand": "0.1", "min_price_spot": True,
                "vcpus": "2", "score": {}, "memory_amount": "much", "vendor": "aws"}
    return item


def whole(query, name, fallback, least=None, most=None):
    """Reads a whole number from the parameters, with the checks of FastAPI."""
    text = query.get(name, [str(fallback)])[-1]
    try:
        value = int(text)
    except ValueError:
        raise Refusal(422, {"detail": [{"type": "int_parsing", "loc": ["query", name], "input": text}]}) from None
    if least is not None and value < least or most is not None and value > most:
        raise Refusal(422, {"detail": [{"type": "less_than_equal", "loc": ["query", name], "input": text,
                                        "ctx": {"le": most}}]})
    return value


def check_words(query, name, known):
    for nth, word in enumerate(query.get(name, [])):
        if word not in known:
            raise Refusal(422, {"detail": [{"type": "enum", "loc": ["query", name, nth], "input": word}]})


def check(data, query):
    """Refuses the same requests as the Keeper."""
    check_words(query, "vendor", data.vendors)
    check_words(query, "vendor_regions", {"%s~%s" % key for key in data.countries})
    check_words(query, "regions", {region for _, region in data.countries})
    check_words(query, "countries", set(data.countries.values()) | set(keeper_data.COUNTRIES))
    check_words(query, "compliance_framework", keeper_data.FRAMEWORKS)
    check_words(query, "best_price_allocation", (*BEST, "MONTHLY"))
    places = {value.split("~", 1)[1] for value in query.get("vendor_regions", [])} | set(query.get("regions", []))
    if len(places) > 3:
        raise Refusal(400, {"detail": "Max 3 regions can be queried at a time without authentication."})
    if len(query.get("countries", [])) > 1:
        raise Refusal(400, {"detail": "Max 1 country can be queried at a time without authentication."})
    if query.get("currency", ["USD"])[-1] not in data.rate:
        raise Refusal(400, {"detail": "Invalid currency code"})
    if query.get("order_by", ["min_price"])[-1] not in ORDERS:
        raise Refusal(400, {"detail": "Unknown order_by field."})


def servers(data, query, args, headers):
    """Answers /servers."""
    vcpus_min = whole(query, "vcpus_min", 1, 1, 256)
    limit, page = whole(query, "limit", 25), whole(query, "page", 1)
    check(data, query)
    vendors, frameworks = set(query.get("vendor", data.vendors)), query.get("compliance_framework", [])
    if frameworks:
        vendors &= {row["vendor_id"] for row in data.tables["vendor_compliance_link"]
                    if row["compliance_framework_id"] in frameworks}
        vendors = vendors or set(data.vendors)  # the Keeper ignores a filter that no server meets
    order = query.get("order_by", ["min_price"])[-1]
    found = []
    for row in data.tables["server"]:
        if row["vendor_id"] not in vendors or row["vcpus"] < vcpus_min:
            continue
        item, best = item_of(data, row, query)
        if query.get("only_active", ["true"])[-1] == "true" and (row["status"] != "active" or best is None):
            continue
        if order.startswith("min_price") and (best if order == "min_price" else item[order]) is None:
            continue
        found.append((best if order == "min_price" else item[order], item))
    found.sort(key=lambda pair: pair[0], reverse=query.get("order_dir", ["asc"])[-1] == "desc")
    found = [spoilt(item, args.fault) for _, item in found]
    if query.get("add_total_count_header", ["false"])[-1] == "true":
        headers["X-Total-Count"] = str(len(found))
    if args.fault == "endless":
        page = 1
    return found if limit < 1 else found[(page - 1) * limit:page * limit]


def benchmark_configs(data):
    """Answers /benchmark_configs: one row for each configuration that has a score."""
    found = {(row["benchmark_id"], json.dumps(row["config"])) for row in data.tables["benchmark_score"]}
    return [{"benchmark_id": benchmark, "config": config, "category": "Other"} for benchmark, config in sorted(found)]


def answer(path, query, double, headers):
    """Returns the body of a path."""
    args, data = double.args, double.data
    if path == "/healthcheck":
        if args.broken_health:
            raise Refusal(500, None)
        headers["Cache-Control"] = "private, no-store"
        return {"packages": {"sparecores-keeper": "0.3.6"}, "database_last_updated": 1787356800.0,
                "database_hash": "double-%d" % args.servers, "database_alembic_version": "x"}
    if path == "/table/compliance_framework" and args.no_frameworks:
        raise Refusal(404, {"detail": "Not Found"})
    if path.startswith("/table/") and path[len("/table/"):] in ("country", "compliance_framework", "vendor", "region",
                                                                "zone", "server", "benchmark"):
        return data.tables[path[len("/table/"):]]
    if path == "/servers":
        return servers(data, query, args, headers)
    if path == "/benchmark_configs":
        return benchmark_configs(data)
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
        """Returns True when the fault has already sent an answer, else the body to send."""
        if kind == "429":
            told = {"Retry-After": self.server.args.retry_after} if self.server.args.retry_after else {}
            self.send(429, {"X-RateLimit-Limit": "60", "X-RateLimit-Cost": "3", "X-RateLimit-Remaining": "0",
                            "Cache-Control": "private, no-store", **told}, b"Rate limit exceeded.")
        elif kind == "403":
            self.send(403, {"Content-Type": "text/html"}, b"<html>Access denied</html>")
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
            headers["Cache-Control"] = "private, no-store"
            return self.send(429, headers, b"Rate limit exceeded.")
        status = 200
        try:
            body = json.dumps(answer(path, parse_qs(parts.query), double, headers)).encode()
        except Refusal as refusal:
            status, body = refusal.status, json.dumps(refusal.body).encode()
            if status == 500:
                headers, body = {"Content-Type": "text/plain"}, b"Internal Server Error"
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
    """The data that the connections share."""

    daemon_threads = True

    def __init__(self, args):
        super().__init__(("127.0.0.1", args.port), Double)
        self.args, self.calls, self.spent, self.data = args, [], [], Data(args)
        self.lock, self.stopped = threading.Lock(), threading.Event()
        self.bomb = gzip.compress(b" " * (100 << 20), 1) if args.fault == "bomb" else b""
        if args.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(args.certificate, args.key)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, request, client_address):
        """Ignores a client that closed the connection."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--servers", type=int, default=300, help="of each vendor")
    parser.add_argument("--fault", default="")
    parser.add_argument("--at", type=int, default=1)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--credits", type=int, default=1000000, help="a minute; the Keeper gives 60")
    parser.add_argument("--euro", type=float, default=1.25, help="US dollars for one euro")
    parser.add_argument("--broken-health", action="store_true", help="as a Keeper on a database of one's own")
    parser.add_argument("--no-frameworks", action="store_true", help="as an older Keeper; saves calls")
    parser.add_argument("--retry-after", help="seconds to tell in a 429; the Keeper itself tells none")
    parser.add_argument("--etag", action="store_true", help="as the cache before the Keeper may add")
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
