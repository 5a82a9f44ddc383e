/* exporter/options/options.c: flags, environment variables, refusals. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/collector.h"
#include "exporter/options/options.h"

static int read_words(struct options *o, enum command_bits command, struct err *e,
	const char *const *words)
{
	static char text[20][80];
	static char *argv[20];
	int argc = 0;

	for (; words[argc]; argc++) {
		text_copy(words[argc], text[argc], sizeof text[argc]);
		argv[argc] = text[argc];
	}
	argv[argc] = NULL;
	return options_read(o, command, argc, argv, e);
}

#define READ(o, command, e, ...)                                                                   \
	read_words((o), (command), (e), (const char *const[]){__VA_ARGS__, NULL})

static void defaults_hold_without_flags(void **state)
{
	AUTO(options_done) struct options o;

	assert_int_equal(READ(&o, COMMAND_SERVE, NULL, "--"), 0);
	assert_double_equal(o.sample_interval, 1, 0);
	assert_int_equal(o.history_runs_per_job, 200);
	assert_int_equal(o.history_max_size, 1 << 30);
	assert_string_equal(o.procfs, "/proc");
	assert_string_equal(o.log_level, "info");
	assert_null(o.history_path);
	assert_int_equal(o.listen_addresses.n, 0);
}

static void quantities_are_as_people_write_them(void **state)
{
	AUTO(options_done) struct options o;

	assert_int_equal(READ(&o, COMMAND_RUN, NULL, "--request-cpu=500m", "--request-memory=4Gi",
				 "--input-bytes=0", "--history.max-size=1G", "true"),
		0);
	assert_int_equal(o.n_ignored, 0);
	assert_double_equal(o.run_request_cpu, 0.5, 0);
	assert_int_equal(o.run_request_memory, 1ULL << 32);
	assert_int_equal(o.run_input_bytes, 0);
	assert_true(o.given[OPTION_run_input_bytes]);
	assert_int_equal(o.history_max_size, 1000000000);
	assert_string_equal(o.text[OPTION_history_max_size], "1G");
	options_done(&o);
	assert_int_equal(READ(&o, COMMAND_RUN, NULL, "--request-memory=8GB", "--request-cpu=500M",
				 "--input-bytes=", "true"),
		0);
	assert_int_equal(o.run_request_memory, 8000000000);
	assert_int_equal(o.n_ignored, 1);
	assert_string_equal(o.ignored[0],
		"--request-cpu=500M: accepted is a number of cores such as 2, 1.5 or 500m, from "
		"0.001 to 1e+06");
	assert_int_equal(o.run_input_bytes, 0);
	assert_true(o.given[OPTION_run_input_bytes]);
	options_done(&o);
	/* Only 0 may be written as an empty text. */
	assert_int_equal(READ(&o, COMMAND_RUN, NULL, "--request-memory=", "--request-cpu=", "true"),
		0);
	assert_int_equal(o.n_ignored, 2);
	assert_false(o.given[OPTION_run_request_memory]);
}

static void values_follow_or_are_joined(void **state)
{
	AUTO(options_done) struct options o;

	assert_int_equal(READ(&o, COMMAND_RUN, NULL, "--sample.interval", "250ms",
				 "--job-name=etl/load", "--quiet", "--web.listen-address=[::1]:0",
				 "--web.listen-address", "127.0.0.1:0", "--", "sort", "--quiet"),
		0);
	assert_double_equal(o.sample_interval, 0.25, 1e-12);
	assert_string_equal(o.run_job_name, "etl/load");
	assert_true(o.quiet);
	assert_int_equal(o.listen_addresses.n, 2);
	assert_string_equal(o.listen_addresses.text[1], "127.0.0.1:0");
	assert_int_equal(o.n_rest, 2);
	assert_string_equal(o.rest[1], "--quiet");
}

/* A password in a URL is refused, and must not be written to the log. */
static void what_may_be_a_secret_is_not_repeated(void **state)
{
	static const char *const words[] = {
		"--forward.url=http://u:hush@h/", "--catalogue.url=https://u:hush@h"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		struct options o;
		struct err e = {0};

		assert_int_equal(READ(&o, COMMAND_SERVE, &e, words[i]), -EINVAL);
		assert_non_null(strstr(e.text, "no user, password"));
		assert_null(strstr(e.text, "hush"));
	}
}

