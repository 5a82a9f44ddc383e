#!/usr/bin/env python3
"""One job on a known server. Every place that shows a size, a duration, a price, a cost, a saving or a server shows the
same.

Places: /recommend, /servers, /stats, /overview, /metrics, the report, the sentences of each, and the summary of
`run`."""
import collections
import json
import math
import re

import followed_job
import support
from support import python_job, wait_until

AWS = ("--server.vendor=aws", "--server.type=m5.xlarge", "--server.region=us-east-1")
FIELDS = {"vendor_id": "aws", "instance_type": "m5.xlarge", "region": "us-east-1"}
# The server of the job, cheaper servers, and a server that is cheaper per hour but billed by the hour.
OWN = """# as_of: 2026-11-20
vendor_id,server_id,family,cpu_architecture,cpu_allocation,vcpus,memory_amount,region_id,price,score,score1,billing_increment_seconds,minimum_billing_seconds
aws,m5.xlarge,m5,x86_64,Dedicated,4,16384,us-east-1,0.192,4000,1000,1,60
aws,m5.large,m5,x86_64,Dedicated,2,8192,us-east-1,0.096,2000,1000,1,60
aws,c5.large,c5,x86_64,Dedicated,2,4096,us-east-1,0.085,2400,1200,1,60
gcp,e2-highcpu-2,e2,x86_64,Dedicated,2,2048,us-central1,0.0495,1500,750,1,60
byhour,small,s,x86_64,Dedicated,2,4096,there,0.03,2000,1000,3600,3600
"""
SMALL = python_job("""
import time
held = bytearray(20 << 20)
end = time.process_time() + 0.15
while time.process_time() < end: pass
""")
MONEY_OFF = 5e-6  # half a unit of the sixth digit, to which JSON rounds money
UNITS = {"": 1, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "days": 86400, "day": 86400, "d": 86400,
         "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "%": 0.01}
NUMBER = r"(\d[\d.]*)"
SIZE = r"(\d[\d.]* (?:B|KiB|MiB|GiB|TiB))"
TIME = r"(\d[\d.]* (?:ms|s|min|h|days?|d))"


RECOMMEND_BYTES = 6 * 1024


def lost(plain, detailed, path=""):
    """Returns the parts of an answer that the same answer with details lacks."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            if key != "generated_at":
                yield from lost(value, detailed.get(key, "nothing"), f"{path}/{key}")
    elif isinstance(plain, list) and plain and isinstance(plain[0], dict):
        for i, value in enumerate(plain):
            yield from lost(value, detailed[i], f"{path}/{i}")
    elif isinstance(plain, list) and set(map(str, plain)) <= set(map(str, detailed)):
        return
    elif plain != detailed:
        yield f"{path}: {plain}, with details {detailed}"


def long_numbers(text):
    """Returns numbers with more digits than were measured."""
    return [n for n in re.findall(r"(?<![\w.\"-])-?\d+\.\d+(?:e-?\d+)?(?=[,\s}\]])", text)
            if len(n.partition("e")[0].lstrip("-0.").replace(".", "")) > 9]


def number_told(text):
    """Returns the bytes of "1.5 GiB", the seconds of "12 min", and the possible error: half of the last digit."""
    number, _, unit = text.partition(" ")
    return float(number) * UNITS[unit], 0.51 * UNITS[unit] * 10 ** -len(number.partition(".")[2])


class Told:
    """The values in all places: {what: {place: (value, possible error)}}."""

    def __init__(self):
        self.facts = collections.defaultdict(dict)

    def add(self, what, place, value, off=0.0):
        self.facts[what][place] = (value, off)

    def words(self, what, place, text, pattern):
        """Adds the number of a sentence, if it is there."""
        match = re.search(pattern, text)
        if match:
            self.add(what, place, *number_told(match[1]))

    def pasted(self, place, text):
        """Adds the limit of the line to paste, which has whole MiB."""
        self.add("limit", place, int(re.search(r"--memory=(\d+)m", text)[1]) * UNITS["MiB"])

    def chance(self, place, text):
        """Adds the chance of "1 run in 70" or of "35 % of runs"."""
        if match := re.search(r"1 run in (\d+)", text):
            of = int(match[1])
            self.add("chance", place, 1 / of, 1 / (of - 0.51) - 1 / of)
        self.words("chance", place, text, r"([\d.]+ %) of runs may need more")

    def request(self, place, text):
        """Adds the request of a summary, its duration and its chance."""
        self.words("requested next: CPUs", place, text, rf"{NUMBER} CPUs?\b")
        self.words("requested next: bytes", place, text, SIZE)
        self.words("forecast_duration_seconds", place, text, f"for about {TIME}")
        self.chance(place, text)

    def faults(self):
        """Returns the places that disagree."""
        for what, places in self.facts.items():
            (first, (value, off)), *others = sorted(places.items(), key=lambda p: p[1][1] if p[1][0] is not None else -1)
            for place, (other, more) in others:
                if isinstance(value, float | int) and isinstance(other, float | int):
                    # JSON rounds money to six digits and seconds to the millisecond; /metrics does not.
                    rounding = 0.00051 if "duration" in what else 0
                    same = math.isclose(value, other, rel_tol=1.1 * MONEY_OFF, abs_tol=off + more + rounding)
                else:
                    same = value == other
                if not same:
                    yield f"{what}: {value} in {first}, {other} in {place}"


class OneNumber(support.Case):
    def catalogue(self):
        path = self.folder / "own.csv"
        path.write_text(OWN, encoding="ascii")
        return f"--catalogue.path={path}"

    def recommended(self, told, place, answer):
        """Collects the values of an answer with servers."""
        servers = answer["servers"]
        today = next((s for s in servers if s["api_reference"] == "m5.xlarge"), None)
        for key in ("forecast_duration_seconds", "forecast_duration_low", "forecast_duration_high"):
            if today and key in today:
                told.add(key, f"{place}: today's server in the list", today[key])
        if today:
            told.add("price of today's server", f"{place}: list", today["price"])
            told.add("cost of today's server", f"{place}: list", today["forecast_cost"])
        told.add("first server", place, servers[0]["api_reference"])
        told.add("price of the first", place, servers[0]["price"])
        told.add("cost of the first", place, servers[0]["forecast_cost"])
        told.add("duration on the first", place, servers[0]["forecast_duration_seconds"])
        if "today" in answer:
            told.add("price of today's server", f"{place}: today", answer["today"]["server"]["price"])
            told.add("cost of today's server", f"{place}: today", answer["today"]["cost_per_run"])
            told.add("today's server", f"{place}: today", answer["today"]["server"]["api_reference"])
            for s in servers:
                name = s["api_reference"]
                told.add(f"saving of {name}", f"{place}: list", s["saving"])
                cost = answer["today"]["cost_per_run"]
                told.add(f"saving of {name}", f"{place}: costs", cost - s["forecast_cost"], 3 * MONEY_OFF * max(cost, s["forecast_cost"]))
                told.add(f"saving of {name} in percent", f"{place}: list", s["saving_percent"], 1e-3 * abs(s["saving_percent"]))
                told.add(f"saving of {name} in percent", f"{place}: costs", 100 * s["saving"] / cost, 1e-3)

    def explained(self, told, place, sentences):
        """Collects the values in the sentences of `explain`."""
        text = "\n".join(sentences)
        for what, pattern in (
                ("forecast_duration_seconds", f"duration: {TIME} is expected"),
                ("forecast_duration_low", f"runs should take between {TIME}"),
                ("forecast_duration_high", f"runs should take between .* and {TIME}"),
                ("requested next: bytes", f"memory: {SIZE} costs least"),
                ("requested next: CPUs", rf"the request is {NUMBER} CPU"),
                ("recommended cpu_cores", rf"cpu: With {NUMBER} cores?, the next run"),
                ("limit", f"the limit is {SIZE}"),
                ("used cpu_cores", r"on average and up to ([\d.]+\d)"),
                ("used memory_bytes", f"The limit is the largest peak, {SIZE}")):
            told.words(what, place, text, pattern)
        if match := re.search(f"The limit is [^,]*, {SIZE}, plus 5 % and 16 MiB", text):
            base, off = number_told(match[1])
            told.add("limit", f"{place}: base", base * 1.05 + 16 * UNITS["MiB"], off * 1.05 + UNITS["MiB"])
        for number in set(re.findall(r"(?:durations of|forecast from|peak of|cpu:) (\d+) successful run", text)):
            told.add("runs", f"{place}: {number}", int(number))

    def advised(self, told, place, answer):
        """Collects the values of /recommend besides its servers."""
        told.add("forecast_duration_seconds", f"{place}: duration", answer["duration"]["expected_seconds"])
        told.add("forecast_duration_seconds", f"{place}: demand", answer["demand"]["duration_seconds"])
        told.add("forecast_duration_low", f"{place}: duration", answer["duration"]["expected_low_seconds"])
        told.add("forecast_duration_high", f"{place}: duration", answer["duration"]["expected_high_seconds"])
        told.request(f"{place}: summary", answer["summary"])
        self.explained(told, f"{place}: explain", answer["explain"])
        told.pasted(f"{place}: paste", answer["paste"]["text"])
        told.add("requested next: CPUs", f"{place}: resources", answer["resources"]["cpu"])
        told.add("requested next: bytes", f"{place}: resources", answer["resources"]["memory"] * UNITS["MiB"])
        told.add("chance", f"{place}: memory", answer["memory"]["too_small_probability"])
        told.add("runs", f"{place}: based_on", answer["based_on"]["runs"])
        for resource in ("cpu_cores", "memory_bytes"):
            told.add(f"used {resource}", f"{place}: used", answer["used"][resource])
        told.add("cost of the last run", f"{place}: today", answer["today"]["runs"][0]["cost"])
        for resource in ("cpu_cores", "memory_bytes"):
            told.add(f"recommended {resource}", f"{place}: demand", answer["demand"][resource])
            told.add(f"requested {resource}", place, answer["requested"][resource])
        self.recommended(told, place, answer)

    def table(self, told, place, cells):
        """Collects the values of a table with used, requested and recommended amounts: {resource: [amount]}."""
        for resource, key in (("CPU", "cpu_cores"), ("Memory", "memory_bytes")):
            whole = {"cpu_cores": "requested next: CPUs", "memory_bytes": "requested next: bytes"}[key]
            for what, cell in zip((f"used {key}", f"requested {key}", whole), cells[resource], strict=True):
                cell = re.sub(" (cores?|CPUs?)$", "", cell)
                told.add(what, f"{place}: table", *((None,) if cell in ("?", "unknown") else number_told(cell)))

    def terminal(self, told, job, flags):
        """Collects the values that a terminal shows."""
        done = self.command("recommend", f"--job-name={job}", f"--history.path={self.history}", "--format=text", *flags)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        told.request("terminal", lines[0])
        told.chance("terminal", lines[1])
        told.words("runs", "terminal", lines[1], rf"^{NUMBER} (?:successful runs?|of \d+ runs succeeded)")
        told.words("used memory_bytes", "terminal", lines[1], f"(?:peaked at|up to) {SIZE}")
        self.table(told, "terminal", {line.split()[0]: re.split("  +", line.strip())[1:4] for line in lines if re.match("CPU|Memory", line)})
        paired = {name: text for name, text in (re.split("  +", line, maxsplit=1) for line in lines if re.match(r"[A-Z][a-z ]+  +\S", line))}
        costs = paired["Cost of a run"]
        told.words("cost of today's server", "terminal", costs, f"^{NUMBER} -> ")
        told.words("cost of the first", "terminal", costs, f"-> {NUMBER} USD")
        told.words("saving of the first, share", "terminal", costs, r"saves ([\d.]+ %)")
        told.words("forecast_duration_seconds", "terminal", paired["Duration"], f"^{TIME} ->")
        told.words("duration on the first", "terminal", paired["Duration"], f"-> {TIME}")
        servers = re.match("(.*) -> ([^,]*),", paired["Server"])
        told.add("today's server", "terminal", servers[1])
        told.add("first server", "terminal", servers[2])
        table = self.command("jobs", f"--history.path={self.history}", "--format=text", *flags).stdout
        saving = re.search(f"(?m)^{job} .*  {NUMBER} USD(/run)?$", table)
        told.add("saving of the first" if saving[2] else "saving of a month", "terminal: jobs", *number_told(saving[1]))
        if not saving[2]:
            told.words("saving of a month", "terminal", paired["Saving"], f"^{NUMBER} USD a month")
            told.words("saving of a month", "terminal: jobs", table, f"save {NUMBER} USD a month")
        told.pasted("terminal", done.stdout)

    def visible_report(self, told, page, job):
        """Collects the values that a report shows without its script."""
        page = re.sub("(?s)<script.*?</script>", "", page)
        self.assertNotIn('id="data"', page)
        rows = re.findall(r'<tr><th scope="row">(\w+)</th>(.*?)</tr>', page)
        self.table(told, "visible report", {name: [re.sub("<.*?>", "", cell) for cell in re.findall("<td.*?</td>", row)] for name, row in rows})
        text = re.sub("<[^>]*>+", "\n", page)
        told.request("visible report", "".join(re.findall(r"Request \d.*|.* may need more memory.*", text)))
        told.words("cost of today's server", "visible report", text, rf"Cost of a run now\n+{NUMBER} USD")
        told.words("cost of the first", "visible report", text, rf"On the best server\n+{NUMBER} USD")
        told.words("saving of the first", "visible report", text, rf"Saving\n+{NUMBER} USD a run")
        told.words("duration of the last run", "visible report", text, rf"Duration: {TIME}\.")
        told.words("forecast_duration_seconds", "visible report", text, f" of {TIME}\n")
        told.pasted("visible report", text)
        told.add("first server", "visible report", re.search(r"Best server\n+([^,\n]*),", text)[1])
        told.add("duration of the last run", "/runs", self.runs(job)[0]["duration_seconds"])

    def places(self, server, job, *flags):
        """Collects all values that a server shows of a job."""
        told = Told()
        answer = server.get(f"/recommend?job_name={job}&limit=50&details=1").json
        self.advised(told, "/recommend", answer)
        self.recommended(told, "/servers", server.get(f"/servers?job_name={job}&limit=50&details=1").json)
        forecast = server.get(f"/stats?job_name={job}").json["forecast"]["duration_seconds"]
        for key, name in (("expected", "seconds"), ("low", "low"), ("high", "high")):
            told.add(f"forecast_duration_{name}", "/stats", forecast[key])
        line = next(j for j in server.get("/overview").json["jobs"] if j["job_name"] == job)
        told.add("cost of the last run", "/overview", line["cost"])
        if answer["runs_a_month"]:
            told.add("saving of a month", "/recommend", answer["best"]["saving"] * answer["runs_a_month"], 2e-6 * answer["runs_a_month"])
        page = server.get(f"/report?job_name={job}").text
        report = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
        self.advised(told, "report", report["recommend"])
        self.visible_report(told, page, job)
        self.terminal(told, job, flags)
        told.add("saving of the first", "best", answer["best"]["saving"])
        told.add("saving of the first, share", "best", answer["best"]["saving_percent"] / 100)
        self.metrics(told, server, job)
        return told, answer

    def metrics(self, told, server, job):
        def value(name, which):
            return server.job_value(name, job, server=which)

        wait_until(lambda: value("rightsize_job_forecast_cost_usd", "best") is not None, "the costs of the job in /metrics")
        for which, words in (("current", "today's server"), ("best", "the first")):
            told.add(f"price of {words}", "/metrics", value("rightsize_job_server_price_usd", which))
            told.add(f"cost of {words}", "/metrics", value("rightsize_job_forecast_cost_usd", which))
        told.add("forecast_duration_seconds", "/metrics", value("rightsize_job_forecast_duration_seconds", "current"))
        told.add("duration on the first", "/metrics", value("rightsize_job_forecast_duration_seconds", "best"))
        for kind in ("recommended", "requested"):
            for resource in ("cpu_cores", "memory_bytes"):
                told.add(f"{kind} {resource}", "/metrics", server.job_value(f"rightsize_job_{kind}_{resource}", job))
        told.add("cost of the last run", "/metrics", server.job_value("rightsize_job_last_run_cost_usd", job))
        for (name, labels), _ in server.metrics().items():
            labels = dict(labels)
            if name == "rightsize_job_server_info" and labels["job_name"] == job:
                told.add({"current": "today's server", "best": "first server"}[labels["server"]], "/metrics", labels["instance_type"])

    def assert_one_number(self, told):
        faults = list(told.faults())
        self.assertEqual(faults, [], "\n".join(faults))

    def test_a_real_job_is_told_the_same_everywhere(self):
        flags = (*AWS, self.catalogue(), "--sample.interval=100ms", "--request-cpu=2", "--request-memory=1G")
        for _ in range(6):
            done = self.run_job(SMALL, "etl", flags)
            self.assertEqual(done.returncode, 0, done.stderr)
        summary = done.stderr.decode()
        server = self.serve(*AWS, self.catalogue())
        told, answer = self.places(server, "etl", *AWS, self.catalogue())
        told.request("run", summary.partition("Next run: ")[2])
        told.add("today's server", "options", "m5.xlarge")
        self.assert_one_number(told)
        self.assertGreater(len(told.facts["forecast_duration_seconds"]), 6)
        for what, places in (("requested next: bytes", 7), ("requested next: CPUs", 5), ("chance", 5), ("runs", 4),
                             ("limit", 6), ("saving of the first", 2), ("duration on the first", 5)):
            self.assertGreaterEqual(len(told.facts[what]), places, (what, told.facts[what]))
        self.assertEqual(told.facts["requested cpu_cores"]["/metrics"], (2, 0))
        self.assertGreater(told.facts["recommended memory_bytes"]["/metrics"][0], 20 << 20)
        self.assertEqual(self.query("recommend", "--job-name=etl", "--limit=50", "--details", *AWS, self.catalogue())["servers"], answer["servers"])

    def test_a_job_on_a_server_of_the_built_in_catalogue_is_told_the_same_everywhere(self):
        self.jobs = []
        server = self.serve("--web.allow-changes", *AWS)
        job = followed_job.Job(self, server, "built-in", since_days=10)
        for i in range(10):
            job.run(2 << 30, duration=900 + 10 * (i % 4), cores=1.5, **FIELDS)
        server.stop()  # the next one computes the costs of the job when it starts
        told, answer = self.places(self.serve(*AWS), "built-in", *AWS)
        self.assert_one_number(told)
        self.assertEqual(answer["catalogue"]["source"], "built-in")
        self.assertEqual(answer["today"]["server"]["price"], 0.192)
        self.assertGreater(answer["best"]["saving"], 0)

    def test_two_lengths_under_one_name_have_one_forecast(self):
        self.jobs = []
        server = self.serve("--web.allow-changes", self.catalogue(), *AWS)
        job = followed_job.Job(self, server, "two", since_days=10)
        for duration in [4] * 9 + [35] * 5:
            job.run(1 << 28, duration=duration, **FIELDS)
        server.stop()
        told, answer = self.places(self.serve(self.catalogue(), *AWS), "two", *AWS, self.catalogue())
        self.assert_one_number(told)
        # Billed by the second from the 60th second on. The mean over the forecast and its range (Swanson's rule).
        spread = answer["duration"]
        seconds = sum(share * max(60, math.ceil(spread[key])) for share, key in (
            (0.3, "expected_low_seconds"), (0.4, "expected_seconds"), (0.3, "expected_high_seconds")))
        self.assertAlmostEqual(answer["today"]["cost_per_run"], 0.192 / 3600 * seconds)

    def test_an_answer_is_short_and_its_details_agree(self):
        self.jobs = []
        # the built-in catalogue has regions, spot servers and burstable servers
        for catalogue in ((self.catalogue(),), ()):
            self.history = str(self.folder / f"short-{len(catalogue)}.db")
            server = self.serve("--web.allow-changes", *catalogue, *AWS)
            job = followed_job.Job(self, server, "etl/load", since_days=20)
            for i in range(20):
                job.run((400 + 3 * (7 * i % 20)) << 20, 2 << 30, duration=600 + 7.013 * (i % 9), cores=1.3, waited=100,
                        requested_cpu_cores=4, **FIELDS)
            for route, most in (("recommend", RECOMMEND_BYTES), ("servers", 4600), ("stats", 3000)):
                plain, detailed = (server.get(f"/{route}?job_name=etl/load{more}") for more in ("", "&details=1"))
                self.assertLess(len(plain.text), most, plain.text)
                self.assertGreater(len(detailed.text), 1.5 * len(plain.text), route)
                self.assertEqual(list(lost(plain.json, detailed.json)), [], route)
                self.assertEqual(long_numbers(plain.text) + long_numbers(detailed.text), [], route)
            advice, detailed = (server.get(f"/recommend?job_name=etl/load{more}").json for more in ("", "&details=1"))
            self.assertEqual((len(advice["servers"]), len(detailed["today"]["runs"])), (3, 20))
            self.assertNotIn("runs", advice["today"])
            # The job's server is in North America.
            far = [one for one in advice["alternatives"] if one.get("region", "").startswith("europe-")]
            self.assertEqual([one["region_note"] for one in far], ["in Europe"] * len(far))
            if advice["catalogue"]["source"] == "built-in":
                there = server.get("/servers?job_name=etl/load&continents=Europe").json
                for one in (there["best"], *there["alternatives"]):
                    self.assertRegex(one["region_note"], "^in Europe")
                    far.append(one)
                self.assertGreater(len(far), 1)
            self.assertIsNotNone(advice["today"]["cost_per_run"])

    def test_an_answer_about_a_job_with_much_to_say_is_short(self):
        self.jobs = []
        name = "daily-warehouse-reconciliation/TransformAndLoadCustomersPartitioned/eu-central-1"
        server = self.serve("--web.allow-changes", *AWS)
        job = followed_job.Job(self, server, name, since_days=30)
        for i in range(20):
            job.run((400 + 300 * (i % 2)) << 20, 8 << 30, duration=600 + 7.013 * (i % 9), cores=1.3, waited=100,
                    requested_cpu_cores=4, outcome="failed" if i % 4 == 0 else "succeeded", exit_code=int(i % 4 == 0), run_id=f"run-{i}", **FIELDS)
        answer = job.get(currency="EUR", details=0)
        self.assertEqual(answer.json["based_on"]["ended"]["failed"], 5)
        self.assertGreaterEqual(len(answer.json["alternatives"]), 2)
        self.assertLess(len(answer.text), RECOMMEND_BYTES, answer.text)


if __name__ == "__main__":
    support.main()
