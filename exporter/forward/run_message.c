/* The same table of fields is used to write and to read the message. */
#include "exporter/forward/run_message.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "collectors/base/utf8.h"
#include "collectors/runs.h"
#include "exporter/core/json.h"
#include "recommender/catalogue/architecture.h"
#include "recommender/plausible.h"

#define HOST_NAME_TEXT_MAX 256
#define SOURCE_MAX         64
#define REASON_MAX         256
#define SYSTEM_RUN_MAX     128
#define LABELS_MAX         4096
#define COLUMN_MAX         64
#define LARGEST_COUNT      9007199254740992.0 /* 2^53: a double holds it exactly */
#define LARGEST_LIMIT      0x1p63             /* the largest memory limit that the kernel accepts */

enum message_kind { TEXT, NUMBER, COUNT };

struct message_field {
	const char *key;
	enum message_kind kind;
	size_t offset;
	size_t max; /* bytes of a text, including the NUL */
	bool required;
	double least, most; /* of a number */
};

/* clang-format off */
#define FIELD(type, kind, field) #field, kind, offsetof(struct type, field)
static const struct message_field run_fields[] = {
	{FIELD(run, TEXT, run_id), RUN_ID_MAX, true},
	{FIELD(run, TEXT, job_name), JOB_NAME_MAX, true},
	{FIELD(run, NUMBER, started_at), 0, true, 0, LARGEST_COUNT},
	{FIELD(run, NUMBER, ended_at), 0, true, 0, LARGEST_COUNT},
	{FIELD(run, NUMBER, duration_seconds), 0, true, 0, RUN_SECONDS_MAX},
	{FIELD(run, NUMBER, exit_code), 0, false, 0, 255},
	{FIELD(run, NUMBER, exit_signal), 0, false, 0, 255},
	{FIELD(run, TEXT, host), HOST_NAME_TEXT_MAX, false},
	{FIELD(run, TEXT, cpu_source), SOURCE_MAX, false},
	{FIELD(run, TEXT, memory_source), SOURCE_MAX, false},
	{FIELD(run, TEXT, network_source), SOURCE_MAX, false},
	{FIELD(run, TEXT, vendor_id), SOURCE_MAX, false},
	{FIELD(run, TEXT, instance_type), SOURCE_MAX, false},
	{FIELD(run, TEXT, region), SOURCE_MAX, false},
	{FIELD(run, TEXT, zone), SOURCE_MAX, false},
	{FIELD(run, TEXT, allocation), SOURCE_MAX, false},
	{FIELD(run, COUNT, samples), 0, false},
	{FIELD(run, NUMBER, interval_seconds), 0, false, 0, RUN_SECONDS_MAX},
	{FIELD(run, NUMBER, requested_cpu_cores), 0, false, 0, QUANTITY_CORES_MOST},
	{FIELD(run, NUMBER, requested_memory_bytes), 0, false, 0, QUANTITY_BYTES_MOST},
	{FIELD(run, NUMBER, memory_limit_bytes), 0, false, 0, LARGEST_LIMIT},
	{FIELD(run, NUMBER, input_bytes), 0, false, 0, QUANTITY_BYTES_MOST},
	{FIELD(run, NUMBER, attempt), 0, false, 0, LARGEST_COUNT},
	{FIELD(run, NUMBER, cpu_missed_seconds), 0, false, 0, RUN_TOTAL_MAX},
	{FIELD(run, NUMBER, cpu_foreign_seconds), 0, false, 0, RUN_TOTAL_MAX},
	{FIELD(run, NUMBER, machine_cpus), 0, false, 1, RUN_CPUS_MAX},
	{FIELD(run, NUMBER, machine_memory_bytes), 0, false, 1, RUN_MEMORY_MAX},
	{FIELD(run, TEXT, disk_source), SOURCE_MAX, false},
	{FIELD(run, TEXT, not_measured), REASON_MAX, false},
	{FIELD(run, TEXT, system), SOURCE_MAX, false},
	{FIELD(run, TEXT, system_run), SYSTEM_RUN_MAX, false},
	{FIELD(run, TEXT, labels), LABELS_MAX, false},
	{FIELD(run, TEXT, cpu_level), SOURCE_MAX, false},
	{FIELD(run, NUMBER, address_limit_bytes), 0, false, 0, LARGEST_LIMIT},
	{FIELD(run, NUMBER, address_peak_bytes), 0, false, 0, LARGEST_LIMIT},
	{FIELD(run, TEXT, end_reason), RUN_REASON_MAX, false},
};
static const struct message_field column_fields[] = {
	{FIELD(distribution, COUNT, n), 0, true},
	{FIELD(distribution, NUMBER, mean), 0, false, 0, INFINITY},
	{FIELD(distribution, NUMBER, min), 0, false, 0, INFINITY},
	{FIELD(distribution, NUMBER, max), 0, false, 0, INFINITY},
	{FIELD(distribution, NUMBER, p50), 0, false, 0, INFINITY},
	{FIELD(distribution, NUMBER, p95), 0, false, 0, INFINITY},
	{FIELD(distribution, NUMBER, p99), 0, false, 0, INFINITY},
	{FIELD(distribution, NUMBER, sum), 0, false, 0, INFINITY},
};
/* clang-format on */

