/* exporter/discovery/job_rules.c: rule files, and the job names that rules give to processes. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/discovery/job_rules.h"

FREEP(job_rules)

#define TEXT(literal)                                                                              \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}

static void mistakes_are_named_with_their_line(void **state)
{
	static const struct {
		const char *text, *said;
	} table[] = {
		{"rules: 1", "f:1: rules must be a list"},
		{"rule: []", "f:1: unknown key rule in this file; accepted are rules"},
		{"rules: [", "not valid YAML"},
		{"rules:\n- 1", "f:2: a rule must be keys"},
		{"rules:\n- user: x", "f:2: a rule needs either job_name or ignore"},
		{"rules:\n- user: x\n  job_name: a\n  ignore: true", "f:2: a rule needs either"},
		{"rules:\n- user: x\n  job_name: ''", "f:2: job_name is empty"},
		{"rules:\n- job_name: x", "f:2: a rule needs a condition: command_line,"},
		{"rules:\n- usr: x", "f:2: unknown key usr in a rule; accepted are name,"},
		{"rules:\n- user: x\n  user: y", "f:3: user is given twice"},
		{"rules:\n- job_name: x\n  user: '('", "f:3: user: missing closing parenthesis"},
		{"rules:\n- job_name: x\n  environment:\n    A: '['",
			"f:4: A: missing terminating ]"},
		{"rules:\n- job_name: x\n  environment: y", "f:3: environment must be keys"},
		{"rules:\n- user: (?<a>.)(?<b>.)\n  job_name: '{c}'",
			"{c} is no named group, (?<c>...), of this rule; there are: a, b"},
		{"rules:\n- user: x\n  job_name: '{a'", "a { without its }"},
		{"rules:\n- user: x\n  job_name: a\n  labels: {l: '{z}'}", "{z} is no named group"},
		{"rules:\n- user: x\n  ignore: maybe", "is not true or false"},
		{"rules:\n- user: x\n  job_name: a\n  memory: 4XB",
			"memory: \"4XB\" is not accepted: give bytes such as 1048576, 512M, 1G (10^9), "
			"4Gi (2^30) or 8GB, from 1 to 1e+18"},
		{"rules:\n- user: x\n  job_name: a\n  memory: 0", "from 1 to 1e+18"},
		{"rules:\n- user: x\n  job_name: a\n  memory: 2E", "from 1 to 1e+18"},
		{"rules:\n- user: x\n  job_name: a\n  cpu: 2000k", "from 0.001 to 1e+06"},
		{"rules:\n- user: x\n  job_name: a\n  input_bytes: 2E", "from 0 to 1e+18"},
		{"rules:\n- user: x\n  job_name: a\n  cpu: 500M",
			"cpu: \"500M\" is not accepted: give cores such as 2, 1.5 or 500m"},
		{"rules:\n- user: x\n  job_name: a\n  input_bytes: -1", "input_bytes: \"-1\""},
		{"rules:\n- user: x\n  job_name: a\n  memory: '{z}Gi'", "{z} is no named group"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct job_rules *r = NULL;
		struct err e = {0};

		assert_int_equal(job_rules_parse(&r, "f", table[i].text, strlen(table[i].text), &e),
			-EINVAL);
		assert_null(r);
		if (!strstr(e.text, table[i].said))
			fail_msg("%s: %s", table[i].text, e.text);
	}
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static struct job_rules *parse(const char *text)
{
	struct job_rules *r = NULL;
	struct err e = {0};

	if (job_rules_parse(&r, "f", text, strlen(text), &e))
		fail_msg("%s", e.text);
	return r;
}

static const char rules_text[] =
	"rules:\n"
	"- name: shells\n"
	"  executable: '/(ba)?sh$'\n"
	"  ignore: true\n"
	"- command_line: 'run\\.py (?<flow>\\S+) --step (?<step>\\S+)'\n"
	"  environment: {STAGE: '^prod', RUN: '^(?<run>.+)$', TRY: '(?<try>\\d+)'}\n"
	"  job_name: '{flow}/{step}'\n"
	"  run: '{run}'\n"
	"  attempt: '{try}'\n"
	"  labels: {flow: '{flow}', where: here}\n"
	"- {user: '^batch$', cgroup: '^/jobs/(?<queue>\\w+)', job_name: 'queue {queue}'}\n"
	"- {working_directory: '^/data/(?<project>\\w+)', job_name: '{project}'}\n"
	"- {container: '^(?<id>abc)', job_name: 'c-{id}'}\n";

static void first_rule_that_matches_wins(void **state)
{
	static const struct {
		struct process_facts facts;
		const char *job_name; /* NULL = no job; "" = no rule */
		size_t rule;
	} table[] = {
		{{.executable = TEXT("/usr/bin/bash"), .user = "batch", .cgroup = TEXT("/jobs/q")},
			NULL, 0},
		{{.text = {.command_line = TEXT("python\0run.py\0etl-2026-11-21\0--step\0load\0"),
			  .environment = TEXT("A=b\0STAGE=production\0RUN=r 1\0TRY=x2y\0")},
			 .user = "batch",
			 .cgroup = TEXT("/jobs/q")},
			"etl/load", 1},
		{{.text = {.command_line = TEXT("run.py\0etl\0--step\0load\0"),
			  .environment = TEXT("STAGE=test\0RUN=1\0TRY=2\0")},
			 .user = "batch",
			 .cgroup = TEXT("/jobs/q")},
			"queue q", 2},
		{{.user = "batch", .working_directory = TEXT("/data/maps/x")}, "maps", 3},
		{{.container = "abcdef"}, "c-abc", 4},
		{{.user = "other", .cgroup = TEXT("/jobs/q")}, "", 0},
	};
	AUTO(job_rules_freep) struct job_rules *r = parse(rules_text);

	assert_int_equal(job_rules_count(r), 5);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct rule_finding found;
		bool matches = job_rules_match(r, &table[i].facts, &found, NULL);
		const char *want = table[i].job_name;

		assert_int_equal(matches, !want || want[0]);
		if (!matches)
			continue;
		assert_int_equal(found.rule, table[i].rule);
		assert_int_equal(found.ignored, want == NULL);
		if (want)
			assert_string_equal(found.is.job_name, want);
	}
}

