"""A job that is followed through a real server. Its runs are posted as a forwarding exporter posts them. Each answer
becomes the limit of the next run, as with an orchestrator."""
import dataclasses
import json
import math
import re
import time
import urllib.parse

MIB, GIB = 1 << 20, 1 << 30
HOUR, DAY = 3600, 86400
MACHINE_CPUS, MACHINE_BYTES = 64, 512 * GIB
PROGRAM_FILES = 4 * MIB  # of the program and its libraries, in every peak
ATTEMPTS_MOST = 10
UNIT_BYTES = {"MiB": MIB, "GiB": GIB, "TiB": 1024 * GIB}
UNIT_SECONDS = {"s": 1, "min": 60, "h": HOUR, "day": DAY, "days": DAY}
SEVERITIES = ["critical", "warning", "info"]


def sizes_in(text):
    """Returns the sizes in a sentence, in bytes."""
    return [float(n) * UNIT_BYTES[unit] for n, unit in re.findall(r"(\d+(?:\.\d+)?) (MiB|GiB|TiB)\b", text)]


def tells(text, size, share=0.03):
    """Returns whether a sentence contains this size, within a share."""
    return any(abs(told - size) <= share * size for told in sizes_in(text))


def near(value, other, share):
    return value is not None and other is not None and abs(value - other) <= share * abs(other) + 1e-9


class Advice:
    """An answer of /recommend."""

    def __init__(self, answer):
        self.text, self.json = answer.text, answer.json

    def __getitem__(self, key):
        return self.json[key]

    @property
    def mib(self):
        return self["resources"]["memory"]

    @property
    def limit_bytes(self):
        """Returns the limit if the target has one beside the request."""
        return self["limits"]["memory_bytes"] or self.mib * MIB

    @property
    def cpu(self):
        return self["resources"]["cpu"]

    @property
    def seconds(self):
        return self["duration"]["expected_seconds"]

    @property
    def chance(self):
        return self["memory"]["too_small_probability"]

    @property
    def explained(self):
        return "\n".join(self["explain"])

    @property
    def codes(self):
        return [warning["code"] for warning in self.json.get("warnings", [])]

    @property
    def unsafe(self):
        return self.json.get("apply", {}).get("because", [])

    def warning(self, code):
        """Returns the text of a warning, or "" without it."""
        return next((w["text"] for w in self.json.get("warnings", []) if w["code"] == code), "")

    def warned_runs(self, code):
        return next((w["runs"] for w in self.json.get("warnings", []) if w["code"] == code), None)

    def faults(self):
        """Returns all faults of the answer."""
        return [*not_numbers(self.text), *faults_of_warnings(self.json), *faults_of_numbers(self),
                *faults_of_summary(self), *faults_of_explanation(self), *faults_of_warning_texts(self)]


def not_numbers(text):
    for found in re.finditer(r"(?i)\b(?:nan|inf|infinity)\b", text):
        yield f"no number: {' '.join(text[max(0, found.start() - 60):found.end() + 20].split())}"


def faults_of_warnings(answer):
    if not isinstance(answer.get("warnings"), list) or not isinstance(answer.get("apply"), dict):
        yield "warnings or apply is missing"
        return
    codes = [warning.get("code") for warning in answer["warnings"]]
    order = [SEVERITIES.index(warning.get("severity")) for warning in answer["warnings"]]
    safe, because = answer["apply"].get("safe"), answer["apply"].get("because")
    if len(set(codes)) != len(codes):
        yield f"a warning twice: {codes}"
    if order != sorted(order):
        yield f"not the most severe first: {codes}"
    if safe is not (because == []) or not set(because) <= set(codes):
        yield f"apply: safe is {safe} because of {because}, with warnings {codes}"
    for warning in answer["warnings"]:
        if set(warning) != {"code", "severity", "text", "runs"} or not warning["text"] or not warning["runs"] >= 0:
            yield f"not a whole warning: {warning}"


def faults_of_numbers(a):
    memory, request = a["memory"], a["demand"]["memory_bytes"]
    low, high = memory["expected_low_bytes"], memory["expected_high_bytes"]
    if a.chance is not None and not 0 < a.chance < 1:
        yield f"a chance of {a.chance}"
    if low is not None and high is not None and low > high:
        yield f"expected between {low} and {high}"
    if request is not None and not request <= a.mib * MIB <= 1.07 * request + 16 * MIB:
        yield f"{a.mib} MiB for a demand of {request / MIB:.1f} MiB"
    if request is not None and a["limits"]["memory_bytes"] is not None and a["limits"]["memory_bytes"] < request - 1:
        yield f"a limit of {a['limits']['memory_bytes']} below the request of {request}"


