/* The sources of import, with files that the real programs wrote. sacct.txt has the form of Slurm's
 * manual. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/units.h"
#include "exporter/forward/run_message.h"
#include "exporter/import/import.h"
#include "exporter/import/text_lines.h"
#include "exporter/core/times.h"
#include "exporter/options/options.h"

#define RUNS_MAX 16

/* The runs of a source. */
struct told {
	struct run run[RUNS_MAX];
	size_t n, wrong, unfinished, untold;
	uint64_t line; /* of the first wrong line */
	char why[ERR_TEXT_MAX];
	struct arena arena;
};

static int take(void *context, uint64_t line, const char *text, size_t len, struct err *e)
{
	struct told *t = context;

	assert_true(t->n < RUNS_MAX);
	if (run_message_read(&t->run[t->n], text, len, &t->arena, e)) {
		t->line = t->wrong++ ? t->line : line;
		snprintf(t->why, sizeof t->why, "%s", e->text);
		return 0;
	}
	t->n++;
	return 0;
}

static void wrong(void *context, uint64_t line, const char *why)
{
	struct told *t = context;

	t->line = t->wrong++ ? t->line : line;
	snprintf(t->why, sizeof t->why, "%s", why);
}

static void unfinished(void *context)
{
	((struct told *)context)->unfinished++;
}

static void untold(void *context)
{
	((struct told *)context)->untold++;
}

static int set_up(void **state)
{
	setenv("TZ", "UTC", 1);
	*state = xcalloc(1, sizeof(struct told));
	return 0;
}

static int tear_down(void **state)
{
	struct told *t = *state;

	arena_done(&t->arena);
	free(t);
	return 0;
}

static struct import_input input_of(struct told *t, FILE *in, const char *path)
{
	return (struct import_input){.path = path,
		.in = in,
		.written_at = 1795725080,
		.now = 1795726000,
		.sink = {take, wrong, unfinished, untold, t}};
}

static int read_with(const char *source, struct import_input *in, struct err *e)
{
	int code = import_source_find(source)->read(in, e);

	fclose(in->in);
	return code;
}

static void read_file(struct told *t, const char *source, const char *name)
{
	char path[512];
	struct err e = {0};

	snprintf(path, sizeof path, "%s/%s", TEST_FIXTURES, name);
	struct import_input in = input_of(t, fopen(path, "r"), path);

	assert_non_null(in.in);
	in.outcome = "succeeded";
	assert_int_equal(read_with(source, &in, &e), 0);
	assert_string_equal(e.text, "");
	assert_string_equal(t->why, "");
}

static int read_bytes(struct told *t, const char *source, const char *text, size_t len,
	struct err *e)
{
	struct import_input in = input_of(t, fmemopen((char *)(uintptr_t)text, len, "r"), "x.txt");

	return read_with(source, &in, e);
}

static int read_text(struct told *t, const char *source, const char *text, struct err *e)
{
	return read_bytes(t, source, text, strlen(text), e);
}

/* Compares two numbers that may differ in the seventh digit. */
#define assert_number(got, expected)                                                               \
	assert_true(fabs((double)(got) - (double)(expected)) <= 1e-6 * fabs((double)(expected)))

/* ---- sacct ---- */

static void sacct_joins_steps_and_job(void **state)
{
	struct told *t = *state;
	const struct run *r = t->run;

	read_file(t, "sacct", "sacct.txt");
	assert_int_equal(t->n, 4);
	assert_int_equal(t->unfinished, 2);
	assert_string_equal(r->job_name, "align");
	assert_string_equal(r->system, "slurm");
	assert_string_equal(r->system_run, "101");
	assert_string_equal(r->memory_source, "sacct");
	assert_int_equal(r->outcome, OUTCOME_SUCCEEDED);
	assert_number(r->started_at, 1795248000);
	assert_number(r->duration_seconds, 5400);
	assert_number(r->exit_code, 0);
	assert_number(r->requested_cpu_cores, 2);
	assert_number(r->requested_memory_bytes, 4096 * MIB);
	assert_true(isnan(r->memory_limit_bytes));
	/* The two tasks of the largest step had 2.5 GiB together. */
	assert_number(run_peak(r, "memory_peak_bytes"), 2560 * MIB);
	assert_number(run_total(r, "cpu_seconds"), 8130.5);
	assert_number(run_mean(r, "cpu_cores"), 8130.5 / 5400);
}

