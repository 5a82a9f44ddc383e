/* exporter/cli/query.c: the routes as commands. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/cli/query.h"
#include "exporter/text/line_wrap.h"
#include "tests/support/fake_history.h"
#include "tests/support/sample_runs.h"
#include "exporter/answers/app_caches.h"

#define OUTPUT_MAX    65536
#define ARGUMENTS_MAX 8

static const struct job_row jobs[] = {{"etl/load", 4, {0}, 1795250900, OUTCOME_RUNNING},
	{"esc\x1b[2Jape", 1, {0}, 1795250000, OUTCOME_FAILED}};

/* Redirects stdout and stderr to temporary files while a command runs. */
struct capture {
	FILE *file[2];
	int kept[2];
};

static void capture_begin(struct capture *c)
{
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		c->file[i] = tmpfile();
		c->kept[i] = dup(STDOUT_FILENO + i);
		assert_non_null(c->file[i]);
		assert_true(dup2(fileno(c->file[i]), STDOUT_FILENO + i) >= 0);
	}
}

static void capture_end(struct capture *c, char text[2][OUTPUT_MAX])
{
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		dup2(c->kept[i], STDOUT_FILENO + i);
		close(c->kept[i]);
		rewind(c->file[i]);
		text[i][fread(text[i], 1, OUTPUT_MAX - 1, c->file[i])] = '\0';
		fclose(c->file[i]);
	}
}

static int ask(const char *command, const char *const *arguments, char text[2][OUTPUT_MAX])
{
	struct options options = {0};
	struct app app = APP_INIT;
	char *argv[ARGUMENTS_MAX + 1] = {0};
	struct capture c;
	int argc = 0;

	fake_history = (struct fake_history){
		.runs = sample_runs(), .jobs = jobs, .n_jobs = ARRAY_LEN(jobs)};
	app.options = &options;
	app.history_path = "some/history.db";
	for (; argc < ARGUMENTS_MAX && arguments[argc]; argc++)
		argv[argc] = xstrdup(arguments[argc]);
	capture_begin(&c);
	int code = query_main(&app, query_route(command), argc, argv);

	capture_end(&c, text);
	while (argc)
		free(argv[--argc]);
	app_caches_done(&app);
	return code;
}

