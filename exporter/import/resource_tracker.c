/* Reads the metrics that resource-tracker writes: a time series of one run. A CSV file has the
 * values of the run's processes, and perhaps also those of the machine. A JSON file is the result
 * of dumps(), which a Metaflow artifact contains as `tracker`. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "exporter/answers/series_csv.h"
#include "exporter/core/json.h"
#include "exporter/import/made_run.h"
#include "exporter/import/table.h"

#define SOURCE      "resource-tracker"
#define SAMPLES_MAX ((size_t)1 << 18) /* three days at one sample a second */
#define FILE_MAX    ((size_t)64 << 20)
#define COLUMNS_MAX 32

/* The names of the columns that this program computes from others. */
#define CPU  "cpu_seconds"
#define PEAK "memory_peak_bytes"

struct tracked {
	const char *name[COLUMNS_MAX]; /* name of the column in the history */
	struct peer_column peer[COLUMNS_MAX];
	double *value[COLUMNS_MAX], *at, *duration;
	size_t n_columns, n, room;
	struct arena arena; /* owns the statistics */
};

static void tracked_done(struct tracked *k)
{
	for (size_t i = 0; i < k->n_columns; i++)
		free(k->value[i]);
	free(k->at);
	free(k->duration);
	arena_done(&k->arena);
}

/* Adds the column that resource-tracker calls `name`. `own_table`: true = the table has only
 * columns about the processes, whose names lack the prefix "process_". Returns the index of the
 * column, or COLUMNS_MAX when the history has no such column. */
static size_t add_column(struct tracked *k, struct slice name, bool own_table)
{
	struct buf full AUTO(buf_done) = BUF_MAX(256);
	struct peer_column peer;

	buf_adds(&full, own_table ? "process_" : "");
	buf_add(&full, name.data, name.len);
	if (!series_csv_peer_find((struct slice){buf_text(&full), full.len}, &peer) ||
		k->n_columns == COLUMNS_MAX)
		return COLUMNS_MAX;
	k->name[k->n_columns] = peer.column;
	k->peer[k->n_columns] = peer;
	return k->n_columns++;
}

static int add_sample(struct tracked *k, double at, struct err *e)
{
	if (!isfinite(at))
		return err_set(e, -EINVAL, "timestamp: accepted are seconds since 1970");
	if (k->n && at <= k->at[k->n - 1])
		return err_set(e, -EINVAL,
			"timestamp: accepted is a later time than in the row before");
	if (k->n == SAMPLES_MAX)
		return err_set(e, -E2BIG, "accepted are up to %zu samples", SAMPLES_MAX);
	if (k->n == k->room) {
		k->room = k->room ? 2 * k->room : 64;
		k->at = xreallocarray(k->at, k->room, sizeof *k->at);
		for (size_t i = 0; i < k->n_columns; i++)
			k->value[i] = xreallocarray(k->value[i], k->room, sizeof **k->value);
	}
	k->at[k->n++] = at;
	return 0;
}

static void set_value(struct tracked *k, size_t column, double v)
{
	const struct peer_column *p = &k->peer[column];
	double *values = k->value[column];

	if (values && k->n)
		values[k->n - 1] = v >= 0 ? v * p->scale + p->more : (double)NAN;
}

/* ---- statistics ---- */

static double *values_of(const struct tracked *k, const char *name)
{
	for (size_t i = 0; i < k->n_columns; i++)
		if (strcmp(k->name[i], name) == 0)
			return k->value[i];
	return NULL;
}

/* Returns the sum of two columns; NULL = one of them is not there. */
static double *sum_of(struct tracked *k, const char *a, const char *b)
{
	const double *left = values_of(k, a), *right = values_of(k, b);
	double *ret = arena_alloc(&k->arena, k->n * sizeof *ret);

	if (!left || !right)
		return NULL;
	for (size_t i = 0; i < k->n; i++)
		ret[i] = left[i] + right[i];
	return ret;
}

/* Returns true if all values of a column about GPUs are 0. The values are then unknown, because
 * resource-tracker also writes 0 if there is no GPU. */
