"""Attacks over HTTP: pages of other sites, rebound names, and too much of everything."""
import base64
import concurrent.futures
import contextlib
import pathlib
import re
import socket
import sqlite3
import statistics
import time

from support import DEADLINE, Case, main, python_job, wait_until

PATHS = ("/", "/metrics", "/jobs", "/runs?job_name=job", "/overview", "/server", "/-/ready", "/web/app.js", "/events?run=x")


class ReboundNames(Case):
    """An attacker's host name resolves to 127.0.0.1, in a browser on the exporter's machine."""

    def test_nothing_is_read_by_a_name_that_is_not_ours(self):
        server = self.serve()
        self.assertEqual(self.run_job(["true"]).returncode, 0)
        for path in PATHS:
            for host in ("rebound.example", "rebound.example:80", "127.0.0.1.rebound.example", "localhost.rebound.example"):
                for method in ("GET", "HEAD"):
                    with self.subTest(path=path, host=host, method=method):
                        answer = server.get(path, method, Host=host)
                        self.assertEqual(answer.status, 403)
                        if method == "GET":
                            error = answer.json["error"]
                            self.assertEqual(error["code"], "bad_host")
                            self.assertIn(host, error["message"])
                            self.assertIn("--web.allowed-host", error["message"])

    def test_addresses_and_localhost_are_ours(self):
        server = self.serve()
        for host in ("127.0.0.1", f"127.0.0.1:{server.port}", "[::1]:9877", "localhost:9877", "LOCALHOST", "192.0.2.1:80"):
            with self.subTest(host=host):
                self.assertEqual(server.get("/metrics", Host=host).status, 200)

    def test_names_that_were_given_are_ours(self):
        server = self.serve("--web.allowed-host=usage.example", "--web.allowed-host=.svc.example")
        for host, status in (("usage.example", 200), ("Usage.Example:443", 200), ("a.b.svc.example", 200),
                             ("rebound.example", 403), ("x.usage.example", 403), ("localhost", 200)):
            with self.subTest(host=host):
                self.assertEqual(server.get("/metrics", Host=host).status, status)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.serve("--web.allowed-host=*").get("/metrics", Host="rebound.example").status, 200)

    def test_a_password_is_enough(self):
        """A page of another name has no password, whatever its name resolves to."""
        config = self.folder / "web.yml"
        # The password is "test". Its hash has the lowest cost.
        config.write_text("basic_auth_users:\n  user: $2b$04$abcdefghijklmnopqrstuuoD8yw7MmybLKVooaTGGZAt3HXugv2.a\n")
        server = self.serve(f"--web.config.file={config}")
        self.assertEqual(server.get("/metrics", Host="usage.example").status, 401)
        shown = "Basic " + base64.b64encode(b"user:test").decode()
        self.assertEqual(server.get("/metrics", Host="usage.example", Authorization=shown).status, 200)

    def test_a_wrapper_that_serves_is_guarded_too(self):
        run = self.start_run(["sleep", "600"], flags=["--web.listen-address=127.0.0.1:0"])
        run.wait_address()
        self.assertEqual(run.get("/metrics").status, 200)
        self.assertEqual(run.get("/metrics", Host="rebound.example").status, 403)


HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
N = str(len(HIDDEN)).encode()


