/* Reads a trace file of Nextflow, with a row for each attempt of a task. Numbers have units; 1 KB
 * is 1024 bytes. With trace.raw, numbers have no units: they are bytes and milliseconds. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "exporter/import/made_run.h"
#include "exporter/import/table.h"
#include "exporter/core/times.h"

#define EXIT_MOST 255 /* a larger number stands for an unknown exit code */

static const struct {
	const char *status;
	enum outcome outcome;
} statuses[] = {
	{"COMPLETED", OUTCOME_SUCCEEDED},
	{"CACHED", OUTCOME_SUCCEEDED},
	{"FAILED", OUTCOME_FAILED},
	{"ABORTED", OUTCOME_INTERRUPTED},
};

/* Reads a size: "1.5 GB" is 1.5 x 2^30 bytes, and a number without a unit is bytes. */
static double bytes_of(struct slice text)
{
	double v;

	return quantity_bytes(text, QUANTITY_OF_PBS, 1, &v) ? v : (double)NAN;
}

/* Reads a duration: "1m 2s", or a number of milliseconds such as 62000. */
static double seconds_of(const struct text_table *t, const char *column)
{
	double raw = table_number(t, column);

	return isnan(raw) ? times_read_units(table_field(t, column)) : raw / 1000;
}

static double time_of(const struct text_table *t, const char *column)
{
	double raw = table_number(t, column);

	return isnan(raw) ? times_read(table_field(t, column)) : raw / 1000;
}

/* Reads a percentage and divides it by 100: both "99.5%" and "99.5" become 0.995. */
static double share_of(const struct text_table *t, const char *column)
{
	struct scan s = scan_slice(table_field(t, column));
	double v;

	return scan_double(&s, &v) && (scan_char(&s, '%') || true) && scan_end(&s) ? v / 100 :
										     (double)NAN;
}

/* Reads the times. In the file, `realtime` is how long the task ran, and `duration` also contains
 * its time in the queue. */
static int read_times(struct made_run *m, const struct text_table *t, struct err *e)
{
	double complete = time_of(t, "complete");

	if (isnan(complete))
		complete = time_of(t, "submit") + seconds_of(t, "duration");
	if (!made_run_times(m, time_of(t, "start"), complete, seconds_of(t, "realtime")))
		return err_set(e, -EINVAL,
			"realtime is needed, and complete, or submit and duration");
	return 0;
}

static void read_use(struct made_run *m, const struct text_table *t)
{
	double exit_code = table_number(t, "exit"), attempt = table_number(t, "attempt");
	double memory = bytes_of(table_field(t, "memory")), cpus = table_number(t, "cpus");

	if (exit_code >= 0 && exit_code <= EXIT_MOST)
		m->run.exit_code = exit_code;
	if (attempt >= 1)
		m->run.attempt = attempt;
	if (memory > 0)
		m->run.requested_memory_bytes = memory;
	if (cpus > 0)
		m->run.requested_cpu_cores = cpus;
	made_run_total(m, "cpu_seconds", share_of(t, "%cpu") * m->run.duration_seconds);
	made_run_peak(m, "memory_peak_bytes", bytes_of(table_field(t, "peak_rss")));
	made_run_total(m, "read_chars", bytes_of(table_field(t, "rchar")));
	made_run_total(m, "written_chars", bytes_of(table_field(t, "wchar")));
	made_run_total(m, "disk_read_bytes", bytes_of(table_field(t, "read_bytes")));
	made_run_total(m, "disk_written_bytes", bytes_of(table_field(t, "write_bytes")));
}

/* Returns the name of the process without the tag of the task: SORT for "SORT (sample_1)". */
static struct slice process_of(const struct text_table *t)
{
	struct slice name = table_field(t, "process");

	if (name.len == 0)
		name = table_field(t, "name");
	for (size_t i = 0; i + 1 < name.len; i++)
		if (name.data[i] == ' ' && name.data[i + 1] == '(')
			name.len = i;
	return name;
}

static int read_row(void *context, const struct text_table *t, const struct import_input *in,
	struct err *e)
{
	struct made_run m;
	size_t i = 0;
	char submitted[DOUBLE_TEXT_MAX];
	double submit = time_of(t, "submit");

	(void)context;
	while (i < ARRAY_LEN(statuses) && !slice_is(table_field(t, "status"), statuses[i].status))
		i++;
	if (i == ARRAY_LEN(statuses)) {
		in->sink.unfinished(in->sink.context);
		return 0;
	}
	made_run_begin(&m, "nextflow");
	made_run_of_system(&m, "nextflow", table_field(t, "hash"));
	m.run.outcome = statuses[i].outcome;
	int code = read_times(&m, t, e);

	if (code == 0)
		code = made_run_job(&m, in, process_of(t), (struct slice){0}, (struct slice){0}, e);
	if (code)
		return code;
	read_use(&m, t);
	/* A task that is repeated with the same input has the same hash. The id therefore also
	 * contains the time at which the task was submitted. */
	const struct slice same[] = {table_field(t, "hash"),
		{submitted, double_text(submitted, isnan(submit) ? m.run.ended_at : submit)}};

	made_run_identify(&m, same, ARRAY_LEN(same));
	return made_run_give(&m, in, t->lines.number, e);
}

int import_nextflow(const struct import_input *in, struct err *e)
{
	static const char *const needed[] = {"hash", "status", "realtime", NULL};
	struct text_table t;
	int code = table_begin(&t, in->in, '\t', false, e);

	if (code == 0)
		code = table_needs(&t, needed, e);
	if (code == 0 && !table_has(&t, "process") && !table_has(&t, "name"))
		code = err_set(e, -EINVAL, "the first line lacks the columns process and name");
	if (code == 0)
		code = table_read_rows(&t, in, read_row, NULL, e);
	table_done(&t);
	return code;
}
