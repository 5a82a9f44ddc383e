"""Selectors, variables, links and annotations that several dashboards have in common."""
from panels import RED, YELLOW, annotation, link, variable

INSTANCES = 'instance=~"$instance"'
JOB = 'job_name=~"$job_name", instance=~"$instance"'
RATE = "$__rate_interval"

# A data link; Grafana puts in the labels of the row or series that was clicked.
TO_JOB = "/d/rightsize-job/job?var-job_name={job}&${{datasource:queryparam}}&${{__url_time_range}}"
TO_RUN = "/d/rightsize-run/run?var-job_name={job}&var-instance={instance}&${{datasource:queryparam}}&${{__url_time_range}}"
TO_NODE = "/d/rightsize-node/node?var-instance={instance}&${{datasource:queryparam}}&${{__url_time_range}}"
TO_RECOMMEND = "http://{instance}/recommend?job_name={job}"

IN_ROW = {"job": "${__data.fields.job_name:percentencode}", "instance": "${__data.fields.instance}"}
IN_SERIES = {"job": "${__field.labels.job_name:percentencode}", "instance": "${__field.labels.instance}"}


def job_links(labels):
    return [link("Job over time", TO_JOB.format(**labels)), link("Its run", TO_RUN.format(**labels)),
            link("What to ask for", TO_RECOMMEND.format(**labels), new_tab=True)]


def instance_links(labels):
    return [link("Node", TO_NODE.format(**labels))]


def job_variable(many):
    return variable("job_name", "Job", "label_values(rightsize_job_active_runs, job_name)", many=many,
                    help_text="What is repeated, wherever it runs")


def instance_variable(many, of_job):
    query = ('label_values(rightsize_job_active_runs{job_name=~"$job_name"}, instance)' if of_job
             else "label_values(rightsize_server_cpu_cores, instance)")
    return variable("instance", "Instance", query, many=many, help_text="The exporter's address, as Prometheus scrapes it")


def increased(series, window, selector):
    """
    How much counters of jobs have grown within the window. One that was not there before has grown from 0 if the exporter
    was there, or has seen a run of the job end since: an exporter that comes back with old counts is no news.
    """
    recent = f"time() - rightsize_job_last_end_timestamp_seconds{{{selector}}} < {window}"
    return (f"({series} - ({series} offset {window}s or {series} * 0 and on (instance) rightsize_build_info offset {window}s"
            f" or {series} * 0 and on (job_name, instance) {recent}))")


def annotations(selector):
    """Where runs began, ended and were killed, and what fired; selector picks jobs and instances."""
    killed = increased(f'rightsize_job_runs_total{{outcome="oom_killed", {selector}}}', 300, selector)
    return [
        annotation("Runs begin", "rgba(115, 191, 105, 0.8)", f"rightsize_job_start_time_seconds{{{selector}}} * 1000",
                   "{{job_name}} began", "on {{instance}}", at_value=True),
        annotation("Runs end", "rgba(87, 148, 242, 0.8)", f"rightsize_job_last_end_timestamp_seconds{{{selector}}} * 1000",
                   "{{job_name}} ended", "on {{instance}}", at_value=True),
        annotation("OOM kills", RED, f"{killed} > 0",
                   "{{job_name}} was killed for want of memory", "on {{instance}}"),
        annotation("Alerts", YELLOW, 'ALERTS{alertname=~"Rightsize.+", alertstate="firing"}', "{{alertname}}",
                   "{{job_name}} {{instance}}"),
    ]
