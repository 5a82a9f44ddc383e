"""The page at / and its requests, as far as they can be tested without a browser (tests/web has the rest)."""
import base64
import collections
import csv
import gzip
import hashlib
import html
import html.parser
import http.client
import io
import json
import pathlib
import re
import subprocess
import sys

from support import DEADLINE, EXPORTER, Case, main, python_job, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "web"))

from history import History, hostile_name  # noqa: E402

MIB = 1024 ** 2
PAGE_MAX = 150 * 1024
VOID = {"meta", "link", "br", "img", "input"}
START = 1.7e9


class Elements(html.parser.HTMLParser):
    """All elements with their text; one that is not closed, or closed twice, is an error."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found = [], []
        self.feed(text)
        self.close()
        if self.open:
            raise AssertionError(f"not closed: {[e[0] for e in self.open]}")

    def handle_starttag(self, tag, attrs):
        element = (tag, dict(attrs), [])
        self.found.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            raise AssertionError(f"</{tag}> closes nothing: {[e[0] for e in self.open]}")
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.open[-1][2].append(data)

    def all(self, tag):
        return [(attributes, "".join(text)) for name, attributes, text in self.found if name == tag]


def linked(elements):
    return [a[k] for _, a, _ in elements.found for k in ("src", "href") if k in a]


class Page(Case):
    def test_is_small_and_brings_all_that_it_needs(self):
        server = self.serve()
        page = server.get("/", Accept_Encoding="gzip")
        self.assertTrue(page.headers["Content-Type"].startswith("text/html"))
        elements, size = Elements(page.text), len(gzip.compress(page.body))
        files = [f for f in linked(elements) if f.startswith("web/")]
        self.assertEqual(len(files), 3, files)
        for name in files:
            with self.subTest(file=name):
                small, plain = server.get("/" + name, Accept_Encoding="gzip"), server.get("/" + name)
                self.assertEqual((small.status, plain.status), (200, 200))
                self.assertEqual(small.headers["Content-Encoding"], "gzip")
                self.assertIsNone(plain.headers["Content-Encoding"])
                self.assertEqual(gzip.decompress(small.body), plain.body)
                size += len(small.body)
        self.assertLess(size, PAGE_MAX)

    def test_the_script_finds_the_metrics_where_another_option_puts_them(self):
        server = self.serve("--web.telemetry-path=/numbers")
        self.assertIn('<a id="metrics" href="numbers">', server.get("/").text)
        self.assertIn("rightsize_memory_total_bytes", server.get("/numbers?name=rightsize_memory_total_bytes").text)

    def test_is_asked_for_again_only_when_it_changed(self):
        server = self.serve()
        first = server.get("/web/app.js")
        tag = first.headers["ETag"]
        self.assertRegex(tag, r'^"[0-9a-f]{32}"$')
        self.assertEqual(first.headers["Cache-Control"], "no-cache")
        for asked, status in ((tag, 304), (f'"other", {tag}', 304), ("*", 304), ('"other"', 200)):
            with self.subTest(asked=asked):
                again = server.get("/web/app.js", If_None_Match=asked)
                self.assertEqual((again.status, again.headers["ETag"]), (status, tag))
                self.assertEqual(again.body, first.body if status == 200 else b"")

    def test_runs_nothing_but_its_own_files(self):
        server = self.serve()
        for path in ("/", "/web/app.js", "/web/app.css", "/web/icon.svg"):
            headers = server.get(path).headers
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'; script-src 'self'; style-src 'self'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        elements = Elements(server.get("/").text)
        self.assertEqual([text for _, text in elements.all("script") if text.strip()], [])
        self.assertEqual(elements.all("style"), [])
        self.assertEqual([a for _, a, _ in elements.found if "style" in a or any(k.startswith("on") for k in a)], [])

    def test_no_function_replaces_one_of_another_file(self):
        names = collections.Counter(re.findall(r"^(?:async )?function (\w+)", self.serve().get("/web/app.js").text, re.MULTILINE))
        self.assertGreater(len(names), 100)
        self.assertEqual([name for name, n in names.items() if n > 1], [])

    def test_links_all_routes_below_wherever_it_is(self):
        server = self.serve()
        links = linked(Elements(server.get("/").text))
        for link in links:
            self.assertFalse(link.startswith("/") or ":" in link, link)
        for route in ("metrics", "recommend", "overview", "series", "series.csv", "report", "events", "-/healthy"):
            self.assertIn(route, links)


class Runbook(Case):
    def test_an_unknown_page_of_the_manual_names_the_known_ones(self):
        answer = self.serve().get("/manual/prizes")
        self.assertEqual(answer.status, 404)
        self.assertRegex(answer.json["error"]["message"], "/manual, .*/manual/prices, ")

    def test_is_one_page_with_a_section_for_each_link_of_an_alert(self):
        server = self.serve()
        answer = server.get("/runbook")
        elements = Elements(answer.text)
        self.assertTrue(answer.headers["Content-Type"].startswith("text/html"))
        self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
        ids = {a["id"] for name, a, _ in elements.found if name == "h2"}
        rules = (pathlib.Path(__file__).parents[2] / "dashboards/prometheus/rules.yml").read_text()
        wanted = set(re.findall(r"/runbook#([\w-]+)", rules))
        self.assertGreater(len(wanted), 10)
        self.assertEqual(ids, wanted)
        self.assertIn("<code>RightsizeOomKilled</code>", answer.text)
        self.assertNotRegex(answer.text, r"\*\*|`|^#")

    def test_grafana_is_linked_where_it_is_known(self):
        server = self.serve()
        self.assertNotIn('id="grafana"', server.get("/").text)
        server.stop()
        server = self.serve("--web.grafana-url=https://grafana.example.org/a&b/")
        anchors = {a.get("id"): a["href"] for name, a, _ in Elements(server.get("/").text).found if name == "a"}
        self.assertEqual(anchors["grafana"], "https://grafana.example.org/a&b/")


class Data(Case):
    """The data behind the page. The history is generated, so all numbers are known."""

    def setUp(self):
        super().setUp()
        self.run_job(["sleep", "0"], "real")
        self.made = History(self.history)

    def serve_made(self):
        self.made.close()
        return self.serve("--history.retention=36500d", "--history.full-rate=36500d")

    def spiky(self, n):
        """A run whose only samples that matter are two."""
        run = self.made.run("spiky", START, n, 900 * MIB, 1, samples=n)
        self.made.samples(run, n, 1, lambda i, _: {
            "memory_bytes": 900 * MIB if i == 777 else 3 * MIB if i == 778 else 100 * MIB, "cpu_seconds": 0.5})
        return run

    def test_an_empty_history_has_no_jobs(self):
        self.history = str(self.folder / "none.db")
        server = self.serve()
        answer = server.get("/overview").json
        self.assertEqual((answer["jobs"], answer["total"], set(answer["counts"].values())), ([], 0, {0}))
        self.assertEqual(answer["savings"], {"usd_a_month": None, "jobs": 0})

    def test_overview_has_each_job_with_its_last_runs(self):
        for i, outcome in enumerate(("succeeded", "failed", "succeeded", "oom_killed")):
            self.made.run("a", START + i * 100, 10 + i, 256 * MIB, 1, outcome, requested_cpu_cores=2,
                          requested_memory_bytes=1024 * MIB)
        self.made.run("b", START + 50, 5, 64 * MIB, 1)
        jobs = {j["job_name"]: j for j in self.serve_made().get("/overview?runs=3").json["jobs"]}
        self.assertEqual(set(jobs), {"real", "a", "b"})
        a = jobs["a"]
        self.assertEqual(a["outcomes"], ["failed", "succeeded", "oom_killed"])
        self.assertEqual((a["runs"], a["duration_seconds"], a["memory_peak_bytes"]), (4, [12], [256 * MIB]))
        # The run used 1 of 2 cores and 0.25 of 1 GiB. 8 GiB weigh as much as a core.
        self.assertAlmostEqual(a["waste"], 1 - (1 + 0.25 / 8) / (2 + 1 / 8), delta=5.1e-5)  # four digits
        self.assertIsNone(jobs["b"]["waste"])

    def test_lists_of_jobs_come_a_page_at_a_time(self):
        for i in range(25):
            self.made.run(f"etl/load-{i:02}", START + i, 10, (i + 1) * MIB, 1, "failed" if i % 5 == 4 else "succeeded",
                          requested_memory_bytes=64 * MIB)
        server = self.serve_made()
        for route in ("/jobs", "/overview"):
            def page(question, route=route):
                answer = server.get(f"{route}?{question}")
                self.assertEqual(answer.status, 200, question)
                return [j["job_name"] for j in answer.json["jobs"]], answer.json["total"], answer.json["counts"]
            names = [f"etl/load-{i:02}" for i in range(25)]
            with self.subTest(route=route):
                self.assertEqual(page("limit=3&sort=name")[:2], (names[:3], 26))
                self.assertEqual(page("limit=3&sort=name&offset=3")[:2], (names[3:6], 26))
                self.assertEqual(page("sort=name&offset=25")[:2], (["real"], 26))
                self.assertEqual(page("sort=name&offset=26")[:2], ([], 26))
                self.assertEqual(page("search=LOAD%20etl%2F&limit=1")[:2], (["etl/load-24"], 25))
                self.assertEqual(page("search=nobody")[:2], ([], 0))
                self.assertEqual(page("show=failed&sort=-last")[:2], (names[24::-5], 5))
                # The newest successes of these jobs; the other job's and that of a job without success are not among them.
                self.assertEqual(page("search=etl&sort=-memory&limit=2")[0], ["etl/load-23", "etl/load-22"])
                self.assertEqual(page("search=etl&sort=memory&offset=20")[0], names[4::5])
                counts = page("search=etl&limit=1&show=failed")[2]
                self.assertEqual((counts["all"], counts["failed"], counts["succeeded"], counts["no_request"]), (25, 5, 20, 0))
                for bad in ("limit=0", "offset=-1", "sort=nonsense", "show=nonsense", "search="):
                    self.assertEqual(server.get(f"{route}?{bad}").status, 400, bad)
        wanted = server.get("/overview?search=load-00&advise=1").json["jobs"][0]
        advice = server.get("/recommend?job_name=etl/load-00&details=1").json
        self.assertEqual(wanted["resources"], advice["resources"])
        self.assertEqual(wanted["runs_a_month"], advice["runs_a_month"])

    def test_overview_says_which_requests_are_too_small(self):
        for job, requested in (("small", 64), ("large", 4096)):
            for i in range(5):
                self.made.run(job, START + i * 100, 10, 256 * MIB, 1, requested_memory_bytes=requested * MIB)
        server = self.serve_made()
        jobs = server.get("/overview?advise=1").json["jobs"]
        self.assertEqual({j["job_name"]: j["too_small"] for j in jobs}, {"real": False, "small": True, "large": False})

    def test_a_month_has_as_many_runs_as_the_dates_of_the_history_say(self):
        for i in range(5):
            self.made.run("daily", START + i * 86400, 10, MIB, 1)
        self.made.run("new", START, 10, MIB, 1)
        self.made.run("new", START + 86399, 10, MIB, 1)
        server = self.serve_made()
        self.assertEqual(server.get("/recommend?job_name=daily&details=1").json["runs_a_month"], 30)
        self.assertIsNone(server.get("/recommend?job_name=new&details=1").json["runs_a_month"])

    def test_series_is_thinned_without_losing_a_peak(self):
        run = self.spiky(5000)
        server = self.serve_made()
        for points in (2, 50, 1000, 5000):
            with self.subTest(points=points):
                answer = server.get(f"/series?run={run}&points={points}").json
                memory, at = answer["series"]["columns"]["memory_bytes"], answer["series"]["at"]
                self.assertEqual((max(memory), min(memory)), (900 * MIB, 3 * MIB))
                self.assertLessEqual(len(at), points)
                self.assertEqual((len(at), at), (answer["series"]["n"], sorted(at)))
                self.assertEqual((answer["samples"], answer["position"]), (5000, 5000))
        part = server.get(f"/series?run={run}&from={START + 700}&to={START + 900}").json["series"]
        self.assertEqual((part["n"], part["at"][0], part["at"][-1]), (201, START + 700, START + 900))
        self.assertEqual(set(part["columns"]["cpu_cores"]), {0.5})

    def test_what_is_not_there_is_said(self):
        server = self.serve_made()
        for path, status, words in (
                ("/series", 400, "run is missing"), ("/series?run=nobody", 404, 'no run "nobody"'),
                ("/series?job_name=nobody", 404, 'no job "nobody"'), ("/report?run=nobody", 404, "no run"),
                ("/series.csv?run=nobody", 404, "no run"), ("/events?run=nobody", 404, "no run"),
                ("/events", 400, "run is missing"), ("/series?run=nobody&points=1", 400, "points")):
            with self.subTest(path=path):
                answer = server.get(path)
                self.assertEqual(answer.status, status)
                self.assertIn(words, answer.json["error"]["message"])

    def test_csv_has_every_sample(self):
        run = self.spiky(5000)
        server = self.serve_made()
        rows = list(csv.DictReader(io.StringIO(server.get(f"/series.csv?run={run}").text)))
        self.assertEqual(len(rows), 5000)
        self.assertEqual(rows[777]["memory_bytes"], str(900 * MIB))
        self.assertEqual(rows[777]["vram_bytes"], "")
        peers = list(csv.reader(io.StringIO(server.get(f"/series.csv?run={run}&format=resource_tracker").text)))
        self.assertEqual((len(peers), {len(r) for r in peers}), (5001, {32}))
        named = dict(zip(peers[0], peers[778]))
        self.assertEqual(list(named)[0], "timestamp")
        self.assertEqual((named["process_memory_mib"], named["process_cpu_usage"], named["system_gpu_usage"]), ("900", "0.5", ""))


class Report(Case):
    def check(self, text):
        elements = Elements(text)
        policy = next(a["content"] for a, _ in elements.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
        scripts = [(a, t) for a, t in elements.all("script") if a.get("type") != "application/json"]
        self.assertEqual((len(scripts), len(elements.all("style"))), (1, 1))
        for kind, (_, content) in (("script", scripts[0]), ("style", elements.all("style")[0])):
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            self.assertIn(f"{kind}-src 'sha256-{digest}'", policy)
        self.assertEqual([link for link in linked(elements) if link != "data:,"], [])
        data = next(t for a, t in elements.all("script") if a.get("type") == "application/json")
        self.assertNotIn("<", data)
        return json.loads(data)

    def test_is_one_file_that_loads_nothing(self):
        self.run_job(["sleep", "0.5"], "etl/load", flags=["--sample.interval=100ms"])
        target = self.folder / "report.html"
        result = self.command("report", "--job-name=etl/load", f"--history.path={self.history}", "-o", str(target))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        data = self.check(target.read_text())
        self.assertEqual(data["series"]["run"]["job_name"], "etl/load")
        self.assertGreater(data["series"]["series"]["n"], 0)
        self.assertTrue(data["recommend"]["resources"])
        self.assertLess(target.stat().st_size, 200_000)
        # The report without JavaScript: the sentence of /recommend, the line to paste, and CPU and memory as SVG.
        still = target.read_text().split("<main")[1].split("</main>")[0]
        request = re.match(r"Request .+?(?= for about )", data["recommend"]["summary"])[0]
        self.assertIn(f'<p class="answer">{request}.</p>', still)
        self.assertIn(html.escape(data["recommend"]["paste"]["text"].strip()), still)
        self.assertRegex(still, r"as of \d{4}-\d\d-\d\d \d\d:\d\d UTC\. The run has ended\.")
        self.assertEqual(len(re.findall(r'<path class="use" d="M[\d.]+ \d+(?:L[\d.]+ \d+)+"/>', still)) >= 2, True, still[:2000])
        self.assertEqual([p.name for p in self.folder.glob("report*")], ["report.html"])

    def test_is_there_for_a_failed_run_of_any_name(self):
        self.run_job(["false"], hostile_name())
        server = self.serve()
        run = self.only_run(hostile_name())["run_id"]
        data = self.check(server.get(f"/report?run={run}").text)
        self.assertEqual(data["series"]["run"]["job_name"], hostile_name())
        self.assertEqual((data["series"]["run"]["outcome"], data["recommend"]), ("failed", None))

    def test_no_link_of_others_leads_a_report_astray(self):
        """In a folder where others may write, too, they can only guess the name that the report has until it is
        complete."""
        self.run_job(["true"], "etl/load")
        victim, target = self.folder / "victim", self.folder / "report.html"
        victim.write_text("mine")
        command = [EXPORTER, "report", "--job-name=etl/load", f"--history.path={self.history}", "-o", str(target)]
        plant = 'ln -s "$1" "$2.part-$$" && shift 2 && exec "$@"'
        subprocess.run(["sh", "-c", plant, "sh", victim, target, *command], check=True, env=self.environment)
        self.assertEqual(victim.read_text(), "mine")
        self.assertIn("<!DOCTYPE html>", target.read_text())
        self.assertFalse(target.is_symlink())
        self.assertEqual(list(self.folder.glob("*.part-*")), [])

    def test_leaves_no_half_file(self):
        self.run_job(["true"])
        result = self.command("report", "--job-name=job", f"--history.path={self.history}", "-o", f"{self.folder}/no/such/file")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No such file or directory", result.stderr)


class Events(Case):
    def stream(self, server, path, **headers):
        """After a request to close, the connection belongs to the response and ends with it."""
        connection = http.client.HTTPConnection(server.host, server.port, timeout=DEADLINE)
        connection.request("GET", path, headers={"Connection": "close", **{k.replace("_", "-"): v for k, v in headers.items()}})
        response = connection.getresponse()
        self.addCleanup(response.close)
        return response

    def event(self, response):
        """Returns the next event as {field: text}; None at the end."""
        fields = {}
        for line in iter(response.readline, b""):
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if not name and fields:
                return fields
            if name:
                fields[name] = value
        return None

    def status_once(self, server, path):
        response = self.stream(server, path)
        response.close()
        return response.status

    def start_followed(self, server):
        code = "import sys; sys.stdin.readline()"
        job = self.start_run(python_job(code), "live", flags=["--sample.interval=100ms"], stdin=subprocess.PIPE)
        return job, wait_until(lambda: (server.get("/runs?job_name=live").json.get("runs") or [{}])[0].get("run_id"), "the run")

    def test_follow_a_real_run_to_its_end(self):
        server = self.serve()
        job, run = self.start_followed(server)
        stream = self.stream(server, f"/events?run={run}")
        self.assertEqual((stream.status, stream.headers["Content-Type"]), (200, "text/event-stream"))
        first, second = self.event(stream), self.event(stream)
        self.assertEqual((first["event"], second["event"]), ("samples", "samples"))
        self.assertEqual(int(second["id"]), int(first["id"]) + json.loads(second["data"])["n"])
        job.process.stdin.write(b"\n")
        job.process.stdin.flush()
        events = [second, *iter(lambda: self.event(stream), None)]
        self.assertEqual(events[-1]["event"], "end")
        self.assertEqual(int(events[-2]["id"]), server.get(f"/series?run={run}").json["position"])
        job.wait()
        again = self.stream(server, f"/events?run={run}&after=0", Last_Event_ID=str(int(events[-2]["id"]) - 1))
        self.assertEqual(json.loads(self.event(again)["data"])["n"], 1)

    def test_are_bounded_and_hold_up_neither_others_nor_the_end(self):
        server = self.serve()
        job, run = self.start_followed(server)
        streams = [self.stream(server, f"/events?run={run}") for _ in range(32)]
        self.assertEqual({s.status for s in streams}, {200})
        refused = server.get(f"/events?run={run}")
        self.assertEqual((refused.status, refused.json["error"]["code"]), (503, "too_many_streams"))
        self.assertEqual(server.get("/metrics").status, 200)
        for s in streams:
            s.close()
        wait_until(lambda: self.status_once(server, f"/events?run={run}") == 200, "a stream that came free")
        self.assertEqual(self.stream(server, f"/events?run={run}").status, 200)
        self.assertEqual(server.stop(), 0)
        job.process.stdin.write(b"\n")
        job.process.stdin.flush()


if __name__ == "__main__":
    main()
