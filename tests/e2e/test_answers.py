#!/usr/bin/python3
"""deploy/manual/answers.md: a real answer of each route, and of each error that a request can cause.

The answers are of one run, but have the keys and the form of any: this asks for all of them anew and compares. --update
writes them:

    RIGHTSIZE_EXPORTER=build/e2e/exporter/rightsize-exporter tests/e2e/test_answers.py --update
"""
import contextlib
import http.client
import json
import pathlib
import re
import subprocess
import sys
import time

import support
from support import DEADLINE, EXPORTER, Answer, python_job, wait_until
from test_announce import UnixConnection
from test_openapi import codes_of, operations

PAGE = pathlib.Path(__file__).resolve().parents[2] / "deploy/manual/answers.md"
BLOCK = re.compile(r"(?<=<!-- answers -->\n).*(?=<!-- /answers -->)", re.DOTALL)
COLUMNS = 118
MORE = "…"
TEXT_LINES = 8
# The most items of a list that are shown, and the most keys of an object.
ITEMS, KEYS = 2, 60
# Keys that differ from machine to machine: of measured columns, of warnings, and of a server's price.
BY_MACHINE = ("columns", "over_runs", "warnings", "region", "region_id", "region_note")
JOB = "etl/load"
SENT = "20260824T083000Z-5c1e77a0"
PASSWORD = "$2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay"  # "test"

# Errors that no single request causes.
RARE = {
    ("404", "no_data"): "the successful runs of the job have no value that the request could follow from",
    ("404", "no_history"): "the history is not there yet, or was removed",
    ("409", "recorded_elsewhere"): "another exporter of the same history records this process",
    ("414", ""): "the request line is longer than 16 KiB; the body is no JSON",
    ("422", "too_large"): "the answer would be larger than 64 MiB, or than the memory limit allows; the message names the "
                          "parameters that make it smaller",
    ("431", ""): "the headers are larger than 16 KiB; the body is no JSON",
    ("500", "bad_web_config"): "the file of `--web.config.file` became invalid; the log names the line",
    ("500", "internal"): "the exporter failed; the message says at what",
    ("500", "too_large"): "the metrics would be larger than 64 MiB",
    ("503", "catalogue"): "the file of `--catalogue.path` cannot be read",
    ("503", "no_sample"): "the exporter has just started",
    ("503", "not_allowed"): "the file of `--web.changes-token-file` cannot be read",
    ("503", "not_followed"): "the exporter does not look for runs, or is too busy to answer now",
    ("503", "not_kept"): "the history cannot be written now; send the run again later",
    ("503", "not_reloaded"): "the exporter is too busy to answer now",
    ("503", "overloaded"): "too much is asked at the same time, or the history's disk does not answer; try again in a second",
    ("503", "too_many_failures"): "too many wrong passwords came from this address; try again in a second",
    ("503", "too_many_streams"): "32 clients watch runs already",
    ("503", "text"): "`/-/healthy`: the newest sample is too old; `/-/ready`: there is no sample yet, or runs of others cannot be taken; plain text",
}


class More:
    """Stands for the part of a list or an object that is left out."""


def shortened(value, keys=KEYS, objects=1):
    """The same value with the beginning of its lists, and of large objects."""
    if isinstance(value, list):
        some = [shortened(v, keys, objects) for v in value[:objects if value and isinstance(value[0], (dict, list)) else ITEMS]]
        return some + [More] * (len(some) < len(value))
    if isinstance(value, dict):
        some = {k: shortened(v, keys, objects) for k, v in list(value.items())[:keys]}
        return {**some, MORE: More} if len(some) < len(value) else some
    return value


def written(value, indent=""):
    """JSON with an object or a list in a line where it fits."""
    def one_line(v):
        if v is More:
            return MORE
        if isinstance(v, dict):
            return "{" + ", ".join(MORE if w is More else f"{json.dumps(k)}: {one_line(w)}" for k, w in v.items()) + "}"
        if isinstance(v, list):
            return "[" + ", ".join(map(one_line, v)) + "]"
        return json.dumps(v, ensure_ascii=False)
    line = one_line(value)
    if len(indent) + len(line) <= COLUMNS or not isinstance(value, (dict, list)):
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        return "[\n" + ",\n".join(deeper + written(v, deeper) for v in value) + f"\n{indent}]"
    return "{\n" + ",\n".join(deeper + (MORE if w is More else f"{json.dumps(k)}: {written(w, deeper)}")
                              for k, w in value.items()) + f"\n{indent}}}"