def faults_of_summary(a):
    """Checks that the sentence for people has the same numbers as the fields for programs."""
    said = a["summary"]
    cpus = [int(n) for n in re.findall(r"(\d+) CPUs?\b", said)]
    seconds = [float(n) * UNIT_SECONDS[u] for n, u in re.findall(r"([\d.]+) (s|min|h|days?)\b", said)]
    chances = [float(n) / 100 for n in re.findall(r"(?<!than )(?<![\d.])([\d.]+) % of runs may", said)]
    chances += [int(n) / int(of) for n, of in re.findall(r"(?<!than )(?<![\d.])(\d+) runs? in (\d+)", said)]
    if a.mib and not tells(said, a.mib * MIB, 0.006):
        yield f"summary without {a.mib} MiB: {said}"
    if not a.mib and sizes_in(said):
        yield f"summary with a size of unknown memory: {said}"
    if cpus and a.cpu not in cpus:
        yield f"summary without {a.cpu} CPUs: {said}"
    if seconds and not any(near(s, a.seconds, 0.03) for s in seconds):
        yield f"summary without the {a.seconds} s expected: {said}"
    if len(said) > 200 or said.count(". ") > 1:
        yield f"summary of more than two sentences or 200 characters: {said}"
    if chances and not any(near(c, a.chance, 0.25) or abs(c - a.chance) < 0.0006 for c in chances):
        yield f"summary without the chance of {a.chance}: {said}"


TOPICS = ["runs", "memory", "cpu", "duration", "gpu", "disk", "waits"]  # in the order of explain
WORDS_MOST = 25  # bytes of a sentence that is read once
CHAINED = re.compile(r"\btold\b|\bask(?:s|ed)? for\b|\bbusy on\b|\b1 (?:cores|runs|CPUs|GPUs)\b|\(s\)|;")
SIZE, TIME = r"([\d.]+ (?:MiB|GiB|TiB))", r"([\d.]+ (?:s|min|h|days?))"


def amount(text):
    """The number of "512 MiB" in bytes, of "2.5 min" in seconds, of "18" as it is."""
    number, _, unit = text.partition(" ")
    return float(number) * {**UNIT_BYTES, **UNIT_SECONDS, "": 1}[unit]


def tells_number(told, number):
    """Returns whether a text such as "3.3 min" is the number, in the digits that it has."""
    digits = told.partition(" ")[0]
    last = 10 ** -len(digits.partition(".")[2]) * amount(told) / float(digits) if float(digits) else 1
    return number is not None and abs(number - amount(told)) <= 0.51 * last


def faults_of_plain_words(text):
    for sentence in re.split(r"(?<=[.!?]) (?=[A-Z\d\"])", text):
        if len(sentence.split()) > WORDS_MOST:
            yield f"a sentence of {len(sentence.split())} words: {sentence}"
    if CHAINED.search(text):
        yield f"to be read twice: {text}"


def numbers_of_explanation(a):
    """Returns pairs: the way in which a sentence writes numbers, and these numbers elsewhere in the answer."""
    memory, duration, limits, hindsight = a["memory"], a["duration"], a["limits"], a["hindsight"]
    request, limit = a.mib and a.mib * MIB, limits["memory_bytes"] and math.ceil(limits["memory_bytes"] / MIB) * MIB
    for words in (f"{SIZE} costs least", f"The request (?:of|is|stays at) {SIZE}", f"The request is raised once, to {SIZE}",
                  f"Attempt \\d+ requests {SIZE}"):
        yield f"memory: {words}", [request]
    yield f"memory: For systems with a limit beside the request, the limit is {SIZE}", [limit]
    yield f"memory: 4 of 5 runs should peak between {SIZE} and {SIZE}", [memory["expected_low_bytes"], memory["expected_high_bytes"]]
    yield r"memory: Runs are expected to waste (\d+) %", [memory["expected_waste_ratio"] and 100 * memory["expected_waste_ratio"]]
    for name, key in (("this strategy", "this"), ("strategy baseline", "baseline")):
        past = hindsight[key]
        yield (rf"memory: On the last (\d+) \D*, {name} would have wasted (\d+) %",
               [past["runs"], past["waste_ratio"] and 100 * past["waste_ratio"]])
        if past["too_small"]:
            yield rf"memory: On the last .*{name}.* and (\d+) first attempts? would", [past["too_small"]]
        else:
            yield rf"memory: On the last .*{name}.* and (no) first attempt would", []
    yield r"cpu: For systems that need whole CPUs, the request is (\d+) CPU", [a.cpu]
    yield r"cpu: With ([\d.]+) cores?, the next run", [a["demand"]["cpu_cores"]]
    yield r"cpu: A run costs least with ([\d.]+) cores?", [a["demand"]["cpu_cores"]]
    yield f"duration: {TIME} is expected", [a.seconds]
    yield f"duration: 4 of 5 runs should take between {TIME} and {TIME}", [duration["expected_low_seconds"], duration["expected_high_seconds"]]


