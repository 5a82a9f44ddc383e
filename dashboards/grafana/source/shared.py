"""Selectors, variables, links and annotations that several dashboards have in common."""
from panels import RED, YELLOW, annotation, hidden_variable, link, variable

INSTANCES = 'instance=~"$instance"'
JOB = 'job_name=~"$job_name", instance=~"$instance"'
RATE = "$__rate_interval"

# A data link; Grafana puts in the labels of the row or series that was clicked.
TO_JOB = "/d/rightsize-job/job?var-job_name={job}&${{datasource:queryparam}}&${{__url_time_range}}"
TO_RUN = "/d/rightsize-run/run?var-job_name={job}&var-instance={instance}&${{datasource:queryparam}}&${{__url_time_range}}"
TO_NODE = "/d/rightsize-node/node?var-instance={instance}&${{datasource:queryparam}}&${{__url_time_range}}"
TO_PAGE = "{page}/#/job/{job}"
JOB_PATH = "/#/job/${__data.fields.job_name:percentencode}"

IN_ROW = {"job": "${__data.fields.job_name:percentencode}", "instance": "${__data.fields.instance}"}
IN_SERIES = {"job": "${__field.labels.job_name:percentencode}", "instance": "${__field.labels.instance}",
             "page": "${__field.labels.page}"}


def pages(selector=INSTANCES):
    """The URL of each exporter's page, in the label page: from --web.external-url, or else the address that Prometheus
    scrapes."""
    told = f'max by (instance, page) (rightsize_links_info{{page!="", {selector}}})'
    scraped = f'label_replace(rightsize_build_info{{{selector}}}, "page", "http://$1", "instance", "(.+)")'
    return f"({told} or on (instance) max by (instance, page) ({scraped}))"


def with_page(expr):
    """Returns the expression with the label page, so that its series can link to the page."""
    return f"({expr}) * on (instance) group_left (page) {pages()}"


def to_page(path):
    """Returns the link of the table column that has pages (panels.table)."""
    return link("Open the page", "${__value.raw}" + path, new_tab=True)


def page_variable():
    return hidden_variable("page", f"query_result({pages()})", '/page="([^"]+)"/', "The URL of the exporter's page")


def job_links(labels, page=False):
    """page: whether the series has the label page."""
    links = [link("Job over time", TO_JOB.format(**labels)), link("Open run", TO_RUN.format(**labels))]
    return [*links, link("Page of the job", TO_PAGE.format(**labels), new_tab=True)] if page else links


def instance_links(labels):
    return [link("Node", TO_NODE.format(**labels))]


def job_variable(many):
    return variable("job_name", "Job", "label_values(rightsize_job_active_runs, job_name)", many=many,
                    help_text="The name of the job, on whichever machine it runs")


def instance_variable(many, of_job):
    query = ('label_values(rightsize_job_active_runs{job_name=~"$job_name"}, instance)' if of_job
             else "label_values(rightsize_server_cpu_cores, instance)")
    return variable("instance", "Instance", query, many=many, help_text="The exporter's address, as Prometheus scrapes it")


def increased(series, window, selector):
    """Returns the increase of job counters within the window. A counter that is new has increased from 0 if the
    exporter was there before, or has seen a run of the job end since. An exporter that comes back with old counts adds
    nothing."""
    recent = f"time() - rightsize_job_last_end_timestamp_seconds{{{selector}}} < {window}"
    return (f"({series} - ({series} offset {window}s or {series} * 0 and on (instance) rightsize_build_info offset {window}s"
            f" or {series} * 0 and on (job_name, instance) {recent}))")


def annotations(selector):
    """Returns annotations for runs that began, ended or were killed, and for alerts that fired. selector picks jobs and
    instances."""
    killed = increased(f'rightsize_job_runs_total{{outcome="oom_killed", {selector}}}', 300, selector)
    return [
        annotation("Runs begin", "rgba(115, 191, 105, 0.8)", f"rightsize_job_start_time_seconds{{{selector}}} * 1000",
                   "{{job_name}} began", "on {{instance}}", at_value=True),
        annotation("Runs end", "rgba(87, 148, 242, 0.8)", f"rightsize_job_last_end_timestamp_seconds{{{selector}}} * 1000",
                   "{{job_name}} ended", "on {{instance}}", at_value=True),
        annotation("OOM kills", RED, f"{killed} > 0",
                   "{{job_name}} was killed: out of memory", "on {{instance}}"),
        annotation("Alerts", YELLOW, 'ALERTS{alertname=~"Rightsize.+", alertstate="firing"}', "{{alertname}}",
                   "{{job_name}} {{instance}}"),
    ]
