/* Writes and reads the messages that carry runs to another exporter. Both directions use the same
 * table of keys. */
#include "exporter/forward/run_message.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "collectors/base/utf8.h"
#include "collectors/runs.h"
#include "exporter/core/json.h"
#include "exporter/core/json_tree.h"
#include "exporter/core/times.h"
#include "recommender/catalogue/architecture.h"
#include "recommender/kept_statistics.h"
#include "recommender/plausible.h"
#include "recommender/run_labels.h"

#define HOST_NAME_TEXT_MAX 256
#define SOURCE_MAX         64
#define REASON_MAX         256
#define SYSTEM_RUN_MAX     128
#define LABELS_MAX         4096
#define COLUMN_MAX         64
#define LARGEST_COUNT      9007199254740992.0 /* 2^53: a double holds all whole numbers below */
#define SIGNAL_MOST        127    /* the status of wait(2) has seven bits for the signal */
#define LARGEST_LIMIT      0x1p63 /* the largest memory limit that the kernel accepts */

/* The json_key.offset of keys that cannot be copied to or from one member of struct run: read_run
 * has code to read each of them, and run_message to write it. */
#define READ_APART SIZE_MAX

/* clang-format off */
#define FIELD(type, kind, field) #field, kind, .offset = offsetof(struct type, field)
#define IGNORED {KEY_ANY, KEY_UNREAD, .offset = READ_APART, \
		.help = "Other keys are ignored, because a newer sender may know more"}
static const struct json_key column_keys[] = {
	{FIELD(distribution, KEY_COUNT, n), .required = true, .least = 1, .most = LARGEST_COUNT,
		.help = "Number of known values"},
	{FIELD(distribution, KEY_NUMBER, mean), .most = INFINITY, .help = "Mean over time"},
	{FIELD(distribution, KEY_NUMBER, min), .most = INFINITY, .help = "Smallest value"},
	{FIELD(distribution, KEY_NUMBER, max), .most = INFINITY, .help = "Largest value"},
	{FIELD(distribution, KEY_NUMBER, p50), .most = INFINITY, .help = "Median over time"},
	{FIELD(distribution, KEY_NUMBER, p95), .most = INFINITY, .help = "95th percentile over time"},
	{FIELD(distribution, KEY_NUMBER, p99), .most = INFINITY, .help = "99th percentile over time"},
	{FIELD(distribution, KEY_NUMBER, sum), .most = INFINITY, .help = "Total of a counter"},
	IGNORED,
	{0},
};

static const struct json_key columns_keys[] = {
	{KEY_ANY, KEY_OBJECT, .required = true, .members = column_keys,
		.help = "Distribution of a column over the time of the run; its name has 1 to 63 of a-z, 0-9 and _"},
	{0},
};