static bool is_unknown(const struct tracked *k, size_t column)
{
	if (!strstr(k->name[column], "gpu") && !strstr(k->name[column], "vram"))
		return false;
	for (size_t i = 0; i < k->n; i++)
		if (k->value[column][i] > 0)
			return false;
	return true;
}

/* The duration of a sample is the time since the sample before it. The first sample gets the
 * duration of the second. */
static void set_durations(struct tracked *k)
{
	k->duration = xcalloc(k->n, sizeof *k->duration);
	for (size_t i = 1; i < k->n; i++)
		k->duration[i] = k->at[i] - k->at[i - 1];
	k->duration[0] = k->duration[1];
}

static void summarize(struct tracked *k, struct run *r)
{
	const char *name[COLUMNS_MAX + 3];
	double *values[COLUMNS_MAX + 3];
	struct series s = {
		.n = k->n, .columns = name, .at = k->at, .duration = k->duration, .values = values};
	const struct {
		const char *name;
		double *values;
	} more[] = {{CPU, sum_of(k, "cpu_user_seconds", "cpu_system_seconds")},
		{PEAK, values_of(k, "memory_bytes")},
		{"vram_peak_bytes", values_of(k, "vram_bytes")}};

	for (size_t i = 0; i < k->n_columns; i++)
		if (!is_unknown(k, i)) {
			name[s.n_columns] = k->name[i];
			values[s.n_columns++] = k->value[i];
		}
	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		if (more[i].values) {
			name[s.n_columns] = more[i].name;
			values[s.n_columns++] = more[i].values;
		}
	r->n_stats = stats_of_series(&s, &k->arena, &r->stats);
}

/* Completes the run and passes it to the sink. */
static int give(struct tracked *k, struct made_run *m, const struct import_input *in, struct err *e)
{
	const char *slash = strrchr(in->path, '/'), *name = slash ? slash + 1 : in->path;
	char first[DOUBLE_TEXT_MAX], last[DOUBLE_TEXT_MAX];

	if (k->n < 2)
		return err_set(e, -EINVAL, "accepted are 2 samples or more");
	set_durations(k);
	double seconds = k->at[k->n - 1] - k->at[0] + k->duration[0];

	made_run_of_system(m, SOURCE, (struct slice){0});
	made_run_times(m, NAN, k->at[k->n - 1], seconds);
	m->run.samples = k->n;
	m->run.interval_seconds = seconds / (double)k->n;
	summarize(k, &m->run);
	int code = made_run_job(m, in, (struct slice){name, strcspn(name, ".")}, (struct slice){0},
		(struct slice){0}, e);

	if (code)
		return code;
	const struct slice same[] = {
		{first, double_text(first, k->at[0])}, {last, double_text(last, k->at[k->n - 1])}};

	made_run_identify(m, same, ARRAY_LEN(same));
	return made_run_give(m, in, 0, e);
}

/* ---- CSV ---- */

struct csv_reading {
	struct tracked *tracked;
	/* index of the column for each field of a row; COLUMNS_MAX = the field is not read */
	size_t column[TABLE_COLUMNS_MAX];
};

static int read_row(void *context, const struct text_table *t, const struct import_input *in,
	struct err *e)
{
	struct csv_reading *r = context;
	int code = add_sample(r->tracked, table_number(t, "timestamp"), e);

	(void)in;
	for (size_t i = 0; i < t->n && code == 0; i++) {
		struct scan s = scan_slice(t->field[i]);
		double v;

		if (r->column[i] < COLUMNS_MAX)
			set_value(r->tracked, r->column[i],
				scan_double(&s, &v) && scan_end(&s) ? v : (double)NAN);
	}
	return code;
}

static int read_csv(struct tracked *k, const struct import_input *in, struct err *e)
{
	static const char *const needed[] = {"timestamp", NULL};
	struct csv_reading r = {.tracked = k};
	struct made_run m;
	struct text_table t;
	int code = table_begin(&t, in->in, ',', true, e);

	if (code == 0)
		code = table_needs(&t, needed, e);
	bool own_table = table_has(&t, "memory_mib");

	for (size_t i = 0; i < t.n && code == 0; i++)
		r.column[i] = add_column(k, t.name[i], own_table);
	if (code == 0 && !values_of(k, "memory_bytes") && k->n_columns == 0)
		code = err_set(e, -EINVAL, "the first line has no column of a process");
	if (code == 0)
		code = table_read_rows(&t, in, read_row, &r, e);
	table_done(&t);
	made_run_begin(&m, SOURCE);
	return code ? code : give(k, &m, in, e);
}

