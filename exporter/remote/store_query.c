#include "exporter/remote/store_query.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/job_key.h"
#include "collectors/base/scan.h"
#include "collectors/base/utf8.h"
#include "collectors/runs.h"
#include "exporter/forward/run_message.h"
#include "exporter/remote/run_series.h"
#include "recommender/plausible.h"

#define QUERY_MAX   (256u << 10)
#define ERROR_SHOWN 200
/* maximum size of a label's text in bytes, with the NUL; a label with a longer text is ignored */
#define TEXT_MAX 256
#define COUNTED  RUN_SERIES_PREFIX RUN_SERIES_OF_ALL

static void json_freep(json_t **o)
{
	json_decref(*o);
}

/* ---- queries ---- */

/* Appends a text, escaped for a string of PromQL. `pattern`: true = the string is a regular
 * expression, so also escape its special characters. */
static void add_text(struct buf *out, const char *text, bool pattern)
{
	for (size_t i = 0; text[i]; i++) {
		if (pattern && strchr("\\.+*?()|[]{}^$", text[i]))
			buf_adds(out, "\\\\");
		if (text[i] == '\\' || text[i] == '"')
			buf_addc(out, '\\');
		buf_addc(out, text[i]);
	}
}

void store_selector(struct buf *out, const char *name, const struct store_job *job, size_t n)
{
	struct job_parts first = job_key_parts(job->key);

	if (name)
		buf_addf(out, "%s{job_name=~\"", name);
	else
		buf_addf(out, "{__name__=~\"" RUN_SERIES_PREFIX ".+\",job_name=~\"");
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i ? "|" : "");
		add_text(out, job_key_parts(job[i].key).name, true);
	}
	buf_adds(out, "\",namespace=\"");
	add_text(out, first.space, false);
	buf_adds(out, "\",cluster=\"");
	add_text(out, first.cluster, false);
	buf_adds(out, "\"}");
}

static void add_escaped(struct buf *out, const struct buf *text)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";

	for (size_t i = 0; i < text->len; i++)
		if (strchr(plain, text->data[i]) && text->data[i])
			buf_addc(out, text->data[i]);
		else
			buf_addf(out, "%%%02X", (unsigned char)text->data[i]);
}

static void add_range(struct buf *out, const struct store_window *w)
{
	buf_addf(out, "[%.0fms]", fmax(1, ceil((w->to - w->from) * 1000)));
}

/* Sets the error for a query that the store did not answer, with the store's reason. Returns
 * -EIO. */
static int refused(const struct store *s, const json_t *o, struct err *e)
{
	const char *why = json_string_value(json_object_get(o, "error"));

	return err_set(e, -EIO, "%s answers %d: %.*s", s->url, s->answer.status, ERROR_SHOWN,
		why ? why : buf_text(&s->answer.body));
}

/* Sends a query for the time `at`. The answer is in s->answer. */
static int ask(struct store *s, const struct buf *query, double at, struct err *e)
{
	struct buf body AUTO(buf_done) = BUF_MAX(4 * QUERY_MAX);

	if (query->full)
		return err_set(e, -E2BIG, "a query has more than %u bytes", QUERY_MAX);
	buf_adds(&body, "query=");
	add_escaped(&body, query);
	/* Without nocache, VictoriaMetrics would answer from its cache, which lacks runs that
	 * arrived late. */
	buf_addf(&body, "&nocache=1&time=%.3f", at);
	const struct endpoint_document d = {
		"application/x-www-form-urlencoded", NULL, buf_text(&body), body.len};
	int code = endpoint_post(&s->endpoint, s->url, &d, &s->answer, e);

	if (code || s->answer.status == 200)
		return code;
	AUTO(json_freep)
	json_t *o = json_loadb(buf_text(&s->answer.body), s->answer.body.len, 0, NULL);

	return refused(s, o, e);
}

/* Returns the array of results in the answer `o`. NULL = the answer is an error, or the type of its
 * results is not `type`. */
static const json_t *results_of(const json_t *o, const char *type)
{
	const char *status = json_string_value(json_object_get(o, "status"));
	const json_t *data = json_object_get(o, "data");
	const char *told = json_string_value(json_object_get(data, "resultType"));
	const json_t *ret = json_object_get(data, "result");

	return status && strcmp(status, "success") == 0 && told && strcmp(told, type) == 0 &&
			       json_is_array(ret) ?
		       ret :
		       NULL;
}

/* Sends a query whose answer is a vector. Sets `*o` to the answer, which the caller frees, and
 * `*ret` to the list of results in it. */