def faults_of_explanation(a):
    """Each sentence of `explain` is plain, is beside the sentences of its resource, and has the numbers of the
    answer."""
    topics = [text.partition(": ")[0] for text in a["explain"]]
    if topics != sorted(topics, key=TOPICS.index):
        yield f"explain is not grouped: {topics}"
    for text in a["explain"]:
        if not re.fullmatch(r"[a-z]+: [A-Z\d].*\.", text):
            yield f"no sentence: {text}"
        yield from faults_of_plain_words(text)
        for words, numbers in numbers_of_explanation(a):
            found = re.match(words, text)
            if found and not all(tells_number(told, number) for number, told in zip(numbers, found.groups())):
                yield f"explain tells other numbers than {numbers}: {text}"
    yield from faults_of_cores(a)


def faults_of_cores(a):
    """Checks that the sentences about more cores agree with the durations by cores."""
    at = {c["cores"]: c["duration_seconds"] for c in a["cpu"]["at_cores"]}
    for number, unit, cores in re.findall(r"([\d.]+) (s|min|h|days?) with ([\d.]+) core", a.explained):
        if not near(at.get(float(cores)), float(number) * UNIT_SECONDS[unit], 0.03):
            yield f"explain tells {number} {unit} with {cores} cores, and at_cores {at.get(float(cores))}"
    gains = bool(at) and min(at.values()) < 0.98 * max(at.values())
    if at and ("More cores would have made" in a.explained and not gains or "would not make a run faster" in a.explained and gains):
        yield f"explain contradicts the durations by cores {at}: {a.explained}"


def faults_of_warning_texts(a):
    counts = {"killed_for_memory": (r"killed (\d+) run", a["based_on"]["ended"].get("killed_for_memory")),
              "failed_at_memory_limit": (r"^(\d+) run", a["based_on"]["ended"].get("at_memory_limit")),
              "cut_by_time_limit": (r"^(\d+) run", a["based_on"]["ended"].get("cut")),
              "few_runs": (r"Only (\d+) successful run", a["based_on"]["runs"])}
    for warning in a["warnings"]:
        yield from faults_of_plain_words(warning["text"])
        words, number = counts.get(warning["code"], ("", None))
        found = words and re.search(words, warning["text"])
        if found and not int(found[1]) == number == warning["runs"]:
            yield f"{warning['code']} of {warning['runs']} runs, {number} in based_on: {warning['text']}"


def lasting(value, n=1, total=None):
    """Returns a column that had one value for the whole run."""
    return {"n": n, "mean": value, "min": value, "max": value, "p50": value, "p95": value, "p99": value,
            "sum": value * n if total is None else total}


def group_columns(oom_kills, met_limit):
    """Returns the counters of the run's control group, in a single interval."""
    return {"oom_kills": lasting(oom_kills), "memory_oom_events": lasting(oom_kills),
            "memory_max_events": lasting(met_limit)}


@dataclasses.dataclass
class Step:
    """A run of a followed job, from its first attempt to its end."""
    asked: int       # MiB, of the first attempt
    limit: float     # MiB, under which the first attempt ran
    kills: int       # number of attempts that were killed for memory
    need: float      # MiB
    advice: Advice   # of the first attempt; None before the first run


