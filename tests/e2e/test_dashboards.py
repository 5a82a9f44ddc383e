"""Dashboards and rules name metrics that exist, and every query of them returns data.

A real Prometheus scrapes real jobs, and evaluates rules.yml. A machine or a short test has no GPU, no limit and no OOM
kill. Queries of such metrics get backfilled series with the same names and labels, in the exporter's format."""
import json
import os
import pathlib
import re
import subprocess
import time

from monitoring import Monitored, for_tests
from support import DEADLINE, EXPORTER, main, python_job, wait_until

DASHBOARDS = pathlib.Path(__file__).parents[2] / "dashboards"
# Values of the variables of the dashboards: a real job without a namespace, and a backfilled job that has one.
JOB, BACKFILLED_JOB = "etl/load", "etl/backfilled"
BACKFILLED = {"instance": "backfilled:9877", "job_name": BACKFILLED_JOB, "namespace": "team a", "cluster": "eu"}
BUSY = python_job("""
import select, sys
block = bytearray(b"x") * (50 << 20)
while not select.select([sys.stdin], [], [], 0.01)[0]: sum(range(20000))
""")
ASKS = ("--request-cpu=2", "--request-memory=1G")

# Metrics of /metrics that are not in the table of metrics, and records that Prometheus makes from the rules: {name:
# labels}.
BESIDE = {"rightsize_collector_success": ("collector",), "rightsize_collector_duration_seconds": ("collector",),
          "ALERTS": ("alertname", "alertstate")}
# Queries that contain these texts have no data in a test although their metrics exist, with the reason.
NEEDS = {
    "rightsize_job_cpu_periods_total": "a CPU quota",
    "rightsize_job_cpu_throttled:": "a CPU quota",
    'outcome="oom_killed"': "an OOM kill",
}
# Metrics that every machine has. A query that uses only these is never answered from backfilled series.
EVERYWHERE = {
    "rightsize_job_cpu_seconds_total", "rightsize_job_memory_bytes", "rightsize_job_memory_peak_bytes",
    "rightsize_job_active_runs", "rightsize_job_runs_total", "rightsize_job_duration_seconds",
    "rightsize_job_overprovisioned_ratio", "rightsize_job_requested_cpu_cores", "rightsize_job_requested_memory_bytes",
    "rightsize_job_recommended_cpu_cores", "rightsize_job_recommended_memory_bytes", "rightsize_job_exit_code", "rightsize_links_info",
    "rightsize_job_expected_duration_seconds", "rightsize_job_start_time_seconds", "rightsize_job_last_end_timestamp_seconds", "rightsize_cpu_seconds_total",
    "rightsize_memory_used_bytes", "rightsize_server_cpu_cores", "rightsize_load1", "rightsize_collector_success",
    "rightsize_history_errors_total", "rightsize_history_samples_missed_total", "process_cpu_seconds_total",
}


def dashboards():
    return {path.stem: json.loads(path.read_text()) for path in sorted((DASHBOARDS / "grafana").glob("*.json"))}


def panels_of(dashboard):
    """All panels, those of collapsed rows included."""
    return [panel for top in dashboard["panels"] for panel in (top, *top.get("panels", ()))]


def as_query(definition):
    """A variable's label_values(SERIES, LABEL) or query_result(EXPRESSION) as a query."""
    if definition.startswith("query_result("):
        return definition.removeprefix("query_result(").removesuffix(")")
    series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", definition).groups()
    return f"count by ({label}) ({series})"


def dashboard_queries():
    """{where: expression} of panels, annotations and variables."""
    found = {}
    for name, dashboard in dashboards().items():
        for panel in panels_of(dashboard):
            for target in panel.get("targets", ()):
                found[f"{name}: {panel['title']} {target['refId']}"] = target["expr"]
        for note in dashboard["annotations"]["list"]:
            if "expr" in note:
                found[f"{name}: mark {note['name']}"] = note["expr"]
        for variable in dashboard["templating"]["list"]:
            if "definition" in variable:
                found[f"{name}: choice of {variable['name']}"] = as_query(variable["definition"])
    return found