static void groups_fill_run_attempt_and_labels(void **state)
{
	const struct process_facts facts = {
		.text = {.command_line = TEXT("run.py\0etl\0--step\0a\nb"),
			.environment = TEXT("STAGE=prod\0RUN=2026-11-21\0TRY=2")}};
	AUTO(job_rules_freep) struct job_rules *r = parse(rules_text);
	struct rule_finding found;

	assert_true(job_rules_match(r, &facts, &found, NULL));
	assert_string_equal(found.is.job_name, "etl/a");
	assert_string_equal(found.is.run, "2026-11-21");
	assert_double_equal(found.is.attempt, 2, 0);
	assert_int_equal(found.is.n_labels, 2);
	assert_string_equal(found.is.label[0].name, "flow");
	assert_string_equal(found.is.label[0].value, "etl");
	assert_string_equal(found.is.label[1].value, "here");
	assert_true(isnan(found.is.cpu_cores));
	assert_true(job_rules_reads(r, (struct slice){"STAGE", 5}));
	assert_false(job_rules_reads(r, (struct slice){"SECRET", 6}));
	assert_int_equal(job_rules_facts(r),
		FACT_EXECUTABLE | FACT_USER | FACT_CGROUP | FACT_WORKING_DIRECTORY);
}

static void names_are_fit_to_show_whatever_the_process_says(void **state)
{
	static const char text[] = "rules:\n- executable: '(?<a>.+)(?<none>,)?'\n"
				   "  job_name: '<{a}{none}>'\n";
	const struct process_facts facts = {.executable = TEXT("/b\x1b[2J\n\x7f\xff")};
	AUTO(job_rules_freep) struct job_rules *r = parse(text);
	struct rule_finding found;

	assert_true(job_rules_match(r, &facts, &found, NULL));
	assert_string_equal(found.is.job_name, "</b_[2J>");
}

/* Only the beginning of a long text is matched, because PCRE2 needs time for each byte. Some
 * patterns need much time per byte. */
static void only_the_beginning_of_a_long_text_is_looked_at(void **state)
{
	static char path[5000];
	const struct process_facts facts = {.working_directory = {path, sizeof path}};
	struct rule_finding found;

	memset(path, 'a', sizeof path);
	path[4095] = 'y';
	path[4096] = 'z';
	struct job_rules *y = parse("rules:\n- {working_directory: y, job_name: x}");
	AUTO(job_rules_freep)
	struct job_rules *z = parse("rules:\n- {working_directory: z, job_name: x}");

	assert_true(job_rules_match(y, &facts, &found, NULL));
	assert_false(job_rules_match(z, &facts, &found, NULL));
	assert_int_equal(found.gave_up, 0);
	job_rules_free(y);
}

/* An unset variable matches nothing, not even a pattern that matches everything. */
static void a_variable_that_is_not_set_matches_nothing(void **state)
{
	static const struct {
		struct slice environment;
		bool matches;
	} table[] = {{TEXT("A=\0"), true}, {TEXT("XA=1\0A=1"), true}, {TEXT("AB=1\0A"), false},
		{TEXT("A\0=A=\0"), false}, {TEXT(""), false}};
	AUTO(job_rules_freep)
	struct job_rules *r = parse("rules:\n- {environment: {A: '.*'}, job_name: x}\n");

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct process_facts facts = {.text = {.environment = table[i].environment}};
		struct rule_finding found;

		assert_int_equal(job_rules_match(r, &facts, &found, NULL), table[i].matches);
	}
}

