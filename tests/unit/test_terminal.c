/* exporter/terminal/: numbers, tables, YAML and CSV for people. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "collectors/base/mem.h"
#include "exporter/terminal/figures.h"
#include "exporter/terminal/grid.h"
#include "exporter/terminal/output.h"
#include "exporter/terminal/paragraphs.h"
#include "exporter/terminal/show.h"

static const struct screen plain = {.columns = 80};

#define GIB  (1024.0 * 1024 * 1024)
#define LONG "may be interrupted, and needs programs that were built for arm64"

static void numbers_have_three_digits_and_a_unit(void **state)
{
	static const struct {
		void (*add)(struct buf *out, double v);
		double v;
		const char *text;
	} table[] = {
		{figure_number, 0.141, "0.141"},
		{figure_number, 0.000078312, "0.0000783"},
		{figure_number, 0.001, "0.00100"},
		{figure_number, 0, "0"},
		{figure_number, 0.99999, "1.00"},
		{figure_number, 9.9999, "10.0"},
		{figure_number, 99.99, "100"},
		{figure_number, 1685835, "1685835"},
		{figure_number, -0.0013, "-0.00130"},
		{figure_number, NAN, "?"},
		{figure_short, 4, "4"},
		{figure_short, 0.5, "0.5"},
		{figure_short, 2.25, "2.25"},
		{figure_short, 100, "100"},
		{figure_bytes, 512, "512 B"},
		{figure_bytes, 1024, "1.00 KiB"},
		{figure_bytes, 1023.7 * 1024, "1.00 MiB"},
		{figure_bytes, 12 * GIB, "12.0 GiB"},
		{figure_bytes, NAN, "?"},
		{figure_seconds, 2.28, "2.28 s"},
		{figure_seconds, 99, "99.0 s"},
		{figure_seconds, 100, "1.67 min"},
		{figure_seconds, 2526, "42.1 min"},
		{figure_seconds, 7200, "2.00 h"},
		{figure_seconds, 30 * 86400.0, "30.0 d"},
		{figure_seconds, NAN, "?"},
		{figure_cpus, 1, "1 CPU"},
		{figure_cpus, 0.5, "0.5 CPUs"},
		{figure_cpus, 4, "4 CPUs"},
		{figure_cores, 1, "1 core"},
		{figure_cores, 0.99999, "1 core"},
		{figure_cores, 0.24, "0.24 cores"},
		{figure_cores, 0.00412, "0.00412 cores"},
		{figure_cores, 3.811, "3.81 cores"},
		{figure_cores, 12, "12 cores"},
		{figure_cores, NAN, "?"},
		{figure_percent, 0.029, "2.9 %"},
		{figure_percent, 0.5, "50 %"},
		{figure_percent, 0, "0 %"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf b AUTO(buf_done) = BUF_MAX(256);

		table[i].add(&b, table[i].v);
		if (strcmp(buf_text(&b), table[i].text) != 0)
			fail_msg("row %zu: \"%s\", not \"%s\"", i, buf_text(&b), table[i].text);
	}
}

static void pairs_share_a_unit(void **state)
{
	static const struct {
		double used, requested;
		const char *text;
	} table[] = {
		{10.1 * GIB, 16 * GIB, "10.1/16 GiB"},
		{0.41 * GIB, 2 * GIB, "0.410/2 GiB"},
		{656 * 1048576.0, 748.04 * 1048576, "656/748 MiB"},
		{10 * 1048576.0, 500 * 1048576.0, "10.0/500 MiB"},
		{0.5 * GIB, 1.5 * GIB, "0.500/1.5 GiB"},
		{41 * 1048576.0, NAN, "41.0/? MiB"},
		{NAN, 2 * GIB, "?/2 GiB"},
		{NAN, NAN, "?"},
	};
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		figure_bytes_of(&b, table[i].used, table[i].requested);
		assert_string_equal(buf_text(&b), table[i].text);
		buf_reset(&b);
	}
	figure_change(&b, 8, 4);
	figure_change(&b, 4, 5);
	figure_change(&b, 4, 4.01);
	figure_change(&b, NAN, 4);
	figure_change(&b, 0, 4);
	assert_string_equal(buf_text(&b), "-50 %+25 %0 %");
}

static void amounts_of_a_whole_name_a_shared_unit_once(void **state)
{
	static const struct {
		void (*add)(struct buf *out, double v);
		double v, of;
		const char *text;
	} table[] = {
		{figure_cores, 0.24, 1, "0.24 of 1 core"},
		{figure_cores, 1, 4, "1 of 4 cores"},
		{figure_cores, 0.24, NAN, "0.24 cores"},
		{figure_bytes, 313 * 1048576.0, GIB, "313 MiB of 1.00 GiB"},
		{figure_bytes, GIB, 4 * GIB, "1.00 of 4.00 GiB"},
		{figure_bytes, NAN, GIB, "? of 1.00 GiB"},
		{figure_seconds, 42, 60, "42.0 of 60.0 s"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf b AUTO(buf_done) = BUF_MAX(256);

		figure_of(&b, table[i].add, table[i].v, table[i].of);
		assert_string_equal(buf_text(&b), table[i].text);
	}
}

static void times_are_of_the_local_zone(void **state)
{
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	setenv("TZ", "UTC-2", 1);
	tzset();
	figure_time(&b, "2026-11-24T21:00:59.999Z");
	assert_string_equal(buf_text(&b), "2026-11-24 23:00");
	buf_reset(&b);
	figure_time(&b, "yesterday");
	assert_string_equal(buf_text(&b), "?");
	assert_true(isnan(figure_time_seconds(NULL)));
	assert_true(figure_time_seconds("1970-01-01T00:01:00Z") == 60);
}

/* Returns the table of these cells on a screen of `columns` columns. */
static void grid_text(struct buf *out, const struct grid_column *columns, size_t n_columns,
	const char *const *cell, int width, bool blocks)
{
	const struct screen s = {.columns = width, .blocks = blocks};
	AUTO(grid_freep) struct grid *g = grid_new(columns, n_columns);

	for (; *cell; cell++)
		grid_add(g, STYLE_BAD, *cell);
	grid_write(out, g, &s);
}