static void sacct_states(void **state)
{
	struct told *t = *state;
	const struct run *killed = &t->run[1], *late = &t->run[2], *failed = &t->run[3];

	read_file(t, "sacct", "sacct.txt");
	assert_int_equal(killed->outcome, OUTCOME_OOM_KILLED);
	assert_number(killed->memory_limit_bytes, 2048 * MIB);
	assert_number(killed->exit_signal, 125);
	assert_string_equal(killed->system_run, "200_1");
	assert_number(run_total(killed, "cpu_seconds"), 570.25);
	assert_int_equal(late->outcome, OUTCOME_FAILED);
	assert_string_equal(late->end_reason, "TIMEOUT");
	assert_number(late->duration_seconds, 90001);
	/* 500M for each of 4 CPUs; 3 tasks of which the largest had 100M. */
	assert_number(late->requested_memory_bytes, 2000 * MIB);
	assert_number(run_peak(late, "memory_peak_bytes"), 300 * MIB);
	/* Slurm writes 0 where it did not measure. */
	assert_number(failed->exit_code, 7);
	assert_true(isnan(failed->requested_memory_bytes));
	assert_null(run_column(failed, "memory_peak_bytes"));
	assert_null(run_column(failed, "cpu_seconds"));
}

static void sacct_refuses_one_row(void **state)
{
	struct told *t = *state;
	struct err e = {0};

	assert_int_equal(
		read_text(t, "sacct",
			"JobID|JobName|State|Start|End|ReqMem\n"
			"7.batch|batch|COMPLETED|2026-11-21T08:00:00|2026-11-21T08:00:09|\n"
			"8|a|COMPLETED|2026-11-21T08:00:00|yesterday|\n"
			"9|a|b|COMPLETED|2026-11-21T08:00:00|2026-11-21T08:00:09|\n"
			"10|a|COMPLETED|2026-11-21T08:00:00|2026-11-21T08:00:09|999999999999T\r\n"
			"11|a|COMPLETED|2026-11-21T08:00:00|2026-11-21T08:00:09|1G\r\n",
			&e),
		0);
	assert_int_equal(t->wrong, 4);
	assert_int_equal(t->line, 2);
	assert_int_equal(t->n, 1);
	assert_number(t->run->duration_seconds, 9);
	/* A request of 0 is no request. */
	assert_int_equal(read_text(t, "sacct",
				 "JobID|JobName|State|Start|End|ReqCPUS\n"
				 "12|a|COMPLETED|2026-11-21T08:00:00|2026-11-21T08:00:09|0\n",
				 &e),
		0);
	assert_int_equal(t->n, 2);
	assert_true(isnan(t->run[1].requested_cpu_cores));
	assert_int_equal(read_text(t, "sacct", "JobID|JobName\n", &e), -EINVAL);
	assert_non_null(strstr(e.text, "State"));
}

/* ---- Nextflow ---- */

static void nextflow_with_units(void **state)
{
	struct told *t = *state;
	const struct run *failed = &t->run[0], *sort = &t->run[1];

	read_file(t, "nextflow", "nextflow.txt");
	assert_int_equal(t->n, 4);
	assert_string_equal(failed->job_name, "FAILS");
	assert_int_equal(failed->outcome, OUTCOME_FAILED);
	assert_number(failed->exit_code, 3);
	assert_int_equal(failed->n_stats, 0);
	assert_string_equal(sort->job_name, "SORT");
	assert_string_equal(sort->system_run, "5a/90a222");
	assert_number(sort->duration_seconds, 2.6);
	assert_number(run_peak(sort, "memory_peak_bytes"), floor(106.4 * MIB));
	assert_number(run_total(sort, "cpu_seconds"), 0.211 * 2.6);
	assert_true(fabs(run_total(sort, "written_chars") - 1945.6) < 1);
}

static void nextflow_raw(void **state)
{
	struct told *t = *state;
	const struct run *sort = &t->run[0], *again = &t->run[3];

	read_file(t, "nextflow", "nextflow_raw.txt");
	assert_int_equal(t->n, 4);
	assert_string_equal(sort->job_name, "SORT");
	assert_number(sort->requested_memory_bytes, 300 * MIB);
	assert_number(sort->requested_cpu_cores, 2);
	assert_number(sort->duration_seconds, 4.374);
	assert_number(sort->ended_at, 1795725070.637);
	assert_number(again->attempt, 2);
	assert_string_not_equal(again->run_id, t->run[2].run_id);
}

/* ---- Snakemake ---- */

static void snakemake_table(void **state)
{
	struct told *t = *state;
	const struct run *r = t->run;

	read_file(t, "snakemake", "snakemake.tsv");
	assert_int_equal(t->n, 2);
	assert_string_equal(r->job_name, "snakemake/sort_reads");
	assert_int_equal(r->outcome, OUTCOME_SUCCEEDED);
	assert_true(isnan(r->exit_code));
	assert_number(r->duration_seconds, 5.19);
	assert_number(run_peak(r, "memory_peak_bytes"), 153.84 * MIB);
	assert_number(run_peak(r, "memory_rss_bytes"), 161.62 * MIB);
	assert_number(r->requested_memory_bytes, 300e6);
	assert_number(r->requested_cpu_cores, 2);
	assert_null(run_column(r, "disk_read_bytes"));
}