static void rules_tell_what_a_run_was_given(void **state)
{
	static const struct {
		const char *rule;
		double cpu, memory, input;
	} table[] = {
		{"", NAN, NAN, NAN},
		{", cpu: 500m, memory: 4Gi, input_bytes: 0", 0.5, 4294967296, 0},
		{", cpu: '{n}', memory: '{n}G', input_bytes: '{n}k'", 12, 12e9, 12000},
		{", cpu: '{n}x', memory: '{none}', input_bytes: '-{n}'", NAN, NAN, NAN},
	};
	const struct process_facts facts = {.text = {.command_line = TEXT("fit\0--size=12")}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char rules[200];
		struct rule_finding found;

		snprintf(rules, sizeof rules,
			"rules:\n- {command_line: '=(?<n>\\d+)(?<none>x)?', job_name: x%s}\n",
			table[i].rule);
		AUTO(job_rules_freep) struct job_rules *r = parse(rules);

		assert_true(job_rules_match(r, &facts, &found, NULL));
		assert_true(same(found.is.cpu_cores, table[i].cpu));
		assert_true(same(found.is.memory_bytes, table[i].memory));
		assert_true(same(found.is.input_bytes, table[i].input));
	}
}

static void each_rule_says_why_not(void **state)
{
	const struct process_facts facts = {
		.text = {.command_line = TEXT("x")}, .executable = TEXT("/bin/x")};
	AUTO(buf_done) struct buf why = BUF_MAX(10000);
	AUTO(job_rules_freep) struct job_rules *r = parse(rules_text);
	struct rule_finding found;

	assert_false(job_rules_match(r, &facts, &found, &why));
	assert_string_equal(buf_text(&why), "\trule 1 (line 2, shells): executable does not match\n"
					    "\trule 2 (line 5): command_line does not match\n"
					    "\trule 3 (line 11): user is not known\n"
					    "\trule 4 (line 12): working_directory is not known\n"
					    "\trule 5 (line 13): container is not known\n");
}

/* These patterns would take exponential time without a limit, unless PCRE2 finds a shortcut. PCRE2
 * finds no shortcut for the first pattern. */
static void endless_pattern_is_given_up(void **state)
{
	static const char *const patterns[] = {"(a+)+$", "(a|aa)+$", "(.*a){20}$", "(a*)*b"};
	static char text[4000];

	memset(text, 'a', sizeof text);
	text[sizeof text - 2] = 'c';
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		const struct process_facts facts = {.text = {.command_line = {text, sizeof text}}};
		char rules[200];
		struct rule_finding found;

		snprintf(rules, sizeof rules, "rules:\n- {command_line: '%s', job_name: x}",
			patterns[i]);
		AUTO(job_rules_freep) struct job_rules *r = parse(rules);

		if (!job_rules_match(r, &facts, &found, NULL))
			assert_int_equal(found.gave_up, i == 0 || found.gave_up);
	}
}

static void containers_are_found_in_their_cgroups(void **state)
{
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const struct {
		const char *cgroup, *id;
	} table[] = {
		{"/docker/" ID, ID},
		{"/system.slice/docker-" ID ".scope", ID},
		{"/kubepods.slice/kubepods-pod2f1e4d3c_1111_2222_3333_444455556666.slice/"
		 "cri-containerd-" ID ".scope",
			ID},
		{"/../" ID, ID},
		{"/user.slice/user-1000.slice/session-2.scope", ""},
		{"/", ""},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char id[CONTAINER_ID_MAX];

		facts_container((struct slice){table[i].cgroup, strlen(table[i].cgroup)}, id);
		assert_string_equal(id, table[i].id);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_are_named_with_their_line),
		cmocka_unit_test(first_rule_that_matches_wins),
		cmocka_unit_test(groups_fill_run_attempt_and_labels),
		cmocka_unit_test(names_are_fit_to_show_whatever_the_process_says),
		cmocka_unit_test(only_the_beginning_of_a_long_text_is_looked_at),
		cmocka_unit_test(a_variable_that_is_not_set_matches_nothing),
		cmocka_unit_test(rules_tell_what_a_run_was_given),
		cmocka_unit_test(each_rule_says_why_not),
		cmocka_unit_test(endless_pattern_is_given_up),
		cmocka_unit_test(containers_are_found_in_their_cgroups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