static void tables_fit_the_screen(void **state)
{
	static const struct grid_column columns[] = {
		{"NAME", false, 0, 6}, {"N", true, 0}, {"HOST", false, 1}, {"RUN", false, 2}};
	static const char *const cell[] = {
		"flow/step-of-a-name", "9", "alpha", "r1", "b\x1b[2J", "10", "beta", "r2", NULL};
	static const struct {
		int width;
		bool blocks;
		const char *text;
	} table[] = {
		{80, true,
			"NAME                  N  HOST   RUN\n"
			"flow/step-of-a-name   9  alpha  r1\n"
			"b?[2J                10  beta   r2\n"},
		{30, true,
			"NAME             N  HOST   RUN\n"
			"flow/step-of-…   9  alpha  r1\n"
			"b?[2J           10  beta   r2\n"},
		{20, false,
			"NAME        N  HOST\n"
			"flow/ste~   9  alpha\n"
			"b?[2J      10  beta\n"},
		{10, false, "NAME     N\nflow/~   9\nb?[2J   10\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf b AUTO(buf_done) = BUF_MAX(4096);

		grid_text(&b, columns, ARRAY_LEN(columns), cell, table[i].width, table[i].blocks);
		for (const char *line = buf_text(&b); *line; line += strcspn(line, "\n") + 1) {
			char one[256];

			snprintf(one, sizeof one, "%.*s", (int)strcspn(line, "\n"), line);
			assert_true(screen_width(one) <= table[i].width);
		}
		assert_string_equal(buf_text(&b), table[i].text);
	}
}

static void bars_show_shares(void **state)
{
	const struct screen blocks = {.columns = 80, .blocks = true};
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	screen_bar(&b, &plain, 8, 0.5, NAN);
	screen_bar(&b, &plain, 4, 2, 1);
	screen_bar(&b, &plain, 4, NAN, 0);
	assert_string_equal(buf_text(&b), "####----###||---");
	buf_reset(&b);
	screen_bar(&b, &blocks, 4, 0.40625, NAN);
	assert_string_equal(buf_text(&b), "█▋░░");
}

static void colours_only_repeat_the_text(void **state)
{
	const struct screen colours = {.columns = 80, .colour = true};
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	screen_text(&b, &colours, STYLE_BAD, "failed\a");
	screen_text(&b, &plain, STYLE_BAD, "failed\a");
	assert_string_equal(buf_text(&b), "\x1b[31mfailed?\x1b[0mfailed?");
}

static void yaml_and_csv_keep_every_value(void **state)
{
	json_t *o = json_loads(
		"{\"a\": {\"b\": [1, 0.1, \"x: y\", null, {\"c\": [], \"d\": {\"e\": true}}]},"
		" \"on\": \"no\", \"f\": {}}",
		0, NULL);
	json_t *rows =
		json_loads("[{\"a\": 1, \"b\": \"x,\\\"y\\\"\"}, {\"b\": null, \"c\": [1, 2]}]", 0,
			NULL);
	struct buf b AUTO(buf_done) = BUF_MAX(4096);

	output_yaml(&b, o);
	assert_string_equal(buf_text(&b), "\"a\":\n"
					  "  \"b\":\n"
					  "    - 1\n"
					  "    - 0.1\n"
					  "    - \"x: y\"\n"
					  "    - null\n"
					  "    - \"c\": []\n"
					  "      \"d\":\n"
					  "        \"e\": true\n"
					  "\"on\": \"no\"\n"
					  "\"f\": {}\n");
	buf_reset(&b);
	output_csv(&b, rows);
	assert_string_equal(buf_text(&b), "a,b,c\r\n"
					  "1,\"x,\"\"y\"\"\",\r\n"
					  ",,\"[1,2]\"\r\n");
	json_decref(o);
	json_decref(rows);
}

/* An answer with nothing in it, or with members of the wrong type, must not crash a table. */
static void answers_without_members_are_shown(void **state)
{
	static const char *const answers[] = {"{}", "[]",
		"{\"jobs\": [{}], \"runs\": [{}], \"servers\": [{}], \"benchmarks\": [{}],"
		" \"warnings\": [{}], \"notes\": [\"x\"], \"over_runs\": {\"a\": null},"
		" \"demand\": 1, \"paste\": []}"};
	static const char *const commands[] = {"jobs", "runs", "recommend", "servers", "stats",
		"benchmarks", "server", "overview"};

	assert_null(show_find("report"));
	for (size_t i = 0; i < ARRAY_LEN(answers); i++)
		for (size_t k = 0; k < ARRAY_LEN(commands); k++) {
			json_t *o = json_loads(answers[i], 0, NULL);
			struct buf b AUTO(buf_done) = BUF_MAX(65536);

			show_find(commands[k])->show(&b, o, &plain, true);
			assert_true(b.len > 0);
			json_decref(o);
		}
}

/* The saving is that of `best`, and never that of the first server in the list. */
static void the_best_server_and_its_alternatives_are_told(void **state)
{
	static const struct {
		const char *best, *says, *says_not;
	} table[] = {
		{"{\"api_reference\": \"m.large\", \"vendor_id\": \"aws\", \"forecast_cost\": 0.5,"
		 " \"currency\": \"USD\", \"is_current\": false, \"saving_percent\": 50}",
			"Cost of a run  1.00 -> 0.500 USD, saves 50 %\n"
			"Server         m.large, aws\n",
			"already"},
		{"{\"api_reference\": \"m.large\", \"vendor_id\": \"aws\", \"forecast_cost\": 1,"
		 " \"currency\": \"USD\", \"is_current\": true, \"saving_percent\": 0}",
			"Cost of a run  1.00 USD\n"
			"Server         m.large, aws: it runs on the best server already\n",
			"saves 0"},
		{"{\"api_reference\": \"m.large\", \"vendor_id\": \"aws\", \"region\": \"eu-west-1\","
		 " \"region_note\": \"in Europe; today's server is in North America\"}",
			"Server         m.large, aws eu-west-1, in Europe; today's server is in North\n"
			"               America\n",
			"already"},
	};
	static const char *const rest =
		"{\"today\": {\"cost_per_run\": 1}, \"servers\": [{\"forecast_cost\": 2}],"
		" \"alternatives\": [{\"api_reference\": \"a.large\", \"vendor_id\": \"aws\","
		" \"forecast_cost\": 0.25, \"currency\": \"USD\", \"saving_percent\": 75,"
		" \"asks\": \"needs programs built for arm64\"}]}";

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		json_t *o = json_loads(rest, 0, NULL);
		struct buf b AUTO(buf_done) = BUF_MAX(65536);

		json_object_set_new(o, "best", json_loads(table[i].best, 0, NULL));
		show_find("recommend")->show(&b, o, &plain, false);
		if (!strstr(buf_text(&b), table[i].says) || strstr(buf_text(&b), table[i].says_not))
			fail_msg("%s", buf_text(&b));
		assert_non_null(strstr(buf_text(&b),
			"Or: a.large, aws: 0.250 USD a run, 75 % below the best; needs "
			"programs built for\n    arm64.\n"));
		json_decref(o);
	}
}

