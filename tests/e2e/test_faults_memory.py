"""A control group has the memory limits that we ship, and clients fill its memory. The server survives, and can be
scraped."""
import contextlib
import pathlib
import re
import resource
import socket
import sqlite3
import sys
import threading
import time

from support import DEADLINE, EXPORTER, Case, main, python_job, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/accuracy"))
import groups  # noqa: E402

SHIPPED = ("kubernetes/sidecar/native.yaml", "kubernetes/sidecar/classic.yaml", "kubernetes/daemonset/daemonset.yaml",
           "kubernetes/central/central.yaml", "helm/rightsize-exporter/values.yaml")
SAMPLES = 20000
LONG = 40000  # 64 MiB more than fits into one answer, and more than is drawn in one pass
JOBS = 30000  # a list of these takes 70 MiB while it is made
ADDRESSES = 96 << 20


def shipped_limits():
    """Returns {bytes: names of the manifests}. A job also has a CPU limit."""
    found = {}
    for name in SHIPPED:
        limits = re.findall(r"limits: \{memory: (\d+)Mi\}", (ROOT / "deploy" / name).read_text(encoding="utf-8").split("- name: main")[0])
        if not limits:
            raise AssertionError(f"{name} has no limit of memory")
        for limit in limits:
            found.setdefault(int(limit) << 20, []).append(name)
    return found


def request(path, more=""):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode()


# Requests of clients that do not read the answers: (number of clients, request).
UNREAD = [(20, request("/series.csv?job_name=job")),
          (4, request("/series.csv?job_name=job", "Accept-Encoding: gzip\r\n")),
          (1, request("/series?job_name=long&points=5000")),
          (1, request("/report?job_name=long")),
          (1, request("/runs?job_name=job&limit=10000")),
          (1, request("/jobs?limit=100000")),
          (1, request("/overview?runs=100")),
          (1, request("/recommend?job_name=job")),
          (8, request("/metrics?exclude[]=disk") * 8),
          (8, request("/metrics") * 8),
          # Bodies and headers that never end.
          (20, b"POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 262144\r\n\r\n" + b"x" * 250000),
          (20, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 15000)]


class Limited(Case):
    def serve_limited(self, limiting):
        server = self.start_program(
            [EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}", "--no-jobs.recognise",
             "--sample.interval=200ms", "--web.allow-changes"], preexec_fn=limiting)
        server.wait_address()
        wait_until(lambda: server.get("/-/ready").status == 200, "the first sample")
        return server

    def limited(self, limit):
        """Starts a server in its own group. Returns the folder of the group."""
        folder = self.enterContext(groups.limited_memory(f"memory-{limit >> 20}", limit))
        if isinstance(folder, str):
            self.skipTest(folder)
        return self.serve_limited(lambda: (folder / "cgroup.procs").write_text("0")), folder


class Said(Limited):
    def test_limits_are_what_is_said_of_them(self):
        """Checks the limits in the log for each memory limit in the table of SECURITY.md, and the limits in the source
        for no memory limit."""
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in
                (ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("| held at most |")[2].splitlines()[2:]]
        rows = rows[:next(i for i, row in enumerate(rows) if not row)]
        header = ("64 MiB", -2), ("256 MiB", -3)
        for limit, column in header:
            said = {re.split("[:,;]", row[0])[0]: row[column] for row in rows}
            server, _ = self.limited(int(limit.split()[0]) << 20)
            held = server.says(f'msg=memory limit="{limit}" held="([^"]*)"')[1].split(", ")
            self.assertEqual(server.stop(), 0)
            self.assertEqual(len(held), len(rows) - 2)
            for bound in held:
                name = max((name for name in said if bound.startswith(name)), key=len)
                self.assertEqual(bound, f"{name} {said[name]}")
        most = {name: f"{int(number) << int(shift or 0) >> 20} MiB" if shift else number for number, shift, name in re.findall(
            r"^X\(\w+, (?:\(size_t\))?(\d+)(?: << (\d+))?, .*\"(.*)\"\)", (ROOT / "exporter/core/memory_budget.h").read_text(encoding="utf-8"), re.M)}
        self.assertEqual(most, {name: row[1] for row in rows for name in [re.split("[:,;]", row[0])[0]] if name in most})

    def test_a_limit_that_is_too_small_is_said(self):
        server = self.serve_limited(lambda: resource.setrlimit(resource.RLIMIT_DATA, (40 << 20, 40 << 20)))
        server.says('level=warn msg="the memory limit is too small')
        self.assertEqual(server.stop(), 0)