def names_in(expression):
    """Returns the metrics and records that an expression names."""
    bare = re.sub(r'"[^"]*"', "", expression)
    words = re.findall(r"(?<![\w:$])[a-zA-Z_][\w:]*\w", bare)
    return {w for w in words if ":" in w or w.startswith(("rightsize_", "process_"))}


def filled_in(expression, choices):
    values = {"__rate_interval": "15s", "__range": "1m", "__range_s": "60", **choices}
    return re.sub(r"\$\{?(\w+)\}?", lambda m: values.get(m[1], m[0]), expression)


def table_of_metrics():
    """Returns {name: (type, labels)} of all metrics of the program."""
    rows = subprocess.run([EXPORTER, "manual", "metrics"], capture_output=True, text=True, check=True).stdout
    found = {}
    for name, kind, labels in re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", rows, re.M):
        found[name] = (kind, tuple(filter(None, labels.split(", "))))
    return found


def rules_text():
    return (DASHBOARDS / "prometheus" / "rules.yml").read_text()


def fleet_rules_text():
    return (DASHBOARDS / "prometheus" / "fleet_rules.yml").read_text()


def run_series():
    """Returns {name: (type, labels)} of the series that --remote-write.url writes. The program has no list of them to ask for."""
    source = (DASHBOARDS.parent / "exporter" / "remote" / "run_series.c").read_text()
    names = re.findall(r'^\t(?:FIELD|COUNT|COLUMN)\(.*?"(\w+)", "[^"]*"\),$', source, re.M)
    return {f"rightsize_run_{name}": ("gauge", ("job_name", "outcome")) for name in [*names, "duration_seconds"]}


def records():
    """Returns {name of a record: (its labels, expression)}."""
    found = {}
    both = f"{rules_text()}\n\n{fleet_rules_text()}\n\n"
    for name, text in re.findall(r"- record: (\S+)\n\s+expr: (.*?)(?=\n\s+(?:- |#)|\n\n)", both, re.S):
        level = name.split(":")[0]
        labels = [label for label in ("job_name", "cluster", "namespace", "outcome", "resource", "instance", "page", "grafana") if label in level]
        found[name] = (labels, text.removeprefix("|").strip())
    return found


