/* A benchmark file of Snakemake: a row for each repetition of a rule, as TSV or as JSON lines. It is
 * written only when the job succeeded, and does not say when: the runs end when the file was written. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "exporter/import/made_run.h"
#include "exporter/import/table.h"

/* One row. The sizes are in MiB, as Snakemake writes them. */
struct snakemake_row {
	double seconds, max_rss, max_pss, io_in, io_out, cpu_seconds, threads, memory_mb;
	struct slice rule, all; /* `all`: the whole row */
};

/* Returns the name of the file without its folder and from its first dot on. */
static struct slice stem_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return (struct slice){name, strcspn(name, ".")};
}

/* Names the job as serve does: snakemake/RULE. */
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
	struct made_run m;

	if (!(b->seconds >= 0))
		return err_set(e, -EINVAL, "s: accepted is a number of seconds");
	made_run_begin(&m, "snakemake");
	made_run_of_system(&m, "snakemake", (struct slice){0});
	m.run.outcome = OUTCOME_SUCCEEDED;
	made_run_times(&m, NAN, isnan(in->written_at) ? in->now : in->written_at, b->seconds);
	/* RSS counts memory that processes share once for each of them. PSS does not. */
	made_run_peak(&m, "memory_peak_bytes", (b->max_pss > 0 ? b->max_pss : b->max_rss) * MIB);
	made_run_peak(&m, "memory_rss_bytes", b->max_rss * MIB);
	made_run_peak(&m, "memory_pss_bytes", b->max_pss * MIB);
	made_run_total(&m, "disk_read_bytes", b->io_in * MIB);
	made_run_total(&m, "disk_written_bytes", b->io_out * MIB);
	made_run_total(&m, "cpu_seconds", b->cpu_seconds);
	if (b->threads > 0)
		m.run.requested_cpu_cores = b->threads;
	if (b->memory_mb > 0)
		m.run.requested_memory_bytes = b->memory_mb * 1e6;
	int code = name_job(&m, in, b->rule, e);

	if (code)
		return code;
	made_run_identify(&m, &b->all, 1);
	return made_run_give(&m, in, line, e);
}

/* Finds the number behind 'mem_mb': in a dictionary as Python prints it. NaN = there is none. */
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
	const struct snakemake_row b = {
		.seconds = table_number(t, "s"),
		.max_rss = table_number(t, "max_rss"),
		.max_pss = table_number(t, "max_pss"),
		.io_in = table_number(t, "io_in"),
		.io_out = table_number(t, "io_out"),
		.cpu_seconds = table_number(t, "cpu_time"),
		.threads = table_number(t, "threads"),
		.memory_mb = member_of(table_field(t, "resources"), "'mem_mb': "),
		.rule = table_field(t, "rule_name"),
		.all = {first.data, (size_t)(last.data + last.len - first.data)},
	};

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

static double number_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static int read_object(const struct import_input *in, struct slice line, uint64_t number,
	struct err *e)
{
	json_error_t error;
	json_t *o = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES, &error);
	const char *rule = json_string_value(json_object_get(o, "rule_name"));
	const struct snakemake_row b = {
		.seconds = number_of(o, "s"),
		.max_rss = number_of(o, "max_rss"),
		.max_pss = number_of(o, "max_pss"),
		.io_in = number_of(o, "io_in"),
		.io_out = number_of(o, "io_out"),
		.cpu_seconds = number_of(o, "cpu_time"),
		.threads = number_of(o, "threads"),
		.memory_mb = number_of(json_object_get(o, "resources"), "mem_mb"),
		.rule = {rule, rule ? strlen(rule) : 0},
		.all = line,
	};
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
	return first == '{' ? text_lines_read(in, read_object, e) : read_table(in, e);
}
