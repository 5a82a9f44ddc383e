"""Selectors, variables, links and annotations that several dashboards have in common."""
from panels import PLACE, RED, YELLOW, annotation, chosen, hidden_variable, link, page_link, variable

INSTANCES = 'instance=~"$instance"'
# A job that has no namespace or no cluster lacks the label. The empty value of the variable selects it.
JOB_ANYWHERE = 'job_name=~"$job_name", namespace=~"$namespace", cluster=~"$cluster"'
JOB = JOB_ANYWHERE + ', instance=~"$instance"'
# Labels of a job in `by` and `on`, and its name in a legend.
JOB_KEYS = ", ".join(PLACE) + ", job_name"
NAMED = "{{job_name}} {{namespace}} {{cluster}}"
RATE = "$__rate_interval"

# A data link; Grafana puts in the labels of the row or series that was clicked, and nothing for a label that it lacks.
OF_JOB = "var-job_name={job}&var-namespace={namespace}&var-cluster={cluster}"
TO_JOB = "/d/rightsize-job/job?" + OF_JOB + "&${{datasource:queryparam}}&${{__url_time_range}}"
TO_RUN = "/d/rightsize-run/run?" + OF_JOB + "&var-instance={instance}&${{datasource:queryparam}}&${{__url_time_range}}"
TO_NODE = "/d/rightsize-node/node?var-instance={instance}&${{datasource:queryparam}}&${{__url_time_range}}"
TO_PAGE = "{page}/#/job/{job}?namespace={namespace}&cluster={cluster}"


def labels_in(where):
    """where: what a data link has the labels from."""
    return {"job": f"${{{where}.job_name:percentencode}}", "instance": f"${{{where}.instance}}", "page": f"${{{where}.page}}",
            **{label: f"${{{where}.{label}:percentencode}}" for label in PLACE}}


IN_ROW, IN_SERIES = labels_in("__data.fields"), labels_in("__field.labels")
JOB_PATH = TO_PAGE.format(**{**IN_ROW, "page": ""})


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


def place_variables():
    """The namespace of the job, and its cluster among those where this namespace has a job of this name."""
    of_name = 'job_name=~"$job_name"'
    return [chosen(label, label.capitalize(), f"rightsize_job_active_runs{{{selector}}}", f"The {label} of the job, if it has one")
            for label, selector in zip(PLACE, (of_name, of_name + ', namespace=~"$namespace"'))]


def page_of_job_link():
    return page_link("Page of the job", TO_PAGE.format(job="${job_name:percentencode}", page="${page}",
                                                       **{label: f"${{{label}:percentencode}}" for label in PLACE}),
                     "What to request, why, its runs and servers, on the exporter's own page")


def instance_variable(many, of_job):
    query = (f"label_values(rightsize_job_active_runs{{{JOB_ANYWHERE}}}, instance)" if of_job
             else "label_values(rightsize_server_cpu_cores, instance)")
    return variable("instance", "Instance", query, many=many, help_text="The exporter's address, as Prometheus scrapes it")


def increased(series, window, selector):
    """Returns the increase of job counters within the window. A counter that is new has increased from 0 if the
    exporter was there before, or has seen a run of the job end since. An exporter that comes back with old counts adds
    nothing."""
    recent = f"time() - rightsize_job_last_end_timestamp_seconds{{{selector}}} < {window}"
    return (f"({series} - ({series} offset {window}s or {series} * 0 and on (instance) rightsize_build_info offset {window}s"
            f" or {series} * 0 and on ({JOB_KEYS}, instance) {recent}))")


def annotations(selector):
    """Returns annotations for runs that began, ended or were killed, and for alerts that fired. selector picks jobs and
    instances."""
    killed = increased(f'rightsize_job_runs_total{{outcome="oom_killed", {selector}}}', 300, selector)
    return [
        annotation("Runs begin", "rgba(115, 191, 105, 0.8)", f"rightsize_job_start_time_seconds{{{selector}}} * 1000",
                   NAMED + " began", "on {{instance}}", at_value=True),
        annotation("Runs end", "rgba(87, 148, 242, 0.8)", f"rightsize_job_last_end_timestamp_seconds{{{selector}}} * 1000",
                   NAMED + " ended", "on {{instance}}", at_value=True),
        annotation("OOM kills", RED, f"{killed} > 0",
                   NAMED + " was killed: out of memory", "on {{instance}}"),
        annotation("Alerts", YELLOW, 'ALERTS{alertname=~"Rightsize.+", alertstate="firing"}', "{{alertname}}",
                   NAMED + " {{instance}}"),
    ]
