"""Writes the results of compare.py: the tables of README.md, all figures, a plot, and the aims.

A result is what measure() of compare.py gives for one number of processes; the first of its rows is ours.
"""
import math
import os

US = "rightsize-exporter"
PACE = 10000  # scrapes a second
CONNECTIONS = 1, 8, 64
# Resident memory is compared at this number of processes, and latencies at fewer.
MANY, FEW = 1000, 100


def number(v, digits=3):
    if v is None or math.isnan(v):
        return "-"
    return f"{v:,.0f}" if abs(v) >= 100 else f"{v:.{digits}g}"


def cost(row):
    """Returns the cost of one reading with its answer: the work that its own clock or a scraper causes each second."""
    return (row.get("tick") or 0) + (row.get("scrape") or 0)


def ours(result):
    return result["rows"][0][1]


def divided(a, b):
    return a / b if b else math.nan


def print_lines(results, lines):
    print("| | " + " | ".join(r.get("name") or f"{r['n']:,}" for r in results) + " |")
    print("|---|" + "---|" * len(results))
    for name, cell in lines:
        print(f"| {name} | " + " | ".join(cell(r) for r in results) + " |")
    print()


def print_ratios(results):
    """Prints the cost of a reading of the tree as a multiple of ours."""
    names = list(dict.fromkeys(name for r in results for name, _ in r["rows"]))

    def of(name):
        def cell(r):
            row = dict(r["rows"]).get(name)
            return number(divided(cost(row), cost(ours(r))), 2) if row and cost(row) else "-"
        return cell
    print_lines(results, [
        ("floor, kept descriptors", lambda r: number(divided(r["kept"], cost(ours(r))), 2)),
        ("floor, the same files", lambda r: number(divided(r["same"], cost(ours(r))), 2)),
        *((name, of(name)) for name in names)])


def print_ours(results):
    def each(what, scale=1):
        return lambda r: " / ".join(number(what(ours(r), c) / scale, 2) for c in CONNECTIONS)

    def paced(i):
        return lambda row, c: (row.get(("pace", c)) or [math.nan] * 5)[i]

    def hurried(i):
        return lambda row, c: row.get(c, [math.nan] * 4)[i]
    print_lines(results, [
        ("our tick, ms of CPU", lambda r: number(ours(r).get("tick"), 2)),
        ("floor of the same files, ms", lambda r: number(r["same"], 2)),
        ("our tick, times that floor", lambda r: number(to_floor(r))),
        ("our scrape, ms", lambda r: number(ours(r).get("scrape"), 2)),
        ("bytes of an answer", lambda r: number(ours(r).get("bytes"))),
        ("resident, of that private, MiB", lambda r: f"{number(ours(r).get('resident'), 2)}, {number(ours(r).get('private'), 2)}"),
        ("as many scrapes as it can a second, 1 / 8 / 64 connections, in thousands", each(hurried(0), 1000)),
        ("p50 of these, ms", each(hurried(1))),
        ("p99 of these, ms", each(hurried(2))),
        (f"p50 of {PACE:,} a second, ms", each(paced(0))),
        (f"p99 of {PACE:,} a second, ms", each(paced(1))),
        ("refused or broken", lambda r: number(errors(r)))])


