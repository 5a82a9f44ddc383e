"""All jobs on all machines: running jobs, their costs, unused requests, and failures."""
import panels
from panels import BLUE, GREEN, PLACE, RED, YELLOW, bars, graph, row, stat, steps, table
from shared import (IN_ROW, IN_SERIES, INSTANCES, JOB_KEYS, JOB_PATH, NAMED, RATE, annotations, increased, instance_links, instance_variable, job_links,
                    to_page, with_page)

OF = "{" + INSTANCES + "}"
KILLED = "rightsize_job_oom_kills_total" + OF
FAILED = f'rightsize_job_runs_total{{outcome!="succeeded", {INSTANCES}}}'


def most(n, expr):
    return f"topk({n}, {expr})"


def by_job(expr):
    return f"sum by ({JOB_KEYS}, instance) ({expr})"


def largest(expr):
    return f"max by ({JOB_KEYS}) ({expr})"


def requested_ratio(resource):
    return f"rightsize_job_requested_{resource}{OF} / rightsize_job_recommended_{resource}{OF}"


def dashboard():
    return panels.dashboard(
        "rightsize-fleet", "Right-sizing / Fleet", "All jobs on all machines that rightsize-exporter watches",
        [instance_variable(many=True, of_job=False)], annotations(INSTANCES), [
            stat("Jobs known", "none", f"count(count by ({JOB_KEYS}) (rightsize_job_active_runs{OF}))", "Jobs with a run in the history"),
            stat("Active runs", "none", f"sum(rightsize_job_active_runs{OF})", "Runs that are running now"),
            stat("Runs that failed", "none", f"sum({increased(FAILED, '${__range_s}', INSTANCES)}) or vector(0)",
                 "Failed, interrupted or killed within the time shown", thresholds=steps(GREEN, (1, RED)), spark=False),
            stat("CPU cores in use", "none", f"sum(rate(rightsize_job_cpu_seconds_total{OF}[{RATE}]))", "By all jobs together"),
            stat("CPU cores available", "none", f"sum(rightsize_server_cpu_cores{OF})", "Of all machines, within quotas and affinities"),
            stat("Exporters down", "none", 'count(up{job=~".*rightsize.*"} == 0) or vector(0)',
                 "Scrape targets of rightsize-exporter that do not answer", thresholds=steps(GREEN, (1, RED))),

            row("Jobs"),
            table("Jobs", {
                "Active runs": (by_job(f"rightsize_job_active_runs{OF}"), "none"),
                "Running for": (by_job(f"rightsize_job_duration_seconds{OF}"), "s"),
                "CPU cores": (by_job(f"rate(rightsize_job_cpu_seconds_total{OF}[{RATE}])"), "none"),
                "Memory": (by_job(f"rightsize_job_memory_bytes{OF}"), "bytes"),
                "Peak memory": (by_job(f"rightsize_job_memory_peak_bytes{OF}"), "bytes"),
                "OOM risk": (by_job(f"rightsize_job_oom_risk_ratio{OF}"), "percentunit"),
                "Cost": (by_job(f"rightsize_job_cost_usd_total{OF}"), "currencyUSD"),
                "Last end": (by_job(f"rightsize_job_last_end_timestamp_seconds{OF}") + " * 1000", "dateTimeFromNow"),
            }, "All jobs. Click a job for its history, an instance for its machine, the last column for the job's page",
                  links={"job_name": job_links(IN_ROW), "instance": instance_links(IN_ROW)}, sort="CPU cores",
                  page=(with_page(by_job(f"rightsize_job_active_runs{OF}")), to_page(JOB_PATH))),
            graph("CPU cores by job", "none", (most(20, f"rate(rightsize_job_cpu_seconds_total{OF}[{RATE}])"), NAMED),
                  help_text="CPU cores in use. The 20 largest jobs", stack=True),
            graph("Memory by job", "bytes", (most(20, f"rightsize_job_memory_bytes{OF}"), NAMED),
                  help_text="Memory in use. The 20 largest jobs", stack=True),
            graph("Active runs", "none", (f"sum by ({JOB_KEYS}) (rightsize_job_active_runs{OF}) > 0", NAMED),
                  help_text="Runs that were running at each time", stack=True),
            graph("Runs that ended", "none",
                  (f"sum by (outcome) (increase(rightsize_job_runs_total{OF}[{RATE}]))", "{{outcome}}"),
                  help_text="By outcome", stack=True, bars=True),

            row("Requests, waste and risk"),
            table("Requested, used, recommended", {
                "CPU requested": (largest(f"rightsize_job_requested_cpu_cores{OF}"), "none"),
                "CPU used": (largest(f"max_over_time(instance_job_name:rightsize_job_cpu_cores:rate5m{OF}[$__range])"), "none"),
                "CPU to request": (largest(f"rightsize_job_recommended_cpu_cores{OF}"), "none"),
                "Memory requested": (largest(f"rightsize_job_requested_memory_bytes{OF}"), "bytes"),
                "Memory used": (largest(f"max_over_time(rightsize_job_memory_peak_bytes{OF}[$__range])"), "bytes"),
                "Memory to request": (largest(f"rightsize_job_recommended_memory_bytes{OF}"), "bytes"),
                "Saving a run": (largest(f"rightsize_job_saving_usd{OF}"), "currencyUSD"),
            }, "What the newest run requested, the most that was used within the time shown, and what to request next time. "
               "Saving: on the best server. CPU used needs rules.yml",
                  keys=("job_name", *PLACE), links={"job_name": job_links(IN_ROW)[:1]}, sort="Saving a run",
                  page=(f"max by ({JOB_KEYS}, page) ({with_page(f'rightsize_job_recommended_memory_bytes{OF}')})", to_page(JOB_PATH))),
            bars("Requested, as a multiple of recommended", "none",
                 (with_page(most(20, requested_ratio("cpu_cores"))), NAMED + " CPU"),
                 (with_page(most(20, requested_ratio("memory_bytes"))), NAMED + " memory"),
                 help_text="1: the request is what is recommended. 3: two thirds of it are not needed. Below 1: too little",
                 thresholds=steps(YELLOW, (0.95, GREEN), (1.5, YELLOW), (2, RED)), links=job_links(IN_SERIES, page=True)),
            bars("Chance to reach the memory limit", "percentunit",
                 (with_page(most(20, f"rightsize_job_oom_risk_ratio{OF}")), NAMED), help_text="Of active runs, before they end",
                 thresholds=steps(GREEN, (0.05, YELLOW), (0.2, RED)), links=job_links(IN_SERIES, page=True)),
            bars("Cost", "currencyUSD",
                 (most(20, f"sum by ({JOB_KEYS}) (increase(rightsize_job_cost_usd_total{OF}[$__range]))"), NAMED),
                 help_text="Within the time shown. The 20 most expensive jobs", thresholds=steps(BLUE)),
            graph("Alerts", "none", ('count by (alertname) (ALERTS{alertname=~"Rightsize.+", alertstate="firing"})', "{{alertname}}"),
                  help_text="Firing alerts of dashboards/prometheus/rules.yml", stack=True, bars=True),
            graph("OOM kills", "none", (f"sum by ({JOB_KEYS}) ({increased(KILLED, 300, INSTANCES)})", NAMED),
                  help_text="Processes that the kernel killed because memory ran out, within five minutes", bars=True),
            graph("Runs that failed, by job", "none", (f"sum by ({JOB_KEYS}, outcome) ({increased(FAILED, 300, INSTANCES)}) > 0", NAMED + " {{outcome}}"),
                  help_text="Within five minutes", bars=True),

            row("Machines"),
            table("Machines", {
                "CPU cores": (f"sum by (instance) (rightsize_server_cpu_cores{OF})", "none"),
                "CPU cores in use": (f"sum by (instance) (rightsize_cpu_usage_cores{OF})", "none"),
                "Memory": (f"sum by (instance) (rightsize_server_memory_bytes{OF})", "bytes"),
                "Memory available": (f"sum by (instance) (rightsize_memory_available_bytes{OF})", "bytes"),
                "GPUs": (f"count by (instance) (rightsize_gpu_up{OF} == 1)", "none"),
                "Active runs": (f"sum by (instance) (rightsize_job_active_runs{OF})", "none"),
                "Exporter since": (f'sum by (instance) (process_start_time_seconds{{job=~".*rightsize.*", {INSTANCES}}}) * 1000', "dateTimeFromNow"),
            }, "All machines. Click an instance for its dashboard, the last column for its page",
                  keys=("instance",), links={"instance": instance_links(IN_ROW)}, size=(24, 8), sort="CPU cores in use",
                  page=(with_page(f"sum by (instance) (rightsize_server_cpu_cores{OF})"), to_page("/"))),
        ])
