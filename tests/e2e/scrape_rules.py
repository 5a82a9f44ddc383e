"""The 32 named rules of OpenMetrics' validator, for successive scrapes in both text formats. check(scrapes) returns
every complaint as (rule, text). tests/e2e/test_scrape_rules.py shows that each rule finds its fault."""
import math
import re

# Allowed suffixes of a sample after the name of its family, by type of the family.
SUFFIXES = {
    "counter": ("_total", "_created"), "summary": ("_count", "_sum", "_created", ""),
    "histogram": ("_bucket", "_count", "_sum", "_created"), "gaugehistogram": ("_bucket", "_gcount", "_gsum"),
    "info": ("_info",), "gauge": ("",), "stateset": ("",), "unknown": ("",)}
SAMPLE = re.compile(r'([a-zA-Z_:][\w:]*)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)(?: (\S+))?( # .*)?')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Sample:
    def __init__(self, line):
        match = SAMPLE.fullmatch(line)
        if not match:
            raise ValueError(f"no sample: {line}")
        self.line, self.name = line, match[1]
        self.pairs = LABEL.findall(match[2] or "")
        self.labels = dict(self.pairs)
        self.value = float(match[3])
        self.time = float(match[4]) if match[4] else None
        self.exemplar = match[5]

    @property
    def key(self):
        return self.name, frozenset(self.pairs)

    def number(self, label):
        """Returns the number in a label; NaN = the label is not a number."""
        try:
            return float(self.labels.get(label, "NaN"))
        except ValueError:
            return math.nan


class Family:
    def __init__(self, name):
        self.name, self.metadata, self.samples = name, {"TYPE": [], "UNIT": [], "HELP": []}, []
        self.split = False  # another family stood between its lines

    @property
    def type(self):
        return self.metadata["TYPE"][0] if self.metadata["TYPE"] else "unknown"

    def called(self, *suffixes):
        return [s for s in self.samples if s.name[len(self.name):] in suffixes]

    @property
    def points(self):
        """Returns the samples of one labelset, without the labels that distinguish the parts of a point."""
        found = {}
        for sample in self.samples:
            without = {"histogram": "le", "gaugehistogram": "le", "summary": "quantile"}.get(self.type)
            found.setdefault(frozenset(p for p in sample.pairs if p[0] != without), []).append(sample)
        return found


class Scrape:
    def __init__(self, text):
        """The text format 0.0.4 gives the family of a counter the name of its sample. Here it gets the name that
        OpenMetrics uses."""
        self.families = {}
        self.last = None
        self.is_openmetrics = text.endswith("# EOF\n")
        for line in text.splitlines():
            if line.startswith("# ") and line != "# EOF":
                _, what, name, said = (line + " ").split(" ", 3)
                self._metadata(what, name, said.rstrip(" "))
            elif line and line != "# EOF":
                self._sample(Sample(line))

    def _family(self, name):
        if name in self.families and self.last != name:
            self.families[name].split = True
        self.last = name
        return self.families.setdefault(name, Family(name))

    def _metadata(self, what, name, said):
        if not self.is_openmetrics and name.endswith("_total"):
            name = name[:-len("_total")]
        self._family(name).metadata[what].append(said)

    def _sample(self, sample):
        names = [sample.name[:len(sample.name) - len(suffix)] for suffixes in SUFFIXES.values() for suffix in suffixes
                 if sample.name.endswith(suffix)]
        known = [n for n in names if n in self.families and sample.name[len(n):] in SUFFIXES[self.families[n].type]]
        self._family(max(known, key=len) if known else sample.name).samples.append(sample)

    @property
    def samples(self):
        return [s for f in self.families.values() for s in f.samples]

    def of(self, *types):
        return [f for f in self.families.values() if f.type in types]


RULES = {}


def rule(name, level="must"):
    def add(function):
        RULES[name] = (level, function)
        return function
    return add


def each(name, types, suffixes, is_bad, level="must"):
    """A rule about single samples of families of some types, with some suffixes."""
    @rule(name, level)
    def _(_before, now):
        return [s.line for f in now.of(*types) for s in (f.called(*suffixes) if suffixes else f.samples) if is_bad(s, f)]


def once(name, what):
    @rule(name)
    def _(_before, now):
        return [f.name for f in now.families.values() if len(f.metadata[what]) > 1]


def buckets(family, missing_is_bad=False):
    """Returns [(labels, buckets in their order)] of all points that have buckets."""
    found = [(labels, [s for s in samples if s.name.endswith("_bucket")]) for labels, samples in family.points.items()]
    return [(labels, b) for labels, b in found if b or missing_is_bad]


def is_sorted(values):
    return all(a < b for a, b in zip(values, values[1:]))


def has(family, labels, suffix):
    return any(s.name == family.name + suffix for s in family.points[labels])


# Rules for every family.
once("type_is_said_once", "TYPE")
once("unit_is_said_once", "UNIT")
once("help_is_said_once", "HELP")
each("label_names_are_unique", SUFFIXES, (), lambda s, f: len(s.labels) < len(s.pairs))
each("only_counters_and_buckets_have_exemplars", [t for t in SUFFIXES if t not in ("counter", "histogram", "gaugehistogram")], (),
     lambda s, f: s.exemplar)


@rule("all_samples_of_a_family_have_timestamps_or_none")
def _(_before, now):
    return [f.name for f in now.families.values() if len({s.time is None for s in f.samples}) > 1]