const struct json_key run_message_keys[] = {
	{FIELD(run, KEY_TEXT, run_id), .required = true, .least = 1, .most = RUN_ID_MAX - 1,
		.help = "Id of the run, which no other run has; a run that is known already changes nothing"},
	{"job_name", KEY_TEXT, .offset = READ_APART, .required = true, .least = 1, .most = JOB_NAME_MAX - 1,
		.help = "Name of the job"},
	{"namespace", KEY_TEXT, .offset = READ_APART, .least = 1, .most = JOB_SPACE_MAX - 1,
		.help = "Namespace of the job: jobs of one name in different namespaces are different jobs"},
	{"cluster", KEY_TEXT, .offset = READ_APART, .least = 1, .most = JOB_SPACE_MAX - 1,
		.help = "Cluster of the job"},
	{FIELD(run, KEY_TIME, started_at), .required = true, .most = LARGEST_COUNT,
		.help = "When the run started"},
	{FIELD(run, KEY_TIME, ended_at), .required = true, .most = LARGEST_COUNT,
		.help = "When it ended"},
	{FIELD(run, KEY_NUMBER, duration_seconds), .required = true, .most = RUN_SECONDS_MAX, .unit = "seconds",
		.help = "How long it took; it must fit started_at and ended_at"},
	{"outcome", KEY_CHOICE, .required = true, .offset = READ_APART, .choice = run_outcome_told_word,
		.help = "How it ended; DeadlineExceeded, TIMEOUT and DEADLINE mean that a time limit ended it"},
	{FIELD(run, KEY_WHOLE, exit_code), .most = 255,
		.help = "Exit code"},
	{FIELD(run, KEY_WHOLE, exit_signal), .least = 1, .most = SIGNAL_MOST,
		.help = "Number of the signal that ended it"},
	{FIELD(run, KEY_TEXT, end_reason), .least = 1, .most = RUN_REASON_MAX - 1,
		.help = "Why another system ended it, in its own word"},
	{FIELD(run, KEY_TEXT, host), .least = 1, .most = HOST_NAME_TEXT_MAX - 1,
		.help = "Name of its machine"},
	{"architecture", KEY_TEXT, .offset = READ_APART, .most = SOURCE_MAX - 1,
		.help = "Architecture of its programs, such as x86_64; an unknown one is no error"},
	{FIELD(run, KEY_TEXT, cpu_level), .least = 1, .most = SOURCE_MAX - 1,
		.help = "Lowest CPU level of its programs, such as x86-64-v3"},
	{FIELD(run, KEY_TEXT, gpu_manufacturer), .least = 1, .most = SOURCE_MAX - 1,
		.help = "Manufacturer of the GPUs that it used, such as NVIDIA"},
	{FIELD(run, KEY_TEXT, gpu_model), .least = 1, .most = GPU_NAME_MAX - 1,
		.help = "Model of the GPUs that it used, in the words of their driver, such as NVIDIA H200"},
	{FIELD(run, KEY_TEXT, cpu_source), .least = 1, .most = SOURCE_MAX - 1,
		.help = "How CPU time was measured"},
	{FIELD(run, KEY_TEXT, memory_source), .least = 1, .most = SOURCE_MAX - 1,
		.help = "How memory was measured"},
	{FIELD(run, KEY_TEXT, network_source), .least = 1, .most = SOURCE_MAX - 1,
		.help = "own or shared: whether other runs use its network namespace"},
	{FIELD(run, KEY_TEXT, disk_source), .least = 1, .most = SOURCE_MAX - 1,
		.help = "How disk space was measured"},
	{FIELD(run, KEY_TEXT, not_measured), .least = 1, .most = REASON_MAX - 1,
		.help = "Why the run has no numbers"},
	{FIELD(run, KEY_TEXT, vendor_id), .least = 1, .most = SOURCE_MAX - 1,
		.help = "Vendor of its server"},
	{FIELD(run, KEY_TEXT, instance_type), .least = 1, .most = SOURCE_MAX - 1,
		.help = "Type of its server, in the name of the vendor"},
	{FIELD(run, KEY_TEXT, region), .least = 1, .most = SOURCE_MAX - 1,
		.help = "Region of its server"},
	{FIELD(run, KEY_TEXT, zone), .least = 1, .most = SOURCE_MAX - 1,
		.help = "Zone of its server"},
	{FIELD(run, KEY_TEXT, allocation), .least = 1, .most = SOURCE_MAX - 1,
		.help = "How its server was rented: ondemand or spot"},
	{FIELD(run, KEY_NUMBER, machine_cpus), .least = 1, .most = RUN_CPUS_MAX, .unit = "CPUs",
		.help = "CPUs of its machine"},
	{FIELD(run, KEY_NUMBER, machine_memory_bytes), .least = 1, .most = RUN_MEMORY_MAX, .unit = "bytes",
		.help = "Memory of its machine"},
	{FIELD(run, KEY_COUNT, samples), .most = LARGEST_COUNT,
		.help = "Number of samples"},
	{FIELD(run, KEY_NUMBER, interval_seconds), .most = RUN_SECONDS_MAX, .unit = "seconds",
		.help = "Time between two samples"},
	{FIELD(run, KEY_NUMBER, requested_cpu_cores), .least = QUANTITY_CORES_LEAST, .most = QUANTITY_CORES_MOST, .unit = "cores",
		.help = "CPUs that were requested for it"},
	{FIELD(run, KEY_NUMBER, requested_memory_bytes), .least = 1, .most = QUANTITY_BYTES_MOST, .unit = "bytes",
		.help = "Memory that was requested for it"},
	{FIELD(run, KEY_NUMBER, memory_limit_bytes), .most = LARGEST_LIMIT, .unit = "bytes",
		.help = "Its memory limit"},
	{FIELD(run, KEY_NUMBER, address_limit_bytes), .most = LARGEST_LIMIT, .unit = "bytes",
		.help = "Its limit of address space"},
	{FIELD(run, KEY_NUMBER, address_peak_bytes), .most = LARGEST_LIMIT, .unit = "bytes",
		.help = "Most that one process used of that limit"},
	{FIELD(run, KEY_NUMBER, input_bytes), .most = QUANTITY_BYTES_MOST, .unit = "bytes",
		.help = "Size of its input"},
	{FIELD(run, KEY_WHOLE, attempt), .least = 1, .most = ATTEMPT_MOST,
		.help = "Which attempt of the work this was, from 1 on"},
	{FIELD(run, KEY_NUMBER, cpu_missed_seconds), .most = RUN_TOTAL_MAX, .unit = "seconds",
		.help = "Most CPU time that the total lacks"},
	{FIELD(run, KEY_NUMBER, cpu_foreign_seconds), .most = RUN_TOTAL_MAX, .unit = "seconds",
		.help = "Most CPU time in the total that other processes used"},
	{FIELD(run, KEY_TEXT, system), .least = 1, .most = SOURCE_MAX - 1,
		.help = "System that named the run, such as metaflow"},
	{FIELD(run, KEY_TEXT, system_run), .least = 1, .most = SYSTEM_RUN_MAX - 1,
		.help = "Name of the run in that system"},
	{FIELD(run, KEY_TEXT, labels), .least = 1, .most = LABELS_MAX - 1,
		.help = "Labels of that system, a JSON object as text"},
	{"columns", KEY_OBJECT, .required = true, .offset = READ_APART, .members = columns_keys,
		.help = "The measured columns, such as memory_bytes and cpu_seconds"},
	IGNORED,
	{0},
};
/* clang-format on */

