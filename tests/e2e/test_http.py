"""serve: the answers of HTTP, and that no client harms the others."""
import concurrent.futures
import gzip
import http.client
import json
import re
import signal
import socket
import subprocess
import threading

from support import (DEADLINE, PROMETHEUS_2_ACCEPT, PROMETHEUS_3_ACCEPT, Case, main, python_job,
                     samples, wait_until)

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROTOBUF = ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,")


def families(text):
    return set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))


class Negotiation(Case):
    def test_answers_in_the_format_that_was_asked_for(self):
        server = self.serve()
        for accept, expected in (
                (None, TEXT), ("*/*", TEXT), ("text/plain", TEXT), ("application/json", TEXT),
                ("text/html,application/xhtml+xml,*/*;q=0.8", TEXT), ("", TEXT), (";;q=,,", TEXT), ("a" * 4000, TEXT),
                (PROMETHEUS_2_ACCEPT, OPENMETRICS), (PROMETHEUS_3_ACCEPT, OPENMETRICS),
                (PROTOBUF + PROMETHEUS_3_ACCEPT, OPENMETRICS),
                ("application/openmetrics-text;version=1.0.0;q=0.1,text/plain;q=0.9", TEXT),
                ("application/openmetrics-text;version=9.9.9,text/plain;version=0.0.4;q=0.1", TEXT)):
            with self.subTest(accept=accept and accept[:60]):
                answer = server.get("/metrics", **({} if accept is None else {"Accept": accept}))
                self.assertEqual(answer.status, 200)
                self.assertTrue(answer.headers["Content-Type"].startswith(expected), answer.headers["Content-Type"])
                self.assertEqual(answer.text.endswith("# EOF\n"), expected is OPENMETRICS)
                self.assertIn("rightsize_build_info", families(answer.text) | {f + "_info" for f in families(answer.text)})

    def test_compresses_for_those_who_ask_for_it(self):
        server = self.serve()
        # A request is counted after it was answered, so the first answers do not have the counter yet.
        wait_until(lambda: "rightsize_http_requests_total" in families(server.get("/metrics").text), "the first count")
        plain = server.get("/metrics")
        for encodings, compressed in (("gzip", True), ("gzip, deflate, br", True), ("*", True), ("identity", False),
                                      ("gzip;q=0", False), ("br, zstd", False), ("", False)):
            with self.subTest(encodings=encodings):
                answer = server.get("/metrics", Accept_Encoding=encodings)
                self.assertEqual(answer.headers["Content-Encoding"], "gzip" if compressed else None)
                body = gzip.decompress(answer.body) if compressed else answer.body
                self.assertEqual(families(body.decode()), families(plain.text))
                self.assertIn("Accept-Encoding", answer.headers["Vary"])
        self.assertLess(len(server.get("/metrics", Accept_Encoding="gzip").body), len(plain.body) / 2)

    def test_compresses_nothing_when_switched_off(self):
        server = self.serve("--web.disable-compression")
        self.assertIsNone(server.get("/metrics", Accept_Encoding="gzip").headers["Content-Encoding"])

    def test_head_is_get_without_a_body(self):
        server = self.serve()
        for path in ("/metrics", "/jobs"):
            with self.subTest(path=path):
                head, get = server.get(path, "HEAD"), server.get(path)
                self.assertEqual((head.status, head.body), (200, b""))
                self.assertEqual(head.headers["Content-Type"], get.headers["Content-Type"])
                self.assertGreater(int(head.headers["Content-Length"]), 0)