class Full(Limited):
    filled = None  # a history, which is made once

    def setUp(self):
        super().setUp()
        if not Full.filled:
            self.fill_history()
            Full.filled = pathlib.Path(self.history).read_bytes()
        else:
            pathlib.Path(self.history).write_bytes(Full.filled)

    def fill_history(self):
        for job in ("job", "long"):
            done = self.run_job(python_job("for i in range(1 << 20): pass"), job, flags=["--sample.interval=100ms"])
            self.assertEqual(done.returncode, 0, done.stderr)
        with contextlib.closing(sqlite3.connect(self.history)) as history, history:
            columns = [row[1] for row in history.execute("PRAGMA table_info(sample)")]
            same = ", ".join(f'"{c}"' for c in columns if c not in ("id", "at"))
            for run, samples in ((1, SAMPLES), (2, LONG)):
                last, = history.execute("SELECT max(id) FROM sample WHERE id >> 32 = ?", (run,)).fetchone()
                history.execute(f"""WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {samples})
                    INSERT INTO sample (id, at, {same}) SELECT {last} + i, at + i, {same} FROM n, sample WHERE id = {last}""")
                history.execute("UPDATE run SET samples = samples + ? WHERE id = ?", (samples, run))
            columns = ",".join(row[1] for row in history.execute("PRAGMA table_info(run)") if row[1] not in ("id", "run_id", "job"))
            history.execute("WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                            "INSERT INTO job(id, name, runs) SELECT i, 'nightly-' || i, 1 FROM n", (JOBS,))
            history.execute(f"INSERT INTO run(id, run_id, job, {columns}) SELECT job.id, 'r' || job.id, job.id, {columns} FROM job, "
                            "(SELECT * FROM run WHERE id = 1) WHERE job.id > 2")
            history.execute("INSERT INTO job_outcome SELECT id, 'succeeded', 1 FROM job WHERE id > 2")

    @staticmethod
    def kills(folder):
        for name in ("memory.events", "memory.oom_control"):
            if (folder / name).exists():
                return int(re.search(r"^oom_kill (\d+)", (folder / name).read_text(), re.M)[1])
        raise AssertionError(f"no account of kills in {folder}")

    def ask(self, server, asked):
        """A client with a very small receive buffer."""
        client = socket.socket()
        self.addCleanup(client.close)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(DEADLINE)
        client.connect((server.host, server.port))
        client.settimeout(0.02)
        with contextlib.suppress(OSError):
            client.sendall(asked)
        return client

    def check(self, limit):
        server, folder = self.limited(limit)
        self.fill(server, lambda: self.figures(folder))
        self.assertEqual(self.kills(folder), 0)
        self.assertEqual(server.stop(), 0)

    @staticmethod
    def figures(folder):
        """Prints figures for the reader of the log."""
        def number(*names):
            return next((int((folder / name).read_text()) >> 20 for name in names if (folder / name).exists()), None)
        sockets = re.search(r"^sock (\d+)", (folder / "memory.stat").read_text(), re.M)
        print(f"{number('memory.max', 'memory.limit_in_bytes')} MiB: at most {number('memory.peak', 'memory.max_usage_in_bytes')} MiB used, "
              f"{int(sockets[1]) / (1 << 20) if sockets else 0:.1f} MiB in sockets now", flush=True)

    def fill(self, server, when_full=lambda: None):
        """While clients request everything, the server survives and is scraped. When they are gone, it answers
        again."""
        scraped, done = [], threading.Event()

        def scrape():
            while not done.is_set():
                scraped.append(server.get("/metrics", X_Prometheus_Scrape_Timeout_Seconds="10").status)
                time.sleep(0.05)
        scraper = threading.Thread(target=scrape)
        scraper.start()
        try:
            clients = [self.ask(server, asked) for n, asked in UNREAD for _ in range(n)]
            # The last request. All earlier ones were answered, refused or closed.
            last = server.get("/series.csv?job_name=job")
            history = server.get("/runs?job_name=job")
            when_full()
        finally:
            done.set()
            scraper.join()
        self.assertIsNone(server.process.poll())
        self.assertEqual(set(scraped), {200})
        self.assertGreater(len(scraped), 2)
        for answer in (last, history):
            if answer.status != 200:
                self.assertEqual(answer.status, 503)
                self.assertIn("try again", answer.json["error"]["message"])
        for client in clients:
            client.close()
        for path in ("/series.csv?job_name=job", "/runs?job_name=job&limit=10000", "/report?job_name=long",
                     "/series?job_name=long&points=5000", "/jobs?limit=100"):
            wait_until(lambda path=path: server.get(path).status == 200, f"room for {path}")

    def test_limit_of_addresses_is_kept(self):
        """Beyond the limit malloc fails, and the program ends. The bounds prevent this."""
        server = self.serve_limited(lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES)))
        self.fill(server)
        self.assertEqual(server.stop(), 0)

    def answer_when_free(self, server, path):
        """The answer, once memory is free: 503 says to try again, since other work may hold the memory."""
        answers = []
        wait_until(lambda: answers.append(server.get(path)) or answers[-1].status != 503, f"memory for {path}")
        for busy in answers[:-1]:
            self.assertRegex(busy.json["error"]["message"], "or try again in a second$")
        return answers[-1]

    def test_what_is_too_large_says_what_to_ask_for_instead(self):
        server, _ = self.limited(min(shipped_limits()))
        refused = self.answer_when_free(server, "/series.csv?job_name=long")
        self.assertEqual((refused.status, refused.json["error"]["code"]), (422, "too_large"))
        self.assertRegex(refused.json["error"]["message"], r"larger than \S+ MiB, with a memory limit of \S+ MiB; request less with from, to$")
        refused = server.get("/jobs?limit=100000")
        self.assertEqual((refused.status, refused.json["error"]["code"]), (503, "overloaded"))
        self.assertRegex(refused.json["error"]["message"], r"no memory left .*; request less with limit; or try again")
        self.assertEqual(len(self.answer_when_free(server, "/jobs?limit=100").json["jobs"]), 100)
        first = self.answer_when_free(server, "/series?job_name=long&points=2").json["series"]["at"][0]
        part = self.answer_when_free(server, f"/series.csv?job_name=long&to={first}")
        self.assertEqual(part.status, 200)
        self.assertGreater(part.text.count("\n"), LONG // 4)

    def test_shipped_limits_are_kept(self):
        for limit, names in shipped_limits().items():
            with self.subTest(limit=limit, manifests=names):
                self.check(limit)


if __name__ == "__main__":
    main()