def comparable(value):
    """The value without the marks of what is left out, and without what other machines have not."""
    if isinstance(value, list):
        return [comparable(v) for v in value if v is not More]
    if isinstance(value, dict):
        return {k: comparable(v) for k, v in value.items() if v is not More and k not in BY_MACHINE}
    return value


def read(text):
    """The JSON that a reader sees, without the marks."""
    return json.loads(re.sub(rf",?\s*{MORE}", "", text).replace("[,", "[").replace("{,", "{"))


def differences(shown, real, path=""):
    """Which keys one of two objects has and the other has not, at any depth."""
    # An empty list shows no keys to compare, such as "because" without a warning.
    if isinstance(shown, list) and isinstance(real, list) and shown and real:
        shown, real = dict(enumerate(shown[:1])), dict(enumerate(real[:1]))
    if not (isinstance(shown, dict) and isinstance(real, dict)):
        return
    for key in shown.keys() ^ real.keys():
        yield f"{path}.{key} is only {'there' if key in shown else 'in what the program answers'}"
    for key in shown.keys() & real.keys():
        yield from differences(shown[key], real[key], f"{path}.{key}")


def form(text, width=90):
    """The first characters of the lines of a text, without what differs from run to run."""
    lines = (re.sub(r"[-+\w.:]*\d[-+\w.:]*", "#", line) for line in text.splitlines())
    # Lists have as many numbers as there were samples, and the shown line is cut behind them.
    lines = (re.sub(r"\[#(,#)*\]?", "[#]", line) for line in lines)
    return [re.sub(rf"(#,)+#?{MORE}?$", "#", line)[:width] for line in lines]


def cut(text, lines=TEXT_LINES):
    shown = [line if len(line) <= COLUMNS else line[:COLUMNS].rstrip() + MORE for line in text.splitlines()]
    return "\n".join(shown[:lines] + [MORE] * (len(shown) > lines)) + "\n"


class Example:
    """A request, and what came back."""

    def __init__(self, route, command, answer, keys=KEYS, lines=TEXT_LINES, objects=1):
        self.route, self.command, self.status = route, command, answer.status
        media = answer.headers["Content-Type"].partition(";")[0]
        self.media, self.is_json = media, media == "application/json"
        self.body = written(shortened(answer.json, keys, objects)) + "\n" if self.is_json else cut(answer.text, lines)
        self.value = comparable(shortened(answer.json, keys, objects)) if self.is_json else None

    @property
    def head(self):
        return f"Status {self.status}, `{self.media}`:"

    def __str__(self):
        fence = "json" if self.is_json else "text"
        return f"```sh\n{self.command}\n```\n\n{self.head}\n\n```{fence}\n{self.body}```\n"