class Filters(Case):
    def test_collect_keeps_and_exclude_drops_collectors(self):
        server = self.serve()
        everything = families(server.get("/metrics").text)
        only = families(server.get("/metrics?collect[]=load").text)
        without = families(server.get("/metrics?exclude[]=load").text)
        self.assertIn("rightsize_load1", only)
        self.assertFalse({f for f in only if "memory" in f or "cpu" in f})
        self.assertNotIn("rightsize_load1", without)
        # The parts of the machine's load: see the collector's table.
        of_load = {"rightsize_load1", "rightsize_load5", "rightsize_load15", "rightsize_processes", "rightsize_threads"}
        self.assertEqual(everything - without, of_load)
        self.assertLessEqual(of_load, only)
        both = families(server.get("/metrics?collect[]=load&collect[]=memory").text)
        self.assertTrue({f for f in both if "memory" in f} and {f for f in both if "load" in f})

    def test_name_keeps_families(self):
        server = self.serve()
        self.assertEqual(families(server.get("/metrics?name[]=rightsize_load1").text), {"rightsize_load1"})
        self.assertEqual(families(server.get("/metrics?name[]=rightsize_load1&name[]=rightsize_load5").text),
                         {"rightsize_load1", "rightsize_load5"})
        # The names are literal, as elsewhere: no character in them is a pattern.
        for name in ("rightsize_load.", "rightsize_.*", "(", "[a-z]%2B", "rightsize_load1%7Crightsize_load5", "*", "%5C"):
            with self.subTest(name=name):
                answer = server.get(f"/metrics?name[]={name}")
                self.assertEqual((answer.status, families(answer.text)), (200, set()))

    def test_a_collector_that_is_switched_off_is_silent(self):
        server = self.serve("--no-collector.load")
        self.assertNotIn("rightsize_load1", families(server.get("/metrics").text))

    def test_the_path_of_the_metrics_can_be_moved(self):
        server = self.serve("--web.telemetry-path=/own/metrics")
        self.assertEqual(server.get("/own/metrics").status, 200)
        self.assertEqual(server.get("/metrics").status, 404)