static void commands_answer_or_say_why_not(void **state)
{
	static const struct {
		const char *command, *arguments[ARGUMENTS_MAX];
		int code;
		const char *out, *err[4]; /* NULL = no output */
	} table[] = {
		{"jobs", {NULL}, 0, "\"etl/load\"", {NULL}},
		{"runs", {"--job-name", "etl/load"}, 0, "\"run_id\": \"0000000000004\"", {NULL}},
		{"runs", {"--job-name=etl/load", "--limit=1"}, 0, "\"runs\": [", {NULL}},
		{"stats", {"--job_name=etl/load", "--runs", "1"}, 0, "\"runs_analyzed\": 1",
			{NULL}},
		{"recommend", {"--job-name=etl/load", "--format=metaflow"}, 0, "@resources(",
			{NULL}},
		{"runs", {"--job-name=etl/load", "--format=yaml"}, 0,
			"\"job_name\": \"etl/load\"\n", {NULL}},
		{"runs", {"--format", "csv", "--job-name=etl/load"}, 0, "run_id,started_at,",
			{NULL}},
		{"runs", {"--format=text", "--job-name=etl/load"}, 0, "PEAK MEMORY", {NULL}},
		{"runs", {"--format=text", "--color=always", "--job-name=etl/load"}, 0, "\x1b[2m",
			{NULL}},
		{"jobs", {"--format=json"}, 0, "\"etl/load\"", {NULL}},
		{"recommend", {"--job-name=etl/load", "--format=text", "--explain"}, 0,
			"Request 1 CPU", {NULL}},
		{"runs", {"--job-name=a", "--format=xml"}, 2, NULL,
			{"--format=xml: accepted is json, text, yaml or csv"}},
		{"recommend", {"--job-name=etl/load", "--format=csv"}, 2, NULL,
			{"--format=csv: this answer is no list; accepted is json, text, yaml or metaflow"}},
		{"recommend", {"--job-name=etl/load", "--format=xml"}, 2, NULL,
			{"xml", "metaflow"}},
		{"runs", {"--job-name=a", "--color=blue"}, 2, NULL,
			{"--color=blue: accepted are auto, always and never"}},
		{"runs", {"--job-name=a", "--format"}, 2, NULL, {"--format needs a value"}},
		{"runs", {NULL}, 2, NULL, {"--job-name is missing", "--help"}},
		{"runs", {"--job-name"}, 2, NULL, {"--job-name needs a value"}},
		{"runs", {"--job-name="}, 2, NULL, {"--job-name: \"\" is not accepted"}},
		{"runs", {"--job-name=a", "--limit=many"}, 2, NULL,
			{"--limit: \"many\"", "1 to 10000"}},
		{"servers", {"--memory=4Gi"}, 0, "\"memory_bytes\": 4294967296,", {NULL}},
		{"servers", {"--memory=4G"}, 0, "\"memory_bytes\": 4000000000,", {NULL}},
		{"servers", {"--memory=4096"}, 0, "\"memory_bytes\": 4294967296,", {NULL}},
		{"servers", {"--cpu=500m", "--disk=2TB"}, 0, "\"cpu_cores\": 0.5,", {NULL}},
		{"servers", {"--disk=2TB"}, 0, "\"disk_bytes\": 2000000000000,", {NULL}},
		{"servers", {"--memory=4q"}, 2, NULL,
			{"--memory: \"4q\" is not accepted: give a number of MiB, or a size such "
			 "as 512M, 4Gi or 8GB, from 0 to 1000000000 MiB"}},
		{"servers", {"--cpu=500M"}, 2, NULL,
			{"--cpu: \"500M\" is not accepted: give a number of cores such as 2, 1.5 "
			 "or 500m, from 0 to 1000000"}},
		{"servers", {"--memory=-1"}, 2, NULL, {"--memory: \"-1\" is not accepted"}},
		{"recommend", {"--job-name=a", "--deadline=1h"}, 2, NULL,
			{"--deadline: \"1h\" is not accepted: give a number of seconds from 0.001 "
			 "to 1000000000"}},
		{"runs", {"--job-name=a", "--job-name=b"}, 2, NULL,
			{"--job-name was given more than once"}},
		{"runs", {"--colour=red"}, 2, NULL, {"colour", "--job-name"}},
		{"runs", {"etl/load"}, 2, NULL,
			{"\"etl/load\" is not a flag: did you mean --job-name=etl/load?"}},
		{"jobs", {"etl/load"}, 2, NULL, {"\"etl/load\" is not a flag: give --NAME VALUE"}},
		{"runs", {"--"}, 2, NULL, {"\"--\" is not a flag"}},
		{"recommend", {"--job-name=etl/load", "--vendor=nobody"}, 2, NULL,
			{"--vendor: \"nobody\"", "accepted:", "  aws"}},
		{"servers", {"--region=nowhere"}, 2, NULL, {"--region: \"nowhere\""}},
		{"servers", {"--vendor-regions=nowhere"}, 2, NULL,
			{"--vendor-regions: \"nowhere\""}},
		{"servers", {"--countries=DE", "--countries=XX"}, 2, NULL,
			{"--countries: \"XX\"", "accepted:", "  DE"}},
		{"servers", {"--continents=Atlantis"}, 2, NULL,
			{"--continents: \"Atlantis\"", "accepted:", "  Europe"}},
		{"servers", {"--compliance-framework=iso"}, 2, NULL,
			{"--compliance-framework: no vendor"}},
		{"servers", {"--vcpus-min=8", "--vcpus-max=4"}, 2, NULL,
			{"--vcpus-min: 8 is more than --vcpus-max, 4"}},
		{"servers", {"--objective=deadline"}, 2, NULL,
			{"--objective: deadline needs --deadline, the seconds"}},
		{"servers", {"--max-cost=1"}, 2, NULL,
			{"--max-cost needs --duration, the seconds"}},
		{"recommend", {"--job-name=etl/load", "--strategy=percentile", "--cpu-for=cost"}, 2,
			NULL, {"--cpu-for: strategy percentile does not use it"}},
		{"recommend", {"--job-name=etl/load", "--format=metaflow", "--cpu-limit"}, 2, NULL,
			{"--cpu-limit: format metaflow does not use it"}},
		{"stats", {"--job-name=etl/laod"}, 1, NULL,
			{"rightsize-exporter stats: no job \"etl/laod\"",
				"did you mean:", "  etl/load\n"}},
		{"stats", {"--job-name=esc[2Jape"}, 1, NULL, {"did you mean:", "  esc?[2Jape\n"}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char text[2][OUTPUT_MAX];

		if (ask(table[i].command, table[i].arguments, text) != table[i].code)
			fail_msg("%s, row %zu: %s", table[i].command, i, text[1]);
		if (table[i].out)
			assert_non_null(strstr(text[0], table[i].out));
		else
			assert_string_equal(text[0], "");
		if (!table[i].err[0])
			assert_string_equal(text[1], "");
		for (size_t k = 0; k < 4 && table[i].err[k]; k++)
			if (!strstr(text[1], table[i].err[k]))
				fail_msg("row %zu lacks \"%s\": %s", i, table[i].err[k], text[1]);
	}
}

static void arguments_of_the_route_come_to_the_front(void **state)
{
	static const struct {
		const char *in[ARGUMENTS_MAX], *out[ARGUMENTS_MAX];
		int n;
	} table[] = {
		{{NULL}, {NULL}, 0},
		{{"--log.level=debug", "--job-name", "x", "--history.path", "h", "--limit=3"},
			{"--job-name", "x", "--limit=3", "--log.level=debug", "--history.path",
				"h"},
			3},
		{{"--job-name=x", "--job-name"}, {"--job-name=x", "--job-name"}, 2},
		{{"--history.path", "h", "--", "--job-name", "x"},
			{"--history.path", "h", "--", "--job-name", "x"}, 0},
		{{"word", "--job-name", "--limit"}, {"--job-name", "--limit", "word"}, 2},
		{{"-x", "--nothing", "--log.levl=x", "--"},
			{"--nothing", "-x", "--log.levl=x", "--"}, 1},
		{{"--log.level=debug", "-o", "f", "--output=g", "--output", "h"},
			{"-o", "f", "--output=g", "--output", "h", "--log.level=debug"}, 5},
		{{"-o"}, {"-o"}, 1},
		{{"--log.level=debug", "--explain", "--format", "csv"},
			{"--explain", "--format", "csv", "--log.level=debug"}, 3},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char texts[ARGUMENTS_MAX][32], *argv[ARGUMENTS_MAX];
		int argc = 0;

		for (; argc < ARGUMENTS_MAX && table[i].in[argc]; argc++) {
			snprintf(texts[argc], sizeof texts[argc], "%s", table[i].in[argc]);
			argv[argc] = texts[argc];
		}
		assert_int_equal(query_split(query_route("runs"), argc, argv), table[i].n);
		for (int k = 0; k < argc; k++)
			assert_string_equal(argv[k], table[i].out[k]);
	}
}

static void unknown_words_are_no_commands(void **state)
{
	assert_null(query_route(""));
	assert_null(query_route("/runs"));
	assert_string_equal(query_route("recommend")->path, "/recommend");
}

/* Adds the text without its line breaks and the blanks after them. */
static void unwrap(struct buf *out, const char *text)
{
	for (const char *c = text; *c;) {
		buf_addc(out, *c == '\n' ? ' ' : *c);
		c += *c == '\n' ? 1 + strspn(c + 1, " ") : 1;
	}
}

static void help_names_every_parameter_as_a_flag(void **state)
{
	for (const struct route *const *r = all_routes; *r; r++) {
		struct buf b = BUF_MAX(65536), flat = BUF_MAX(65536);

		assert_int_equal(query_help(&b, *r, NULL), 0);
		unwrap(&flat, buf_text(&b));
		for (const struct parameter *p = (*r)->parameters; p->name; p++)
			assert_non_null(strstr(buf_text(&flat), p->help));
		buf_done(&flat);
		assert_null(strstr(buf_text(&b), "--job_name"));
		for (const char *line = buf_text(&b); *line; line += strcspn(line, "\n") + 1)
			assert_true(strcspn(line, "\n") <= WRAP_COLUMNS);
		buf_done(&b);
	}
	struct buf b = BUF_MAX(65536);

	query_help(&b, query_route("runs"), NULL);
	const char *first =
		"  --job-name=VALUE  (required)\n      Name of the job: text of 1 to 199 bytes";

	assert_memory_equal(buf_text(&b), first, strlen(first));
	buf_done(&b);
}

static void long_help_is_wrapped_at_spaces(void **state)
{
	AUTO(buf_done) struct buf b = BUF_MAX(1000);
	char word[121];

	memset(word, 'x', sizeof word - 1);
	word[sizeof word - 1] = '\0';
	line_wrap_add(&b, "one two", 2);
	line_wrap_add(&b, "", 2);
	assert_string_equal(buf_text(&b), "  one two\n  \n");
	buf_reset(&b);
	buf_addf(&b, "short %s end", word);
	AUTO(buf_done) struct buf out = BUF_MAX(1000);

	line_wrap_add(&out, buf_text(&b), 4);
	assert_non_null(strstr(buf_text(&out), "    short\n    xxx"));
	assert_non_null(strstr(buf_text(&out), "xxx\n    end\n"));
	buf_reset(&b);
	for (int i = 0; i < 100; i++)
		buf_adds(&b, "abcd ");
	buf_reset(&out);
	line_wrap_add(&out, buf_text(&b), 0);
	assert_int_equal(strcspn(buf_text(&out), "\n"),
		99); /* 20 words of 4 letters and 19 spaces */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_answer_or_say_why_not),
		cmocka_unit_test(arguments_of_the_route_come_to_the_front),
		cmocka_unit_test(unknown_words_are_no_commands),
		cmocka_unit_test(help_names_every_parameter_as_a_flag),
		cmocka_unit_test(long_help_is_wrapped_at_spaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
