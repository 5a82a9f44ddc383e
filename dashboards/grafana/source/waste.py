"""Unused requests of all jobs in 30 days, in money, and failed runs: from the runs in the store."""
import panels
from panels import GREEN, ORANGE, PLACE, RED, YELLOW, bars, graph, link, row, stat, steps, table, variable
from shared import IN_ROW, JOB_KEYS, JOB_PATH, TO_JOB, pages, to_page

PLACES = ", ".join(PLACE)
OF = '{namespace=~"$namespace", cluster=~"$cluster"}'
NEEDS = "Needs fleet_rules.yml"


def of_job(name):
    """Returns the record with no label but those of the job, without which the table would not merge its rows."""
    return f"sum by ({JOB_KEYS}) (job_name:rightsize_run_{name}{OF})"


def money(what, keys=JOB_KEYS, resource=""):
    """what: requested or wasted."""
    level, chosen = ("job_name" if keys == JOB_KEYS else "cluster_namespace"), OF.replace("}", resource + "}")
    return f"sum by ({keys}) ({level}_resource:rightsize_run_{what}_usd:sum30d{chosen})"


def total(what):
    return f"sum(cluster_namespace_resource:rightsize_run_{what}_usd:sum30d{OF})"


def runs(keys, outcome=""):
    """Returns how many runs ended, 0 where none ended with the outcome. outcome: a matcher."""
    series = ("job_name" if keys == JOB_KEYS else "cluster_namespace") + "_outcome:rightsize_run_runs:count30d"
    chosen = OF.replace("}", f", {outcome}}}")
    every = f"sum by ({keys}) ({series}{OF})"
    return f"(sum by ({keys}) ({series}{chosen}) or {every} * 0)" if outcome else every


FAILED, KILLED = 'outcome!="succeeded"', 'outcome="oom_killed"'


def share_of_all(outcome):
    series = "cluster_namespace_outcome:rightsize_run_runs:count30d"
    chosen = OF.replace("}", f", {outcome}}}")
    return f"(sum({series}{chosen}) or sum({series}{OF}) * 0) / sum({series}{OF})"


def named(expr):
    """Returns the expression with a text as namespace where there is none, for a legend."""
    return f'label_replace({expr}, "namespace", "no namespace", "namespace", "")'


def of_most(expr, ranking):
    """Returns the expression for the 20 jobs with the largest ranking."""
    return f"{expr} and on ({JOB_KEYS}) topk(20, {ranking} > 0)"


def jobs(title, columns, help_text, ranking, sort):
    """A table of the 20 jobs with the largest ranking."""
    page = f"({of_most(of_job('duration_seconds:sum30d'), ranking)}) * on () group_left (page) topk(1, {READERS})"
    return table(title, {heading: (of_most(expr, ranking), unit) for heading, (expr, unit) in columns.items()}, help_text,
                 keys=("job_name", *PLACE), links={"job_name": [link("Job over time", TO_JOB.format(**IN_ROW))]}, sort=sort,
                 page=(page, to_page(JOB_PATH)))


# Only an exporter that reads the store knows all jobs.
READERS = f"({pages('')} and on (instance) rightsize_history_read_runs_total)"


def choice(label):
    return variable(label, label.capitalize(), f"label_values(cluster_namespace:rightsize_run_duration_seconds:sum30d, {label})",
                    help_text=f"The {label} of the jobs; All has also those without one")