/* ---- JSON ---- */

/* Returns a text about the cloud. NULL = unknown, for which resource-tracker writes "unknown". */
static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text && strcmp(text, "unknown") != 0 ? text : NULL;
}

static int read_samples(struct tracked *k, const json_t *list, struct err *e)
{
	const char *names[COLUMNS_MAX] = {NULL}, *key;
	json_t *value;
	int code = 0;

	json_object_foreach(json_array_get(list, 0), key, value)
	{
		size_t column = add_column(k, (struct slice){key, strlen(key)}, true);

		if (column < COLUMNS_MAX)
			names[column] = key;
	}
	for (size_t i = 0; i < json_array_size(list) && code == 0; i++) {
		const json_t *o = json_array_get(list, i);

		code = add_sample(k, json_number_of(o, "timestamp"), e);
		for (size_t c = 0; c < k->n_columns && code == 0; c++)
			set_value(k, c, json_number_of(o, names[c]));
	}
	return code;
}

/* Reads how the step of an artifact ended. */
static enum outcome outcome_of(const json_t *artifact)
{
	const json_t *failed = json_object_get(artifact, "step_failed");

	if (!json_is_boolean(failed))
		return OUTCOME_UNKNOWN;
	return json_is_true(failed) ? OUTCOME_FAILED : OUTCOME_SUCCEEDED;
}

static int read_document(struct tracked *k, const json_t *document, const struct import_input *in,
	struct err *e)
{
	const json_t *tracker = json_object_get(document, "tracker");
	const json_t *snapshot = tracker ? tracker : document;
	const json_t *server = json_object_get(snapshot, "server_info");
	const json_t *cloud = json_object_get(snapshot, "cloud_info");
	const json_t *samples = json_object_get(snapshot, "process_metrics");
	struct made_run m;

	made_run_begin(&m, SOURCE);
	if (!json_is_array(samples))
		return err_set(e, -EINVAL,
			"process_metrics is missing: accepted is what dumps() of resource-tracker returns");
	m.run.outcome = outcome_of(document);
	if (json_number_of(server, "vcpus") >= 1)
		m.run.machine_cpus = json_number_of(server, "vcpus");
	if (json_number_of(server, "memory_mib") > 0)
		m.run.machine_memory_bytes = json_number_of(server, "memory_mib") * MIB;
	m.run.vendor_id = text_of(cloud, "vendor");
	m.run.instance_type = text_of(cloud, "instance_type");
	m.run.region = text_of(cloud, "region");
	int code = read_samples(k, samples, e);

	return code ? code : give(k, &m, in, e);
}

static int read_json(struct tracked *k, const struct import_input *in, struct err *e)
{
	struct buf text AUTO(buf_done) = BUF_MAX(FILE_MAX);
	char piece[1 << 14];
	json_error_t error;
	size_t n;

	while ((n = fread(piece, 1, sizeof piece, in->in)) > 0)
		buf_add(&text, piece, n);
	if (ferror(in->in))
		return err_system(e, -errno, "read");
	if (text.full)
		return err_set(e, -EINVAL, "accepted is a file of at most %zu bytes", FILE_MAX);
	json_t *document = json_loadb(buf_text(&text), text.len, JSON_REJECT_DUPLICATES, &error);
	int code = document ? read_document(k, document, in, e) :
			      err_set(e, -EINVAL, "line %d: %s", error.line, error.text);

	json_decref(document);
	return code;
}

int import_resource_tracker(const struct import_input *in, struct err *e)
{
	struct tracked k = {0};
	int first = getc(in->in);

	if (first != EOF)
		ungetc(first, in->in);
	int code = first == '{' ? read_json(&k, in, e) : read_csv(&k, in, e);

	tracked_done(&k);
	return code;
}