class Smuggled(Case):
    """A request hidden in another one. A proxy in front of the server reads it differently."""

    AMBIGUOUS = [
        b"Content-Length: " + N + b"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
        b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" + HIDDEN,
        b"Content-Length: 0\r\nContent-Length: " + N + b"\r\n\r\n" + HIDDEN,
        b"Content-Length: " + N + b"\r\nContent-Length: 0\r\n\r\n" + HIDDEN,
        b"Content-Length: 0, " + N + b"\r\n\r\n" + HIDDEN,
        b"Content-Length: +" + N + b"\r\n\r\n" + HIDDEN,
        b"Transfer-Encoding: xchunked\r\nContent-Length: " + N + b"\r\n\r\n" + HIDDEN,
        b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
        b"Transfer-Encoding : chunked\r\nContent-Length: " + N + b"\r\n\r\n" + HIDDEN,
        b"Content-Length\t: " + N + b"\r\n\r\n" + HIDDEN,
        b"Host: rebound.example\r\n\r\n" + HIDDEN,
        b"Origin: http://localhost\r\nOrigin: http://rebound.example\r\n\r\n" + HIDDEN,
        b"Authorization: Basic YTpi\r\nAuthorization: Bearer x\r\n\r\n" + HIDDEN,
        b"Content-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}" + HIDDEN,
        b"Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n\r\n" + HIDDEN,
        # Header values that continue in the next line. Some programs join that line to the name, others to the value.
        b"Content-Length:\r\n " + N + b"\r\n\r\n" + HIDDEN,
        b"Content-Length: 0\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
        b"Authorization: Basic YTpi\r\nAuthorization:\r\n Bearer x\r\n\r\n" + HIDDEN,
        b"Origin:\r\n http://rebound.example\r\n\r\n" + HIDDEN,
    ]

    @staticmethod
    def raw(server, request):
        reply = b""
        with socket.create_connection((server.host, server.port), DEADLINE) as client, \
                contextlib.suppress(ConnectionResetError):
            client.sendall(request)
            while received := client.recv(1 << 16):
                reply += received
        return reply

    def test_what_is_ambiguous_is_refused_and_ends_the_connection(self):
        server = self.serve()
        for method in (b"GET", b"POST"):
            for headers in self.AMBIGUOUS:
                with self.subTest(method=method, headers=headers[:70]):
                    request = method + b" /-/ready HTTP/1.1\r\nHost: localhost\r\n" + headers
                    # If a connection received nothing, the request is repeated, because a reset may overtake the
                    # answer.
                    reply = next(filter(None, (self.raw(server, request) for _ in range(5))), b"")
                    statuses = re.findall(rb"HTTP/1\.1 (\d+)", reply)
                    # A request that cannot be parsed may get two errors, but never an answer.
                    self.assertEqual(set(statuses), {b"400"}, reply)
                    self.assertNotIn(b"/hidden", reply)

    def test_an_old_request_has_no_chunks(self):
        server = self.serve()
        reply = self.raw(server, b"GET /-/ready HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n"
                         b"\r\n0\r\n\r\n" + HIDDEN)
        self.assertEqual(re.findall(rb"HTTP/1\.\d (\d+)", reply), [b"400"], reply)

    def test_head_of_a_stream_has_no_body_that_could_be_the_next_answer(self):
        server = self.serve()
        self.assertEqual(self.run_job(["true"]).returncode, 0)
        run = server.get("/runs?job_name=job").json["runs"][0]["run_id"]
        for path, status in ((f"/events?run={run}", b"200"), ("/events?run=none", b"404"), ("/events", b"400")):
            reply = self.raw(server, f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() +
                             b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertEqual(re.findall(rb"HTTP/1\.1 (\d+)", reply), [status, b"200"], reply)
            head, _, rest = reply.partition(b"\r\n\r\n")
            self.assertTrue(rest.startswith(b"HTTP/1.1 200"), reply)
            self.assertEqual(b"text/event-stream" in head, status == b"200")

    def test_the_host_of_the_request_line_is_the_host(self):
        server = self.serve()
        for target, status in ((b"http://localhost/-/ready", b"200"), (b"HTTP://LocalHost/-/ready", b"200"),
                               (b"http://rebound.example/-/ready", b"400"), (b"http://localhost@rebound.example/-/ready", b"400"),
                               (b"http://localhost:80/-/ready", b"400"), (b"http:///-/ready", b"400")):
            with self.subTest(target=target):
                reply = self.raw(server, b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                self.assertEqual(re.findall(rb"HTTP/1\.1 (\d+)", reply), [status], reply)

    def test_a_body_that_is_announced_too_long_is_not_waited_for(self):
        server = self.serve("--web.allow-changes")
        for length, status in ((b"10737418240", b"413"), (b"1048577", b"413")):
            for method in (b"POST", b"GET", b"HEAD"):
                with self.subTest(length=length, method=method):
                    reply = self.raw(server, method + b" /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                     b"Content-Length: " + length + b"\r\n\r\n{")
                    self.assertEqual(re.findall(rb"HTTP/1\.1 (\d+)", reply), [status], reply)


class LongAnswers(Case):
    """A history with a run of hours, and clients that request all samples."""

    SAMPLES = 20000
    PATH = "/series.csv?job_name=job"

    def setUp(self):
        super().setUp()
        self.assertEqual(self.run_job(python_job("for i in range(1 << 22): pass"), flags=["--sample.interval=100ms"]).returncode, 0)
        with contextlib.closing(sqlite3.connect(self.history)) as history:
            columns = [row[1] for row in history.execute("PRAGMA table_info(sample)")]
            last, = history.execute("SELECT max(id) FROM sample").fetchone()
            same = ", ".join(f'"{c}"' for c in columns if c not in ("id", "at"))
            history.execute(f"""WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {self.SAMPLES})
                INSERT INTO sample (id, at, {same}) SELECT {last} + i, at + i, {same} FROM n, sample WHERE id = {last}""")
            history.execute("UPDATE run SET samples = samples + ?", (self.SAMPLES,))
            history.commit()
        self.server = self.serve()
        wait_until(lambda: self.server.get("/-/ready").status == 200, "the first sample")

    def ask(self):
        """Sends a request, and does not read the answer yet. The client has a small receive buffer."""
        client = socket.socket()
        self.addCleanup(client.close)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(DEADLINE)
        client.connect((self.server.host, self.server.port))
        client.sendall(f"GET {self.PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return client

    @staticmethod
    def seconds(function):
        begin = time.monotonic()
        function()
        return time.monotonic() - begin

    def test_scrapes_do_not_wait_for_them(self):
        alone = min(self.seconds(lambda: self.server.get(self.PATH)) for _ in range(2))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = [pool.submit(self.server.get, self.PATH) for _ in range(4)]
            during = []
            while not all(a.done() for a in answers):
                during.append(self.seconds(self.server.metrics))
        for answer in answers:
            self.assertEqual(answer.result().status, 200)
            self.assertGreater(answer.result().text.count("\n"), self.SAMPLES)
        self.assertGreater(len(during), 16)
        self.assertLess(statistics.median(during), alone / 2)

    def test_what_is_short_does_not_wait_for_them(self):
        for short in ("/runs?job_name=job&limit=1", "/overview"):
            self.server.get(short)
            with self.subTest(short=short), concurrent.futures.ThreadPoolExecutor(16) as pool:
                answers = [pool.submit(self.server.get, self.PATH) for _ in range(16)]
                wait_until(lambda: any(a.done() for a in answers), "the first of them")
                self.assertEqual(self.server.get(short).status, 200)
                self.assertLess(sum(a.done() for a in answers), 8)

    def test_who_does_not_read_them_keeps_nobody_from_short_ones(self):
        size = len(self.server.get(self.PATH).body)
        clients = [self.ask() for _ in range((64 << 20) // size + 4)]
        for client in clients:
            client.recv(13)
        self.assertEqual(self.server.get(self.PATH).status, 503)
        self.assertEqual(self.server.get("/runs?job_name=job").status, 200)

    def test_clients_that_do_not_read_them_fill_no_memory(self):
        size = len(self.server.get(self.PATH).body)
        clients = [self.ask() for _ in range((64 << 20) // size + 4)]
        # The last client has an answer, so all other answers were made or refused.
        statuses = [client.recv(13) for client in clients]
        self.assertEqual(set(statuses), {b"HTTP/1.1 200 ", b"HTTP/1.1 503 "})
        made = statuses.count(b"HTTP/1.1 200 ")
        self.assertLessEqual((made - 1) * size, 64 << 20)
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text(encoding="ascii")
        self.assertLess(int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) << 10, 256 << 20)
        self.assertEqual(self.server.get("/metrics").status, 200)
        for client in clients:
            client.close()
        wait_until(lambda: self.server.get(self.PATH).status == 200, "room for another answer")

    def test_it_ends_while_they_wait(self):
        clients = [self.ask() for _ in range(8)]
        self.assertEqual(self.server.stop(), 0)
        for client in clients:
            client.close()


if __name__ == "__main__":
    main()