class World(support.Case):
    """Servers with runs to ask for, and what they answered."""

    def setUp(self):
        super().setUp()
        self.examples, self.errors = [], {}
        self.rules = self.folder / "rules.yml"
        self.rules.write_text("rules:\n  - name: nightly\n    command_line: '^/opt/nightly '\n    job_name: nightly\n", encoding="ascii")
        work = python_job("import time\nkept = bytearray(60 << 20); t = time.time()\nwhile time.time() < t + 0.6: pass")
        here = ("--server.vendor=aws", "--server.type=m7i.large", "--server.region=us-east-1", "--server.allocation=ondemand")
        for _ in range(3):
            done = self.run_job(work, JOB, ("--request-cpu=2", "--request-memory=512Mi", "--sample.interval=100ms",
                                            "--input-bytes=10Mi", *here))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.run_job(python_job("raise SystemExit(3)"), "etl/broken")
        self.run_id = self.runs(JOB)[0]["run_id"]
        self.socket = str(self.folder / "rightsize.sock")
        self.server = self.serve(f"--web.unix-socket={self.socket}", f"--jobs.rules={self.rules}", *here)

    def tearDown(self):
        super().tearDown()
        for job in getattr(self, "jobs", ()):
            job.kill()
            job.wait()

    def post(self, path, body, **headers):
        with contextlib.closing(UnixConnection(self.socket)) as connection:
            connection.request("POST", path, body, {"Content-Type": "application/json",
                                                    **{k.replace("_", "-"): v for k, v in headers.items()}})
            response = connection.getresponse()
            return Answer(response, response.read())

    def sleeper(self):
        self.jobs = getattr(self, "jobs", [])
        self.jobs.append(subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL))
        return self.jobs[-1].pid

    def show(self, path, query="", **how):
        """A GET of the first server, as a reader types it."""
        target = path + ("?" + query if query else "")
        quoted = f"'http://127.0.0.1:9877{target}'" if "?" in target else f"http://127.0.0.1:9877{target}"
        answer = self.server.get(target)
        self.assertEqual(answer.status, 200, (target, answer.text))
        self.examples.append(Example(how.pop("route", path), f"curl {quoted}", answer, **how))

    def show_post(self, route, path, body=None, status=200):
        json_of = "'" + written(body, "  ") + "'"
        data = f" \\\n  -H 'Content-Type: application/json' -d {json_of}" if body else " -X POST"
        answer = self.post(path, json.dumps(body) if body else None)
        self.assertEqual(answer.status, status, answer.text)
        self.examples.append(Example("POST " + route, f"curl --unix-socket /run/rightsize.sock http://localhost{path}{data}", answer,
                                     objects=2))
        return answer

    def show_events(self, run_id):
        """The beginning of a stream, which does not end while the run lasts."""
        with contextlib.closing(http.client.HTTPConnection(self.server.host, self.server.port, timeout=DEADLINE)) as connection:
            path = f"/events?run={run_id}"
            wait_until(lambda: self.server.get(f"/series?run={run_id}").status == 200, "the run in the history")
            connection.request("GET", path)
            response = connection.getresponse()
            lines = []
            while not any(line.startswith(b"data:") for line in lines):
                lines.append(response.readline())
            answer = Answer(response, b"".join(lines))
        self.examples.append(Example("/events", f"curl -N 'http://127.0.0.1:9877{path}'", answer))

    def ask_all(self):
        job, run = f"job_name={JOB}", f"run={self.run_id}"
        self.show("/recommend", job)
        self.show("/recommend", job + "&format=kubernetes")
        self.show("/servers", "cpu=4&memory=16Gi&duration=3600&countries=DE&limit=1")
        self.show("/benchmarks", job)
        self.show("/stats", job, keys=20)
        self.show("/runs", job + "&limit=1&details=1")
        self.show("/jobs")
        self.show("/overview")
        self.show("/series", run + "&points=3", keys=8)
        self.show("/series.csv", run, lines=3)
        self.show("/server")
        self.show("/metrics", "collect[]=jobs", lines=12)
        for path in ("/report", "/", "/manual", "/runbook"):
            self.show(path, run if path == "/report" else "", lines=1)
        self.show("/manual/routes", route="/manual/{page}", lines=1)
        self.show("/openapi.json", keys=1)
        self.show("/-/healthy")
        self.show("/-/ready")
        announced = {"pid": self.sleeper(), "job_name": "live", "requested": {"cpu": 2, "memory": "4Gi"}, "input_bytes": "1MiB"}
        started = self.show_post("/jobs", "/jobs", announced, 201)
        self.show_events(started.json["run_id"])
        self.show_post("/jobs", "/jobs", {"pid": self.sleeper(), "helper": True})
        self.show_post("/runs/{run_id}/finish", f"/runs/{started.json['run_id']}/finish",
                       {"outcome": "failed", "exit_code": 1, "end_reason": "DeadlineExceeded"})
        sent = {"run_id": SENT, "job_name": "sent", "started_at": 1787560200, "ended_at": 1787560260, "duration_seconds": 60,
                "outcome": "succeeded", "exit_code": 0,
                "columns": {"memory_bytes": {"n": 60, "mean": 500000000, "min": 400000000, "max": 600000000}}}
        self.show_post("/runs", "/runs", sent, 201)
        self.show_post("/runs", "/runs", [sent, {"run_id": SENT[:-1] + "2"}])
        self.show_post("/-/reload", "/-/reload")

    def error(self, when, answer):
        """An error for the table, by its status and code."""
        code = answer.json["error"]["code"]
        self.assertGreaterEqual(answer.status, 400, when)
        self.errors[str(answer.status), code] = (when, answer.json["error"]["message"])

    def cause_all(self):
        get, job = self.server.get, f"job_name={JOB}"
        self.error("`/runs?job_name=etl/load&limit=0`", get(f"/runs?{job}&limit=0"))
        self.error("`/%00`", get("/%00"))
        self.error("`/job`", get("/job"))
        self.error("`PUT /jobs`", get("/jobs", "PUT"))
        self.error("a header `Host` that names no address of this machine", get("/jobs", Host="rebound.example"))
        with contextlib.closing(http.client.HTTPConnection(self.server.host, self.server.port, timeout=DEADLINE)) as connection:
            connection.putrequest("GET", "/jobs", skip_host=True)
            for _ in range(2):
                connection.putheader("Host", "localhost")
            connection.endheaders()
            response = connection.getresponse()
            self.error("two headers `Host`", Answer(response, response.read()))
        self.error("`/stats?job_name=etl/lod`", get("/stats?job_name=etl/lod"))
        self.error("`/series?run=none`", get("/series?run=none"))
        self.error("`/recommend` of a job whose runs failed", get("/recommend?job_name=etl/broken"))
        self.error("`/recommend?window_days=1` of a job that last ran longer ago", get("/recommend?job_name=sent&window_days=1"))
        self.error("`/recommend?format=fargate` of a job that needs more memory than a task may have", self.does_not_fit())
        self.error('`POST /jobs` with `{"pid": 1}`', self.post("/jobs", '{"pid": 1}'))
        self.error("`POST /jobs` with another `Content-Type`", self.post("/jobs", "{}", Content_Type="text/plain"))
        self.error("a body larger than 256 KiB", self.post("/jobs", " " * (300 << 10)))
        self.error("`POST /jobs` with the id of no process", self.post("/jobs", '{"pid": 4194304, "job_name": "a"}'))
        self.error("`POST /runs/none/finish`", self.post("/runs/none/finish", '{"outcome": "failed"}'))
        self.rules.write_text("rules: 7\n", encoding="ascii")
        self.error("`POST /-/reload` with a mistake in the rules", self.post("/-/reload", None))
        self.cause_refusals()

    def does_not_fit(self):
        """A run that needed more memory than any request on AWS Fargate may have."""
        run = {"run_id": SENT[:-1] + "1", "job_name": "huge", "started_at": time.time() - 100, "ended_at": time.time() - 40,
               "duration_seconds": 60, "outcome": "succeeded",
               "columns": {"cpu_seconds": {"n": 60, "sum": 60}, "cpu_cores": {"n": 60, "mean": 1, "min": 1, "max": 1},
                           "memory_peak_bytes": {"n": 60, "mean": 3e11, "min": 3e11, "max": 3e11}}}
        self.assertEqual(self.post("/runs", json.dumps(run)).status, 201)
        return self.server.get("/recommend?job_name=huge&format=fargate")

    def cause_refusals(self):
        json_type = {"Content_Type": "application/json"}
        body = '{"pid": 1, "job_name": "a"}'
        closed = self.serve(f"--history.path={self.folder}/other.db")
        self.error("a change over TCP without a permission", closed.get("/jobs", "POST", body, **json_type))
        self.error("a change from a page of another site",
                   self.serve(f"--history.path={self.folder}/allowed.db", "--web.allow-changes").get(
                       "/jobs", "POST", body, Origin="http://elsewhere.example", **json_type))
        token = self.folder / "token"
        token.write_text("secret-of-changes\n", encoding="ascii")
        token.chmod(0o600)
        self.error("a change without the token of `--web.changes-token-file`",
                   self.serve(f"--history.path={self.folder}/token.db", f"--web.changes-token-file={token}").get(
                       "/jobs", "POST", body, **json_type))
        config = self.folder / "web.yml"
        config.write_text(f"basic_auth_users:\n  a: {PASSWORD}\nrate_limit:\n  interval: 1h\n  burst: 1\n", encoding="ascii")
        users = self.serve(f"--history.path={self.folder}/users.db", f"--web.config.file={config}")
        self.error("no user, or a wrong password", users.get("/jobs"))
        self.error("more requests than `rate_limit` allows", users.get("/jobs"))

    def table(self):
        """The errors, by status; the common ones first."""
        rows = [(status, code, when, message) for (status, code), (when, message) in self.errors.items()]
        rows += [(status, code, when, "") for (status, code), when in RARE.items()]
        text = "| status | code | when | message |\n|---|---|---|---|\n"
        for status, code, when, message in sorted(rows):
            code = f"`{code}`" if code not in ("", "text") else ""
            text += f"| {status} | {code} | {when} | {self.anywhere(message).replace('|', chr(92) + '|')} |\n"
        return text

    def anywhere(self, message):
        return message.replace(str(self.folder), "/etc/rightsize").replace(f":{self.server.port}", ":9877")

    def page(self):
        """Returns the text between the marks."""
        sections = {}
        for example in self.examples:
            sections.setdefault(example.route, []).append(str(example))
        known = [("POST " if method == "post" else "") + path
                 for path, method, _ in operations(self.server.get("/openapi.json").json)]
        sections = dict(sorted(sections.items(), key=lambda s: (s[0].startswith("POST"), known.index(s[0]))))
        return ("\n" + "\n".join(f"## `{route}`\n\n" + "\n".join(parts) for route, parts in sections.items()) + "\n## Errors\n\n"
                "The body of each error is JSON, unless the table says otherwise:\n\n```json\n"
                + written(self.server.get("/stats?job_name=etl/lod").json) + "\n```\n\n" + self.table())