static void snakemake_lines(void **state)
{
	struct told *t = *state;

	read_file(t, "snakemake", "snakemake.jsonl");
	assert_int_equal(t->n, 1);
	assert_string_equal(t->run->job_name, "snakemake/align");
	assert_number(run_total(t->run, "cpu_seconds"), 0.48);
	assert_number(t->run->requested_memory_bytes, 200e6);
}

static void snakemake_without_rule(void **state)
{
	struct told *t = *state;
	struct err e = {0};
	const char *old =
		"s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
		"0.1\t0:00:00\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n"
		"4.5\t0:00:04\t10.0\t20\t9\t-\t1\t0\t99\t4\n";

	assert_int_equal(read_text(t, "snakemake", old, &e), 0);
	assert_int_equal(t->n, 2);
	assert_string_equal(t->run[0].job_name, "snakemake/x");
	assert_int_equal(t->run[0].n_stats, 0);
	assert_number(run_peak(&t->run[1], "memory_peak_bytes"), 10 * MIB);
}

/* ---- resource-tracker ---- */

static void resource_tracker_csv(void **state)
{
	struct told *t = *state;
	const struct run *combined = &t->run[0], *own = &t->run[1];

	read_file(t, "resource-tracker", "resource_tracker_combined.csv");
	read_file(t, "resource-tracker", "resource_tracker_process.csv");
	assert_int_equal(t->n, 2);
	assert_int_equal(combined->samples, 5);
	assert_string_equal(own->job_name, "resource_tracker_process");
	assert_number(run_peak(own, "memory_peak_bytes"), 150.8975 * MIB);
	assert_number(run_peak(combined, "memory_peak_bytes"), 150.8975 * MIB);
	assert_true(run_total(own, "cpu_seconds") > 0.7);
	assert_true(run_mean(own, "cpu_cores") > 0.2 && run_mean(own, "cpu_cores") < 0.5);
	assert_number(run_peak(own, "processes"), 3);
	/* There was no GPU. */
	assert_null(run_column(own, "gpu_usage"));
	assert_null(run_column(own, "vram_bytes"));
}

static void resource_tracker_json(void **state)
{
	struct told *t = *state;

	read_file(t, "resource-tracker", "resource_tracker.json");
	assert_int_equal(t->n, 1);
	assert_number(t->run->machine_cpus, 2);
	assert_number(t->run->machine_memory_bytes, 24105.55 * MIB);
	assert_null(t->run->vendor_id);
	assert_number(run_peak(t->run, "memory_peak_bytes"), 150.9951 * MIB);
}

static void resource_tracker_artifact(void **state)
{
	struct told *t = *state;
	struct err e = {0};

	assert_int_equal(
		read_text(t, "resource-tracker",
			"{\"step_failed\": true, \"tracker\": {\"process_metrics\": ["
			"{\"timestamp\": 10, \"memory_mib\": 1}, {\"timestamp\": 11, \"memory_mib\": 2}]}}",
			&e),
		0);
	assert_int_equal(t->n, 1);
	assert_int_equal(t->run->outcome, OUTCOME_FAILED);
	assert_int_equal(read_text(t, "resource-tracker", "{}", &e), -EINVAL);
	assert_int_equal(read_text(t, "resource-tracker", "\"timestamp\",\"x\"\n1,2\n", &e),
		-EINVAL);
}

/* ---- all ---- */

static void unknown_ends_are_left_out(void **state)
{
	struct told *t = *state;
	struct err e = {0};

	assert_int_equal(read_text(t, "resource-tracker", "timestamp,memory_mib\n1,2\n2,2\n3,2\n",
				 &e),
		0);
	assert_int_equal(t->n, 0);
	assert_int_equal(t->untold, 1);
}

static void key_of_the_user(void **state)
{
	struct told *t = *state;
	struct err e = {0};
	const char *text = "hash\tname\tstatus\trealtime\tsubmit\tduration\n"
			   "ab/1\tA:B (s)\tCOMPLETED\t2s\t2026-11-21 08:00:00.5\t3s\n";
	struct import_input in =
		input_of(t, fmemopen((char *)(uintptr_t)text, strlen(text), "r"), "");

	in.key = (struct import_key){"mine", "etl", "eu"};
	assert_int_equal(read_with("nextflow", &in, &e), 0);
	assert_string_equal(t->run->job_name, "mine\x1f"
					      "etl\x1f"
					      "eu");
	assert_int_equal(read_text(t, "nextflow", text, &e), 0);
	assert_string_equal(t->run[1].job_name, "A:B");
	assert_string_not_equal(t->run[0].run_id, t->run[1].run_id);
	assert_int_equal(read_text(t, "nextflow", text, &e), 0);
	assert_string_equal(t->run[1].run_id, t->run[2].run_id);
}

