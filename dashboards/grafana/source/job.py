"""One job over time, on all machines: its recommended requests, durations, costs, outcomes and trends."""
import panels
from panels import BLUE, GREEN, ORANGE, RED, YELLOW, graph, row, stat, steps, table
from shared import (IN_ROW, JOB, JOB_ANYWHERE, JOB_KEYS, JOB_PATH, RATE, annotations, increased, instance_links, instance_variable, job_links,
                    job_variable, page_of_job_link, page_variable, place_variables, to_page, with_page)

OF = "{" + JOB + "}"
BY_JOB = "{" + JOB_ANYWHERE + "}"
DAY = 86400
ENDED = "rightsize_job_runs_total" + OF
SUCCEEDED = f'rightsize_job_runs_total{{outcome="succeeded", {JOB}}}'


def largest(name):
    return f"max by ({JOB_KEYS}) (rightsize_job_{name}{OF})"


def by_instance(expr):
    return f"max by ({JOB_KEYS}, instance) ({expr})"


def dashboard():
    return panels.dashboard(
        "rightsize-job", "Right-sizing / Job", "One job over time, wherever it ran",
        [job_variable(many=False), *place_variables(), instance_variable(many=True, of_job=True), page_variable()], annotations(JOB), [
            stat("Request: CPU cores", "none", f"max(rightsize_job_recommended_cpu_cores{OF})", "Recommended for the next run", spark=False),
            stat("Request: memory", "bytes", f"max(rightsize_job_recommended_memory_bytes{OF})", "Recommended for the next run", spark=False),
            stat("Succeeded", "percentunit", f"sum({SUCCEEDED}) / sum({ENDED})", "Of all runs in the history",
                 thresholds=steps(RED, (0.9, YELLOW), (0.99, GREEN)), spark=False),
            stat("Active runs", "none", f"sum(rightsize_job_active_runs{OF})", "Runs that are running now"),
            stat("OOM risk", "percentunit", f"max(rightsize_job_oom_risk_ratio{OF})",
                 "Chance that the active run reaches its memory limit", thresholds=steps(GREEN, (0.05, YELLOW), (0.2, RED))),
            stat("Cost", "currencyUSD", f"sum(increase(rightsize_job_cost_usd_total{OF}[$__range]))", "Within the time shown", spark=False),

            row("Requested, used, recommended"),
            graph("CPU cores", "none", (f"sum by ({JOB_KEYS}) (rate(rightsize_job_cpu_seconds_total{OF}[{RATE}]))", "used"),
                  (largest("requested_cpu_cores"), "requested"), (largest("recommended_cpu_cores"), "recommended"),
                  (largest("cpu_limit_cores"), "limit"), lines={"requested": YELLOW, "recommended": BLUE, "limit": RED},
                  help_text="The request is that of the newest run. The recommendation is for the next run"),
            graph("Memory", "bytes", (largest("memory_bytes"), "used"), (largest("memory_peak_bytes"), "peak of the run"),
                  (largest("requested_memory_bytes"), "requested"), (largest("recommended_memory_bytes"), "recommended"),
                  (largest("memory_limit_bytes"), "limit"),
                  lines={"requested": YELLOW, "recommended": BLUE, "limit": RED, "peak of the run": ORANGE},
                  help_text="The request is that of the newest run. The recommendation is for the next run"),
            table("Where it ran", {
                "CPU requested": (by_instance(f"rightsize_job_requested_cpu_cores{OF}"), "none"),
                "CPU to request": (by_instance(f"rightsize_job_recommended_cpu_cores{OF}"), "none"),
                "Memory requested": (by_instance(f"rightsize_job_requested_memory_bytes{OF}"), "bytes"),
                "Peak memory": (by_instance(f"rightsize_job_memory_peak_bytes{OF}"), "bytes"),
                "Memory to request": (by_instance(f"rightsize_job_recommended_memory_bytes{OF}"), "bytes"),
                "Last end": (by_instance(f"rightsize_job_last_end_timestamp_seconds{OF}") + " * 1000", "dateTimeFromNow"),
            }, "Each exporter that knows the job. Click the job for its active or last run, the last column for its page", size=(24, 6),
                  links={"job_name": job_links(IN_ROW), "instance": instance_links(IN_ROW)},
                  page=(with_page(by_instance(f"rightsize_job_active_runs{OF}")), to_page(JOB_PATH))),
            graph("Requested, as a multiple of used", "none", (f"rightsize_job_overprovisioned_ratio{OF}", "{{resource}} on {{instance}}"),
                  help_text="While a run is active. 1: nothing is left over. Above 2 for a day, an alert says so"),
            graph("Peak memory of each hour, and where it is going", "bytes",
                  (f"job_name:rightsize_job_memory_peak_bytes:max1h{BY_JOB}", "peak"),
                  (f"predict_linear(job_name:rightsize_job_memory_peak_bytes:max1h{BY_JOB}[7d], {DAY})", "in a day, by the last week"),
                  (f"max by ({JOB_KEYS}) (rightsize_job_memory_limit_bytes{OF})", "limit"),
                  help_text="A straight line through the last seven days, extended by a day. Needs rules.yml",
                  lines={"limit": RED, "in a day, by the last week": BLUE}),

            row("Runs"),
            graph("Duration of the active run", "s",
                  (f"max by ({JOB_KEYS}) (rightsize_job_duration_seconds{OF})", "so far"),
                  (f"max by ({JOB_KEYS}) (rightsize_job_expected_duration_seconds{OF})", "expected in all"),
                  help_text="Each slope is a run. An alert fires at twice the duration that was expected at its start",
                  lines={"expected in all": YELLOW}),
            graph("Runs that ended", "none", (f"sum by (outcome) ({increased(ENDED, 300, JOB)})", "{{outcome}}"),
                  help_text="By outcome, within five minutes", stack=True, bars=True),
            graph("CPU time per run", "s", (f"job_name:rightsize_job_cpu_seconds_per_run:ratio1d{BY_JOB}", "last day"),
                  help_text="Mean of the runs that ended in the day before. Needs rules.yml"),
            graph("Cost per run", "currencyUSD", (f"job_name:rightsize_job_cost_usd_per_run:ratio1d{BY_JOB}", "last day"),
                  help_text="Mean of the runs that ended in the day before. Needs rules.yml"),

            graph("Next run: cost", "currencyUSD", (f"rightsize_job_forecast_cost_usd{OF}", "on the {{server}} server"),
                  (f"rightsize_job_last_run_cost_usd{OF}", "the latest run"),
                  help_text="Forecast for the current server, and for the server with the lowest cost of a run"),
            graph("Next run: duration", "s", (f"rightsize_job_forecast_duration_seconds{OF}", "on the {{server}} server"),
                  help_text="Forecast for the current server, and for the server with the lowest cost of a run"),

            row("Usage by machine"),
            graph("CPU cores by machine", "none", (f"rate(rightsize_job_cpu_seconds_total{OF}[{RATE}])", "used on {{instance}}"),
                  (f"rightsize_job_cpu_limit_cores{OF}", "limit on {{instance}}"), lines={"/^limit/": RED},
                  help_text="CPU cores in use, and the CPU limit"),
            graph("Memory by machine", "bytes", (f"rightsize_job_memory_bytes{OF}", "in use on {{instance}}"),
                  (f"rightsize_job_memory_peak_bytes{OF}", "peak on {{instance}}"),
                  (f"rightsize_job_memory_limit_bytes{OF}", "limit on {{instance}}"), lines={"/^limit/": RED, "/^peak/": YELLOW},
                  help_text="Memory in use, the peak of the run, and the memory limit"),
            graph("Throttled by the CPU limit", "percentunit",
                  (f"instance_job_name:rightsize_job_cpu_throttled:ratio_rate5m{OF}", "{{instance}}"),
                  help_text="Share of the periods with work in which the limit stopped the job. Needs rules.yml"),

            row("GPU", collapsed=True),
            graph("GPUs in use", "none", (f"rightsize_job_gpu_usage{OF}", "busy on {{instance}}"),
                  (f"rightsize_job_gpus_used{OF}", "held on {{instance}}"), help_text="Held: with a context or work of the job"),
            graph("GPU memory", "bytes", (f"rightsize_job_vram_bytes{OF}", "in use on {{instance}}"),
                  (f"rightsize_job_vram_peak_bytes{OF}", "peak on {{instance}}"), lines={"/^peak/": YELLOW},
                  help_text="GPU memory of the job's processes, and the peak of the run"),
        ], links=[page_of_job_link()], since="now-7d")
