/* collectors/process/facts.c: what is read of a process, and from which files its job name may
 * come. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host.h"
#include "collectors/process/facts.h"
#include "tests/support/test_tree.h"

#define OWN  "SITE=north\0RIGHTSIZE_JOB_NAME=etl/load"
#define STEP "ARGO_NODE_ID=etl-x7k2p-1\0ARGO_WORKFLOW_NAME=etl-x7k2p"

#define LOCAL  "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
#define STATUS "Name:\tload\nUid:\t5\t0\t0\t0\n"

/* Returns the job name found for process 7 in this tree; NULL = none. */
static const char *name_in(struct tree *proc)
{
	static struct recognised r;
	static char scratch[4096];
	struct host host = {.proc = proc, .scratch = scratch, .scratch_size = sizeof scratch};
	struct facts_reader *reader = facts_reader_new();
	struct process_facts facts;

	assert_true(facts_begin(reader, &host, 7, &facts));
	facts_complete(reader, &host, 0, &facts);
	bool found = recognise(&facts.text, &r);

	facts_reader_free(reader);
	return found ? r.job_name : NULL;
}

static void assert_name(struct tree *proc, const char *expected)
{
	const char *name = name_in(proc);

	assert_int_equal(name != NULL, expected != NULL);
	if (expected)
		assert_string_equal(name, expected);
}

static struct tree *step_of_argo(const char *mounts)
{
	struct tree *proc = memory_tree();

	memory_tree_text(proc, "7/cmdline", "load.sh");
	memory_tree_file(proc, "7/environ", STEP, sizeof STEP);
	memory_tree_text(proc, "7/status", STATUS);
	memory_tree_text(proc, "7/mountinfo", mounts);
	memory_tree_link(proc, "7/root", "/");
	return proc;
}

static void the_first_file_that_can_be_read_names_the_job(void **state)
{
	static const struct {
		const char *path, *job_name; /* NULL = none */
	} table[] = {
		{"7/root/var/run/argo/template", "etl/load"},
		{"7/root/run/argo/template", "etl/load"},
		{"7/root/tmp/template", NULL},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		AUTO(tree_freep) struct tree *proc = step_of_argo(LOCAL);

		memory_tree_text(proc, table[i].path, "{\"name\":\"load\"}");
		assert_name(proc, table[i].job_name);
	}
}

/* `theirs` is the mount table of process 7. `ours` is this program's mount table, for cases in
 * which both share a mount namespace. */
static void a_file_is_read_only_where_every_mount_on_the_way_answers(void **state)
{
	static const char overlay[] = "1 0 0:40 / / rw - overlay overlay rw\n";
	static const char dead[] = LOCAL "9 1 0:41 / /var/run rw - nfs4 server:/ rw\n";
	static const struct {
		const char *theirs, *ours, *root, *mnt, *user;
		bool read;
	} table[] = {
		{LOCAL, NULL, "/", NULL, NULL, true},
		{LOCAL "9 1 0:41 / /srv rw - nfs4 server:/ rw\n", NULL, "/", NULL, NULL, true},
		{LOCAL "9 1 0:41 / /var/ru rw - nfs4 server:/ rw\n", NULL, "/", NULL, NULL, true},
		{dead, NULL, "/", NULL, NULL, false},
		/* The mount on top may itself be hidden by another mount. */
		{"9 1 0:41 / /var/run rw - nfs4 server:/ rw\n"
		 "1 9 0:42 / /var/run rw - tmpfs tmpfs rw\n",
			NULL, "/", NULL, NULL, false},
		{"1 0 0:41 / / rw - fuse.sshfs x rw\n", NULL, "/", NULL, NULL, false},
		{"2 0 8:1 / / rw - ext4 /dev/sda1 rw\n", NULL, "/", NULL, NULL, false},
		{NULL, NULL, "/", NULL, NULL, false},
		{overlay, NULL, "/", NULL, "user:[1]", true},
		{overlay, NULL, "/", NULL, "user:[2]", false},
		{overlay, NULL, "/", NULL, NULL, false},
		{LOCAL, NULL, "/jail", "mnt:[2]", NULL, false},
		{LOCAL, dead, "/", "mnt:[2]", NULL, true},
		{LOCAL, dead, "/", "mnt:[1]", NULL, false},
		{dead, LOCAL, "/jail", "mnt:[1]", NULL, true},
		{LOCAL, LOCAL "9 1 0:41 / /jail/var rw - nfs4 server:/ rw\n", "/jail", "mnt:[1]",
			NULL, false},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		AUTO(tree_freep)
		struct tree *proc = step_of_argo(table[i].theirs ? table[i].theirs : "");

		memory_tree_text(proc, "7/root/var/run/argo/template", "{\"name\":\"load\"}");
		memory_tree_link(proc, "7/root", table[i].root);
		memory_tree_link(proc, "self/ns/mnt", "mnt:[1]");
		memory_tree_link(proc, "self/ns/user", "user:[1]");
		if (table[i].ours)
			memory_tree_text(proc, "self/mountinfo", table[i].ours);
		if (table[i].mnt)
			memory_tree_link(proc, "7/ns/mnt", table[i].mnt);
		if (table[i].user)
			memory_tree_link(proc, "7/ns/user", table[i].user);
		assert_name(proc, table[i].read ? "etl/load" : NULL);
	}
}