static void hostile_lines(void **state)
{
	static const char *const sources[] = {"runs", "sacct", "nextflow", "snakemake"};
	static const char *const headers[] = {"", "JobID|JobName|State|Start\n",
		"hash\tname\tstatus\trealtime\n", "s\tmax_rss\n"};
	AUTO(freep) char *text = xmalloc(2 * TEXT_LINE_MAX + 1000);
	struct told *t = *state;

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		struct err e = {0};
		size_t n = strlen(headers[i]);

		memcpy(text, headers[i], n);
		memset(text + n, 'x', 2 * TEXT_LINE_MAX);
		n += 2 * TEXT_LINE_MAX;
		memcpy(text + n, "\na\0b\n\xff\xfe\n\x1b[2J\n", 13);
		t->wrong = 0;
		assert_int_equal(read_bytes(t, sources[i], text, n + 13, &e), 0);
		assert_int_equal(t->wrong, 4);
		assert_int_equal(t->line, i == 0 ? 1 : 2);
		assert_int_equal(t->n, 0);
	}
}

static void many_columns(void **state)
{
	struct buf text AUTO(buf_done) = BUF_MAX(1u << 20);
	struct told *t = *state;
	struct err e = {0};

	for (size_t i = 0; i < 1000; i++)
		buf_addf(&text, "c%zu\t", i);
	buf_addc(&text, '\n');
	assert_int_equal(read_text(t, "nextflow", buf_text(&text), &e), -EINVAL);
	assert_non_null(strstr(e.text, "columns"));
}

static void times(void **state)
{
	static const struct {
		double (*read)(struct slice text);
		const char *text;
		double expected; /* NaN = the text is refused */
	} rows[] = {
		{times_read, "2026-11-21T08:45:12", 1795250712},
		{times_read, "2026-11-21 08:45:12.250", 1795250712.25},
		{times_read, "2026-11-21T09:45:12+01:00", 1795250712},
		{times_read, "2026-11-21T03:15:12-0530", 1795250712},
		{times_read, "2026-11-21T08:45:12Z", 1795250712},
		{times_read, "2026-13-21T08:45:12", NAN},
		{times_read, "2026-11-21", NAN},
		{times_read, "2026-11-21T08:45:12x", NAN},
		{times_read, "Unknown", NAN},
		{times_read_clock, "1-02:03:04", 93784},
		{times_read_clock, "02:03.5", 123.5},
		{times_read_clock, "00:00:00", 0},
		{times_read_clock, "7", NAN},
		{times_read_clock, "1:2:3:4", NAN},
		{times_read_clock, "-1:00", NAN},
		{times_read_clock, "", NAN},
		{times_read_units, "1d 2h 3m 4.5s", 93784.5},
		{times_read_units, "120ms", 0.12},
		{times_read_units, "1h5m", 3900},
		{times_read_units, "5", NAN},
		{times_read_units, "-5s", NAN},
		{times_read_units, "", NAN},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		double got = rows[i].read((struct slice){rows[i].text, strlen(rows[i].text)});

		if (isnan(rows[i].expected) ? !isnan(got) : !(fabs(got - rows[i].expected) < 1e-6))
			fail_msg("%s: %.17g", rows[i].text, got);
	}
}

static void option_has_the_sources(void **state)
{
	struct option_view o;
	size_t i = 0, n = 0;

	while (option_at(i, &o) && strcmp(o.name, "from") != 0)
		i++;
	for (; o.choice(n) && import_sources[n].name; n++)
		assert_string_equal(o.choice(n), import_sources[n].name);
	assert_null(o.choice(n));
	assert_null(import_sources[n].name);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sacct_joins_steps_and_job),
		TEST(sacct_states),
		TEST(sacct_refuses_one_row),
		TEST(nextflow_with_units),
		TEST(nextflow_raw),
		TEST(snakemake_table),
		TEST(snakemake_lines),
		TEST(snakemake_without_rule),
		TEST(resource_tracker_csv),
		TEST(resource_tracker_json),
		TEST(resource_tracker_artifact),
		TEST(unknown_ends_are_left_out),
		TEST(key_of_the_user),
		TEST(hostile_lines),
		TEST(many_columns),
		TEST(times),
		TEST(option_has_the_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