/* ---- writing ---- */

static json_t *field_json(const void *thing, const struct message_field *f)
{
	const void *at = (const char *)thing + f->offset;

	switch (f->kind) {
	case TEXT:
		return json_text(*(const char *const *)at);
	case NUMBER:
		return json_num(*(const double *)at);
	case COUNT:
		return json_num((double)*(const uint64_t *)at);
	}
	return json_null();
}

static json_t *fields_json(const void *thing, const struct message_field *fields, size_t n)
{
	json_t *o = json_object();

	for (size_t i = 0; i < n; i++)
		json_put(o, fields[i].key, field_json(thing, &fields[i]));
	return o;
}

json_t *run_message(const struct run *r)
{
	/* If the wall clock was set during the run, the start time and the end time do not fit the
	 * duration. The receiver refuses such a run. The end time is more likely right, so compute
	 * the start time from the end time and the duration. */
	struct run told = *r;

	if (!run_times_agree(r))
		told.started_at = fmax(0, r->ended_at - r->duration_seconds);
	json_t *o = fields_json(&told, run_fields, ARRAY_LEN(run_fields)), *columns = json_object();

	json_put(o, "outcome", json_text(run_outcome_name(r->outcome)));
	if (r->architecture)
		json_put(o, "architecture", json_text(architecture_name[r->architecture]));
	for (size_t i = 0; i < r->n_stats; i++)
		json_put(columns, r->stats[i].column,
			fields_json(&r->stats[i].d, column_fields, ARRAY_LEN(column_fields)));
	json_put(o, "columns", columns);
	return o;
}

/* ---- reading ---- */

static int read_text(const char **ret, const json_t *v, const struct message_field *f,
	struct arena *arena, struct err *e)
{
	const char *text = json_string_value(v);

	if (!text || json_string_length(v) != strlen(text) || strlen(text) >= f->max ||
		!utf8_plain(text))
		return err_set(e, -EINVAL,
			"%s: accepted is a text of 1 to %zu bytes without control characters",
			f->key, f->max - 1);
	*ret = arena_text(arena, text, strlen(text));
	return 0;
}

static int read_count(uint64_t *ret, const json_t *v, const char *key, struct err *e)
{
	double d = json_is_number(v) ? json_number_value(v) : -1;

	if (!(d >= 0 && d <= LARGEST_COUNT && d == floor(d)))
		return err_set(e, -EINVAL, "%s: accepted is a whole number from 0 on", key);
	*ret = (uint64_t)d;
	return 0;
}

static int read_number(double *ret, const json_t *v, const struct message_field *f, struct err *e)
{
	double d = json_number_value(v);

	if (!json_is_number(v))
		return err_set(e, -EINVAL, "%s: accepted is a number", f->key);
	if (!(d >= f->least && d <= f->most))
		return isinf(f->most) ?
			       err_set(e, -EINVAL,
				       "%s: accepted is a number from %.15g on, not %.15g", f->key,
				       f->least, d) :
			       err_set(e, -EINVAL,
				       "%s: accepted is a number from %.15g to %.15g, not %.15g",
				       f->key, f->least, f->most, d);
	*ret = d;
	return 0;
}

static int read_field(void *thing, const json_t *o, const struct message_field *f,
	struct arena *arena, struct err *e)
{
	void *at = (char *)thing + f->offset;
	const json_t *v = json_object_get(o, f->key);