class Answers(World):
    def test_the_manual_shows_the_answers_of_today(self):
        self.ask_all()
        self.cause_all()
        text = PAGE.read_text(encoding="utf-8")
        if "--update" in sys.argv:
            PAGE.write_text(BLOCK.sub(lambda _: self.page(), text), encoding="utf-8")
            return
        self.compare(text)

    def compare(self, text):
        shown = re.findall(r"```sh\n(.*?)\n```\n\n(Status .*?)\n\n```\w+\n(.*?)```\n", BLOCK.search(text)[0], re.DOTALL)
        of_today = {tuple(form(e.command)): e for e in self.examples}
        self.assertEqual(sorted(tuple(form(command)) for command, _, _ in shown), sorted(of_today))
        for command, head, body in shown:
            with self.subTest(command):
                example = of_today[tuple(form(command))]
                self.assertEqual(head, example.head)
                if example.is_json:
                    self.assertEqual([*differences(comparable(read(body)), example.value)], [])
                else:
                    self.assertEqual(form(body, 50), form(example.body, 50))
        rows = {(status, code.strip("`")) for status, code in re.findall(r"(?m)^\| (\d+) \| (\S*) \|", text)}
        self.assertEqual(rows, {(s, c.replace("text", "")) for s, c in {*self.errors, *RARE}})

    def test_every_route_and_every_error_has_an_example(self):
        self.ask_all()
        self.cause_all()
        document = self.server.get("/openapi.json").json
        wanted = {("POST " if method == "post" else "") + path for path, method, _ in operations(document)}
        self.assertEqual({e.route for e in self.examples}, wanted)
        documented = set().union(*(codes_of(o) for _, _, o in operations(document)))
        elsewhere = {("405", "method_not_allowed")}
        self.assertEqual({*self.errors} - elsewhere | {pair for pair in RARE if pair[1] not in ("", "text")}, documented)
        self.assertEqual({*self.errors} & {*RARE}, set())


if __name__ == "__main__":
    assert EXPORTER or sys.exit("RIGHTSIZE_EXPORTER is to name the program")
    if "--update" in sys.argv:
        sys.exit(0 if support.unittest.main(argv=[sys.argv[0], "Answers.test_the_manual_shows_the_answers_of_today"],
                                            exit=False).result.wasSuccessful() else 1)
    support.main()
