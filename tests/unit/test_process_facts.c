/* collectors/process_facts: what is read of a process, and where the name of its job may lie. */
#include "tests/unit/test_main.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/host.h"
#include "collectors/process_facts.h"
#include "tests/support/test_tree.h"

#define OWN  "SITE=north\0RIGHTSIZE_JOB_NAME=etl/load"
#define STEP "ARGO_NODE_ID=etl-x7k2p-1\0ARGO_WORKFLOW_NAME=etl-x7k2p"

static void the_first_file_that_can_be_read_names_the_job(void **state)
{
	static const struct {
		const char *path, *job_name; /* NULL: none */
	} table[] = {
		{"7/root/var/run/argo/template", "etl/load"},
		{"7/root/run/argo/template", "etl/load"},
		{"7/root/tmp/template", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct tree *proc = memory_tree();
		struct host host = {.proc = proc};
		struct facts_reader *reader = facts_reader_new();
		struct process_facts facts;
		struct recognised r = {0};

		memory_tree_text(proc, "7/cmdline", "load.sh");
		memory_tree_file(proc, "7/environ", STEP, sizeof STEP);
		memory_tree_text(proc, table[i].path, "{\"name\":\"load\"}");
		assert_true(facts_begin(reader, &host, 7, &facts));
		facts_complete(reader, &host, 0, &facts);
		assert_int_equal(recognise(&facts.text, &r), table[i].job_name != NULL);
		if (table[i].job_name)
			assert_string_equal(r.job_name, table[i].job_name);
		facts_reader_free(reader);
		tree_free(proc);
	}
}

static void a_process_without_a_command_line_has_no_facts(void **state)
{
	struct tree *proc = memory_tree();
	struct host host = {.proc = proc};
	struct facts_reader *reader = facts_reader_new();
	struct process_facts facts;

	(void)state;
	assert_false(facts_begin(reader, &host, 7, &facts));
	facts_reader_free(reader);
	tree_free(proc);
}

static bool is_site(const void *context, struct slice variable)
{
	(void)context;
	return slice_is(variable, "SITE");
}

/* A variable may have 128 KiB, and all together 6 MiB. */
static void a_variable_is_found_wherever_it_stands(void **state)
{
	static const size_t before[] = {0, 1, 1000, 1 << 17, 262143 - 40, 262144, 6 << 20};
	char *text = malloc(8 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
		for (size_t each = 2; each <= 1 << 17; each *= 256) {
			struct tree *proc = memory_tree();
			struct host host = {.proc = proc};
			struct facts_reader *reader = facts_reader_new();
			struct process_facts facts;
			struct recognised r = {0};
			size_t n = 0;

			facts_reader_wants(reader, is_site, NULL);
			memset(text, 'x', 8 << 20);
			for (n = each; n <= before[i]; n += each)
				text[n - 1] = '\0';
			n -= each;
			memcpy(text + n, OWN, sizeof OWN);
			n += sizeof OWN;
			for (size_t end = n + (300 << 10); n + each <= end; n += each)
				text[n + each - 1] = '\0';
			memory_tree_text(proc, "7/cmdline", "load.sh");
			memory_tree_file(proc, "7/environ", text, n);
			assert_true(facts_begin(reader, &host, 7, &facts));
			facts_complete(reader, &host, 0, &facts);
			assert_true(recognise(&facts.text, &r));
			assert_string_equal(r.job_name, "etl/load");
			assert_int_equal(facts.text.environment.len, sizeof OWN);
			assert_false(facts.refused);
			facts_reader_free(reader);
			tree_free(proc);
		}
	free(text);
}

static void variables_without_end_are_left_out(void **state)
{
	struct tree *proc = memory_tree();
	struct host host = {.proc = proc};
	struct facts_reader *reader = facts_reader_new();
	size_t size = 9 << 20, n = 0;
	char *text = malloc(size);
	struct process_facts facts;
	struct recognised r;

	(void)state;
	memset(text, 'x', size);
	memcpy(text, "RIGHTSIZE_JOB_NAME=", 19);
	n = 1 << 20;
	text[n - 1] = '\0';
	/* The rest of it is no variable, whatever it looks like. */
	memcpy(text + n / 2, OWN, sizeof OWN - 1);
	for (; n + 20 < size - 40; n += 20)
		memcpy(text + n, "RIGHTSIZE_ATTEMPT=1", 20);
	memcpy(text + size - 40, "\0" OWN, sizeof OWN + 1);
	memory_tree_text(proc, "7/cmdline", "load.sh");
	memory_tree_file(proc, "7/environ", text, size);
	assert_true(facts_begin(reader, &host, 7, &facts));
	facts_complete(reader, &host, 0, &facts);
	assert_false(recognise(&facts.text, &r));
	assert_true(facts.text.environment.len <= HOST_SCRATCH_SIZE / 2);
	facts_reader_free(reader);
	tree_free(proc);
	free(text);
}

static void of_a_long_command_line_the_beginning_tells(void **state)
{
	static const char begin[] = "airflow\0tasks\0run\0etl\0load\0today";
	char *text = malloc(1 << 20);

	(void)state;
	for (size_t each = 10; each < 1 << 20; each *= 7) {
		struct tree *proc = memory_tree();
		struct host host = {.proc = proc};
		struct facts_reader *reader = facts_reader_new();
		struct process_facts facts;
		struct recognised r;

		memset(text, 'x', 1 << 20);
		memcpy(text, begin, sizeof begin);
		for (size_t i = sizeof begin + each; i < 1 << 20; i += each)
			text[i] = '\0';
		memory_tree_file(proc, "7/cmdline", text, 1 << 20);
		assert_true(facts_begin(reader, &host, 7, &facts));
		assert_true(recognise(&facts.text, &r));
		assert_string_equal(r.job_name, "etl/load");
		assert_int_equal(facts.text.command_line.data[facts.text.command_line.len - 1], 0);
		memory_tree_file(proc, "7/cmdline", text + sizeof begin, (1 << 20) - sizeof begin);
		assert_true(facts_begin(reader, &host, 7, &facts));
		facts_reader_free(reader);
		tree_free(proc);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_file_that_can_be_read_names_the_job),
		cmocka_unit_test(a_variable_is_found_wherever_it_stands),
		cmocka_unit_test(variables_without_end_are_left_out),
		cmocka_unit_test(of_a_long_command_line_the_beginning_tells),
		cmocka_unit_test(a_process_without_a_command_line_has_no_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
