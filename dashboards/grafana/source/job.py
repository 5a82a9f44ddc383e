"""One job over time, wherever it ran: how long, how much, how it ended, where it is going, what to ask for."""
import panels
from panels import BLUE, GREEN, RED, YELLOW, graph, row, stat, steps, table
from shared import (IN_ROW, IN_SERIES, JOB, RATE, annotations, increased, instance_links, instance_variable, job_links,
                    job_variable)

OF = "{" + JOB + "}"
BY_JOB = '{job_name=~"$job_name"}'
DAY = 86400
ENDED = "rightsize_job_runs_total" + OF
SUCCEEDED = f'rightsize_job_runs_total{{outcome="succeeded", {JOB}}}'


def dashboard():
    return panels.dashboard(
        "rightsize-job", "Right-sizing / Job", "One job over time, wherever it ran",
        [job_variable(many=False), instance_variable(many=True, of_job=True)], annotations(JOB), [
            stat("Runs now", "none", f"sum(rightsize_job_active_runs{OF})"),
            stat("Ended well", "percentunit", f"sum({SUCCEEDED}) / sum({ENDED})", "Of all runs in the history",
                 thresholds=steps(RED, (0.9, YELLOW), (0.99, GREEN)), spark=False),
            stat("Latest end", "dateTimeFromNow", f"max(rightsize_job_last_end_timestamp_seconds{OF}) * 1000", spark=False),
            stat("Peak memory", "bytes", f"max(rightsize_job_memory_peak_bytes{OF})", "Of the latest run"),
            stat("OOM risk", "percentunit", f"max(rightsize_job_oom_risk_ratio{OF})",
                 "Chance that the run under way meets its memory limit", thresholds=steps(GREEN, (0.05, YELLOW), (0.2, RED))),
            stat("Cost", "currencyUSD", f"sum(increase(rightsize_job_cost_usd_total{OF}[$__range]))", "In the time shown", spark=False),

            row("What it asks for, and what it needs"),
            table("Where it ran, and what to ask for", {
                "Runs now": (f"sum by (job_name, instance) (rightsize_job_active_runs{OF})", "none"),
                "Cores": (f"sum by (job_name, instance) (rate(rightsize_job_cpu_seconds_total{OF}[{RATE}]))", "none"),
                "CPU limit": (f"max by (job_name, instance) (rightsize_job_cpu_limit_cores{OF})", "none"),
                "Peak": (f"max by (job_name, instance) (rightsize_job_memory_peak_bytes{OF})", "bytes"),
                "Memory limit": (f"max by (job_name, instance) (rightsize_job_memory_limit_bytes{OF})", "bytes"),
                "Last end": (f"max by (job_name, instance) (rightsize_job_last_end_timestamp_seconds{OF}) * 1000", "dateTimeFromNow"),
            }, "Click the job for the recommendation", size=(24, 6),
                  links={"job_name": job_links(IN_ROW), "instance": instance_links(IN_ROW)}),
            graph("Asked for, of what was used", "none", (f"rightsize_job_overprovisioned_ratio{OF}", "{{resource}} on {{instance}}"),
                  help_text="1: nothing is left over. Above 2 for a day, an alert says so"),
            graph("Peak memory of each hour, and where it is going", "bytes",
                  (f"job_name:rightsize_job_memory_peak_bytes:max1h{BY_JOB}", "peak"),
                  (f"predict_linear(job_name:rightsize_job_memory_peak_bytes:max1h{BY_JOB}[7d], {DAY})", "in a day, by the last week"),
                  (f"max by (job_name) (rightsize_job_memory_limit_bytes{OF})", "limit"),
                  help_text="A straight line through the last seven days, seen one day on. Needs rules.yml",
                  lines={"limit": RED, "in a day, by the last week": BLUE}),

            row("Runs"),
            graph("Duration of the run under way", "s",
                  (f"max by (job_name) (rightsize_job_duration_seconds{OF})", "so far"),
                  (f"max by (job_name) (rightsize_job_expected_duration_seconds{OF})", "expected in all"),
                  help_text="Each slope is a run. An alert fires at twice of what was expected at its beginning",
                  lines={"expected in all": YELLOW}),
            graph("Runs that ended", "none", (f"sum by (outcome) ({increased(ENDED, 300, JOB)})", "{{outcome}}"),
                  help_text="In five minutes", stack=True, bars=True),
            graph("CPU time per run", "s", (f"job_name:rightsize_job_cpu_seconds_per_run:ratio1d{BY_JOB}", "last day"),
                  help_text="Mean of the runs that ended in the day before. Needs rules.yml"),
            graph("Cost per run", "currencyUSD", (f"job_name:rightsize_job_cost_usd_per_run:ratio1d{BY_JOB}", "last day"),
                  help_text="Mean of the runs that ended in the day before. Needs rules.yml"),

            graph("Next run: cost", "currencyUSD", (f"rightsize_job_forecast_cost_usd{OF}", "on the {{server}} server"),
                  (f"rightsize_job_last_run_cost_usd{OF}", "the latest run"), help_text="Forecast: on the current server, and on the one with the lowest cost of a run"),
            graph("Next run: duration", "s", (f"rightsize_job_forecast_duration_seconds{OF}", "on the {{server}} server")),

            row("Usage"),
            graph("Cores", "none", (f"rate(rightsize_job_cpu_seconds_total{OF}[{RATE}])", "used on {{instance}}"),
                  (f"rightsize_job_cpu_limit_cores{OF}", "limit on {{instance}}"), lines={"/^limit/": RED}),
            graph("Memory", "bytes", (f"rightsize_job_memory_bytes{OF}", "in use on {{instance}}"),
                  (f"rightsize_job_memory_peak_bytes{OF}", "peak on {{instance}}"),
                  (f"rightsize_job_memory_limit_bytes{OF}", "limit on {{instance}}"), lines={"/^limit/": RED, "/^peak/": YELLOW}),
            graph("Held back by the CPU quota", "percentunit",
                  (f"instance_job_name:rightsize_job_cpu_throttled:ratio_rate5m{OF}", "{{instance}}"),
                  help_text="Part of the periods with work in which it was stopped. Needs rules.yml"),
            graph("GPUs kept busy", "none", (f"rightsize_job_gpu_usage{OF}", "busy on {{instance}}"),
                  (f"rightsize_job_gpus_used{OF}", "held on {{instance}}"), help_text="Held: with a context or work of the job"),
        ], since="now-7d")