class Errors(Case):
    # path, status, words that the message must contain: the fault and the accepted values
    WRONG = [
        ("/nothing-here", 404, ["/nothing-here", "/metrics"]),
        ("/metrics?collect[]=nothing", 400, ["collect", "nothing", "load", "memory"]),
        ("/metrics?exclude[]=nothing", 400, ["exclude", "nothing"]),
        ("/metrics?colect[]=load", 400, ["colect"]),
        ("/runs", 400, ["job_name"]),
        ("/runs?job_name=", 400, ["job_name"]),
        ("/stats?job_name=job&runs=many", 400, ["runs", "many"]),
        ("/stats?job_name=job&runs=0", 400, ["runs", "0", "1"]),
        ("/stats?job_name=job&runs=-1", 400, ["runs", "-1"]),
        ("/stats?job_name=job&runs=1e308", 400, ["runs", "1e308"]),
        ("/stats?job_name=job&runs=99999999999999999999", 400, ["runs"]),
        ("/stats?job_name=job&runs=5&runs=6", 400, ["runs"]),
        ("/stats?job_name=job&format=xml", 400, ["format", "xml", "resource-tracker"]),
        ("/recommend?job_name=job&format=xml", 400, ["format", "xml", "metaflow"]),
        ("/recommend?job_name=job&strategy=magic", 400, ["strategy", "magic", "baseline"]),
        ("/recommend?job_name=job&risk=none", 400, ["risk", "none", "economy"]),
        ("/recommend?job_name=job&margin=-1", 400, ["margin", "-1", "0 to 10"]),
        ("/recommend?job_name=job&margin=0.1", 400, ["margin", "strategy auto"]),
        ("/recommend?job_name=job&unknown=1", 400, ["unknown"]),
        ("/recommend?job_name=%ff%fe", 400, ["job_name"]),
        ("/recommend?job_name=a%00b", 400, ["job_name"]),
        ("/stats?job_name=' OR 1=1--".replace(" ", "%20"), 404, ["OR 1=1"]),
        ("/stats?job_name=%25", 404, ["%"]),
        ("/recommend?job_name=traning", 404, ["traning", "training"]),
        ("/recommend?job_name=training&strategy=percentile&percentile=1.5", 400, ["percentile", "1.5", "0.01 to 1"]),
        ("/recommend?job_name=training&quantile=2", 400, ["quantile"]),
        ("/series?job_name=training&from=10&to=5", 400, ["from", "10", "to", "5"]),
        ("/series.csv?job_name=training&from=1700000000.5&to=1700000000.25", 400, ["1700000000.5", "1700000000.25"]),
        ("/metrics?" + "&".join(["collect[]=load"] * 100), 400, ["collect", "64"]),
    ]

    # Longer than any header may be, with a name of 1 MB and with 10,000 collectors.
    TOO_LONG = ["/recommend?job_name=" + "a" * (1 << 20), "/metrics?" + "&".join(["collect[]=load"] * 10000)]

    def test_what_is_too_long_is_refused(self):
        server = self.serve()
        for path in self.TOO_LONG:
            with self.subTest(path=path[:40]):
                self.assertEqual(server.get(path).status, 414)
        self.assertEqual(server.get("/-/healthy").status, 200)

    def test_say_what_was_wrong_and_what_is_accepted(self):
        self.run_job(["true"], "training")
        server = self.serve()
        for path, status, words in self.WRONG:
            with self.subTest(path=path):
                answer = server.get(path)
                self.assertEqual(answer.status, status, answer.text)
                self.assertTrue(answer.headers["Content-Type"].startswith("application/json"))
                error = answer.json["error"]
                self.assertTrue(error["code"])
                for word in words:
                    self.assertIn(word, error["message"] + " ".join(error.get("did_you_mean", [])))

    HOSTILE = ("", "0", "-1", "nan", "1e308", "-1e308", "9223372036854775808", "1,5", "0x10", "%00", "%ff%fe", "%25",
               "'%20OR%201=1--", "%22%0a%01", "a" * 4000)

    def test_no_parameter_of_any_route_takes_what_hurts(self):
        """Tries each value once and twice: the result is an answer, or an error that names the parameter."""
        self.run_job(["true"], "training")
        paths = json.loads(self.command("manual", "openapi").stdout)["paths"]
        routes = {path: [p["name"] for p in item["get"].get("parameters", []) if p["in"] == "query"]
                  for path, item in paths.items() if "get" in item and path not in ("/metrics", "/events")}
        self.assertIn("limit", routes["/recommend"])
        server = self.serve()
        run = self.only_run("training")["run_id"]
        known = {"job_name": "training", "run": run}
        answered = 0
        for path, parameters in routes.items():
            for name in parameters:
                others = "".join(f"&{k}={v}" for k, v in known.items() if k in parameters and k != name and name not in known)
                asked = [f"{path}?{name}={value}{others}" for value in self.HOSTILE]
                asked.append(f"{path}?{name}=1&{name}=2{others}")
                for target in asked:
                    answer = server.get(target)
                    with self.subTest(target=target[:100]):
                        self.assertIn(answer.status, (200, 400, 403, 404, 405, 409, 413), answer.body[:300])
                        self.assertNotIn(b"\x01", answer.body)
                        if answer.headers["Content-Type"].startswith("application/json"):
                            self.assertNotIn(b"NaN", answer.body)
                            self.assertTrue(answer.json)
                    answered += answer.status == 200
                twice = answer
                with self.subTest(twice=target):
                    self.assertNotEqual(twice.status, 200)
        self.assertGreater(answered, 0)
        self.assertEqual(server.get("/-/healthy").status, 200)

    def test_only_get_and_head_are_allowed(self):
        server = self.serve()
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            with self.subTest(method=method):
                answer = server.get("/metrics", method)
                self.assertEqual(answer.status, 405)
                self.assertEqual(answer.headers["Allow"], "GET, HEAD")
                self.assertIn("GET", answer.json["error"]["message"])

    RAW = [
        b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n", b"\0" * 2000,
        b"GET /metrics HTTP/9.9\r\n\r\n", b"GET " + b"/" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: " + b"y" * 100000 + b"\r\n\r\n",
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nx",
        b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET /metrics HTTP/1.1\r\nHo",
    ]

    def test_clients_that_do_not_speak_http_harm_nobody(self):
        server = self.serve()
        for request in self.RAW:
            with self.subTest(request=request[:40]):
                with socket.create_connection((server.host, server.port), DEADLINE) as client:
                    client.settimeout(DEADLINE)
                    try:
                        client.sendall(request)
                        client.shutdown(socket.SHUT_WR)
                        reply = client.recv(1 << 16)
                    except TimeoutError:
                        raise
                    except OSError:  # the server has already hung up
                        reply = b""
                self.assertNotIn(b"root:", reply)
                self.assertEqual(server.get("/metrics").status, 200)

    def test_http_1_0_and_pipelined_requests_are_answered(self):
        server = self.serve()
        for request, answers in ((b"GET /metrics HTTP/1.0\r\n\r\n", 1),
                                 (b"GET /jobs HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2 +
                                  b"GET /jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 3)):
            with socket.create_connection((server.host, server.port), DEADLINE) as client:
                client.sendall(request)
                reply = b"".join(iter(lambda: client.recv(1 << 16), b""))
            self.assertEqual(len(re.findall(rb"HTTP/1\.[01] 200", reply)), answers)


class Load(Case):
    def test_64_clients_at_once_get_whole_answers(self):
        server = self.serve()
        rounds = 20

        def scrape(number):
            connection = http.client.HTTPConnection(server.host, server.port, timeout=DEADLINE)
            accept = PROMETHEUS_2_ACCEPT if number % 2 else "text/plain"
            for _ in range(rounds):
                headers = {"Accept": accept, "Accept-Encoding": "gzip" if number % 4 < 2 else "identity"}
                connection.request("GET", "/metrics", headers=headers)
                response = connection.getresponse()
                body = response.read()
                text = (gzip.decompress(body) if response.headers["Content-Encoding"] == "gzip" else body).decode()
                if response.status != 200 or not samples(text) or text.endswith("# EOF\n") != bool(number % 2):
                    return f"status {response.status}: {text[-100:]}"
            connection.close()
            return None

        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            self.assertEqual([problem for problem in pool.map(scrape, range(64)) if problem], [])

    def test_sigterm_under_load_ends_well_and_soon(self):
        server = self.serve()
        stop = threading.Event()
        answered = []

        def scrape():
            while not stop.is_set():
                try:
                    answered.append(server.get("/metrics").status)
                except (OSError, http.client.HTTPException):
                    return

        clients = [threading.Thread(target=scrape) for _ in range(16)]
        for client in clients:
            client.start()
        wait_until(lambda: len(answered) > 100, "the load")
        server.send(signal.SIGTERM)
        self.assertEqual(server.process.wait(5), 0)
        stop.set()
        for client in clients:
            client.join(DEADLINE)
        self.assertEqual(set(answered), {200})


class Addresses(Case):
    def test_ipv6_is_served(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("no IPv6 on this machine")
        self.assertEqual(self.serve(address="[::1]:0").get("/metrics").status, 200)

    def test_several_addresses_are_served(self):
        server = self.serve("--web.listen-address=127.0.0.1:0")
        ports = wait_until(lambda: len(found := set(re.findall(r"127\.0\.0\.1:(\d+)", "".join(server.log)))) == 2
                           and found, "two addresses")
        for port in ports:
            server.port = int(port)
            self.assertEqual(server.get("/metrics").status, 200)

    def test_a_port_in_use_is_an_error_that_names_it(self):
        server = self.serve()
        result = self.command("serve", f"--web.listen-address=127.0.0.1:{server.port}",
                              f"--history.path={self.folder / 'other.db'}")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"127.0.0.1:{server.port}", result.stderr)

    def test_a_wrapper_serves_its_run(self):
        wrapper = self.start_run(python_job("input()"), stdin=subprocess.PIPE,
                                 flags=["--web.listen-address=127.0.0.1:0"])
        wrapper.wait_address()
        # The server listens before it starts the job.
        wait_until(lambda: wrapper.job_value("rightsize_job_active_runs", "job") == 1, "the run")
        wrapper.process.stdin.write(b"\n")
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)


if __name__ == "__main__":
    main()