static void texts_of_a_shape_are_accepted(void **state)
{
	AUTO(options_done) struct options o;
	struct err e = {0};

	assert_int_equal(READ(&o, COMMAND_SERVE, &e, "--web.telemetry-path=/",
				 "--web.allowed-host=*", "--web.allowed-host=.example",
				 "--web.allowed-host=usage", "--forward.url=HTTP://[::1]:80/a/b",
				 "--catalogue.rate=eur=1.5e0",
				 "--catalogue.url=https://keeper.example/v1"),
		0);
}

static void refusals_name_flag_value_and_what_is_accepted(void **state)
{
	static const struct {
		const char *word, *says[3];
	} table[] = {
		{"--sample.interval=0", {"sample.interval", "=0", "500ms"}},
		{"--sample.interval=2h", {"sample.interval", "2h", "3600"}},
		{"--sample.interval=1", {"sample.interval", "=1", "30s"}},
		{"--sample.interval=nan", {"sample.interval", "nan", "duration"}},
		{"--history.runs-per-job=-1", {"runs-per-job", "-1", "whole number"}},
		{"--history.runs-per-job=1.5", {"runs-per-job", "1.5", "whole number"}},
		{"--history.max-size=10", {"max-size", "10", "1G"}},
		{"--history.max-size=99999999T", {"max-size", "99999999T", "1G"}},
		{"--log.level=loud", {"log.level", "loud", "debug, info, warn, error"}},
		{"--web.disable-compression=maybe",
			{"disable-compression", "maybe", "true or false"}},
		{"--path.procfs=", {"path.procfs", "", "not empty"}},
		{"--web.listen-address=bad", {"listen-address", "bad", "HOST:PORT"}},
		{"--web.listen-address=::1:80", {"listen-address", "::1:80", "[IPV6]:PORT"}},
		{"--web.telemetry-path=metrics", {"telemetry-path", "=metrics", "/metrics"}},
		{"--web.telemetry-path=/m?a", {"telemetry-path", "/m?a", "without ?"}},
		{"--web.allowed-host=a:80", {"allowed-host", "a:80", "without a port"}},
		{"--web.allowed-host=*.a", {"allowed-host", "*.a", ".NAME"}},
		{"--forward.url=ftp://x",
			{"forward.url=ftp://x", "https://HOST", "--forward.token-file"}},
		{"--forward.url=http://", {"forward.url", "http://HOST", "path"}},
		{"--catalogue.url=keeper", {"catalogue.url=keeper", "http://HOST", "path"}},
		{"--catalogue.rate=EUR", {"catalogue.rate", "=EUR", "EUR=1.16"}},
		{"--catalogue.rate=EUR=0", {"catalogue.rate", "=EUR=0", "EUR=1.16"}},
		{"--catalogue.rate=E R=1", {"catalogue.rate", "=E R=1", "EUR=1.16"}},
		{"--bogus", {"--bogus", "unknown", "--help"}},
		{"--no-bogus", {"--no-bogus", "unknown", "--help"}},
		{"--history.pth=x", {"--history.pth=x", "did you mean --history.path?", ""}},
		{"-x", {"-x", "unknown", "--"}},
		{"--history.path", {"history.path", "needs a value", "FILE"}},
		{"--collector.bogus", {"bogus", "accepted are", "jobs"}},
		/* An option of another command. */
		{"--job-name=x", {"--job-name", "unknown", "--help"}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct options o;
		struct err e = {0};

		assert_int_equal(READ(&o, COMMAND_SERVE, &e, table[i].word), -EINVAL);
		for (size_t k = 0; k < 3; k++)
			if (!strstr(e.text, table[i].says[k]))
				fail_msg("%s: \"%s\" lacks \"%s\"", table[i].word, e.text,
					table[i].says[k]);
	}
}

static void flag_beats_environment_beats_default(void **state)
{
	struct options o;
	struct err e = {0};

	setenv("RIGHTSIZE_SAMPLE_INTERVAL", "5s", 1);
	setenv("RIGHTSIZE_WEB_LISTEN_ADDRESS", "127.0.0.1:1", 1);
	assert_int_equal(READ(&o, COMMAND_SERVE, NULL, "--", "--history.retention=1d"), 0);
	assert_true(o.given[OPTION_sample_interval]);
	assert_false(o.given[OPTION_history_retention]);
	assert_double_equal(o.sample_interval, 5, 0);
	assert_string_equal(o.listen_addresses.text[0], "127.0.0.1:1");
	options_done(&o);
	assert_int_equal(READ(&o, COMMAND_SERVE, NULL, "--sample.interval=2s",
				 "--web.listen-address=127.0.0.1:2"),
		0);
	assert_double_equal(o.sample_interval, 2, 0);
	assert_true(o.given[OPTION_sample_interval]);
	assert_true(o.given[OPTION_listen_addresses]);
	assert_false(o.given[OPTION_history_retention]);
	assert_int_equal(o.listen_addresses.n, 1);
	assert_string_equal(o.listen_addresses.text[0], "127.0.0.1:2");
	options_done(&o);
	setenv("RIGHTSIZE_SAMPLE_INTERVAL", "never", 1);
	assert_int_equal(READ(&o, COMMAND_SERVE, &e, "--"), -EINVAL);
	assert_non_null(strstr(e.text, "environment"));
	unsetenv("RIGHTSIZE_SAMPLE_INTERVAL");
	unsetenv("RIGHTSIZE_WEB_LISTEN_ADDRESS");
}

#define COUNT_OF_ATTEMPT "accepted is a whole number from 1 to 1000"

/* Wrong options of "run" are ignored one by one, and the command after them is found. */
static void a_command_starts_whatever_is_wrong_with_its_options(void **state)
{
	static const struct {
		const char *words[6];
		const char *ignored; /* the only message about a wrong option */
		const char *command; /* first word of the command; NULL = -EINVAL is returned */
	} table[] = {
		{{"--attempt=0", "true"}, "--attempt=0: " COUNT_OF_ATTEMPT, "true"},
		{{"--attempt=", "true"}, "--attempt=: " COUNT_OF_ATTEMPT, "true"},
		{{"--attempt=1001", "--", "true"}, "--attempt=1001: " COUNT_OF_ATTEMPT, "true"},
		{{"--attempt", "x", "true"}, "--attempt=x: " COUNT_OF_ATTEMPT, "true"},
		{{"--attempt=a\nb", "true"}, "--attempt=a?b: " COUNT_OF_ATTEMPT, "true"},
		{{"--attempt", "--", "true"}, "--attempt needs a value (N)", "true"},
		{{"--quiet=maybe", "true"}, "--quiet=maybe: accepted is true or false", "true"},
		{{"--job-name=", "true"},
			"--job-name=: accepted is UTF-8 text of less than 200 bytes without "
			"control characters",
			"true"},
		{{"--log.level=loud", "true"},
			"--log.level=loud: accepted is debug, info, warn, error", "true"},
		{{"--bogus", "--", "true"}, "unknown option --bogus; --help lists the options",
			"true"},
		{{"--bogus=x", "--", "true"}, "unknown option --bogus=x; --help lists the options",
			"true"},
		{{"--bogus", "x", "--", "true"}, "unknown option --bogus; --help lists the options",
			"true"},
		{{"--bogus", "x", "--no-quiet", "--", "true"},
			"unknown option --bogus; --help lists the options", "true"},
		{{"-x", "--", "true"}, "unknown option -x; --help lists the options", "true"},
		{{"--jobs.max=5", "--", "true"},
			"unknown option --jobs.max=5; --help lists the options", "true"},
		{{"--bogus", "true"}, NULL, NULL},
		{{"--bogus", "--quiet", "true"}, NULL, NULL},
		{{"--bogus", "ls", "--color", "--", "x"}, NULL, NULL},
		{{"--bogus"}, NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct options o;
		struct err e = {0};
		int code = read_words(&o, COMMAND_RUN, &e, table[i].words);

		if (!table[i].command) {
			assert_int_equal(code, -EINVAL);
			assert_string_equal(e.text, "unknown option --bogus; --help lists the "
						    "options; write -- in front of the command");
			continue;
		}
		assert_int_equal(code, 0);
		assert_int_equal(o.n_ignored, 1);
		assert_string_equal(o.ignored[0], table[i].ignored);
		assert_string_equal(o.rest[0], table[i].command);
		options_done(&o);
	}
}

/* An invalid value does not replace an earlier valid value. */
static void a_wrong_option_changes_nothing(void **state)
{
	AUTO(options_done) struct options o;

	setenv("RIGHTSIZE_ATTEMPT", "3", 1);
	setenv("RIGHTSIZE_SAMPLE_INTERVAL", "never", 1);
	setenv("RIGHTSIZE_WEB_LISTEN_ADDRESS", "127.0.0.1:1", 1);
	assert_int_equal(READ(&o, COMMAND_RUN, NULL, "--attempt=x", "--job-name=a",
				 "--job-name=", "--web.listen-address=bad", "true"),
		0);
	unsetenv("RIGHTSIZE_ATTEMPT");
	unsetenv("RIGHTSIZE_SAMPLE_INTERVAL");
	unsetenv("RIGHTSIZE_WEB_LISTEN_ADDRESS");
	assert_int_equal(o.n_ignored, 4);
	assert_string_equal(o.ignored[0],
		"environment: --sample.interval=never: accepted is a duration such as 500ms, 30s, "
		"15m, 36h or 90d, from 0.1 to 3600 seconds");
	assert_int_equal(o.run_attempt, 3);
	assert_double_equal(o.sample_interval, 1, 0);
	assert_false(o.given[OPTION_sample_interval]);
	assert_string_equal(o.run_job_name, "a");
	assert_int_equal(o.listen_addresses.n, 1);
	assert_string_equal(o.listen_addresses.text[0], "127.0.0.1:1");
	assert_false(o.by_flag[OPTION_listen_addresses]);
}

static void help_is_asked_for_in_front_of_the_command_only(void **state)
{
	static const struct {
		const char *words[4];
		bool help;
	} table[] = {
		{{"--help"}, true},
		{{"-h", "true"}, true},
		{{"--attempt=2", "--version"}, true},
		{{"--bogus", "--help"}, true},
		{{"ls", "--help"}, false},
		{{"--job-name", "--help", "ls"}, false},
		{{"--", "--help"}, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct options o;

		assert_int_equal(read_words(&o, COMMAND_RUN, NULL, table[i].words), 0);
		assert_int_equal(o.help, table[i].help);
		options_done(&o);
	}
}

static bool is_on(const struct options *o, const char *collector)
{
	for (size_t i = 0; all_collectors[i]; i++)
		if (strcmp(all_collectors[i]->name, collector) == 0)
			return o->collector_on[i];
	fail_msg("no collector is called %s", collector);
	return false;
}

static void collectors_are_switched_by_the_environment_too(void **state)
{
	struct options o;
	struct err e = {0};

	setenv("RIGHTSIZE_COLLECTOR_NETWORK", "false", 1);
	setenv("RIGHTSIZE_COLLECTOR_DISK", "0", 1);
	setenv("RIGHTSIZE_COLLECTOR_CPU", "", 1);
	assert_int_equal(READ(&o, COMMAND_SERVE, NULL, "--collector.disk"), 0);
	assert_false(is_on(&o, "network"));
	assert_true(is_on(&o, "disk"));
	assert_true(is_on(&o, "cpu"));
	options_done(&o);
	setenv("RIGHTSIZE_COLLECTOR_CPU", "off", 1);
	assert_int_equal(READ(&o, COMMAND_SERVE, &e, "--"), -EINVAL);
	assert_string_equal(e.text, "environment: --collector.cpu=off: accepted is true or false");
	assert_int_equal(READ(&o, COMMAND_RUN, NULL, "--"), 0);
	assert_int_equal(o.n_ignored, 1);
	assert_string_equal(o.ignored[0], e.text);
	options_done(&o);
	assert_int_equal(READ(&o, COMMAND_QUERY, NULL, "--"), 0); /* a query has no collectors */
	options_done(&o);
	unsetenv("RIGHTSIZE_COLLECTOR_NETWORK");
	unsetenv("RIGHTSIZE_COLLECTOR_DISK");
	unsetenv("RIGHTSIZE_COLLECTOR_CPU");
}

static char said[200];

static void say(const char *variable, const char *meant)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof said - n, "%s:%s ", variable, meant);
}

static void slips_in_the_environment_are_said(void **state)
{
	static const struct {
		const char *variable, *meant; /* NULL = no message */
	} table[] = {
		{"RIGHTSIZE_SAMPLE_INTERVALL", "RIGHTSIZE_SAMPLE_INTERVAL"},
		{"RIGHTSIZE_LISTEN_ADDRESS", "RIGHTSIZE_WEB_LISTEN_ADDRESS"},
		{"RIGHTSIZE_JOBS_MAXX", "RIGHTSIZE_JOBS_MAX"},
		{"RIGHTSIZE_COLLECTOR_NETWROK", "RIGHTSIZE_COLLECTOR_NETWORK"},
		{"RIGHTSIZE_COLLECTOR_NETWORK", NULL},
		{"RIGHTSIZE_SAMPLE_INTERVAL", NULL},
		{"RIGHTSIZE_REQUEST_CPU", NULL}, /* the variable of an option of another command */
		{"RIGHTSIZE_JOB_NAME", NULL},
		{"RIGHTSIZE_RUN_ID", NULL},
		{"RIGHTSIZE_ATTEMPT", NULL},
		{"RIGHTSIZE_INPUT_BYTES", NULL},
		/* The Python package has these. */
		{"RIGHTSIZE_URL", NULL},
		{"RIGHTSIZE_EXPORTER", NULL},
		{"RIGHTSIZE_QUIET", NULL},
		{"RIGHTSIZE_METAFLOW", NULL},
		{"RIGHTSIZE_REQUEST_MEMORY", NULL},
		/* Kubernetes sets these for services named rightsize and rightsize-central. */
		{"RIGHTSIZE_SERVICE_HOST", NULL},
		{"RIGHTSIZE_SERVICE_PORT", NULL},
		{"RIGHTSIZE_SERVICE_PORT_HTTP", NULL},
		{"RIGHTSIZE_PORT", NULL},
		{"RIGHTSIZE_PORT_9877_TCP", NULL},
		{"RIGHTSIZE_PORT_9877_TCP_PROTO", NULL},
		{"RIGHTSIZE_CENTRAL_SERVICE_HOST", NULL},
		{"RIGHTSIZE_CENTRAL_PORT", NULL},
		{"RIGHTSIZE_", NULL},
		{"OTHER_SAMPLE_INTERVALL", NULL},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		char expected[200] = "";

		if (table[i].meant)
			snprintf(expected, sizeof expected, "%s:%s ", table[i].variable,
				table[i].meant);
		said[0] = '\0';
		setenv(table[i].variable, "1", 1);
		option_variables_check(COMMAND_SERVE, say);
		unsetenv(table[i].variable);
		if (strcmp(said, expected) != 0)
			fail_msg("%s: \"%s\"", table[i].variable, said);
	}
}

static size_t collector_number(const char *name)
{
	size_t i = 0;

	while (strcmp(all_collectors[i]->name, name) != 0)
		i++;
	return i;
}

static void collectors_are_switched(void **state)
{
	size_t jobs = collector_number("jobs");
	struct options o;

	assert_int_equal(READ(&o, COMMAND_SERVE, NULL, "--no-collector.jobs"), 0);
	assert_false(o.collector_on[jobs]);
	options_done(&o);
	assert_int_equal(READ(&o, COMMAND_SERVE, NULL, "--no-collector.jobs", "--collector.jobs"),
		0);
	assert_true(o.collector_on[jobs]);
	options_done(&o);
}

static void help_names_every_option_of_a_command_only(void **state)
{
	struct buf run = BUF_MAX(1 << 20), query = BUF_MAX(1 << 20);

	struct buf usual = BUF_MAX(1 << 20);

	static const char *const names[] = {"request-memory", "quiet", NULL};

	assert_int_equal(options_help(&run, COMMAND_RUN, NULL), 0);
	options_help(&query, COMMAND_QUERY, NULL);
	assert_true(options_help(&usual, COMMAND_RUN, names) > 20);
	assert_non_null(strstr(buf_text(&usual), "--request-memory"));
	assert_null(strstr(buf_text(&usual), "--path.procfs"));
	assert_null(strstr(buf_text(&usual), "--collector."));
	assert_non_null(strstr(buf_text(&run), "--path.procfs"));
	assert_non_null(strstr(buf_text(&run), "--no-collector."));
	buf_done(&usual);
	assert_non_null(strstr(buf_text(&run), "--job-name=NAME"));
	assert_null(strstr(buf_text(&query), "--sample.interval"));
	assert_non_null(strstr(buf_text(&query), "--history.path"));
	buf_done(&run);
	buf_done(&query);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_hold_without_flags),
		cmocka_unit_test(quantities_are_as_people_write_them),
		cmocka_unit_test(values_follow_or_are_joined),
		cmocka_unit_test(what_may_be_a_secret_is_not_repeated),
		cmocka_unit_test(texts_of_a_shape_are_accepted),
		cmocka_unit_test(refusals_name_flag_value_and_what_is_accepted),
		cmocka_unit_test(flag_beats_environment_beats_default),
		cmocka_unit_test(a_command_starts_whatever_is_wrong_with_its_options),
		cmocka_unit_test(a_wrong_option_changes_nothing),
		cmocka_unit_test(help_is_asked_for_in_front_of_the_command_only),
		cmocka_unit_test(collectors_are_switched_by_the_environment_too),
		cmocka_unit_test(slips_in_the_environment_are_said),
		cmocka_unit_test(collectors_are_switched),
		cmocka_unit_test(help_names_every_option_of_a_command_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