/* ---- writing ---- */

/* Writes 0 as null if the key does not accept 0. Other systems and older versions of this program
 * store 0 for an unknown value, and the receiver would refuse the whole run. */
static json_t *field_json(const void *thing, const struct json_key *k)
{
	const void *at = (const char *)thing + k->offset;

	if (k->kind == KEY_TEXT)
		return json_text(*(const char *const *)at);

	double v = k->kind == KEY_COUNT ? (double)*(const uint64_t *)at : *(const double *)at;

	return json_num(v == 0 && k->least > 0 ? (double)NAN : v);
}

static json_t *fields_json(const void *thing, const struct json_key *keys)
{
	json_t *o = json_object();

	for (const struct json_key *k = keys; k->name; k++)
		if (k->offset != READ_APART)
			json_put(o, k->name, field_json(thing, k));
	return o;
}

static json_t *column_json(const struct distribution *d, unsigned statistics)
{
	json_t *o = json_object();

	for (unsigned s = 0; s < STATISTIC_COUNT; s++)
		if (statistics & STATISTIC_BIT(s) && !isnan(statistic_get(d, s)))
			json_put(o, statistic_name[s], json_num(statistic_get(d, s)));
	return o;
}

json_t *run_message(const struct run *r)
{
	/* Send a start that fits the end and the duration. They do not fit together if the wall
	 * clock was changed during the run, and the receiver would refuse such a run. The end is
	 * more likely right than the start. */
	struct run told = *r;

	if (!run_times_agree(r))
		told.started_at = fmax(0, r->ended_at - r->duration_seconds);
	json_t *o = fields_json(&told, run_message_keys), *columns = json_object();

	json_put_job(o, r->job_name);
	json_put(o, "outcome", json_text(run_outcome_name(r->outcome)));
	if (r->architecture)
		json_put(o, "architecture", json_text(architecture_name[r->architecture]));
	for (size_t i = 0; i < kept_columns_n; i++) {
		const struct distribution *d = run_column(&told, kept_columns[i].column);

		if (d && d->n)
			json_put(columns, kept_columns[i].column,
				column_json(d, kept_columns[i].statistics));
	}
	json_put(o, "columns", columns);
	return o;
}

/* ---- reading ---- */

#define SHOWN 64 /* an error shows at most this number of bytes of a wrong text */

static bool is_missing(const struct json_node *v)
{
	return !v || v->kind == NODE_NULL;
}

/* Sets the error for a wrong value `v` of a key; NULL = the key is absent. The message contains the
 * accepted values. Returns -EINVAL. */
static int refuse(const struct json_key *k, const struct json_node *v, struct err *e)
{
	AUTO(buf_done) struct buf accepts = BUF_MAX(sizeof e->text);
	char shown[SHOWN];

	json_key_accepts(k, &accepts);
	if (is_missing(v))
		return err_set(e, -EINVAL, "%s is missing: accepted is %s", k->name,
			buf_text(&accepts));
	if (json_node_is_number(v)) {
		buf_addf(&accepts, ", not %.15g", json_node_number(v));
	} else if (v->kind == NODE_TEXT) {
		utf8_clean_plain(v->text.data, v->text.len, '?', shown, sizeof shown);
		buf_addf(&accepts, ", not \"%s\"", shown);
	}
	return err_set(e, -EINVAL, "%s: accepted is %s", k->name, buf_text(&accepts));
}