static void texts_shown(const char *command, const char *answer, bool explain, struct buf *b)
{
	json_t *o = json_loads(answer, 0, NULL);

	assert_non_null(o);
	show_find(command)->show(b, o, &plain, explain);
	json_decref(o);
}

/* An arrow goes from now to the best server. A saving of a month needs a known number of runs. */
static void a_better_server_is_told_with_arrows(void **state)
{
	static const struct {
		const char *now, *says, *says_not;
	} table[] = {
		{"\"runs_a_month\": 240, \"today\": {\"cost_per_run\": 0.282,"
		 " \"server\": {\"vendor_id\": \"aws\", \"api_reference\": \"m.old\"}}",
			"Saving         33.8 USD a month, at 240 runs a month\n"
			"Cost of a run  0.282 -> 0.141 USD, saves 50 %\n"
			"Server         m.old -> m.large, aws\n"
			"Duration       41.4 min -> 18.7 min\n",
			"unknown"},
		{"\"today\": {\"cost_per_run\": 0.282}",
			"Server         m.large, aws\n"
			"Duration       41.4 min -> 18.7 min\n",
			"a month"},
		{"\"runs_a_month\": 240",
			"Best server    m.large, aws\n"
			"Duration       18.7 min\n",
			"41.4"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf b AUTO(buf_done) = BUF_MAX(65536);
		struct buf answer AUTO(buf_done) = BUF_MAX(4096);

		buf_addf(&answer,
			"{\"duration\": {\"expected_seconds\": 2483}, %s,"
			" \"best\": {\"api_reference\": \"m.large\", \"vendor_id\": \"aws\","
			" \"forecast_cost\": 0.141, \"currency\": \"USD\", \"is_current\": false,"
			" \"forecast_duration_seconds\": 1121%s}}",
			table[i].now,
			strstr(table[i].now, "today") ?
				", \"saving\": 0.141, \"saving_percent\": 50" :
				"");
		texts_shown("recommend", buf_text(&answer), false, &b);
		if (!strstr(buf_text(&b), table[i].says) || strstr(buf_text(&b), table[i].says_not))
			fail_msg("%s", buf_text(&b));
	}
}

static void reasons_fit_the_screen(void **state)
{
	struct buf b AUTO(buf_done) = BUF_MAX(65536);

	texts_shown("recommend",
		"{\"explain\": [\"memory: " LONG ", and this reason is longer than a line\"]}",
		true, &b);
	assert_non_null(strstr(buf_text(&b),
		"\nmemory: may be interrupted, and needs programs that were built for arm64, and\n"
		"this reason is longer than a line\n"));
}

static void jobs_tell_what_a_month_saves(void **state)
{
	static const char answer[] =
		"{\"jobs\": [{\"job_name\": \"a\", \"saving\": 0.1, \"saving_a_month\": 33.9,"
		" \"currency\": \"USD\"},"
		" {\"job_name\": \"b\", \"saving\": 0.1, \"currency\": \"USD\"},"
		" {\"job_name\": \"c\", \"saving\": 0, \"saving_a_month\": 0},"
		" {\"job_name\": \"d\", \"too_small\": true}, {\"job_name\": \"e\"}]}";
	static const char *const ends[] = {"SAVES/MONTH\n", "33.9 USD\n", "0.100 USD/run\n",
		"nothing\n", "too small\n", "?\n"};
	struct buf b AUTO(buf_done) = BUF_MAX(65536);

	texts_shown("jobs", answer, false, &b);
	const char *line = buf_text(&b);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const char *end = line + strcspn(line, "\n") + 1;

		if ((size_t)(end - line) < strlen(ends[i]) ||
			strncmp(end - strlen(ends[i]), ends[i], strlen(ends[i])) != 0)
			fail_msg("row %zu: %s", i, buf_text(&b));
		assert_true(end - line <= 81);
		line = end;
	}
	assert_non_null(strstr(buf_text(&b),
		"The requests recommended for 1 job save 33.9 USD a month.\n"));
}