def dashboard():
    return panels.dashboard(
        "rightsize-waste", "Right-sizing / Waste", "Unused requests of the runs of 30 days, in money, from the runs in a store",
        [choice(label) for label in PLACE], [], [
            stat("Runs", "none", f"sum(cluster_namespace_outcome:rightsize_run_runs:count30d{OF})", f"Runs that ended in 30 days. {NEEDS}"),
            stat("Requested", "currencyUSD", total("requested"), "What the requests of 30 days cost, at the two prices in fleet_rules.yml"),
            stat("Wasted", "currencyUSD", total("wasted"), "The part that no run used, even at its peak", thresholds=steps(ORANGE)),
            stat("Share wasted", "percentunit", f"{total('wasted')} / {total('requested')}", "Of the cost of the requests",
                 thresholds=steps(GREEN, (0.3, YELLOW), (0.6, RED))),
            stat("Share that failed", "percentunit", share_of_all(FAILED), "Failed, interrupted or killed runs, of all runs",
                 thresholds=steps(GREEN, (0.05, YELLOW), (0.2, RED))),
            stat("Share out of memory", "percentunit", share_of_all(KILLED), "Runs that were killed because memory ran out, of all runs",
                 thresholds=steps(GREEN, (0.01, YELLOW), (0.05, RED))),

            row("Waste"),
            bars("Wasted by namespace", "currencyUSD", (f"topk(20, {named(money('wasted', PLACES))})", "{{namespace}} {{cluster}}"),
                 help_text="In 30 days. The 20 largest namespaces", thresholds=steps(ORANGE)),
            graph("Wasted over time", "currencyUSD", (f"topk(20, {named(money('wasted', PLACES))})", "{{namespace}} {{cluster}}"),
                  help_text="In the 30 days before each time, by namespace. It falls after requests were lowered", stack=True),
            table("Namespaces", {
                "Wasted": (money("wasted", PLACES), "currencyUSD"),
                "Requested": (money("requested", PLACES), "currencyUSD"),
                "Share wasted": (f"{money('wasted', PLACES)} / {money('requested', PLACES)}", "percentunit"),
                "Run time": (f"sum by ({PLACES}) (cluster_namespace:rightsize_run_duration_seconds:sum30d{OF})", "s"),
                "Runs": (runs(PLACES), "none"),
                "Failed": (runs(PLACES, FAILED), "none"),
                "Out of memory": (runs(PLACES, KILLED), "none"),
            }, "All namespaces, in 30 days. Failed: also interrupted and killed", keys=PLACE, sort="Wasted"),

            row("Savings"),
            jobs("Top 20 savings", {
                "Wasted": (money("wasted"), "currencyUSD"),
                "Of memory": (money("wasted", resource=', resource="memory"'), "currencyUSD"),
                "Of CPU": (money("wasted", resource=', resource="cpu"'), "currencyUSD"),
                "Memory requested": (of_job("requested_memory_bytes:mean30d"), "bytes"),
                "Memory peak": (of_job("memory_peak_bytes:mean30d"), "bytes"),
                "CPU requested": (of_job("requested_cpu_cores:mean30d"), "none"),
                "CPU used": (of_job("cpu_cores:mean30d"), "none"),
                "Runs": (runs(JOB_KEYS), "none"),
            }, "The jobs that wasted most in 30 days. Means of runs, by duration. The last column leads to the job's page on an "
               "exporter that reads the store, if the store scrapes one", money("wasted"), "Wasted"),

            row("Failures"),
            bars("Runs that failed, by namespace", "none",
                 (f"topk(20, {named(runs(PLACES, FAILED))} > 0)", "{{namespace}} {{cluster}}"),
                 help_text="Failed, interrupted or killed in 30 days. The 20 largest namespaces", thresholds=steps(RED)),
            graph("Runs by outcome", "none", (f"sum by (outcome) (cluster_namespace_outcome:rightsize_run_runs:count30d{OF})", "{{outcome}}"),
                  help_text="In the 30 days before each time", stack=True),
            jobs("Jobs that failed most", {
                "Failed": (runs(JOB_KEYS, FAILED), "none"),
                "Out of memory": (runs(JOB_KEYS, KILLED), "none"),
                "Runs": (runs(JOB_KEYS), "none"),
                "Share that failed": (f"{runs(JOB_KEYS, FAILED)} / {runs(JOB_KEYS)}", "percentunit"),
                "Memory requested": (of_job("requested_memory_bytes:mean30d"), "bytes"),
                "Memory peak": (of_job("memory_peak_bytes:mean30d"), "bytes"),
            }, "The 20 jobs with most failed, interrupted or killed runs in 30 days", runs(JOB_KEYS, FAILED), "Failed"),
        ], since="now-30d")