def print_all(results):
    """Prints all results."""
    print("| processes | who | CPU ms a tick | x floor / x same files | CPU ms a scrape | a look, x ours | resident / private MiB | bytes "
          "| requests/s by 1 / 8 / 64 | p50 ms | p99 ms | errors |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for r in results:
        our_cost = cost(ours(r))
        print(f"| {r['n']:,} | floor, kept / opened | {number(r['kept'])} / {number(r['opened'])} | 1 | | {number(divided(r['kept'], our_cost))} | | | | | | |")
        print(f"| {r['n']:,} | floor, the same files | {number(r['same'])} | {number(r['same'] / r['kept'])} / 1 | | {number(divided(r['same'], our_cost))} | | | | | | |")
        for name, row in r["rows"]:
            hurried = [row[c] for c in CONNECTIONS if c in row]
            ticks = row.get("tick", math.nan)
            print(f"| {r['n']:,} | {name} | {number(ticks)} | {number(ticks / r['kept'])} / {number(ticks / r['same'])} "
                  f"| {number(row.get('scrape'))} | {number(divided(cost(row), our_cost))} "
                  f"| {number(row.get('resident'))} / {number(row.get('private'))} | {number(row.get('bytes', math.nan))} "
                  + "".join(f"| {' / '.join(number(h[i]) if h[0] > 0 else '-' for h in hurried) or '-'} " for i in range(3))
                  + f"| {number(sum(h[3] for h in hurried)) if hurried else '-'} |")
    print(f"\n| processes | who, {PACE:,} scrapes a second | connections | p50 ms | p99 ms | slowest ms | errors | scrapes a second |")
    print("|---|---|---|---|---|---|---|---|")
    for r in results:
        for name, row in r["rows"]:
            for c in CONNECTIONS:
                paced = row.get(("pace", c))
                if paced:
                    print(f"| {r['n']:,} | {name} | {c} | " + " | ".join(map(number, paced)) + " |")
    print()
    for r in results:
        print(f"{r['n']:,} processes ({r['found']:,} found by the floor): load {r['load'][0]} on {os.cpu_count()} CPUs, "
              f"CPU pressure {r['load'][1]}" + (f"; not installed: {', '.join(r['missing'])}" if r["missing"] else ""))



# ---- aims ----


# All values of our program can be measured. NaN means that our program ended, or that wrk or h2load failed. Such a
# result is a failure.


def errors(result):
    row = ours(result)
    paced = [p for c in CONNECTIONS if (p := row.get(("pace", c)))]
    return row.get("errors", 0) + sum(row[c][3] if c in row else math.nan for c in CONNECTIONS) + sum(p[3] for p in paced)


def most_scrapes(r):
    rates = [ours(r)[c][0] if c in ours(r) else math.nan for c in CONNECTIONS]
    return math.nan if any(map(math.isnan, rates)) else max(rates)


def part(name):
    """Returns one part of the cost of a reading: its tick, or its scrape."""
    return lambda row: row.get(name, math.nan)


def both(row):
    return part("tick")(row) + part("scrape")(row)


def ratio(name, of, to):
    """Returns the cost of a program as a multiple of ours; None = it is not installed. If our scrape cost so little
    that the ticks around it hide it, the result is a measurement of 0."""
    def measured(r):
        if name in r["missing"]:
            return None
        theirs, own = of(dict(r["rows"]).get(name, {})), to(ours(r))
        return theirs / own if own else math.inf if theirs > 0 else math.nan
    return measured


def to_floor(r):
    return divided(ours(r).get("tick", math.nan), r["same"])


def paced_p99(r):
    """Returns the p99 at the number of connections with that many requests. Without such a number, or with an unknown
    p99, the aim is missed."""
    p99s = [p[1] for c in CONNECTIONS if (p := ours(r).get(("pace", c)))]
    return math.nan if math.isnan(most_scrapes(r) + sum(p99s)) else max(p99s, default=math.inf)


# (what, at which number of processes or None for each, what was measured, at least or at most, bound)
AIMS = (
    ("resident, MiB", MANY, lambda r: ours(r).get("resident", math.nan), "at most", 8),
    # With one connection, the latency is that of the client and of CPUs that wake up from sleep.
    ("scrapes a second, by 1, 8 or 64 connections", None, most_scrapes, "at least", PACE),
    ("scrapes refused or broken", None, errors, "at most", 0),
    (f"p99 of {PACE:,} scrapes a second, ms", FEW, paced_p99, "at most", 5),
    ("our tick, times the floor of the same files", None, to_floor, "at most", 1.5),
    # A program without scrapes of its own is compared by ticks and, more strictly, with the sum of both for ours.
    ("netdata's tick, times ours", None, ratio("netdata apps.plugin", part("tick"), part("tick")), "at least", 8),
    ("netdata's tick, times our tick and scrape", None, ratio("netdata apps.plugin", part("tick"), both), "at least", 8),
    ("process-exporter's scrape, times ours", None, ratio("process-exporter", part("scrape"), part("scrape")), "at least", 50),
    ("process-exporter's scrape, times our tick and scrape", None, ratio("process-exporter", part("scrape"), both), "at least", 50),
)


def verdict(measured, direction, bound):
    if measured is None:
        return "not measured: not installed"
    if math.isnan(measured):
        return "MISSED: not measured"
    return "met" if (measured >= bound if direction == "at least" else measured <= bound) else "MISSED"


def print_aims(results):
    """Returns True when no aim is missed. Reports each aim that was not measured because a program or a size is
    missing."""
    print("| aim | processes | bound | measured | |")
    print("|---|---|---|---|---|")
    missed = 0
    for what, n, measure, direction, bound in AIMS:
        for r in (r for r in results if n in (None, r["n"])):
            value = measure(r)
            missed += verdict(value, direction, bound).startswith("MISSED")
            print(f"| {what} | {r['n']:,} | {direction} {bound:,} | {number(value)} | {verdict(value, direction, bound)} |")
        if n and n not in [r["n"] for r in results]:
            print(f"| {what} | {n:,} | {direction} {bound:,} | - | not measured: not asked for |")
    print()
    return missed == 0


def draw(results, path):
    """Draws the CPU time of one reading by number of processes, both on logarithmic scales."""
    width, height, left, bottom = 720, 440, 70, 50
    lines = {"floor": [(r["n"], r["same"]) for r in results]}
    for r in results:
        for name, row in r["rows"]:
            lines.setdefault(name, []).append((r["n"], cost(row)))
    points = [p for line in lines.values() for p in line if p[1] > 0]
    x0, x1 = (math.log10(f(p[0] for p in points)) for f in (min, max))
    y0, y1 = math.floor(math.log10(min(p[1] for p in points))), math.ceil(math.log10(max(p[1] for p in points)))

    def at(n, v):
        x = left + (math.log10(n) - x0) / max(x1 - x0, 1e-9) * (width - left - 210)
        return x, height - bottom - (math.log10(v) - y0) / max(y1 - y0, 1) * (height - bottom - 30)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="18">CPU milliseconds of one look (tick and scrape) by number of processes</text>']
    for y in range(y0, y1 + 1):
        _, py = at(10 ** x0, 10.0 ** y)
        out += [f'<line x1="{left}" x2="{width - 210}" y1="{py:.1f}" y2="{py:.1f}" stroke="#ddd"/>',
                f'<text x="{left - 8}" y="{py + 4:.1f}" text-anchor="end">{10.0 ** y:g}</text>']
    for r in results:
        px, _ = at(r["n"], 10.0 ** y0)
        out.append(f'<text x="{px:.1f}" y="{height - bottom + 20}" text-anchor="middle">{r["n"]:,}</text>')
    for (name, line), colour in zip(lines.items(), ("#888", "#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e",
                                                     "#8c564b")):
        line = [at(*p) for p in line if p[1] > 0]
        if not line:
            continue
        dots = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        out += [f'<polyline points="{dots}" fill="none" stroke="{colour}" stroke-width="{3 if name == US else 1.5}"/>',
                f'<text x="{line[-1][0] + 8:.1f}" y="{line[-1][1] + 4:.1f}" fill="{colour}">{name}</text>']
    with open(path, "w") as file:
        file.write("\n".join(out + ["</svg>"]) + "\n")