@rule("timestamps_grow")
def _(before, now):
    last, complaints = {s.key: s.time for s in before.samples} if before else {}, []
    for s in now.samples:
        if s.time is not None and last.get(s.key) is not None and s.time < last[s.key]:
            complaints.append(s.line)
        last[s.key] = s.time
    return complaints


@rule("families_are_not_interleaved")
def _(_before, now):
    complaints = [f.name for f in now.families.values() if f.split]
    for f in now.families.values():
        order = []
        for s in f.samples:
            without = {"histogram": "le", "gaugehistogram": "le", "summary": "quantile"}.get(f.type)
            labels = frozenset(p for p in s.pairs if p[0] != without)
            if not order or order[-1] != labels:
                order.append(labels)
        if len(order) != len(set(order)):
            complaints.append(f"{f.name}: its points")
    return complaints


@rule("series_do_not_disappear", "should")
def _(before, now):
    there = {s.key for s in now.samples}
    return [s.line for s in before.samples if s.key not in there] if before else []


@rule("no_label_is_on_every_sample", "should")
def _(_before, now):
    common = [set(s.pairs) for s in now.samples]
    return [f"{n}={v}" for n, v in set.intersection(*common)] if len(common) > 1 else []


# Rules for counters.
each("counter_is_no_nan", ("counter", "histogram", "summary"), ("_total", "_count", "_sum", "_bucket"), lambda s, f: math.isnan(s.value))
each("counter_is_not_negative", ("counter", "histogram", "summary"), ("_total", "_count", "_sum", "_bucket"), lambda s, f: s.value < 0)
each("total_is_a_number_from_0_on", ("counter",), ("_total",), lambda s, f: not s.value >= 0)


@rule("counter_never_falls")
def _(before, now):
    last = {s.key: s.value for f in before.of("counter") for s in f.called("_total")} if before else {}
    return [s.line for f in now.of("counter") for s in f.called("_total") if s.value < last.get(s.key, 0)]


# Rules for summaries.
each("quantile_is_between_0_and_1", ("summary",), ("",), lambda s, f: not 0 <= s.number("quantile") <= 1)
each("value_of_a_quantile_is_not_negative", ("summary",), ("",), lambda s, f: s.value < 0)
each("count_and_sum_of_a_summary_are_counters", ("summary",), ("_count", "_sum"), lambda s, f: not s.value >= 0)

# Rules for infos and statesets.
each("info_is_1", ("info",), (), lambda s, f: s.value != 1)
each("state_is_0_or_1", ("stateset",), (), lambda s, f: s.value not in (0, 1))
each("state_has_the_label_of_its_family", ("stateset",), (), lambda s, f: f.name not in s.labels)


@rule("info_has_no_unit")
def _(_before, now):
    return [f.name for f in now.of("info") if any(f.metadata["UNIT"])]


@rule("stateset_has_no_unit")
def _(_before, now):
    return [f.name for f in now.of("stateset") if any(f.metadata["UNIT"])]


# Rules for histograms and gauge histograms.
@rule("histogram_has_the_last_bucket")
def _(_before, now):
    return [f.name for f in now.of("histogram", "gaugehistogram") for _, b in buckets(f, True)
            if math.inf not in [s.number("le") for s in b]]


@rule("buckets_are_in_order")
def _(_before, now):
    return [f.name for f in now.of("histogram") for _, b in buckets(f)
            if not is_sorted([s.number("le") for s in b]) or
            any(x.value > y.value for x, y in zip(b, b[1:]))]


@rule("histogram_has_sum_and_count_or_neither")
def _(_before, now):
    return [f.name for f in now.of("histogram") for labels in f.points if has(f, labels, "_sum") != has(f, labels, "_count")]


@rule("histogram_with_negative_buckets_has_no_sum")
def _(_before, now):
    return [f.name for f in now.of("histogram") for labels, b in buckets(f)
            if has(f, labels, "_sum") and any(s.number("le") < 0 for s in b)]


@rule("buckets_of_gauges_are_in_order")
def _(_before, now):
    return [f.name for f in now.of("gaugehistogram") for _, b in buckets(f) if not is_sorted([s.number("le") for s in b])]


each("bucket_of_gauges_is_no_nan", ("gaugehistogram",), ("_bucket",), lambda s, f: math.isnan(s.value))
each("bucket_of_gauges_is_not_negative", ("gaugehistogram",), ("_bucket",), lambda s, f: s.value < 0)
each("sum_of_gauges_is_no_nan", ("gaugehistogram",), ("_gsum",), lambda s, f: math.isnan(s.value))


@rule("gauges_have_sum_and_count_or_neither")
def _(_before, now):
    return [f.name for f in now.of("gaugehistogram") for labels in f.points if has(f, labels, "_gsum") != has(f, labels, "_gcount")]


@rule("sum_of_gauges_is_negative_with_negative_buckets_only")
def _(_before, now):
    return [f.name for f in now.of("gaugehistogram") for labels, b in buckets(f)
            if any(s.name.endswith("_gsum") and s.value < 0 for s in f.points[labels]) and not any(s.number("le") < 0 for s in b)]


def check(texts):
    """Returns every complaint about successive scrapes: [(rule, index of the scrape, text)]."""
    found, before = [], None
    for number, text in enumerate(texts):
        now = Scrape(text)
        for name, (_level, function) in RULES.items():
            found += [(name, number, what) for what in function(before, now)]
        before = now
    return found
