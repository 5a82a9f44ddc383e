/* Reads a benchmark file of Snakemake, in TSV or JSON lines, with a row for each repetition of a
 * rule. Snakemake writes the file only after a success. The file contains durations, but no times
 * of day. The time of the last write to the file is therefore used as the end of the runs. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "exporter/core/json.h"
#include "exporter/import/made_run.h"
#include "exporter/import/table.h"

/* The numbers of a row. The sizes are in MiB. */
enum number { SECONDS, MAX_RSS, MAX_PSS, IO_IN, IO_OUT, CPU_SECONDS, THREADS, NUMBERS };

static const char *const names[NUMBERS] = {
	[SECONDS] = "s",
	[MAX_RSS] = "max_rss",
	[MAX_PSS] = "max_pss",
	[IO_IN] = "io_in",
	[IO_OUT] = "io_out",
	[CPU_SECONDS] = "cpu_time",
	[THREADS] = "threads",
};

struct snakemake_row {
	double number[NUMBERS]; /* NaN = unknown */
	double memory_mb;       /* requested memory, in MB */
	struct slice rule, all; /* `all`: the whole row */
};

/* Returns the name of the file without its folder, and only up to its first dot. */
static struct slice stem_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return (struct slice){name, strcspn(name, ".")};
}

/* Names the job snakemake/RULE, as a server names the jobs of Snakemake that it finds. */
static int name_job(struct made_run *m, const struct import_input *in, struct slice rule,
	struct err *e)
{
	struct buf name AUTO(buf_done) = BUF_MAX(2 * JOB_NAME_MAX);

	if (rule.len == 0)
		rule = stem_of(in->path);
	buf_adds(&name, "snakemake/");
	buf_add(&name, rule.data, rule.len);
	return made_run_job(m, in, (struct slice){buf_text(&name), rule.len ? name.len : 0},
		(struct slice){0}, (struct slice){0}, e);
}

static int give(const struct snakemake_row *b, const struct import_input *in, uint64_t line,
	struct err *e)
{
	const double *number = b->number;
	struct made_run m;

	if (!(number[SECONDS] >= 0))
		return err_set(e, -EINVAL, "s: accepted is a number of seconds");
	made_run_begin(&m, "snakemake");
	made_run_of_system(&m, "snakemake", (struct slice){0});
	m.run.outcome = OUTCOME_SUCCEEDED;
	made_run_times(&m, NAN, isnan(in->written_at) ? in->now : in->written_at, number[SECONDS]);
	/* Prefer PSS to RSS: if several processes share memory, RSS counts it once for each
	 * process. */
	made_run_peak(&m, "memory_peak_bytes",
		(number[MAX_PSS] > 0 ? number[MAX_PSS] : number[MAX_RSS]) * MIB);
	made_run_peak(&m, "memory_rss_bytes", number[MAX_RSS] * MIB);
	made_run_peak(&m, "memory_pss_bytes", number[MAX_PSS] * MIB);
	made_run_total(&m, "disk_read_bytes", number[IO_IN] * MIB);
	made_run_total(&m, "disk_written_bytes", number[IO_OUT] * MIB);
	made_run_total(&m, "cpu_seconds", number[CPU_SECONDS]);
	if (number[THREADS] > 0)
		m.run.requested_cpu_cores = number[THREADS];
	if (b->memory_mb > 0)
		m.run.requested_memory_bytes = b->memory_mb * 1e6;
	int code = name_job(&m, in, b->rule, e);

	if (code)
		return code;
	made_run_identify(&m, &b->all, 1);
	return made_run_give(&m, in, line, e);
}

/* Finds the number after `key`, such as 'mem_mb':, in a dictionary as Python prints it. NaN = there
 * is none. */
static double member_of(struct slice dictionary, const char *key)
{
	const char *at = memmem(dictionary.data, dictionary.len, key, strlen(key));
	struct scan s = scan_slice(dictionary);
	double v;

	if (!at)
		return NAN;
	s.at = at + strlen(key);
	return scan_double(&s, &v) ? v : (double)NAN;
}

static int read_row(void *context, const struct text_table *t, const struct import_input *in,
	struct err *e)
{
	const struct slice first = t->field[0], last = t->field[t->n - 1];
	struct snakemake_row b = {
		.memory_mb = member_of(table_field(t, "resources"), "'mem_mb': "),
		.rule = table_field(t, "rule_name"),
		.all = {first.data, (size_t)(last.data + last.len - first.data)},
	};

	for (size_t i = 0; i < NUMBERS; i++)
		b.number[i] = table_number(t, names[i]);
	(void)context;
	return give(&b, in, t->lines.number, e);
}

static int read_table(const struct import_input *in, struct err *e)
{
	static const char *const needed[] = {"s", "max_rss", NULL};
	struct text_table t;
	int code = table_begin(&t, in->in, '\t', false, e);

	if (code == 0)
		code = table_needs(&t, needed, e);
	if (code == 0)
		code = table_read_rows(&t, in, read_row, NULL, e);
	table_done(&t);
	return code;
}

static int read_object(const struct import_input *in, struct slice line, uint64_t number,
	void *context, struct err *e)
{
	(void)context;
	json_error_t error;
	json_t *o = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES, &error);
	const char *rule = json_string_value(json_object_get(o, "rule_name"));
	struct snakemake_row b = {
		.memory_mb = json_number_of(json_object_get(o, "resources"), "mem_mb"),
		.rule = {rule, rule ? strlen(rule) : 0},
		.all = line,
	};

	for (size_t i = 0; i < NUMBERS; i++)
		b.number[i] = json_number_of(o, names[i]);
	int code = json_is_object(o) ? give(&b, in, number, e) :
				       err_set(e, -EINVAL, "accepted is a JSON object: %s",
					       o ? "this is another value" : error.text);

	json_decref(o);
	return code;
}

int import_snakemake(const struct import_input *in, struct err *e)
{
	int first = getc(in->in);

	if (first != EOF)
		ungetc(first, in->in);
	return first == '{' ? text_lines_read(in, read_object, NULL, e) : read_table(in, e);
}