static void a_table_of_jobs_with_long_cells_fits_the_screen(void **state)
{
	json_t *job = json_loads(
		"{\"job_name\": \"NFCORE_RNASEQ:RNASEQ:QUANTIFY_SALMON\","
		" \"namespace\": \"data-science\", \"outcomes\": [\"oom_killed\"],"
		" \"duration_seconds\": [4000], \"memory_peak_bytes\": [16900000000],"
		" \"requested_memory_bytes\": 17179869184, \"waste\": 0.5, \"cost\": 0.00312,"
		" \"saving\": 0.00312, \"currency\": \"USD\"}",
		0, NULL);
	json_t *jobs = json_pack("{s:[O], s:i}", "jobs", job, "total", 10001);
	struct buf b AUTO(buf_done) = BUF_MAX(65536);
	size_t lines = 0;

	json_object_set_new(job, "last_started_at", json_string("2026-11-24T21:00:00.000Z"));
	show_find("jobs")->show(&b, jobs, &plain, false);
	for (const char *at = buf_text(&b); lines < 5; lines++) {
		size_t n = strcspn(at, "\n");

		if (n > 80)
			fail_msg("%zu columns:\n%s", n, buf_text(&b));
		at += n + 1;
	}
	assert_non_null(strstr(buf_text(&b), "SAVES/MONTH\n"));
	assert_non_null(strstr(buf_text(&b), "NFCORE_RNASEQ:RNASE"));
	json_decref(job);
	json_decref(jobs);
}

