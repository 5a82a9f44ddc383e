/* Reads runs from a Prometheus that scrapes process-exporter, or cAdvisor and perhaps
 * kube-state-metrics. Each query of a table returns one number for each pod, or for each group of
 * processes, over the window (--window). */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/naming/stable_name.h"
#include "exporter/client/bearer_token.h"
#include "exporter/client/download.h"
#include "exporter/import/made_run.h"

#define SUBJECTS_MAX  ((size_t)1 << 17)
#define ANSWER_MAX    ((size_t)64 << 20)
#define URL_MAX_BYTES 8192
#define STEPS         1000 /* approximate number of steps in a window */
/* a rate is computed over this many steps, so that they contain at least two samples */
#define RATE_STEPS 4
#define STEP_LEAST 15.0 /* seconds; the interval between two scrapes is seldom shorter */
/* A run whose end is unknown counts as ended when it was last seen more than this many seconds ago.
 * Until then it may still run: Prometheus returns a series for 5 minutes after its last sample. */
#define ENDED_AFTER 300.0

enum pod_fact {
	PEAK,
	MEAN,
	STARTED,
	SEEN_FIRST,
	SEEN_LAST,
	CPU_BEGIN,
	CPU_END,
	CORES_MEAN,
	CORES_P50,
	CORES_P95,
	CORES_P99,
	CORES_MAX,
	MEMORY_REQUEST,
	CPU_REQUEST,
	MEMORY_LIMIT,
	COMPLETED,
	SUCCEEDED,
	FAILED,
	KILLED,
	READ,
	WRITTEN,
	FACTS,
};

/* A pod or a group of processes, from which a run is read. */
struct subject {
	/* place: the namespace of a pod, or the label instance of a group */
	const char *name, *place;
	const char *owner_kind, *owner_name;
	double fact[FACTS];
};

/* A query that returns one number for each pod or group of processes. In its text, $W is replaced
 * by the window, $S by the step, and $R by the time over which a rate is computed. */
struct query {
	enum pod_fact fact;
	const char *text;
};

/* clang-format off */
#define BY_POD "by (namespace, pod) "
#define CONTAINER "container!=\"\",container!=\"POD\",pod!=\"\""
#define OF_CONTAINERS(function, metric) \
	"sum " BY_POD "(max by (namespace, pod, container) (" function "(" metric "{" CONTAINER "}[$W])))"
#define COUNTER(function) \
	"sum " BY_POD "(max by (namespace, pod, container, id, cpu) (" function "(container_cpu_usage_seconds_total{" CONTAINER "}[$W])))"
#define POD_CORES "sum " BY_POD "(max by (namespace, pod, container, cpu) (rate(container_cpu_usage_seconds_total{" CONTAINER "}[$R])))"
#define SEEN(function, metric) function " " BY_POD "(" function "_over_time(timestamp(" metric "{" CONTAINER "})[$W:$S]))"
#define OF_STATE(metric) "sum " BY_POD "(max by (namespace, pod, container) (max_over_time(" metric "[$W])))"
#define OF_POD(metric) "max " BY_POD "(max_over_time(" metric "[$W]))"

static const struct query pod_queries[] = {
	{PEAK, OF_CONTAINERS("max_over_time", "container_memory_working_set_bytes")},
	{MEAN, OF_CONTAINERS("avg_over_time", "container_memory_working_set_bytes")},
	{SEEN_FIRST, SEEN("min", "container_memory_working_set_bytes")},
	{SEEN_LAST, SEEN("max", "container_memory_working_set_bytes")},
	{STARTED, OF_POD("kube_pod_start_time")},
	{COMPLETED, OF_POD("kube_pod_completion_time")},
	{CPU_BEGIN, COUNTER("min_over_time")},
	{CPU_END, COUNTER("max_over_time")},
	{CORES_P50, "quantile_over_time(0.5, " POD_CORES "[$W:$S])"},
	{CORES_P95, "quantile_over_time(0.95, " POD_CORES "[$W:$S])"},
	{CORES_P99, "quantile_over_time(0.99, " POD_CORES "[$W:$S])"},
	{CORES_MAX, "max_over_time(" POD_CORES "[$W:$S])"},
	{MEMORY_REQUEST, OF_STATE("kube_pod_container_resource_requests{resource=\"memory\"}")},
	{CPU_REQUEST, OF_STATE("kube_pod_container_resource_requests{resource=\"cpu\"}")},
	{MEMORY_LIMIT, OF_STATE("kube_pod_container_resource_limits{resource=\"memory\"}")},
	{SUCCEEDED, OF_POD("kube_pod_status_phase{phase=\"Succeeded\"}")},
	{FAILED, OF_POD("kube_pod_status_phase{phase=\"Failed\"}")},
	{KILLED, OF_POD("kube_pod_container_status_terminated_reason{reason=\"OOMKilled\"}") " > 0 or "
		OF_POD("kube_pod_container_status_last_terminated_reason{reason=\"OOMKilled\"}") " > 0"},
};