static int read_text(const char **ret, const struct json_node *v, const struct json_key *k,
	struct arena *arena, struct err *e)
{
	if (v->kind != NODE_TEXT || (double)v->text.len < k->least || (double)v->text.len > k->most)
		return refuse(k, v, e);
	const char *text = arena_text(arena, v->text.data, v->text.len);

	if (strlen(text) != v->text.len || !utf8_plain(text))
		return refuse(k, v, e);
	*ret = text;
	return 0;
}

/* Reads seconds since 1970, or a time as text. A text without a zone is no time, because the sender
 * may be in another zone. */
static double read_time(const struct json_node *v)
{
	static const size_t seconds_end = sizeof "2026-11-21T08:45:12" - 1;

	if (v->kind != NODE_TEXT)
		return json_node_number(v);
	for (size_t i = seconds_end; i < v->text.len; i++)
		if (strchr("Z+-", v->text.data[i]))
			return times_read(v->text);
	return NAN;
}

static bool is_accepted(const struct json_node *v, const struct json_key *k, double d)
{
	if (k->kind == KEY_TIME)
		return d >= k->least && d <= k->most;
	return json_node_is_in_range(v, k->least, k->most) &&
	       (k->kind == KEY_NUMBER || d == floor(d));
}

static int read_field(void *thing, const struct json_node *o, const struct json_key *k,
	struct arena *arena, struct err *e)
{
	void *at = (char *)thing + k->offset;
	const struct json_node *v = json_node_find(o, k->name);

	if (k->kind != KEY_TEXT && k->kind != KEY_COUNT)
		*(double *)at = NAN;
	if (is_missing(v))
		return k->required ? refuse(k, v, e) : 0;
	if (k->kind == KEY_TEXT)
		return read_text(at, v, k, arena, e);
	double d = k->kind == KEY_TIME ? read_time(v) : json_node_number(v);

	if (!is_accepted(v, k, d))
		return refuse(k, v, e);
	if (k->kind == KEY_COUNT)
		*(uint64_t *)at = (uint64_t)d;
	else
		*(double *)at = d;
	return 0;
}

static int read_fields(void *thing, const struct json_node *o, const struct json_key *keys,
	struct arena *arena, struct err *e)
{
	int code = 0;

	for (const struct json_key *k = keys; k->name && code == 0; k++)
		if (k->offset != READ_APART)
			code = read_field(thing, o, k, arena, e);
	return code;
}

static bool is_column_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n > 0 && n < COLUMN_MAX && name[n] == '\0';
}

static int by_column(const void *a, const void *b)
{
	return strcmp(((const struct column_stats *)a)->column,
		((const struct column_stats *)b)->column);
}

static int read_column(struct column_stats *s, const struct json_node *o, struct arena *arena,
	struct err *e)
{
	const char *name = arena_text(arena, o->name.data, o->name.len);
	int code = 0;

	if (strlen(name) != o->name.len || !is_column_name(name) || o->kind != NODE_OBJECT)
		code = err_set(e, -EINVAL,
			"accepted is an object under a name of 1 to %d of a-z, 0-9 and _",
			COLUMN_MAX - 1);
	else
		code = read_fields(&s->d, o, column_keys, arena, e);
	s->column = name;
	return code ? err_wrap(e, "column %.64s", name) : 0;
}

static int read_columns(struct run *r, const struct json_node *columns, struct arena *arena,
	struct err *e)
{
	if (is_missing(columns) || columns->kind != NODE_OBJECT ||
		columns->n > RUN_MESSAGE_COLUMNS_MAX)
		return err_set(e, -EINVAL,
			"columns%s: accepted is an object with up to %d members, as GET /runs gives "
			"it with export=true",
			is_missing(columns) ? " is missing" : "", RUN_MESSAGE_COLUMNS_MAX);
	r->stats = arena_alloc(arena, columns->n * sizeof *r->stats);
	for (; r->n_stats < columns->n; r->n_stats++) {
		int code =
			read_column(&r->stats[r->n_stats], &columns->child[r->n_stats], arena, e);

		if (code)
			return code;
	}
	qsort(r->stats, r->n_stats, sizeof *r->stats, by_column);
	return 0;
}

