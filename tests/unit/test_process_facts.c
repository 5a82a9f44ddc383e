/* collectors/process_facts: what is read of a process, and where the name of its job may lie. */
#include "tests/unit/test_main.h"

#include "collectors/host.h"
#include "collectors/process_facts.h"
#include "tests/support/test_tree.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_file_that_can_be_read_names_the_job),
		cmocka_unit_test(a_process_without_a_command_line_has_no_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