class Job:
    """A job whose runs are posted one after the other, in the order of their time."""

    def __init__(self, case, server, name="etl/load", since_days=60, labels=None):
        self.case, self.server, self.name, self.labels = case, server, name, labels
        self.clock = time.time() - since_days * DAY
        self.posted = 0
        self.told = []  # the answers, with an x for each kill
        case.jobs.append(self)

    # ---- posting ----

    @staticmethod
    def _columns(peak, cores, duration, file_bytes, waited):
        n = max(1, min(1000, int(duration)))
        columns = {"processes": lasting(1, n), "threads": lasting(max(1, math.ceil(cores or 1)), n)}
        if cores is not None:
            columns["cpu_seconds"] = lasting(cores * duration / n, n)
            columns["cpu_cores"] = {**lasting(cores, n), "max": min(1.02 * cores, MACHINE_CPUS), "sum": None}
            columns["cpu_wait_seconds"] = lasting(waited / n, n)
        if peak is not None:
            columns["memory_bytes"] = columns["memory_rss_bytes"] = lasting(peak, n)
            columns["memory_peak_bytes"] = columns["memory_peak_process_bytes"] = lasting(peak, n)
            columns["memory_anonymous_bytes"] = lasting(peak - file_bytes, n)
            columns["memory_file_bytes"] = lasting(file_bytes, n)
            columns["memory_shmem_bytes"] = columns["memory_swap_bytes"] = lasting(0, n)
        return columns

    def run(self, peak=None, limit=None, *, duration=600, outcome="succeeded", exit_code=0, exit_signal=None, cores=1.0,
            file_bytes=PROGRAM_FILES, oom_kills=0, met_limit=0, waited=0, every=HOUR, columns=None, labels=None,
            **fields):
        """Posts a run with so many bytes; None = not measured. `met_limit`: number of times that its group was at its
        limit. `every`: minimum of seconds between two starts."""
        self.posted += 1
        labels = self.labels if labels is None else labels
        run = {"run_id": f"{self.name}-{self.posted}", "job_name": self.name, "started_at": self.clock,
               "ended_at": self.clock + duration, "duration_seconds": duration, "outcome": outcome,
               "exit_code": None if exit_signal else exit_code, "exit_signal": exit_signal, "host": "node-1",
               "cpu_source": "cgroup", "memory_source": "vmhwm", "samples": max(1, min(1000, int(duration))),
               "interval_seconds": 1, "requested_memory_bytes": limit, "memory_limit_bytes": limit,
               "cpu_missed_seconds": 0, "cpu_foreign_seconds": 0, "machine_cpus": MACHINE_CPUS,
               "machine_memory_bytes": MACHINE_BYTES, "architecture": "x86_64", "cpu_level": "x86-64-v3",
               "system": "kubernetes" if labels else None, "labels": json.dumps(labels) if labels else None,
               "columns": self._columns(peak, cores, duration, file_bytes, waited), **fields}
        if limit is not None:
            run["columns"].update(group_columns(oom_kills, met_limit or 12 * oom_kills))
        run["columns"].update(columns or {})
        answer = self.server.get("/runs", "POST", json.dumps(run), Content_Type="application/json")
        self.case.assertEqual(answer.status, 201, answer.text)
        self.clock += max(every, duration + 60)

    def killed(self, limit, **more):
        """A run that the kernel killed at its limit."""
        self.told.append("x")
        self.run(limit, limit, outcome="oom_killed", exit_signal=9, oom_kills=1,
                 **{"memory_source": "limit", **more})

    # ---- asking ----

    def get(self, **parameters):
        query = urllib.parse.urlencode({"job_name": self.name, "details": 1, **parameters})
        return self.server.get("/recommend?" + query)

    def answer(self, **parameters):
        """Returns the next request. The case collects the faults of the answer."""
        answer = self.get(**parameters)
        self.case.assertEqual(answer.status, 200, f"{self.name}: {answer.text}")
        advice = Advice(answer)
        self.told.append(f"{advice.mib}" if advice.cpu == 1 else f"{advice.mib}/{advice.cpu}cpu")
        self.case.faults.extend(f"{self.name} {parameters or ''}: {fault}" for fault in advice.faults())
        return advice

    # ---- an orchestrator ----

    def _attempt(self, attempt, first, retries, announced):
        """Returns the advice for an attempt, with its request and its limit in bytes."""
        if not self.posted:
            return None, first, first
        advice = self.answer(**announced, **({"attempt": attempt} if retries and attempt > 1 else {}))
        return advice, min(advice.mib * MIB, MACHINE_BYTES), min(advice.limit_bytes, MACHINE_BYTES)

    def follow(self, law, runs=20, first=2 * GIB, by="request", retries=True, inputs=None):
        """Runs the job so many times. Each run uses the previous answer. A killed run is repeated.

        law(i, limit) is what run i uses under a limit, in bytes, or a dictionary of arguments of run(). `by` selects
        the number that becomes the limit: "request" where the target has one number, "limit" where it has two. Without
        `retries`, the next attempt asks like a next run. inputs(i) is announced with each question and with the run."""
        steps = []
        for i in range(runs):
            announced = {"input_bytes": int(inputs(i))} if inputs else {}
            for attempt in range(1, ATTEMPTS_MOST + 1):
                advice, request, limit = self._attempt(attempt, first, retries, announced)
                limit = limit if by == "limit" else request
                if attempt == 1:
                    step = Step(round(request / MIB), limit / MIB, 0, 0, advice)
                used = law(i, limit)
                used = used if isinstance(used, dict) else {"peak": used}
                more = {**announced, "attempt": attempt, "requested_memory_bytes": request}
                if used["peak"] <= limit:
                    self.run(**{"limit": limit, **more, **used})
                    break
                self.killed(limit, **more, **{k: v for k, v in used.items() if k != "peak"})
                step.kills += 1
            else:
                self.case.fail(f"{self.name}: run {i + 1} needs {used['peak'] / MIB:.0f} MiB and was killed in attempt "
                               f"{attempt} at {limit / MIB:.0f} MiB: {' '.join(self.told)}")
            step.need = used["peak"] / MIB
            steps.append(step)
        return steps