	if (f->kind == NUMBER)
		*(double *)at = NAN;
	if (!v || json_is_null(v))
		return f->required ? err_set(e, -EINVAL, "%s is missing", f->key) : 0;
	if (f->kind == TEXT)
		return read_text(at, v, f, arena, e);
	if (f->kind == COUNT)
		return read_count(at, v, f->key, e);
	return read_number(at, v, f, e);
}

static int read_fields(void *thing, const json_t *o, const struct message_field *fields, size_t n,
	struct arena *arena, struct err *e)
{
	int code = 0;

	for (size_t i = 0; i < n && code == 0; i++)
		code = read_field(thing, o, &fields[i], arena, e);
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

static int read_columns(struct run *r, json_t *columns, struct arena *arena, struct err *e)
{
	size_t n = json_object_size(columns);
	const char *name;
	json_t *o;

	if (!json_is_object(columns) || n > RUN_MESSAGE_COLUMNS_MAX)
		return err_set(e, -EINVAL, "columns: accepted is an object with up to %d members",
			RUN_MESSAGE_COLUMNS_MAX);
	r->stats = arena_alloc(arena, n * sizeof *r->stats);
	json_object_foreach(columns, name, o)
	{
		struct column_stats *s = &r->stats[r->n_stats];
		int code = 0;

		if (!is_column_name(name) || !json_is_object(o))
			code = err_set(e, -EINVAL,
				"accepted is an object under a name of 1 to %d of a-z, 0-9 and _",
				COLUMN_MAX - 1);
		else
			code = read_fields(&s->d, o, column_fields, ARRAY_LEN(column_fields), arena,
				e);
		if (code)
			return err_wrap(e, "column %.64s", name);
		s->column = arena_text(arena, name, strlen(name));
		r->n_stats++;
	}
	qsort(r->stats, r->n_stats, sizeof *r->stats, by_column);
	return 0;
}

/* An unknown name is no error, because a newer sender may know more architectures. */
static enum architecture read_architecture(const json_t *v)
{
	const char *name = json_string_value(v);
	unsigned i;

	return name && catalogue_name_find(architecture_name, ARCHITECTURE_COUNT, name, &i) ?
		       (enum architecture)i :
		       ARCHITECTURE_UNKNOWN;
}

static int read_outcome(struct run *r, const json_t *v, struct arena *arena, struct err *e)
{
	const char *name = json_string_value(v), *reason = r->end_reason;

	if (!name || !run_outcome_told(name, &r->outcome, &reason))
		return err_set(e, -EINVAL,
			"outcome: accepted are succeeded, failed, oom_killed, interrupted, unknown, "
			"DeadlineExceeded");
	/* The name belongs to the message. */
	if (reason && !r->end_reason)
		r->end_reason = arena_text(arena, reason, strlen(reason));
	return 0;
}

static int read_run(struct run *r, const json_t *o, struct arena *arena, struct err *e)
{
	int code = read_fields(r, o, run_fields, ARRAY_LEN(run_fields), arena, e);

	if (code == 0)
		code = read_outcome(r, json_object_get(o, "outcome"), arena, e);
	r->architecture = read_architecture(json_object_get(o, "architecture"));
	if (code == 0)
		code = read_columns(r, json_object_get(o, "columns"), arena, e);
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

static void json_freep(json_t **o)
{
	json_decref(*o);
}

int run_message_read(struct run *ret, const char *text, size_t len, struct arena *arena,
	struct err *e)
{
	json_error_t error;
	AUTO(json_freep)
	json_t *o = len <= RUN_MESSAGE_MAX ? json_loadb(text, len, JSON_REJECT_DUPLICATES, &error) :
					     NULL;
	struct run r = {0};

	if (len > RUN_MESSAGE_MAX)
		return err_set(e, -EINVAL, "accepted is a run of at most %u bytes",
			RUN_MESSAGE_MAX);
	if (!json_is_object(o))
		return err_set(e, -EINVAL, "accepted is one run as a JSON object: %s",
			o ? "this is another JSON value" : error.text);
	int code = read_run(&r, o, arena, e);

	if (code == 0)
		*ret = r;
	return code == -ERANGE ? -EINVAL : code;
}