static void statistics_have_units(void **state)
{
	struct buf b AUTO(buf_done) = BUF_MAX(65536);

	texts_shown("stats",
		"{\"over_runs\": {\"read_chars\": {\"mean\": 45802700, \"max\": 45802700},"
		" \"memory_pss_age_seconds\": {\"mean\": 1, \"max\": 2}}}",
		false, &b);
	assert_non_null(strstr(buf_text(&b), "\nread with cache  43.7 MiB "));
	assert_null(strstr(buf_text(&b), "age"));
	assert_null(strstr(buf_text(&b), "chars"));
}

/* The terminal tells a chance in the words of the recommender's summary. Words of its own could
 * round it differently. */
static void a_chance_is_told_as_in_the_summary(void **state)
{
	static const struct {
		double chance;
		const char *says;
	} table[] = {
		{0.0004, "; fewer than 1 run in 2000 may need more."},
		{0.0144, "; about 1 run in 69 may need more."},
		{0.19, "; about 1 run in 5 may need more."},
		{0.38, "; 38 % of runs may need more."},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		json_t *o = json_pack("{s:{s:f}, s:{s:f}}", "memory", "too_small_probability",
			table[i].chance, "used", "memory_bytes", 1e6);
		struct buf b AUTO(buf_done) = BUF_MAX(65536);

		show_find("recommend")->show(&b, o, &plain, false);
		if (!strstr(buf_text(&b), table[i].says))
			fail_msg("%s", buf_text(&b));
		json_decref(o);
	}
}

static size_t lines_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* A recommendation with two alternatives, this many warnings, and this many lines to paste. */
static json_t *long_recommendation(int warnings_told, int gpus, size_t paste_lines)
{
	json_t *o = json_loads(
		"{\"based_on\": {\"runs\": 3}, \"resources\": {\"cpu\": 1, \"memory\": 20},"
		" \"used\": {\"memory_bytes\": 9},"
		" \"best\": {\"api_reference\": \"m.large\", \"vendor_id\": \"aws\"},"
		" \"alternatives\": [{\"asks\": \"the first " LONG
		"\"}, {\"asks\": \"the second " LONG "\"}]}",
		0, NULL);
	json_t *warnings = json_array();
	struct buf b AUTO(buf_done) = BUF_MAX(65536);

	for (int i = 0; i < warnings_told; i++) {
		buf_reset(&b);
		buf_addf(&b, "the %s. ", i ? "lesser" : "worst");
		for (int k = 0; k < 30; k++)
			buf_adds(&b, "words ");
		json_array_append_new(warnings, json_pack("{s:s}", "text", buf_text(&b)));
	}
	json_object_set_new(o, "warnings", warnings);
	json_object_set_new(o, "demand", json_pack("{s:i}", "gpus", gpus));
	buf_reset(&b);
	for (size_t i = 1; i <= paste_lines; i++)
		buf_addf(&b, "paste line %zu\n", i);
	json_object_set_new(o, "paste",
		json_pack("{s:s,s:s}", "format", "kubernetes", "text", buf_text(&b)));
	return o;
}