/* The query for the owners of pods. The name and the kind of the owner are labels of the
 * results. */
static const char owner_query[] = "max by (namespace, pod, owner_kind, owner_name) (max_over_time(kube_pod_owner[$W]))";

#define BY_GROUP "by (instance, groupname) "
#define OF_GROUP(aggregate, function, metric) aggregate " " BY_GROUP "(" function "(namedprocess_namegroup_" metric "[$W]))"
#define GROUP_CORES "sum " BY_GROUP "(rate(namedprocess_namegroup_cpu_seconds_total[$R]))"
#define GROUP_SEEN(function) function " " BY_GROUP "(" function "_over_time(timestamp(namedprocess_namegroup_num_procs > 0)[$W:$S]))"

static const struct query group_queries[] = {
	{PEAK, OF_GROUP("max", "max_over_time", "memory_bytes{memtype=\"resident\"}")},
	{MEAN, "max " BY_GROUP "(avg_over_time((namedprocess_namegroup_memory_bytes{memtype=\"resident\"} > 0)[$W:$S]))"},
	{SEEN_FIRST, GROUP_SEEN("min")},
	{SEEN_LAST, GROUP_SEEN("max")},
	{CPU_BEGIN, OF_GROUP("sum", "min_over_time", "cpu_seconds_total")},
	{CPU_END, OF_GROUP("sum", "max_over_time", "cpu_seconds_total")},
	{CORES_P50, "quantile_over_time(0.5, " GROUP_CORES "[$W:$S])"},
	{CORES_P95, "quantile_over_time(0.95, " GROUP_CORES "[$W:$S])"},
	{CORES_P99, "quantile_over_time(0.99, " GROUP_CORES "[$W:$S])"},
	{CORES_MAX, "max_over_time(" GROUP_CORES "[$W:$S])"},
	{READ, OF_GROUP("sum", "increase", "read_bytes_total")},
	{WRITTEN, OF_GROUP("sum", "increase", "write_bytes_total")},
};
/* clang-format on */

/* A program that Prometheus scrapes. */
struct exporter {
	const char *source; /* memory_source of its runs */
	const char *name_label, *place_label;
	const struct query *query;
	size_t n_queries;
	const char *owners; /* query for the owner of each pod; NULL = there is none */
	/* true = the subjects are groups of processes, which do not end, so each window of a group
	 * counts as one run */
	bool of_window;
};

static const struct exporter exporters[] = {
	{"cadvisor", "pod", "namespace", pod_queries, ARRAY_LEN(pod_queries), owner_query, false},
	{"process-exporter", "groupname", "instance", group_queries, ARRAY_LEN(group_queries), NULL,
		true},
};

struct asking {
	const struct import_input *in;
	const struct exporter *exporter;
	struct download *download;
	struct http_response answer;
	char token[TOKEN_MAX];
	/* now: time at which Prometheus answered the first query; NaN = there was no answer yet */
	double step, now;
	size_t n, room;
	struct subject *subject; /* sorted */
	struct arena arena;
};

/* ---- one query ---- */

static void add_encoded(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("-._~", *text))
			buf_addc(out, *text);
		else
			buf_addf(out, "%%%02X", (unsigned char)*text);
}