/* No mount on the way is ever accessed, regardless of how the process writes the path. */
static void a_dead_server_is_found_behind_any_spelling(void **state)
{
	static const struct {
		const char *command_line, *cwd, *path, *job_name;
	} table[] = {
		{"sh\0.command.run", "/work", "7/cwd/.command.run", "ALIGN"},
		{"sh\0.command.run", "/dead", "7/cwd/.command.run", NULL},
		{"sh\0.command.run", "/dead/a", "7/cwd/.command.run", NULL},
		{"sh\0x/.command.run", "/", "7/cwd/x/.command.run", "ALIGN"},
		{"sh\0dead/.command.run", "/", "7/cwd/dead/.command.run", NULL},
		{"sh\0.//dead/.command.run", "/", "7/cwd/.//dead/.command.run", NULL},
		{"sh\0/a/.command.run", "/", "7/root/a/.command.run", "ALIGN"},
		{"sh\0//dead/.command.run", "/", "7/root//dead/.command.run", NULL},
		{"sh\0/./dead/./.command.run", "/", "7/root/./dead/./.command.run", NULL},
		{"sh\0/dead/.command.run", "/", "7/root/dead/.command.run", NULL},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		AUTO(tree_freep)
		struct tree *proc = step_of_argo(LOCAL "9 1 0:41 / /dead rw - nfs4 server:/ rw\n");
		char line[64] = "sh";

		snprintf(line + 3, sizeof line - 3, "%s", table[i].command_line + 3);
		memory_tree_file(proc, "7/cmdline", line, 3 + strlen(line + 3) + 1);
		memory_tree_text(proc, "7/environ", "");
		memory_tree_link(proc, "7/cwd", table[i].cwd);
		memory_tree_text(proc, table[i].path, "### name: 'ALIGN (s 1)'\n");
		assert_name(proc, table[i].job_name);
	}
}

static void a_process_without_a_command_line_has_no_facts(void **state)
{
	AUTO(tree_freep) struct tree *proc = memory_tree();
	struct host host = {.proc = proc};
	struct facts_reader *reader = facts_reader_new();
	struct process_facts facts;

	assert_false(facts_begin(reader, &host, 7, &facts));
	facts_reader_free(reader);
}

static bool is_site(const void *context, struct slice variable)
{
	(void)context;
	return slice_is(variable, "SITE");
}

/* A variable may have 128 KiB, and the whole environment 6 MiB. */
static void a_variable_is_found_wherever_it_stands(void **state)
{
	static const size_t before[] = {0, 1, 1000, 1 << 17, 262143 - 40, 262144, 6 << 20};
	char *text = malloc(8 << 20);

	for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
		for (size_t each = 2; each <= 1 << 17; each *= 256) {
			AUTO(tree_freep) struct tree *proc = memory_tree();
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

	memset(text, 'x', size);
	memcpy(text, "RIGHTSIZE_JOB_NAME=", 19);
	n = 1 << 20;
	text[n - 1] = '\0';
	/* The rest of an overlong variable must not be parsed as variables. */
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

	for (size_t each = 10; each < 1 << 20; each *= 7) {
		AUTO(tree_freep) struct tree *proc = memory_tree();
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
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_file_that_can_be_read_names_the_job),
		cmocka_unit_test(a_file_is_read_only_where_every_mount_on_the_way_answers),
		cmocka_unit_test(a_dead_server_is_found_behind_any_spelling),
		cmocka_unit_test(a_variable_is_found_wherever_it_stands),
		cmocka_unit_test(variables_without_end_are_left_out),
		cmocka_unit_test(of_a_long_command_line_the_beginning_tells),
		cmocka_unit_test(a_process_without_a_command_line_has_no_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