/* Returns the architecture with the name `v`. An unknown name is no error, because a newer sender
 * may know more architectures. */
static enum architecture read_architecture(const struct json_node *v, struct arena *arena)
{
	unsigned i;

	return v && v->kind == NODE_TEXT &&
			       catalogue_name_find(architecture_name, ARCHITECTURE_COUNT,
				       arena_text(arena, v->text.data, v->text.len), &i) ?
		       (enum architecture)i :
		       ARCHITECTURE_UNKNOWN;
}

static const struct json_key *key_of(const char *name)
{
	const struct json_key *k = run_message_keys;

	while (strcmp(k->name, name) != 0)
		k++;
	return k;
}

static int read_outcome(struct run *r, const struct json_node *v, struct arena *arena,
	struct err *e)
{
	const char *name =
		v && v->kind == NODE_TEXT ? arena_text(arena, v->text.data, v->text.len) : NULL;
	const char *reason = r->end_reason;

	if (!name || strlen(name) != v->text.len || !run_outcome_told(name, &r->outcome, &reason))
		return refuse(key_of("outcome"), v, e);
	r->end_reason = reason;
	return 0;
}

static const char *labelled_space(const char *labels, struct arena *arena)
{
	static const char name[] = "namespace";
	struct slice text = run_labels_find(labels, (struct slice){name, sizeof name - 1});

	return text.data && text.len && text.len < JOB_SPACE_MAX &&
			       !memchr(text.data, '\\', text.len) ?
		       arena_text(arena, text.data, text.len) :
		       NULL;
}

/* Reads the name, the namespace and the cluster of the job, and sets r->job_name to the key of the
 * job. */
static int read_job(struct run *r, const struct json_node *o, struct arena *arena, struct err *e)
{
	static const char *const names[] = {"job_name", "namespace", "cluster"};
	const char *part[ARRAY_LEN(names)] = {NULL};
	char key[JOB_KEY_MAX];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct json_node *v = json_node_find(o, names[i]);
		const struct json_key *k = run_message_keys;

		while (strcmp(k->name, names[i]) != 0)
			k++;
		int code = !is_missing(v) ? read_text(&part[i], v, k, arena, e) :
			   k->required    ? err_set(e, -EINVAL, "%s is missing", names[i]) :
					    0;

		if (code)
			return code;
	}
	/* An older version of the sender sends the namespace of a pod only as a label. */
	if (!part[1])
		part[1] = labelled_space(r->labels, arena);
	job_key_write(part[0], part[1], part[2], key);
	r->job_name = arena_text(arena, key, strlen(key));
	return 0;
}

static int read_run(struct run *r, const struct json_node *o, struct arena *arena, struct err *e)
{
	int code = read_fields(r, o, run_message_keys, arena, e);

	if (code == 0)
		code = read_job(r, o, arena, e);
	if (code == 0)
		code = read_outcome(r, json_node_find(o, "outcome"), arena, e);
	r->architecture = read_architecture(json_node_find(o, "architecture"), arena);
	if (code == 0)
		code = read_columns(r, json_node_find(o, "columns"), arena, e);
	if (code == 0 && !(r->ended_at >= r->started_at))
		code = err_set(e, -EINVAL, "ended_at: accepted is started_at, %.15g, or later",
			r->started_at);
	if (code == 0 && !run_times_agree(r))
		code = err_set(e, -EINVAL,
			"duration_seconds: accepted is the time from started_at to ended_at, %.6g, give or take "
			"%g %% and %g s, not %.6g",
			r->ended_at - r->started_at, 100 * RUN_SLACK_SHARE, RUN_SLACK_SECONDS,
			r->duration_seconds);
	if (code == 0)
		code = run_plausible_order(r, e);
	if (code == 0)
		code = run_plausible(r, NAN, e);
	return code;
}

int run_message_check_numbers(const struct run *r, struct err *e)
{
	for (const struct json_key *k = run_message_keys; k->name; k++) {
		if (k->offset == READ_APART || k->kind == KEY_TEXT)
			continue;
		const void *at = (const char *)r + k->offset;
		double v =
			k->kind == KEY_COUNT ? (double)*(const uint64_t *)at : *(const double *)at;

		if (v < k->least || v > k->most)
			return err_set(e, -EINVAL, "%s: accepted is %.15g to %.15g, not %.15g",
				k->name, k->least, k->most, v);
	}
	return run_plausible(r, NAN, e);
}