/* Writes the query, with $W, $S and $R replaced by durations. */
static void add_query(const struct asking *a, struct buf *out, const char *text)
{
	for (; *text; text++) {
		double seconds = text[0] != '$' ? 0 :
				 text[1] == 'W' ? a->in->window_seconds :
				 text[1] == 'R' ? RATE_STEPS * a->step :
						  a->step;

		if (*text != '$') {
			buf_addc(out, *text);
			continue;
		}
		buf_addf(out, "%.0fs", seconds);
		text++;
	}
}

static int refused(const struct asking *a, const json_t *document, struct err *e)
{
	const char *why = json_string_value(json_object_get(document, "error"));

	return err_set(e, -EPROTO, "%s answered %d%s%.300s", a->in->path, a->answer.status,
		why ? ": " : "", why ? why : "");
}

/* Sends a query that returns one number for each pod or group of processes. Sets `*document` to the
 * answer, which the caller frees, and `*ret` to the list of results in the answer. */
static int ask(struct asking *a, const char *text, json_t **document, json_t **ret, struct err *e)
{
	struct buf url AUTO(buf_done) = BUF_MAX(URL_MAX_BYTES);
	struct buf query AUTO(buf_done) = BUF_MAX(URL_MAX_BYTES);
	size_t len = strlen(a->in->path);

	add_query(a, &query, text);
	buf_add(&url, a->in->path, len - (len && a->in->path[len - 1] == '/'));
	buf_adds(&url, "/api/v1/query?query=");
	add_encoded(&url, buf_text(&query));
	if (!isnan(a->now))
		buf_addf(&url, "&time=%.3f", a->now);
	if (url.full)
		return err_set(e, -EINVAL, "the URL is too long");
	int code = a->in->token_file ?
			   download_get_as(a->download, buf_text(&url), a->token,
				   "application/json", &a->answer, e) :
			   download_get(a->download, buf_text(&url), NULL, &a->answer, e);

	if (code)
		return code;
	*document = json_loadb(buf_text(&a->answer.body), a->answer.body.len, 0, NULL);
	*ret = json_object_get(json_object_get(*document, "data"), "result");
	if (a->answer.status != 200 || !json_is_array(*ret)) {
		code = refused(a, *document, e);
		json_decref(*document);
		*document = NULL;
	}
	return code;
}

/* Reads the value of a result. NaN = it has none. */
static double value_of(const json_t *result, double *at)
{
	const json_t *pair = json_object_get(result, "value");
	const char *text = json_string_value(json_array_get(pair, 1));
	struct scan s = SCAN(text ? text : "", text ? strlen(text) : 0);
	double v;

	*at = json_number_value(json_array_get(pair, 0));
	return scan_double(&s, &v) && scan_end(&s) ? v : (double)NAN;
}

static const char *label_of(const json_t *result, const char *name)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(result, "metric"), name));

	return text ? text : "";
}

/* ---- subjects ---- */

static int by_key(const void *left, const void *right)
{
	const struct subject *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->place, b->place);
}

static struct subject *subject_of(const struct asking *a, const json_t *result)
{
	const struct subject key = {.name = label_of(result, a->exporter->name_label),
		.place = label_of(result, a->exporter->place_label)};

	return a->n ? bsearch(&key, a->subject, a->n, sizeof key, by_key) : NULL;
}

static int add_subject(struct asking *a, const json_t *result, struct err *e)
{
	const char *name = label_of(result, a->exporter->name_label);
	const char *place = label_of(result, a->exporter->place_label);
	double at;

	if (a->n == SUBJECTS_MAX)
		return err_set(e, -E2BIG, "accepted are up to %zu pods: give a shorter --window",
			SUBJECTS_MAX);
	if (!*name)
		return 0;
	GROW(a->subject, a->n, a->room);
	struct subject *s = &a->subject[a->n++];

	*s = (struct subject){.name = arena_text(&a->arena, name, strlen(name)),
		.place = arena_text(&a->arena, place, strlen(place)),
		.owner_kind = "",
		.owner_name = ""};
	for (size_t i = 0; i < FACTS; i++)
		s->fact[i] = NAN;
	s->fact[PEAK] = value_of(result, &at);
	if (isnan(a->now))
		a->now = at;
	return 0;
}

/* Sends the first query, for the peaks. Its answer lists all pods or groups of processes (struct
 * subject), because each of them has a peak. */