static int ask_vector(struct store *s, const struct buf *query, double at, json_t **o,
	const json_t **ret, struct err *e)
{
	int code = ask(s, query, at, e);

	if (code)
		return code;
	*o = json_loadb(buf_text(&s->answer.body), s->answer.body.len, 0, NULL);
	*ret = results_of(*o, "vector");
	return *ret ? 0 : refused(s, *o, e);
}

/* ---- jobs ---- */

static const char *text_of(const json_t *labels, const char *name)
{
	const char *text = json_string_value(json_object_get(labels, name));

	return text && *text && strlen(text) < TEXT_MAX && utf8_plain(text) ? text : NULL;
}

/* Makes the key of the job that the labels name. Returns NULL when they name no job. */
static const char *key_of(const json_t *labels, struct arena *arena)
{
	const char *name = text_of(labels, "job_name");
	char key[JOB_KEY_MAX];

	if (!name || strlen(name) >= JOB_NAME_MAX)
		return NULL;
	job_key_write(name, text_of(labels, "namespace"), text_of(labels, "cluster"), key);
	return arena_text(arena, key, strlen(key));
}

/* Reads [time, "value"]. */
static bool read_sample(const json_t *pair, double *at, double *value)
{
	const char *text = json_string_value(json_array_get(pair, 1));
	struct scan s = SCAN(text ? text : "", text ? strlen(text) : 0);

	*at = json_number_value(json_array_get(pair, 0));
	return text && *at > 0 && *at < 1e11 && scan_double(&s, value) && scan_end(&s) &&
	       isfinite(*value);
}

static int by_place(const void *a, const void *b)
{
	const struct store_job *x = a, *y = b;
	int order = strcmp(job_key_place(x->key), job_key_place(y->key));

	return order ? order : strcmp(x->key, y->key);
}

int store_jobs(struct store *s, const struct store_window *w, struct arena *arena,
	struct store_job **ret, size_t *ret_n, struct err *e)
{
	struct buf query AUTO(buf_done) = BUF_MAX(QUERY_MAX);
	size_t n = 0;

	buf_adds(&query, "sum by(cluster,namespace,job_name)(count_over_time(" COUNTED);
	add_range(&query, w);
	buf_adds(&query, "))");
	AUTO(json_freep) json_t *o = NULL;
	const json_t *list = NULL;
	int code = ask_vector(s, &query, w->to, &o, &list, e);

	if (code)
		return code;
	*ret = arena_alloc(arena, json_array_size(list) * sizeof **ret);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		struct store_job job = {.key = key_of(json_object_get(one, "metric"), arena)};
		double at;

		if (job.key && read_sample(json_object_get(one, "value"), &at, &job.runs))
			(*ret)[n++] = job;
	}
	qsort(*ret, n, sizeof **ret, by_place);
	*ret_n = n;
	return 0;
}

int store_count(struct store *s, const char *key, const struct store_window *w, double *ret,
	struct err *e)
{
	struct buf query AUTO(buf_done) = BUF_MAX(QUERY_MAX);
	const struct store_job job = {key, 0};
	double at;

	buf_adds(&query, "sum(count_over_time(");
	store_selector(&query, COUNTED, &job, 1);
	add_range(&query, w);
	buf_adds(&query, "))");
	AUTO(json_freep) json_t *o = NULL;
	const json_t *list = NULL;
	int code = ask_vector(s, &query, w->to, &o, &list, e);

	if (code)
		return code;
	if (!read_sample(json_object_get(json_array_get(list, 0), "value"), &at, ret))
		*ret = 0;
	return 0;
}

/* ---- runs ---- */

/* One sample of a series. All samples of a run have the same key, outcome and time. */
struct read_sample {
	const char *key;
	const char *container; /* "" = none */
	enum outcome outcome;
	int64_t at_ms;
	size_t series;        /* index in run_series, or one of the POINT_... below */
	const json_t *labels; /* labels of the series */
	double value;
};
#define POINT_TEXTS   RUN_SERIES_MAX       /* the series rightsize_run_info */
#define POINT_NUMBERS (RUN_SERIES_MAX + 1) /* the series rightsize_run_numbers */
#define POINT_CHECK   (RUN_SERIES_MAX + 2) /* the series rightsize_run_check */
/* for a series that only a later version of this program knows: this value plus a hash of its
 * name */
#define POINT_OTHER (RUN_SERIES_MAX + 3)

static int by_run(const void *a, const void *b)
{
	const struct read_sample *x = a, *y = b;
	int order = x->key == y->key ? 0 : strcmp(x->key, y->key);

	if (order == 0)
		order = strcmp(x->container, y->container);
	if (order)
		return order;
	if (x->outcome != y->outcome)
		return x->outcome < y->outcome ? -1 : 1;
	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	return x->series < y->series ? -1 : x->series > y->series;
}

