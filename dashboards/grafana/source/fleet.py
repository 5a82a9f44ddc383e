"""All jobs on all machines: what runs, what it costs, what is wasted, what went wrong."""
import panels
from panels import BLUE, GREEN, RED, YELLOW, bars, graph, row, stat, steps, table
from shared import IN_ROW, IN_SERIES, INSTANCES, RATE, annotations, increased, instance_links, instance_variable, job_links

OF = "{" + INSTANCES + "}"
JOB_KEYS = "job_name, instance"
KILLED = "rightsize_job_oom_kills_total" + OF
FAILED = f'rightsize_job_runs_total{{outcome!="succeeded", {INSTANCES}}}'


def most(n, expr):
    return f"topk({n}, {expr})"


def by_job(expr):
    return f"sum by ({JOB_KEYS}) ({expr})"


def dashboard():
    return panels.dashboard(
        "rightsize-fleet", "Right-sizing / Fleet", "All jobs on all machines that rightsize-exporter watches",
        [instance_variable(many=True, of_job=False)], annotations(INSTANCES), [
            stat("Jobs known", "none", f"count(count by (job_name) (rightsize_job_active_runs{OF}))"),
            stat("Runs now", "none", f"sum(rightsize_job_active_runs{OF})"),
            stat("Runs that failed", "none", f"sum({increased(FAILED, '${__range_s}', INSTANCES)}) or vector(0)",
                 "In the time shown: failed, interrupted or killed", thresholds=steps(GREEN, (1, RED)), spark=False),
            stat("Cores used by jobs", "none", f"sum(rate(rightsize_job_cpu_seconds_total{OF}[{RATE}]))"),
            stat("Cores there are", "none", f"sum(rightsize_server_cpu_cores{OF})", "Within quotas and affinities"),
            stat("Exporters that do not answer", "none", 'count(up{job=~".*rightsize.*"} == 0) or vector(0)',
                 thresholds=steps(GREEN, (1, RED))),

            row("Jobs"),
            table("Jobs", {
                "Runs now": (by_job(f"rightsize_job_active_runs{OF}"), "none"),
                "Running for": (by_job(f"rightsize_job_duration_seconds{OF}"), "s"),
                "Cores": (by_job(f"rate(rightsize_job_cpu_seconds_total{OF}[{RATE}])"), "none"),
                "Memory": (by_job(f"rightsize_job_memory_bytes{OF}"), "bytes"),
                "Peak": (by_job(f"rightsize_job_memory_peak_bytes{OF}"), "bytes"),
                "OOM risk": (by_job(f"rightsize_job_oom_risk_ratio{OF}"), "percentunit"),
                "Cost": (by_job(f"rightsize_job_cost_usd_total{OF}"), "currencyUSD"),
                "Last end": (by_job(f"rightsize_job_last_end_timestamp_seconds{OF}") + " * 1000", "dateTimeFromNow"),
            }, "Click a job for its history and for what to ask for, an instance for its machine",
                  links={"job_name": job_links(IN_ROW), "instance": instance_links(IN_ROW)}, sort="Cores"),
            graph("Cores by job", "none", (most(20, f"rate(rightsize_job_cpu_seconds_total{OF}[{RATE}])"), "{{job_name}}"),
                  help_text="The twenty largest", stack=True),
            graph("Memory by job", "bytes", (most(20, f"rightsize_job_memory_bytes{OF}"), "{{job_name}}"),
                  help_text="The twenty largest", stack=True),
            graph("Runs now", "none", (f"sum by (job_name) (rightsize_job_active_runs{OF}) > 0", "{{job_name}}"), stack=True),
            graph("Runs that ended", "none",
                  (f"sum by (outcome) (increase(rightsize_job_runs_total{OF}[{RATE}]))", "{{outcome}}"), stack=True, bars=True),

            row("Waste and risk"),
            bars("Asked for, of what was used", "none",
                 (most(20, f"rightsize_job_overprovisioned_ratio{OF}"), "{{job_name}} {{resource}}"),
                 help_text="1: nothing is left over. 3: two thirds of what was asked for were not needed",
                 thresholds=steps(GREEN, (1.5, YELLOW), (2, RED)), links=job_links(IN_SERIES)),
            bars("Chance of meeting the memory limit", "percentunit",
                 (most(20, f"rightsize_job_oom_risk_ratio{OF}"), "{{job_name}}"), help_text="Of runs that are under way",
                 thresholds=steps(GREEN, (0.05, YELLOW), (0.2, RED)), links=job_links(IN_SERIES)),
            bars("Cost in the time shown", "currencyUSD",
                 (most(20, f"sum by (job_name) (increase(rightsize_job_cost_usd_total{OF}[$__range]))"), "{{job_name}}"),
                 thresholds=steps(BLUE)),
            graph("Alerts", "none", ('count by (alertname) (ALERTS{alertname=~"Rightsize.+", alertstate="firing"})', "{{alertname}}"),
                  help_text="From dashboards/prometheus/rules.yml", stack=True, bars=True),
            graph("OOM kills", "none", (f"sum by (job_name) ({increased(KILLED, 300, INSTANCES)})", "{{job_name}}"),
                  help_text="Processes that the kernel killed for want of memory, in five minutes", bars=True),
            graph("Runs that failed, by job", "none", (f"sum by (job_name, outcome) ({increased(FAILED, 300, INSTANCES)}) > 0", "{{job_name}} {{outcome}}"),
                  help_text="In five minutes", bars=True),

            row("Machines"),
            table("Machines", {
                "Cores": (f"sum by (instance) (rightsize_server_cpu_cores{OF})", "none"),
                "Cores in use": (f"sum by (instance) (rightsize_cpu_usage_cores{OF})", "none"),
                "Memory": (f"sum by (instance) (rightsize_server_memory_bytes{OF})", "bytes"),
                "Available": (f"sum by (instance) (rightsize_memory_available_bytes{OF})", "bytes"),
                "GPUs": (f"count by (instance) (rightsize_gpu_up{OF} == 1)", "none"),
                "Runs now": (f"sum by (instance) (rightsize_job_active_runs{OF})", "none"),
                "Exporter since": (f'sum by (instance) (process_start_time_seconds{{job=~".*rightsize.*", {INSTANCES}}}) * 1000', "dateTimeFromNow"),
            }, keys=("instance",), links={"instance": instance_links(IN_ROW)}, size=(24, 8), sort="Cores in use"),
        ])