int run_message_check_age(const struct run *r, double now, double retention_seconds, struct err *e)
{
	double latest = now + RUN_MESSAGE_EARLY_SECONDS;

	if (r->started_at > latest || r->ended_at > latest)
		return err_set(e, -EINVAL,
			"%s: accepted is a time up to %d s after now, %.0f, not %.15g",
			r->started_at > latest ? "started_at" : "ended_at",
			RUN_MESSAGE_EARLY_SECONDS, now,
			r->started_at > latest ? r->started_at : r->ended_at);
	if (retention_seconds > 0 && r->ended_at < now - retention_seconds)
		return err_set(e, -EINVAL,
			"ended_at: accepted is a time from %.0f on, not %.15g: the history keeps runs for %.15g s "
			"(--history.retention)",
			now - retention_seconds, r->ended_at, retention_seconds);
	return 0;
}

static int read_node(struct run *ret, const struct json_node *o, struct arena *arena, struct err *e)
{
	struct run r = {0};
	char name[SHOWN];

	if (o->kind != NODE_OBJECT)
		return err_set(e, -EINVAL, "accepted is a run as a JSON object");
	if (o->twice) {
		utf8_clean_plain(o->twice->name.data, o->twice->name.len, '?', name, sizeof name);
		return err_set(e, -EINVAL,
			"accepted is one run as a JSON object without two members of one name, here %s",
			name);
	}
	int code = read_run(&r, o, arena, e);

	if (code == 0)
		*ret = r;
	return code == -ERANGE ? -EINVAL : code;
}

static const char *told_id(const struct json_node *o, struct arena *arena)
{
	const struct json_node *v = json_node_find(o, "run_id");
	const char *id = v && v->kind == NODE_TEXT && v->text.len < RUN_ID_MAX ?
				 arena_text(arena, v->text.data, v->text.len) :
				 NULL;

	return id && strlen(id) == v->text.len && utf8_plain(id) ? id : NULL;
}

/* Sets the error for a body that is neither a run nor an array of 1 to RUN_BATCH_MAX runs. Returns
 * -EINVAL. */
static int refuse_body(const char *why, struct err *e)
{
	return err_set(e, -EINVAL,
		"accepted is one run as a JSON object, or an array of 1 to %d runs: %s",
		RUN_BATCH_MAX, why);
}

static int refuse_length(size_t n, struct err *e)
{
	char why[64];

	snprintf(why, sizeof why, n ? "this array has %zu" : "the array is empty", n);
	return refuse_body(why, e);
}

/* Returns the array of runs: the body, or the member of an answer of GET /runs. NULL = the body is
 * one run. */
static const struct json_node *list_of(const struct json_node *body)
{
	const struct json_node *runs = json_node_find(body, "runs");

	if (body->kind == NODE_ARRAY)
		return body;
	return runs && runs->kind == NODE_ARRAY ? runs : NULL;
}

int run_batch_read(struct run_batch *ret, const char *text, size_t len, struct arena *arena,
	struct err *e)
{
	struct json_node body;
	struct err syntax;

	if (len > RUN_MESSAGE_MAX)
		return err_set(e, -EINVAL, "accepted is a run of at most %u bytes",
			RUN_MESSAGE_MAX);
	if (len == 0)
		return refuse_body("the body is empty", e);
	if (json_tree_read(&body, (struct slice){text, len}, arena, &syntax))
		return refuse_body(syntax.text, e);
	const struct json_node *list = list_of(&body);
	size_t n = list ? list->n : 1;

	if (n == 0 || n > RUN_BATCH_MAX)
		return refuse_length(n, e);
	*ret = (struct run_batch){n, arena_alloc(arena, n * sizeof *ret->told), list};
	for (size_t i = 0; i < n; i++) {
		const struct json_node *one = list ? &list->child[i] : &body;
		struct told_run *told = &ret->told[i];

		*told = (struct told_run){.run_id = told_id(one, arena)};
		told->wrong.code = read_node(&told->run, one, arena, &told->wrong);
	}
	return 0;
}

int run_message_read(struct run *ret, const char *text, size_t len, struct arena *arena,
	struct err *e)
{
	struct run_batch batch = {0};
	int code = run_batch_read(&batch, text, len, arena, e);

	if (code)
		return code;
	if (batch.is_list || !batch.told)
		return err_set(e, -EINVAL, "accepted is one run as a JSON object");
	if (batch.told->wrong.code && e)
		*e = batch.told->wrong;
	if (batch.told->wrong.code == 0)
		*ret = batch.told->run;
	return batch.told->wrong.code;
}