static bool same_run(const struct read_sample *a, const struct read_sample *b)
{
	return a->outcome == b->outcome && a->at_ms == b->at_ms && strcmp(a->key, b->key) == 0 &&
	       strcmp(a->container, b->container) == 0;
}

/* Finds a series by its name, and sets `*ret` to its number in read_sample.series. Returns false
 * when the series does not belong to runs. */
static bool find_series(const char *name, size_t *ret)
{
	if (!name || strncmp(name, RUN_SERIES_PREFIX, strlen(RUN_SERIES_PREFIX)) != 0)
		return false;
	name += strlen(RUN_SERIES_PREFIX);
	for (*ret = 0; *ret < run_series_n; ++*ret)
		if (strcmp(run_series[*ret].name, name) == 0)
			return true;
	*ret = strcmp(name, RUN_SERIES_INFO) == 0    ? POINT_TEXTS :
	       strcmp(name, RUN_SERIES_NUMBERS) == 0 ? POINT_NUMBERS :
	       strcmp(name, RUN_SERIES_CHECK) == 0   ? POINT_CHECK :
						       POINT_OTHER + (uint32_t)hash_text(name);
	return true;
}

struct read_samples {
	struct read_sample *at;
	size_t n, room;
};

/* Returns the name of the container in the labels of a series, or "". */
static const char *container_of(const json_t *labels, struct arena *arena)
{
	const char *name = text_of(labels, RUN_CONTAINER);

	return name && strlen(name) < RUN_CONTAINER_MAX && utf8_plain(name) &&
			       !strpbrk(name, "\"\\") ?
		       arena_text(arena, name, strlen(name)) :
		       "";
}

/* Returns the labels of a run from a store, such as {"container": "main"}. The name of the
 * container is the only label that a store keeps. NULL = no container. */
static const char *labels_of(const char *container, struct arena *arena)
{
	char text[RUN_CONTAINER_MAX + sizeof "{\"" RUN_CONTAINER "\": \"\"}"];

	if (!*container)
		return NULL;
	int len = snprintf(text, sizeof text, "{\"" RUN_CONTAINER "\": \"%s\"}", container);

	return arena_text(arena, text, (size_t)len);
}

static void read_series(struct read_samples *p, const json_t *one, struct arena *arena)
{
	const json_t *labels = json_object_get(one, "metric"),
		     *values = json_object_get(one, "values");
	const char *outcome = text_of(labels, "outcome");
	struct read_sample point = {.labels = labels};

	if (!find_series(text_of(labels, "__name__"), &point.series) || !outcome ||
		!run_outcome_parse(outcome, &point.outcome) || point.outcome == OUTCOME_RUNNING)
		return;
	point.key = key_of(labels, arena);
	point.container = container_of(labels, arena);
	for (size_t i = 0; point.key && i < json_array_size(values); i++) {
		double at;

		if (!read_sample(json_array_get(values, i), &at, &point.value))
			continue;
		point.at_ms = llround(at * 1000);
		GROW(p->at, p->n, p->room);
		p->at[p->n++] = point;
	}
}

/* Makes the id of a run from its labels and its time, so that all readers of a store give the run
 * the same id. */
static const char *id_of(const struct read_sample *p, struct arena *arena)
{
	const uint64_t parts[] = {hash_text(p->key), (uint64_t)p->outcome, (uint64_t)p->at_ms,
		hash_text(p->container)};
	/* A run without a container keeps the id that earlier versions gave it. */
	size_t n = ARRAY_LEN(parts) - !*p->container;
	char id[RUN_ID_MAX];
	int len = snprintf(id, sizeof id, "%" PRId64 "-%016" PRIx64, p->at_ms,
		hash_bytes(parts, n * sizeof *parts));

	return arena_text(arena, id, (size_t)len);
}

static const char *kept_text(const json_t *labels, const char *name, struct arena *arena)
{
	const char *text = text_of(labels, name);

	return text ? arena_text(arena, text, strlen(text)) : NULL;
}

static bool same_number(double a, double b)
{
	return !(a < b) && !(a > b);
}

static bool same_texts(const json_t *a, const json_t *b)
{
	for (size_t i = 0; i < run_texts_n; i++) {
		const char *x = text_of(a, run_texts[i].label), *y = text_of(b, run_texts[i].label);

		if (!x != !y || (x && strcmp(x, y) != 0))
			return false;
	}
	return true;
}

/* The values of a run, collected from its samples. `found`: number of values that the store
 * returned. `collided`: true = one member has two different values, so the samples are of two
 * runs. */