static int find_subjects(struct asking *a, struct err *e)
{
	json_t *document = NULL, *list = NULL;
	int code = ask(a, a->exporter->query[0].text, &document, &list, e);

	for (size_t i = 0; i < json_array_size(list) && code == 0; i++)
		code = add_subject(a, json_array_get(list, i), e);
	if (a->n)
		qsort(a->subject, a->n, sizeof *a->subject, by_key);
	json_decref(document);
	return code;
}

static int ask_fact(struct asking *a, const struct query *q, struct err *e)
{
	json_t *document = NULL, *list = NULL;
	int code = ask(a, q->text, &document, &list, e);
	double at;

	for (size_t i = 0; i < json_array_size(list) && code == 0; i++) {
		struct subject *s = subject_of(a, json_array_get(list, i));

		if (s)
			s->fact[q->fact] = value_of(json_array_get(list, i), &at);
	}
	json_decref(document);
	return code;
}

static int ask_owners(struct asking *a, struct err *e)
{
	json_t *document = NULL, *list = NULL;
	int code = ask(a, a->exporter->owners, &document, &list, e);

	for (size_t i = 0; i < json_array_size(list) && code == 0; i++) {
		const json_t *result = json_array_get(list, i);
		const char *kind = label_of(result, "owner_kind"),
			   *name = label_of(result, "owner_name");
		struct subject *s = subject_of(a, result);

		if (!s || strcmp(name, "<none>") == 0)
			continue;
		s->owner_kind = arena_text(&a->arena, kind, strlen(kind));
		s->owner_name = arena_text(&a->arena, name, strlen(name));
	}
	json_decref(document);
	return code;
}

/* ---- runs ---- */

/* Returns the job's name, which is the same for all its runs. For a pod: the name of its owner, or
 * else of the pod, without the part that Kubernetes generates. For a group of processes: the name
 * of the group. */
static struct slice name_of(const struct asking *a, const struct subject *s)
{
	const struct slice name = {s->name, strlen(s->name)},
			   owner = {s->owner_name, strlen(s->owner_name)};
	const struct pod_owner unknown = {.labels_known = false};

	if (a->exporter->of_window)
		return name;
	if (strcmp(s->owner_kind, "Job") == 0)
		return stable_name_without_schedule(owner);
	if (owner.len && strcmp(s->owner_kind, "ReplicaSet") != 0)
		return stable_name_without_generated(owner);
	return stable_name_without_replica(name, &unknown);
}

static void read_end(struct run *r, const struct subject *s)
{
	if (s->fact[KILLED] > 0)
		r->outcome = OUTCOME_OOM_KILLED;
	else if (s->fact[FAILED] > 0)
		r->outcome = OUTCOME_FAILED;
	else if (s->fact[SUCCEEDED] > 0)
		r->outcome = OUTCOME_SUCCEEDED;
}

static double above_zero(double v)
{
	return v > 0 ? v : (double)NAN;
}

static void read_use(struct made_run *m, const struct subject *s, double window_begin)
{
	const double *f = s->fact;
	struct run *r = &m->run;

	made_run_peak(m, "memory_peak_bytes", f[PEAK]);
	made_run_peak(m, "memory_bytes", f[PEAK]);
	made_run_mean(m, "memory_bytes", fmin(f[MEAN], f[PEAK]));
	/* If the run began within the window, subtract nothing, because the counter of a container
	 * is 0 when its first process starts. */
	made_run_total(m, "cpu_seconds",
		r->started_at >= window_begin ? f[CPU_END] : f[CPU_END] - f[CPU_BEGIN]);
	made_run_total(m, "disk_read_bytes", f[READ]);
	made_run_total(m, "disk_written_bytes", f[WRITTEN]);
	/* A rate is computed over several steps. In a run shorter than this time, rates include
	 * time before or after the run. Leave out the rates of such a run. */
	if (r->duration_seconds >= RATE_STEPS * r->interval_seconds)
		made_run_cores(m,
			(const double[]){f[CORES_P50], f[CORES_P95], f[CORES_P99], f[CORES_MAX]});
	r->requested_memory_bytes = above_zero(f[MEMORY_REQUEST]);
	r->requested_cpu_cores = above_zero(f[CPU_REQUEST]);
	r->memory_limit_bytes = above_zero(f[MEMORY_LIMIT]);
}