class Dashboards(Monitored):
    def live_jobs(self, server):
        """Runs that succeeded, runs that failed, and a run that still runs."""
        prometheus = self.start_prometheus(server, for_tests(rules_text()))
        wait_until(lambda: self.ask(prometheus, 'up{job="rightsize"}') == 1, "the first scrape")
        for code, outcome, runs in ((0, "succeeded", 1), (3, "failed", 1), (0, "succeeded", 2)):
            run = self.start_run(python_job(f"import sys; sys.stdin.read(); sys.exit({code})"), JOB, ASKS, stdin=subprocess.PIPE)
            wait_until(lambda: self.ask(prometheus, "sum(rightsize_job_active_runs)") == 1, "the run to be seen")
            self.end(run)
            wait_until(lambda o=outcome, n=runs: self.ask(prometheus, f'rightsize_job_runs_total{{outcome="{o}"}}') == n,
                       f"{runs} {outcome}")
        self.addCleanup(self.end, self.start_run(BUSY, JOB, ASKS, stdin=subprocess.PIPE))
        return prometheus

    def end(self, run):
        """Ends the input, and so the job."""
        run.process.stdin.close()
        run.process.stdin = None
        run.wait()

    def test_are_what_their_source_makes(self):
        make = subprocess.run(["/usr/bin/python3", "-B", DASHBOARDS / "grafana" / "source" / "make.py", "--check"],
                              capture_output=True, text=True, timeout=DEADLINE, check=False)
        self.assertEqual((make.returncode, make.stdout), (0, ""))

    def test_every_panel_says_what_it_shows(self):
        for name, dashboard in dashboards().items():
            for panel in panels_of(dashboard):
                if panel["type"] != "row":
                    self.assertTrue(panel["description"], f"{name}: {panel['title']}")

    def test_rows_that_most_machines_have_no_data_for_are_collapsed(self):
        for name, dashboard in dashboards().items():
            for panel in dashboard["panels"]:
                of_gpus = [t["expr"] for t in panel.get("targets", ()) if "gpu" in t["expr"] or "vram" in t["expr"]]
                self.assertFalse(of_gpus and panel["type"] != "table", f"{name}: {panel['title']}")
        collapsed = [p["title"] for d in dashboards().values() for p in d["panels"] if p.get("collapsed")]
        self.assertEqual(sum("GPU" in title for title in collapsed), 3)

    def test_lead_to_the_page_and_never_to_json(self):
        for name, dashboard in dashboards().items():
            text = json.dumps(dashboard)
            self.assertIn("/#/job/" if name != "node" else "${page}/", text, name)
            self.assertEqual(re.findall(r"http://\$\{[^\"]*", text), [], name)

    def test_tell_jobs_of_one_name_apart(self):
        """A choice of a namespace or a cluster is also none, and rows of a table have a key that columns have in common."""
        for flags in ([], ["--jobs.namespace=etl"], ["--jobs.namespace=ml", "--jobs.cluster=eu"]):
            self.run_job(["true"], JOB, flags)
        prometheus = self.start_prometheus(self.serve())
        wait_until(lambda: self.ask(prometheus, "count(rightsize_job_active_runs)") == 3, "three jobs")
        variables = {v["name"]: v for v in dashboards()["run"]["templating"]["list"]}

        def choices(name, **chosen):
            query, pattern = variables[name]["definition"], variables[name]["regex"].strip("/")
            series = self.results(prometheus, filled_in(as_query(query), {"job_name": JOB, **chosen}))
            return sorted(re.search(pattern, ",".join(f'{k}="{v}"' for k, v in one["metric"].items()))[1] for one in series)
        self.assertEqual(choices("namespace"), ["", "etl", "ml"])
        self.assertEqual([choices("cluster", namespace=space) for space in ("", "etl", "ml")], [[""], [""], ["eu"]])
        [made] = [p for p in panels_of(dashboards()["fleet"]) if p["type"] == "table" and p["title"] == "Jobs"]
        rows = self.results(prometheus, filled_in(made["targets"][0]["expr"], {"instance": ".*"}))
        self.assertEqual(sorted(row["metric"]["key"] for row in rows), ["etl|", "ml|eu", "|"])

    def test_name_metrics_that_exist(self):
        server = self.serve()
        wait_until(lambda: server.get("/metrics").status == 200, "the first sample")
        shown = set(re.findall(r"^# HELP (\w+)", server.get("/metrics").text, re.M))
        exist = set(table_of_metrics()) | shown | set(run_series())
        used = {file: names_in(text.replace("rightsize-", ""))
                for file, text in (("rules", rules_text()), ("fleet rules", fleet_rules_text()))}
        used |= {where: names_in(query) for where, query in dashboard_queries().items()}
        for where, names in used.items():
            self.assertEqual(names - exist - set(records()), set(), where)

    def test_have_a_runbook_section_for_each_alert(self):
        text = (DASHBOARDS / "prometheus" / "runbook.md").read_text()
        sections = {title.lower().replace(" ", "-"): body for title, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.M | re.S)}
        alerts = re.findall(r"- alert: (\w+)\n(.*?)(?=\n      - alert|\n  - name|\Z)", rules_text(), re.S)
        links = dict(re.findall(r"annotations: &(\w+)\n.*?/runbook#([\w-]+)", rules_text(), re.S))
        self.assertGreater(len(alerts), 12)
        for name, body in alerts:
            direct, shared = re.search(r"/runbook#([\w-]+)", body), re.search(r"annotations: \*(\w+)", body)
            section = direct[1] if direct else links[shared[1]]
            self.assertIn(f"`{name}`", sections[section])

    def exposition(self, end):
        """Returns a quarter of an hour of every metric and record, up to `end`, in the exporter's format with time
        stamps."""
        values = {"outcome": ("succeeded", "failed", "oom_killed"), "resource": ("cpu", "memory", "gpu"), "server": ("current", "best"),
                  **{label: (BACKFILLED[label],) for label in ("job_name", "namespace", "cluster")}, "mode": ("user",), "alertname": ("RightsizeOomKilled",), "alertstate": ("firing",), "page": ("https://jobs.example.org",)}
        families = {name: (kind, labels) for name, (kind, labels) in table_of_metrics().items()}
        families |= run_series()
        families |= {name: ("counter" if name.endswith("_total") else "gauge", labels) for name, labels in BESIDE.items()}
        families |= {name: ("gauge", tuple(label for label in labels if label != "instance")) for name, (labels, _) in records().items()}
        lines = []
        for name, (kind, labels) in families.items():
            lines.append(f"# TYPE {name.removesuffix('_total') if kind == 'counter' else name} {'gauge' if kind == 'info' else kind}")
            series = [f'instance="{BACKFILLED["instance"]}",job="rightsize"']
            for label in (*labels, *(("namespace", "cluster") if "job_name" in labels else ())):
                series = [f'{s},{label}="{v}"' for s in series for v in values.get(label, ("x",))]
            for one in series:
                for step in range(61):
                    at = end - 900 + step * 15
                    # The last kill is two minutes before the end, when the job's latest run ended.
                    value = (step >= 52) + 1 if "runs_total" in name else end - 120 if "last_end" in name else \
                        step + 1 if kind == "counter" else 1
                    lines.append(f"{name}{{{one}}} {value} {at}")
        return "\n".join([*lines, "# EOF", ""])

    def backfill(self, end):
        file = self.folder / "backfill.txt"
        file.write_text(self.exposition(end))
        made = subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", file, self.folder / "tsdb"],
                              capture_output=True, text=True, timeout=DEADLINE, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)

    def test_queries_return_data(self):
        end = int(time.time()) - 7200
        self.backfill(end)
        server = self.serve("--web.grafana-url=https://grafana.example.org")
        prometheus = self.live_jobs(server)
        here = {"instance": f"{server.host}:{server.port}", "job_name": JOB, "namespace": "", "cluster": ""}
        shown = lambda: set(re.findall(r"^# HELP (\w+)", server.get("/metrics").text, re.M))
        wait_until(lambda: EVERYWHERE <= shown(), f"at /metrics: {sorted(EVERYWHERE)}")
        exposed = shown()
        queries = {**dashboard_queries(), **{f"record {name}": expression for name, (_, expression) in records().items()}}
        made_of = {name: names_in(expression) for name, (_, expression) in records().items()}

        def sources(names):
            direct = {n for n in names if n not in made_of}
            return direct.union(*(sources(made_of[n]) for n in names if n in made_of))

        of_tables = {f"{name}: {panel['title']} {target['refId']}" for name, dashboard in dashboards().items()
                     for panel in panels_of(dashboard) if panel["type"] == "table" for target in panel["targets"]}
        elsewhere, live = {}, {}
        for where, query in queries.items():
            why = [reason for text, reason in NEEDS.items() if text in query]
            absent = sorted(sources(names_in(query)) - exposed)
            (elsewhere if why or absent else live)[where] = (query, why or absent)
        for where, (query, why) in elsewhere.items():
            self.assertFalse(sources(names_in(query)) <= EVERYWHERE and not set(why) & set(NEEDS.values()), where)
            found = self.results(prometheus, filled_in(query, BACKFILLED), time=end)
            self.assertTrue(found, f"{where}: no data: {query}")
            if where in of_tables:
                self.assertNotIn("__name__", found[0]["metric"], f"{where}: Grafana would not merge its rows with those of other columns")

        def without_data():
            return [where for where, (query, _) in live.items() if not self.results(prometheus, filled_in(query, here))]
        try:
            wait_until(lambda: not without_data(), "data for every query", 30)
        except AssertionError:
            self.fail("no data: " + "".join(f"\n{w}: {live[w][0]}" for w in without_data()))
        print(f"{len(live)} queries of real jobs; {len(elsewhere)} of what was backfilled, for want of:")
        for where, (_, why) in elsewhere.items():
            print(f"  {where}: {', '.join(why)}")
        if "DASHBOARDS_SERVE" in os.environ:  # tests/grafana draws the dashboards from this data
            subprocess.run([os.environ["DASHBOARDS_SERVE"], f"http://127.0.0.1:{prometheus.port}",
                            json.dumps(here), json.dumps(BACKFILLED), str(end)], check=True)


if __name__ == "__main__":
    main()
