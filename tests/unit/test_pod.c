/* exporter/discovery/pod.c: the job name of a pod. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/discovery/pod.h"

static void files_of_the_downward_api_are_read(void **state)
{
	static const char text[] = "app.kubernetes.io/name=\"etl\"\nquoted=\"a \\\"b\\\" \\\\ c\"\n"
				   "empty=\"\"\nbroken=\"x\nnothing\n=\"y\"\nlast=\"z\"";
	static const char want[] = "app.kubernetes.io/name=etl\0quoted=a \"b\" \\ c\0last=z";
	AUTO(buf_done) struct buf out = BUF_MAX(1000);

	pod_info_parse((struct slice){text, sizeof text - 1}, &out);
	assert_int_equal(out.len, sizeof want);
	assert_memory_equal(out.data, want, sizeof want);
}

/* NUL separates the entries, so a name with a NUL would become two entries. */
static void name_with_a_nul_is_left_out(void **state)
{
	static const char text[] = "a\0pod.name=\"forged\"\nb=\"1\"";
	AUTO(buf_done) struct buf out = BUF_MAX(1000);

	pod_info_parse((struct slice){text, sizeof text - 1}, &out);
	assert_int_equal(out.len, sizeof "b=1");
	assert_memory_equal(out.data, "b=1", sizeof "b=1");
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[200];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void pod_is_called_by_what_tells_most(void **state)
{
	static const struct {
		const char *labels, *annotations, *pod_name, *own_name;
		const char *system, *job_name, *run; /* system: NULL = no name */
	} table[] = {
		{"", "", NULL, NULL, NULL, "", ""},
		{"", "", "etl-28868640-x7k2p", NULL, "kubernetes", "etl", "uid-1"},
		{"", "", "web-6d5f7c8b9d-x7k2p", NULL, "kubernetes", "web", "uid-1"},
		{"batch.kubernetes.io/job-name=\"nightly-28868640\"", "", "nightly-28868640-x7k2p",
			NULL, "kubernetes", "nightly", "uid-1"},
		{"app.kubernetes.io/name=\"shop\"\napp.kubernetes.io/component=\"import\"", "", "p",
			NULL, "kubernetes", "shop/import", "uid-1"},
		{"dag_id=\"daily\"\ntask_id=\"load\"\nrun_id=\"manual\"\ntry_number=\"2\"", "", "p",
			NULL, "airflow", "daily/load", "manual"},
		{"",
			"metaflow/flow_name=\"Train\"\nmetaflow/step_name=\"fit\"\nmetaflow/"
			"run_id=\"12\"",
			"p", NULL, "metaflow", "Train/fit", "12"},
		{"workflows.argoproj.io/workflow=\"etl-x7k2p\"", "", "p", NULL, "argo", "etl",
			"etl-x7k2p"},
		{"dagster/job=\"daily\"\ndagster/op=\"load\"\ndagster/run-id=\"u\"", "", "p", NULL,
			"dagster", "daily/load", "u"},
		{"prefect.io/flow-name=\"etl\"\nprefect.io/flow-run-id=\"u\"", "", "p", NULL,
			"prefect", "etl", "u"},
		{"nextflow.io/processName=\"ALIGN\"\nnextflow.io/runName=\"x\"", "", "p", NULL,
			"nextflow", "ALIGN", "pod"},
		{"execution-id=\"f3a\"\ntask-name=\"etl.load\"\nworkflow-name=\"etl\"", "", "p",
			NULL, "flyte", "etl/etl.load", "f3a"},
		{"run=\"r7\"\naction=\"a0\"\nattempt=\"2\"\ntask-name=\"etl.load\"", "", "p", NULL,
			"flyte", "etl.load", "r7"},
		{"spark-app-selector=\"spark-1\"\nspark-role=\"executor\"",
			"spark-app-name=\"daily\"", "p", NULL, "spark", "daily/executor",
			"spark-1"},
		{"app=\"x\"", "rightsize/job-name=\"mine\"", "p", NULL, "kubernetes", "mine",
			"uid-1"},
		{"", "", NULL, "own", "environment", "own", "pod"},
	};
	char folder[] = "/tmp/rightsize-pod-XXXXXX", path[64];

	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf text AUTO(buf_done) = BUF_MAX(0);
		struct recognised r;
		struct err e = {0};

		write_file(folder, "labels", table[i].labels);
		write_file(folder, "annotations", table[i].annotations);
		unsetenv("POD_NAME");
		unsetenv("POD_UID");
		unsetenv("RIGHTSIZE_JOB_NAME");
		if (table[i].pod_name) {
			setenv("POD_NAME", table[i].pod_name, 1);
			setenv("POD_UID", "uid-1", 1);
		}
		if (table[i].own_name)
			setenv("RIGHTSIZE_JOB_NAME", table[i].own_name, 1);
		int code = pod_recognise(folder, &text, &r, &e);

		assert_int_equal(code, table[i].system ? 0 : -ENOENT);
		if (code)
			assert_non_null(strstr(e.text, "POD_NAME"));
		else if (strcmp(r.system, table[i].system) != 0 ||
			 strcmp(r.job_name, table[i].job_name) != 0 ||
			 strcmp(r.run, table[i].run) != 0)
			fail_msg("number %zu: %s %s run %s", i, r.system, r.job_name, r.run);
	}
	snprintf(path, sizeof path, "%s/labels", folder);
	unlink(path);
	snprintf(path, sizeof path, "%s/annotations", folder);
	unlink(path);
	rmdir(folder);
}

static void folder_that_tells_nothing_is_named(void **state)
{
	char folder[] = "/tmp/rightsize-pod-XXXXXX", path[64];
	struct err e = {0};

	assert_non_null(mkdtemp(folder));
	assert_int_equal(pod_info_check(folder, &e), -ENOENT);
	assert_non_null(strstr(e.text, folder));
	assert_non_null(strstr(e.text, "labels"));
	write_file(folder, "annotations", "");
	assert_int_equal(pod_info_check(folder, &e), 0);
	snprintf(path, sizeof path, "%s/annotations", folder);
	unlink(path);
	rmdir(folder);
	assert_int_equal(pod_info_check(folder, &e), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_the_downward_api_are_read),
		cmocka_unit_test(name_with_a_nul_is_left_out),
		cmocka_unit_test(pod_is_called_by_what_tells_most),
		cmocka_unit_test(folder_that_tells_nothing_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
