/* exporter/cli/process_dump.c: a dump of a process gives the same job name on another machine, and
 * contains no other data of the process. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "exporter/cli/process_dump.h"
#include "tests/support/process_texts.h"

static const struct {
	const char *what;
	struct process_text text;
	const char *job_name;
} cases[] = {
	{"Nextflow",
		{COMMAND("bash\0/x/.command.run"), ENVIRON("NXF_TASK_WORKDIR=/x"),
			FILE_TEXT("#!/bin/bash\n### ---\n### name: 'RNA:ALIGN (s 1)'\nexport "
				  "KEY=secret\n")},
		"RNA:ALIGN"},
	{"Nextflow up to 22.10", {FILE_TEXT("# NEXTFLOW TASK: RNA:ALIGN (1)\nKEY=secret\n")},
		"RNA:ALIGN"},
	{"Argo 3.5",
		{ENVIRON("ARGO_NODE_ID=etl-x7k2p-1234567890\0KEY=secret"),
			FILE_TEXT("{\"inputs\":{\"name\":\"secret\"},\"name\":\"load\"}")},
		"etl/load"},
	{"Argo 3.4",
		{ENVIRON(
			"ARGO_NODE_ID=etl-x7k2p-1234567890\0ARGO_TEMPLATE={\"name\":\"load\",\"script\":\"secret\"}")},
		"etl/load"},
};

static void take(void *context, const struct process_facts *facts)
{
	assert_true(recognise(&facts->text, context));
}

static void write_document(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void read_document(const char *text,
	void (*each)(void *context, const struct process_facts *facts), void *context)
{
	char path[] = "/tmp/rightsize-captured-XXXXXX";
	struct err e = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	write_document(path, text);
	if (process_dump_read(path, 0, each, context, &e))
		fail_msg("%s", e.text);
	unlink(path);
}

/* Reads the dump back and finds the job's name. */
static void read_back(const char *text, struct recognised *ret)
{
	read_document(text, take, ret);
}

static void captured_process_names_the_same_job_and_keeps_no_secret(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct process_facts facts = {.pid = 7, .text = cases[i].text};
		json_t *document =
			json_pack("{s: [o]}", "processes", process_dump_json(&facts, NULL));
		struct recognised r = {.job_name = ""};

		assert_non_null(document);
		AUTO(freep) char *text = json_dumps(document, 0);

		json_decref(document);
		if (strstr(text, "secret"))
			fail_msg("%s: %s", cases[i].what, text);
		read_back(text, &r);
		if (strcmp(r.job_name, cases[i].job_name) != 0)
			fail_msg("%s: %s of %s", cases[i].what, r.job_name, text);
	}
}

static void lists_of_before_files_were_captured_are_read(void **state)
{
	struct recognised r = {.job_name = ""};

	read_back("{\"processes\": [{\"pid\": 1, \"environment\": {\"RIGHTSIZE_JOB_NAME\": "
		  "\"etl/load\"}}]}",
		&r);
	assert_string_equal(r.job_name, "etl/load");
}

static void take_container(void *context, const struct process_facts *facts)
{
	text_copy(facts->container, context, CONTAINER_ID_MAX);
}

static void a_text_that_is_too_long_is_cut_between_characters(void **state)
{
	static const char begin[] = "{\"processes\":[{\"pid\":7,\"container\":\"";
	char text[sizeof begin + 2 * CONTAINER_ID_MAX + 8], container[CONTAINER_ID_MAX];

	for (size_t shift = 0; shift < 2; shift++) {
		int n = snprintf(text, sizeof text, "%s%s", begin, shift ? "x" : "");

		for (int i = 0; i < CONTAINER_ID_MAX; i++)
			n += snprintf(text + n, sizeof text - (size_t)n, "\xc3\xa9");
		snprintf(text + n, sizeof text - (size_t)n, "\"}]}");
		read_document(text, take_container, container);
		assert_true(strlen(container) > CONTAINER_ID_MAX / 2);
		assert_true(utf8_valid(container, strlen(container)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captured_process_names_the_same_job_and_keeps_no_secret),
		cmocka_unit_test(lists_of_before_files_were_captured_are_read),
		cmocka_unit_test(a_text_that_is_too_long_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