static int give(const struct asking *a, const struct subject *s, struct err *e)
{
	const struct import_input *in = a->in;
	const double *f = s->fact;
	double window_begin = a->now - in->window_seconds;
	double started = f[STARTED] > 0 ? f[STARTED] : f[SEEN_FIRST];
	double ended = f[COMPLETED] > 0 ? f[COMPLETED] : f[SEEN_LAST];
	bool known_end = f[SUCCEEDED] > 0 || f[FAILED] > 0;
	struct made_run m;
	char window[DOUBLE_TEXT_MAX];

	if (isnan(started) || isnan(ended) ||
		(!a->exporter->of_window && !known_end && ended > a->now - ENDED_AFTER)) {
		in->sink.unfinished(in->sink.context);
		return 0;
	}
	made_run_begin(&m, a->exporter->source);
	read_end(&m.run, s);
	made_run_times(&m, started, ended, fmax(ended - started, a->step));
	m.run.interval_seconds = a->step;
	if (a->exporter->of_window)
		m.run.host = s->place;
	else
		made_run_of_system(&m, "kubernetes", (struct slice){s->name, strlen(s->name)});
	read_use(&m, s, window_begin);
	int code = made_run_job(&m, in, name_of(a, s),
		(struct slice){s->place, a->exporter->of_window ? 0 : strlen(s->place)},
		(struct slice){0}, e);

	if (code)
		return code;
	/* The id of a pod's run depends only on the pod. A group of processes has one run in each
	 * window, so the id also depends on the window. */
	const struct slice same[] = {{s->name, strlen(s->name)}, {s->place, strlen(s->place)},
		{window, a->exporter->of_window ?
				 double_text(window, floor(a->now / in->window_seconds)) :
				 0}};

	made_run_identify(&m, same, ARRAY_LEN(same));
	return made_run_give(&m, in, 0, e);
}

/* Reads all runs that one exporter measured: the containers of cAdvisor, or the process groups of
 * process-exporter. */
static int read_exporter(struct asking *a, struct err *e)
{
	int code = find_subjects(a, e);

	for (size_t i = 1; i < a->exporter->n_queries && a->n && code == 0; i++)
		code = ask_fact(a, &a->exporter->query[i], e);
	if (code == 0 && a->n && a->exporter->owners)
		code = ask_owners(a, e);
	for (size_t i = 0; i < a->n && code == 0; i++) {
		struct err why = {0};

		code = give(a, &a->subject[i], &why);
		if (code == -EINVAL)
			a->in->sink.wrong(a->in->sink.context, 0, why.text);
		else if (code)
			err_set(e, code, "%s", why.text);
		code = code == -EINVAL ? 0 : code;
	}
	return code;
}

int import_prometheus(const struct import_input *in, struct err *e)
{
	const struct download_options how = {.user_agent = "rightsize-exporter",
		.ca_file = in->ca_file,
		.ca_option = "--ca-file",
		.connect_seconds = 10,
		.total_seconds = 600,
		.max_bytes = ANSWER_MAX};
	struct asking a = {.in = in,
		.now = NAN,
		.step = fmax(STEP_LEAST, ceil(in->window_seconds / STEPS)),
		.answer = {.body = BUF_MAX(ANSWER_MAX)}};
	size_t n = 0;
	int code = in->token_file ? bearer_token_read(in->token_file, a.token, e) : 0;

	if (code == 0)
		code = download_open(&a.download, &how, e);
	for (size_t i = 0; i < ARRAY_LEN(exporters) && code == 0; i++) {
		a.exporter = &exporters[i];
		a.n = 0;
		code = read_exporter(&a, e);
		n += a.n;
	}
	if (code == 0 && n == 0)
		code = err_set(e, -ENOENT,
			"%s has neither container_memory_working_set_bytes nor "
			"namedprocess_namegroup_memory_bytes in the window",
			in->path);
	explicit_bzero(a.token, sizeof a.token);
	download_close(a.download);
	buf_done(&a.answer.body);
	free(a.subject);
	arena_done(&a.arena);
	return code;
}