struct assembled {
	struct run_values values;
	/* how many numbers of the run the sender sent (RUN_SERIES_NUMBERS); NaN = unknown */
	double numbers;
	double found;
	/* RUN_SERIES_CHECK; NaN = unknown, as an earlier version wrote the run */
	double check;
	double sum; /* what `check` is for the numbers that were found */
	bool has_texts;
	bool collided;
};

/* Returns true when the numbers are not those of one run. */
static bool is_mixed(const struct assembled *a)
{
	return a->collided || a->found > a->numbers ||
	       (a->found >= a->numbers &&
		       fabs(a->sum - a->check) > RUN_CHECK_SLACK * fabs(a->check));
}

static void assemble(const struct read_sample *p, size_t n, struct arena *arena,
	struct assembled *ret)
{
	*ret = (struct assembled){.numbers = NAN, .check = NAN};
	for (size_t i = 0; i < RUN_SERIES_MAX; i++)
		ret->values.number[i] = NAN;
	for (size_t i = 0; i < n; i++) {
		bool again = i && p[i].series == p[i - 1].series;

		if (again) {
			ret->collided |= !same_number(p[i].value, p[i - 1].value) ||
					 !same_texts(p[i].labels, p[i - 1].labels);
		} else if (p[i].series == POINT_NUMBERS) {
			ret->numbers = p[i].value;
		} else if (p[i].series == POINT_TEXTS) {
			ret->has_texts = true;
			for (size_t k = 0; k < run_texts_n; k++)
				ret->values.text[k] =
					kept_text(p[i].labels, run_texts[k].label, arena);
		} else if (p[i].series == POINT_CHECK) {
			ret->check = p[i].value;
			ret->found++;
		} else {
			if (p[i].series < run_series_n)
				ret->values.number[p[i].series] = p[i].value;
			ret->sum += run_check_term(p[i].value);
			ret->found++;
		}
	}
}

/* Adds to `ret` the run to which these samples belong. If it is incomplete, collided or refused
 * (struct store_runs), only counts it. */
static void add_run(struct store_runs *ret, const struct read_sample *p, size_t n,
	struct arena *arena)
{
	struct run *r = &ret->runs.run[ret->runs.n];
	struct assembled a;

	assemble(p, n, arena, &a);
	if (is_mixed(&a)) {
		ret->collided++;
		return;
	}
	*r = (struct run){.run_id = id_of(p, arena),
		.job_name = p->key,
		.outcome = p->outcome,
		.labels = labels_of(p->container, arena)};
	run_values_set(&a.values, r, arena);
	/* The time of the samples is within a second of the end. */
	if (!(fabs(r->ended_at - (double)p->at_ms / 1000) < 1))
		r->ended_at = (double)p->at_ms / 1000;
	if (!(r->started_at > 0) || !run_times_agree(r))
		r->started_at = fmax(0, r->ended_at - r->duration_seconds);
	if (a.found < a.numbers || isnan(a.numbers) || isnan(r->duration_seconds) || !a.has_texts)
		ret->incomplete++;
	else if (run_message_check_numbers(r, NULL))
		ret->refused++;
	else
		ret->runs.n++;
}

int store_runs_read(const char *text, size_t len, struct arena *arena, struct store_runs *ret,
	struct err *e)
{
	AUTO(json_freep) json_t *o = json_loadb(text, len, 0, NULL);
	const json_t *list = results_of(o, "matrix");
	struct read_samples p = {0};

	*ret = (struct store_runs){.runs = {0, NULL}};
	if (!list)
		return err_set(e, -EBADMSG, "the answer is no list of series");
	for (size_t i = 0; i < json_array_size(list); i++)
		read_series(&p, json_array_get(list, i), arena);
	if (p.n)
		qsort(p.at, p.n, sizeof *p.at, by_run);
	ret->runs.run = arena_alloc(arena, (p.n + 1) * sizeof *ret->runs.run);
	for (size_t first = 0, end; first < p.n; first = end) {
		for (end = first + 1; end < p.n && same_run(&p.at[first], &p.at[end]); end++)
			;
		add_run(ret, &p.at[first], end - first, arena);
	}
	free(p.at);
	return 0;
}

int store_runs(struct store *s, const struct store_job *job, size_t n, const struct store_window *w,
	struct arena *arena, struct store_runs *ret, struct err *e)
{
	struct buf query AUTO(buf_done) = BUF_MAX(QUERY_MAX);

	store_selector(&query, NULL, job, n);
	add_range(&query, w);
	int code = ask(s, &query, w->to, e);

	return code ? code :
		      store_runs_read(buf_text(&s->answer.body), s->answer.body.len, arena, ret, e);
}