/* The answer leaves room for the prompt below it, so that the request stays in sight. The least
 * important parts are left out first. A file and a tall terminal get everything. */
static void a_recommendation_fits_the_screen(void **state)
{
	static const struct {
		int rows, warnings, gpus;
		size_t paste_lines;
		const char *says[3], *says_not[3];
	} table[] = {
		{0, 2, 1, 12, {"first", "lesser", "paste line 12\n"}, {", all", "more:"}},
		{60, 2, 1, 12, {"second", "lesser", "paste line 12\n"}, {", all", "more:"}},
		{24, 0, 0, 1, {"Or: ", "second"}, {", all"}},
		{24, 1, 0, 1, {"first", "worst", "paste line 1\n"}, {"second"}},
		{24, 2, 0, 3, {"worst", "paste line 3\n", "1 more: "}, {"lesser", "Or: "}},
		{24, 1, 0, 7,
			{"worst", "paste line 4\n",
				"For kubernetes, all 7 lines: --format=kubernetes\n"},
			{"Or: ", "paste line 5"}},
		{24, 2, 1, 12,
			{"worst",
				"1 more: ", "For kubernetes, all 12 lines: --format=kubernetes\n"},
			{"Or: ", "paste line"}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct screen s = {.columns = 80, .rows = table[i].rows};
		json_t *o =
			long_recommendation(table[i].warnings, table[i].gpus, table[i].paste_lines);
		struct buf b AUTO(buf_done) = BUF_MAX(65536);

		show_find("recommend")->show(&b, o, &s, false);
		if (s.rows && lines_of(buf_text(&b)) >= (size_t)s.rows)
			fail_msg("%zu lines:\n%s", lines_of(buf_text(&b)), buf_text(&b));
		for (size_t k = 0; k < 3; k++) {
			if (table[i].says[k] && !strstr(buf_text(&b), table[i].says[k]))
				fail_msg("no \"%s\":\n%s", table[i].says[k], buf_text(&b));
			if (table[i].says_not[k] && strstr(buf_text(&b), table[i].says_not[k]))
				fail_msg("\"%s\":\n%s", table[i].says_not[k], buf_text(&b));
		}
		json_decref(o);
	}
}

static void the_next_command_can_be_pasted(void **state)
{
	struct buf b AUTO(buf_done) = BUF_MAX(512);
	json_t *load = json_pack("{ssssss}", "job_name", "load", "namespace", "my team", "cluster",
		       "eu"),
	       *home = json_pack("{ss}", "job_name", "it's $HOME");

	paragraphs_next(&b, &plain, "recommend", load);
	paragraphs_next(&b, &plain, "recommend", home);
	assert_string_equal(buf_text(&b),
		"Next: rightsize-exporter recommend --job-name=load --namespace='my team' --cluster=eu\n"
		"Next: rightsize-exporter recommend --job-name='it'\\''s $HOME'\n");
	json_decref(load);
	json_decref(home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_three_digits_and_a_unit),
		cmocka_unit_test(pairs_share_a_unit),
		cmocka_unit_test(amounts_of_a_whole_name_a_shared_unit_once),
		cmocka_unit_test(times_are_of_the_local_zone),
		cmocka_unit_test(tables_fit_the_screen),
		cmocka_unit_test(bars_show_shares),
		cmocka_unit_test(colours_only_repeat_the_text),
		cmocka_unit_test(yaml_and_csv_keep_every_value),
		cmocka_unit_test(answers_without_members_are_shown),
		cmocka_unit_test(the_best_server_and_its_alternatives_are_told),
		cmocka_unit_test(a_better_server_is_told_with_arrows),
		cmocka_unit_test(reasons_fit_the_screen),
		cmocka_unit_test(jobs_tell_what_a_month_saves),
		cmocka_unit_test(a_table_of_jobs_with_long_cells_fits_the_screen),
		cmocka_unit_test(statistics_have_units),
		cmocka_unit_test(a_chance_is_told_as_in_the_summary),
		cmocka_unit_test(a_recommendation_fits_the_screen),
		cmocka_unit_test(the_next_command_can_be_pasted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
