/* collectors/naming/recognise.c, stable_name.c: no job name contains a part that changes from run
 * to run. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/naming/recognise.h"
#include "collectors/naming/stable_name.h"
#include "tests/support/process_texts.h"

/* Each pair is one job in two runs. The two differ in every text that can differ between runs. Both
 * must give the same name. A retry must give the same run with another attempt. */
static const struct {
	const char *what;
	struct process_text one, other;
	const char *job_name;
	bool same_run;
	double attempts[2];
} pairs[] = {
	{"Metaflow, a retry",
		{ENVIRON("MF_PATHSPEC=TrainFlow/1732178712123456/fit/3\0MF_ATTEMPT=0")},
		{ENVIRON("MF_PATHSPEC=TrainFlow/1732178712123456/fit/3\0MF_ATTEMPT=1")},
		"TrainFlow/fit", true, {1, 2}},
	{"Metaflow, other runs of a foreach",
		{ENVIRON("MF_PATHSPEC=TrainFlow/12/fit/3\0MF_ATTEMPT=0")},
		{ENVIRON("MF_PATHSPEC=TrainFlow/argo-trainflow-x7k2p/fit/t-0a1b2c3d\0"
			 "MF_ATTEMPT=0")},
		"TrainFlow/fit", false, {1, 1}},
	{"Flyte, a retry",
		{ENVIRON(
			"FLYTE_INTERNAL_EXECUTION_WORKFLOW=p:d:etl\0FLYTE_INTERNAL_TASK_NAME=etl.load\0FLYTE_INTERNAL_EXECUTION_ID=f3a\0FLYTE_ATTEMPT_NUMBER=0")},
		{ENVIRON(
			"FLYTE_INTERNAL_EXECUTION_WORKFLOW=p:d:etl\0FLYTE_INTERNAL_TASK_NAME=etl.load\0FLYTE_INTERNAL_EXECUTION_ID=f3a\0FLYTE_ATTEMPT_NUMBER=2")},
		"etl/etl.load", true, {1, 3}},
	{"Airflow, a retry with a date in the run",
		{ENVIRON("AIRFLOW_CTX_DAG_ID=daily\0AIRFLOW_CTX_TASK_ID=g.load\0"
			 "AIRFLOW_CTX_DAG_RUN_ID=scheduled__2026-11-21T00:00:00+00:00\0"
			 "AIRFLOW_CTX_TRY_NUMBER=1")},
		{ENVIRON("AIRFLOW_CTX_DAG_ID=daily\0AIRFLOW_CTX_TASK_ID=g.load\0"
			 "AIRFLOW_CTX_DAG_RUN_ID=scheduled__2026-11-21T00:00:00+00:00\0"
			 "AIRFLOW_CTX_TRY_NUMBER=2")},
		"daily/g.load", true, {1, 2}},
	{"Airflow, mapped tasks and dates before the end",
		{POD("dag_id=backfill_20261121_eu\0task_id=load\0run_id=r\0try_number=1\0"
		     "map_index=1")},
		{POD("dag_id=backfill_20261122_eu\0task_id=load\0run_id=r\0try_number=1\0"
		     "map_index=2")},
		"backfill_eu/load", true, {1, 1}},
	{"Kubeflow Pipelines, recurring",
		{COMMAND("launch\0--pipeline_name\0churn-x7k2p\0--run_id\0a\0--\0"
			 "--function_to_execute\0train")},
		{COMMAND("launch\0--pipeline_name\0churn-9bcdf\0--run_id\0b\0--\0"
			 "--function_to_execute\0train")},
		"churn/train", false, {NAN, NAN}},
	{"Argo Workflows, generated and cron",
		{ENVIRON("ARGO_WORKFLOW_NAME=etl-x7k2p\0ARGO_NODE_ID=etl-x7k2p-1\0"
			 "ARGO_TEMPLATE={\"name\":\"load\"}")},
		{ENVIRON("ARGO_WORKFLOW_NAME=etl-1732147200\0ARGO_NODE_ID=etl-1732147200-9\0"
			 "ARGO_TEMPLATE={\"name\":\"load\"}")},
		"etl/load", false, {NAN, NAN}},
	{"Argo Workflows, a date in the name",
		{POD("workflows.argoproj.io/workflow=2026-11-21-etl-x7k2p\0pod.uid=u")},
		{POD("workflows.argoproj.io/workflow=2026-11-22-etl-bcdfg\0pod.uid=v")}, "etl",
		false, {NAN, NAN}},
	{"Dagster, mapped steps",
		{ENVIRON("DAGSTER_RUN_JOB_NAME=daily\0DAGSTER_RUN_STEP_KEY=load[a_1]")},
		{POD("dagster/job=daily\0dagster/op=load-b_2\0dagster/run-id=u")}, "daily/load",
		false, {NAN, NAN}},
	{"Prefect",
		{ENVIRON("PREFECT__FLOW_NAME=etl\0PREFECT__DEPLOYMENT_NAME=nightly-2026-11-21\0"
			 "PREFECT__FLOW_RUN_ID=u")},
		{ENVIRON("PREFECT__FLOW_NAME=etl\0PREFECT__DEPLOYMENT_NAME=nightly-2026-11-22\0"
			 "PREFECT__FLOW_RUN_ID=v")},
		"etl/nightly", false, {NAN, NAN}},
	{"Nextflow, samples and dates", {FILE_TEXT("### name: 'RNA:ALIGN (2026-11-21 [s1])'\n")},
		{FILE_TEXT("### name: 'RNA:ALIGN (7)'\n")}, "RNA:ALIGN", true, {NAN, NAN}},
	{"Snakemake, a retry of one of many",
		{COMMAND("python\0-m\0snakemake\0--target-jobs\0align:sample=2026-11-21\0"
			 "--attempt\0"
			 "1")},
		{COMMAND("python\0-m\0snakemake\0--target-jobs\0align:sample=2026-11-21\0"
			 "--attempt\0"
			 "2")},
		"snakemake/align", true, {1, 2}},
	{"Snakemake's scripts", {COMMAND("sh\0/x/.snakemake/tmp.ab12/snakejob.align.12.sh")},
		{COMMAND("sh\0/x/.snakemake/tmp.cd34/snakejob.align.1313.sh")}, "snakemake/align",
		true, {NAN, NAN}},
	{"Ray", {COMMAND("ray::train"), ENVIRON("RAY_JOB_ID=01000000")},
		{COMMAND("ray::train"), ENVIRON("RAY_JOB_ID=02000000")}, "ray/train", false,
		{NAN, NAN}},
	{"Spark, dates wherever",
		{COMMAND("org.apache.spark.deploy.SparkSubmit\0--name\0load 2026-11-21 eu\0"
			 "x.jar")},
		{COMMAND("org.apache.spark.deploy.SparkSubmit\0--name\0load 2026-11-22 eu\0"
			 "x.jar")},
		"load eu", true, {NAN, NAN}},
	{"Slurm, a job that was requeued",
		{ENVIRON("SLURM_JOB_NAME=20261121_train\0SLURM_JOB_ID=103\0SLURM_RESTART_COUNT=0")},
		{ENVIRON("SLURM_JOB_NAME=20261121_train\0SLURM_JOB_ID=103\0SLURM_RESTART_COUNT=1")},
		"train", true, {1, 2}},
	{"Slurm, an array",
		{ENVIRON("SLURM_JOB_NAME=train\0SLURM_JOB_ID=103\0SLURM_ARRAY_JOB_ID=100\0"
			 "SLURM_ARRAY_TASK_ID=3")},
		{ENVIRON("SLURM_JOB_NAME=train\0SLURM_JOB_ID=104\0SLURM_ARRAY_JOB_ID=100\0"
			 "SLURM_ARRAY_TASK_ID=4")},
		"train", true, {NAN, NAN}},
	{"AWS Batch, a retry",
		{ENVIRON(
			"AWS_BATCH_JQ_NAME=nightly\0AWS_BATCH_JOB_ID=u:3\0AWS_BATCH_JOB_ATTEMPT=1")},
		{ENVIRON(
			"AWS_BATCH_JQ_NAME=nightly\0AWS_BATCH_JOB_ID=u:3\0AWS_BATCH_JOB_ATTEMPT=2")},
		"nightly", true, {1, 2}},
	{"SageMaker's pipelines",
		{ENVIRON("TRAINING_JOB_NAME=pipelines-ctd6lgoe9v02-Train-ssFiEMALJh\0"
			 "SM_CURRENT_HOST=a")},
		{ENVIRON("TRAINING_JOB_NAME=pipelines-kytlemm1lvpq-Train-cIpzShs3Qp\0"
			 "SM_CURRENT_HOST=a")},
		"Train", false, {NAN, NAN}},
	{"SageMaker's tuning",
		{ENVIRON("TRAINING_JOB_NAME=churn-261121-0845-001-2f3e4a5b\0SM_CURRENT_HOST=a")},
		{ENVIRON("TRAINING_JOB_NAME=churn-261122-2359-017-0a1b2c3d\0SM_CURRENT_HOST=a")},
		"churn", false, {NAN, NAN}},
	{"GitHub Actions, run again",
		{ENVIRON("GITHUB_REPOSITORY=o/r\0GITHUB_WORKFLOW=CI\0GITHUB_JOB=test\0"
			 "GITHUB_RUN_ID=9\0GITHUB_RUN_ATTEMPT=1")},
		{ENVIRON("GITHUB_REPOSITORY=o/r\0GITHUB_WORKFLOW=CI\0GITHUB_JOB=test\0"
			 "GITHUB_RUN_ID=9\0GITHUB_RUN_ATTEMPT=2")},
		"o/r/CI/test", true, {1, 2}},
	{"GitLab CI, parallel",
		{ENVIRON("GITLAB_CI=true\0CI_PROJECT_PATH=g/p\0CI_JOB_NAME=test 3/5\0"
			 "CI_PIPELINE_ID=7\0CI_JOB_ID=71")},
		{ENVIRON("GITLAB_CI=true\0CI_PROJECT_PATH=g/p\0CI_JOB_NAME=test: [eu, "
			 "2026-11-21]\0CI_PIPELINE_ID=8\0CI_JOB_ID=80")},
		"g/p/test", false, {NAN, NAN}},
	{"Buildkite, a retry of parallel jobs",
		{ENVIRON("BUILDKITE_PIPELINE_SLUG=app\0BUILDKITE_LABEL=test 1/5\0"
			 "BUILDKITE_BUILD_ID=u\0BUILDKITE_JOB_ID=v\0BUILDKITE_RETRY_COUNT=0")},
		{ENVIRON("BUILDKITE_PIPELINE_SLUG=app\0BUILDKITE_LABEL=test 2/5\0"
			 "BUILDKITE_BUILD_ID=u\0BUILDKITE_JOB_ID=w\0BUILDKITE_RETRY_COUNT=1")},
		"app/test", true, {1, 2}},
	{"Jenkins",
		{ENVIRON("JOB_NAME=app\0STAGE_NAME=Test\0BUILD_TAG=jenkins-app-12\0"
			 "BUILD_NUMBER=12")},
		{ENVIRON("JOB_NAME=app\0STAGE_NAME=Test\0BUILD_TAG=jenkins-app-13\0"
			 "BUILD_NUMBER=13")},
		"app/Test", false, {NAN, NAN}},
	{"pods of cron jobs",
		{POD("job-name=nightly-28868640\0pod.name=nightly-28868640-x7k2p\0pod.uid=u")},
		{POD("job-name=nightly-28868700\0pod.name=nightly-28868700-bcdfg\0pod.uid=v")},
		"nightly", false, {NAN, NAN}},
};

static bool is_number(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b;
}

static void what_differs_between_runs_is_in_no_name(void **state)
{
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		struct recognised a, b;

		if (!recognise(&pairs[i].one, &a) || !recognise(&pairs[i].other, &b))
			fail_msg("%s: not recognised", pairs[i].what);
		if (strcmp(a.job_name, pairs[i].job_name) != 0 ||
			strcmp(b.job_name, pairs[i].job_name) != 0)
			fail_msg("%s: \"%s\" and \"%s\"", pairs[i].what, a.job_name, b.job_name);
		if ((strcmp(a.run, b.run) == 0) != pairs[i].same_run)
			fail_msg("%s: run \"%s\" and \"%s\"", pairs[i].what, a.run, b.run);
		if (!is_number(a.attempt, pairs[i].attempts[0]) ||
			!is_number(b.attempt, pairs[i].attempts[1]))
			fail_msg("%s: attempts %g and %g", pairs[i].what, a.attempt, b.attempt);
	}
}

static struct slice slice_of(const char *text)
{
	return (struct slice){text, text ? strlen(text) : 0};
}

static void what_changes_is_taken_off_a_name(void **state)
{
	static const struct {
		struct slice (*function)(struct slice);
		const char *name, *steady;
	} table[] = {
		{stable_name, "train", "train"},
		{stable_name, "train-2026-11-21", "train"},
		{stable_name, "train_20261121T084512Z", "train"},
		{stable_name, "train.2026-11-21_08:45", "train"},
		{stable_name, "train-1732178712", "train"},
		{stable_name, "train-1732178712123", "train"},
		{stable_name, "a-2f1e4d3c-1111-2222-3333-444455556666", "a"},
		{stable_name, "a-20261121-2f1e4d3c-1111-2222-3333-444455556666", "a"},
		{stable_name, "2026-11-21", "2026-11-21"},
		{stable_name, "load-20261122T03", "load"},
		{stable_name, "load-2026-11-22T03Z", "load"},
		{stable_name, "load-20261122t030000z", "load"},
		{stable_name, "load-20261122-03", "load-20261122-03"},
		{stable_name, "w-2026-W47", "w"},
		{stable_name, "w-2026w47", "w"},
		{stable_name, "w-2026-W47-3", "w"},
		{stable_name, "w-2026-W54", "w-2026-W54"},
		{stable_name, "w-1847-W12", "w-1847-W12"},
		{stable_name, "d.22.11.2026", "d"},
		{stable_name, "d-11-22-2026", "d"},
		{stable_name, "d_01_02_2026", "d"},
		{stable_name, "d.22.13.2026", "d.22.13.2026"},
		{stable_name, "d.22112026", "d.22112026"},
		{stable_name, "d.122.11.2026", "d.122.11.2026"},
		{stable_name, "model-2024", "model-2024"},
		{stable_name, "step-99999999", "step-99999999"},
		{stable_name, "v120261121", "v120261121"},
		{stable_name, "", ""},
		{stable_name_without_training, "pipelines-ctd6lgoe9v02-Train-ssFiEMALJh", "Train"},
		{stable_name_without_training, "pipelines-of-mine", "pipelines-of-mine"},
		{stable_name_without_training, "pipelines-ctd6lgoe9v02-ssFiEMALJh",
			"pipelines-ctd6lgoe9v02-ssFiEMALJh"},
		{stable_name_without_training, "a-261121-0845", "a"},
		{stable_name_without_training, "a-261121-0845-003-0a1b2c3d", "a"},
		{stable_name_without_training, "a-261341-0845", "a-261341-0845"},
		{stable_name_without_training, "-261121-0845", "-261121-0845"},
		{stable_name_without_training, "a-2026-11-21-08-45-12-123", "a"},
		{stable_name_without_training, "", ""},
		{stable_name_without_generated, "etl-x7k2p", "etl"},
		{stable_name_without_generated, "etl-x7k2p-1234567890", "etl"},
		{stable_name_without_generated, "etl-1732147200", "etl"},
		{stable_name_without_generated, "etl-train", "etl-train"},
		{stable_name_without_generated, "x7k2p", "x7k2p"},
		{stable_name_without_generated, "etl-2026-11-21", "etl"},
		{stable_name_without_generated, "etl-2026-11-21-x7k2p", "etl"},
		{stable_name_without_generated, "train-resnet-50", "train-resnet-50"},
		{stable_name_without_node, "etl-x7k2p-1234567890", "etl"},
		{stable_name_without_node, "etl-x7k2p-4194967295", "etl"},
		{stable_name_without_node, "train-resnet-50", "train-resnet-50"},
		{stable_name_without_schedule, "nightly-28868640", "nightly"},
		{stable_name_without_schedule, "load-x7k2p", "load"},
		{stable_name_without_schedule, "load-2026-11-21", "load"},
		{stable_name_without_schedule, "load-20261121", "load"},
		{stable_name_without_schedule, "load-48868640", "load-48868640"},
		{stable_name_without_schedule, "resnet-50", "resnet-50"},
		{stable_name, "etl-1732147200123456789", "etl"},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct slice s =
			table[i].function((struct slice){table[i].name, strlen(table[i].name)});

		if (!slice_is(s, table[i].steady))
			fail_msg("%s became %.*s", table[i].name, (int)s.len, s.data);
	}
}

#define LONG_48 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv"

static void name_of_a_pod_tells_which_kind_of_owner_made_it(void **state)
{
	static const struct {
		const char *pod;
		enum pod_maker maker;
	} table[] = {
		{"nightly-28868640-x7k2p", POD_OF_CRON_JOB},
		{"nightly-48868640-x7k2p", POD_OF_JOB},
		{LONG_48 "abcd-28868x7k2p", POD_OF_CRON_JOB},
		{"load-x7k2p", POD_OF_JOB},
		{"load-3-x7k2p", POD_OF_JOB},
		{LONG_48 "-aabcdefghx7k2p", POD_OF_JOB},
		{"web-5d78c9869d-x7k2p", POD_OF_OTHERS},
		{"web-5d78c986-x7k2p", POD_OF_OTHERS},
		{"web-5d78c98-x7k2p", POD_OF_JOB},
		{"web-rgbcmkwznl-x7k2p", POD_OF_JOB},
		{"db-0", POD_OF_OTHERS},
		{"load", POD_OF_OTHERS},
		{"load-x7k2", POD_OF_OTHERS},
		{"load-a7k2p", POD_OF_OTHERS},
		{"x7k2p", POD_OF_OTHERS},
		{"", POD_OF_OTHERS},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (stable_name_pod_maker(slice_of(table[i].pod)) != table[i].maker)
			fail_msg("%s", table[i].pod);
}

/* The owner in a pod's labels decides whether a number at the end of the pod's name is removed. */
static void what_the_owner_of_a_pod_added_is_taken_off(void **state)
{
	static const struct {
		const char *pod, *hash, *index;
		bool stateful_set, labels_known;
		const char *name;
	} table[] = {
		{"web-6d5f7c8b9d-x7k2p", NULL, NULL, false, false, "web"},
		{"nightly-28868640-x7k2p", NULL, NULL, false, false, "nightly"},
		{"db-0", NULL, NULL, false, false, "db"},
		{"load-x7k2p", NULL, NULL, false, false, "load"},
		{"load", NULL, NULL, false, false, "load"},
		{"load-2026-11-21", NULL, NULL, false, false, "load"},
		{"load-2026-11-21-x7k2p", NULL, NULL, false, false, "load"},
		{"resnet-50-x7k2p", NULL, NULL, false, false, "resnet-50"},
		{"sweep-3-x7k2p", NULL, "3", false, true, "sweep"},
		{"resnet-50-3-x7k2p", NULL, "3", false, true, "resnet-50"},
		{"web-6d5f7c8b9d-x7k2p", "6d5f7c8b9d", NULL, false, true, "web"},
		{"web-6d5f7c8b9d-x7k2p", "7c8b9d", NULL, false, true, "web-6d5f7c8b9d"},
		{"resnet-50-6d5f7-x7k2p", "6d5f7", NULL, false, true, "resnet-50"},
		{"nightly-28868640-x7k2p", NULL, NULL, false, true, "nightly"},
		{"db-0", NULL, NULL, true, true, "db"},
		{"resnet-50-0", NULL, NULL, true, true, "resnet-50"},
		{"resnet-50", NULL, NULL, false, true, "resnet-50"},
		{"load-2026-11-21-0", NULL, NULL, true, true, "load"},
		{"", NULL, NULL, true, true, ""},
		/* Ten letters that Kubernetes generates, but not for a ReplicaSet. */
		{"web-rgbcmkwznl-x7k2p", NULL, NULL, false, false, "web-rgbcmkwznl"},
		/* Names of the greatest length, 63: cut after 58 bytes, then 5 letters. */
		{LONG_48 "-28868640-x7k2p", NULL, NULL, false, false, LONG_48},
		{LONG_48 "a-28868640x7k2p", NULL, NULL, false, false, LONG_48 "a"},
		{LONG_48 "abcd-28868x7k2p", NULL, NULL, false, false, LONG_48 "abcd"},
		{LONG_48 "-aabcdefghx7k2p", NULL, NULL, false, false, LONG_48 "-aabcdefgh"},
		{LONG_48 "-aabcdefgx7k2p", NULL, NULL, false, false, LONG_48 "-aabcdefgx7k2p"},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		const struct pod_owner owner = {
			.template_hash = slice_of(table[i].hash),
			.index = slice_of(table[i].index),
			.stateful_set = table[i].stateful_set,
			.labels_known = table[i].labels_known,
		};
		struct slice s = stable_name_without_replica(slice_of(table[i].pod), &owner);

		if (!slice_is(s, table[i].name))
			fail_msg("%zu: %s became %.*s", i, table[i].pod, (int)s.len, s.data);
	}
}

static void dates_and_numbers_of_runs_alone_are_no_name(void **state)
{
	static const struct {
		const char *text;
		bool unsteady;
	} table[] = {
		{"2026-11-21", true},
		{"20261121T084512Z", true},
		{"2026-11-21-2026-11-22", true},
		{"2f1e4d3c-1111-2222-3333-444455556666", true},
		{"1732178712", true},
		{"load-2026-11-21", false},
		{"2026", false},
		{"50", false},
		{"", false},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (stable_name_only_dates(slice_of(table[i].text)) != table[i].unsteady)
			fail_msg("%s", table[i].text);
}

static void dates_before_the_end_are_taken_out(void **state)
{
	static const char *const table[][2] = {
		{"2026-11-21-load", "load"},
		{"20261121_load", "load"},
		{"load 2026-11-21 eu", "load eu"},
		{"load.2026-11-21T08:45:12Z.eu", "load.eu"},
		{"a-2f1e4d3c-1111-2222-3333-444455556666-b", "a-b"},
		{"2026-11-21_load_2026-11-22_eu", "load_eu"},
		{"load-2026-11-21", "load-2026-11-21"},
		{"2026-11-21", "2026-11-21"},
		{"2026-11-21-", "2026-11-21-"},
		{"v20261121-load", "v20261121-load"},
		{"20261121b-load", "20261121b-load"},
		{"20261121\u00e9-load", "20261121\u00e9-load"},
		{"\u00e920261121-load", "\u00e920261121-load"},
		{"\u00e9-20261121-\u00e9", "\u00e9-\u00e9"},
		{"20261399-load", "20261399-load"},
		{"120261121-load", "120261121-load"},
		{"1732178712-load", "1732178712-load"},
		{"tenant-7-load", "tenant-7-load"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		char name[64];

		snprintf(name, sizeof name, "%s", table[i][0]);
		stable_name_drop_dates(name);
		if (strcmp(name, table[i][1]) != 0)
			fail_msg("%s became %s", table[i][0], name);
	}
}

static void the_shape_of_a_name_hides_what_changes(void **state)
{
	static const struct {
		const char *name, *shape;
		enum name_shape is;
	} table[] = {
		{"etl-2026-11-22", "etl-*", NAME_DATED},
		{"etl-20261122", "etl-*", NAME_DATED},
		{"2026-11-22_etl", "*_etl", NAME_DATED},
		{"load-20261122T03", "load-*", NAME_DATED},
		{"w-2026-W47", "w-*", NAME_DATED},
		{"2026-W47-w", "*-w", NAME_DATED},
		{"d.22.11.2026", "d.*", NAME_DATED},
		{"etl/2026-11-22T03:00:00Z/load", "etl/*/load", NAME_DATED},
		{"manual__2026-11-22T03:00:00+00:00", "manual__*+*:*", NAME_DATED},
		{"job-1699999999", "job-*", NAME_DATED},
		{"job-1699999999123", "job-*", NAME_DATED},
		{"job-5699999999", "job-*", NAME_NUMBERED}, /* a time after 2100 */
		{"job-17", "job-*", NAME_NUMBERED},
		{"job-17 2026-11-22", "job-* *", NAME_DATED},
		{"build-a1b2c3d", "build-*", NAME_DATED},
		{"a-2f1e4d3c-1111-2222-3333-444455556666", "a-*", NAME_DATED},
		{"build-effaced", "build-effaced", NAME_STEADY},
		{"build-decade5", "build-decade5", NAME_STEADY},
		{"build-a1b2", "build-a1b2", NAME_STEADY},
		{"build-a1b2c3x", "build-a1b2c3x", NAME_STEADY},
		{"train-v2", "train-v2", NAME_STEADY},
		{"etl/load", "etl/load", NAME_STEADY},
		{"\u00e920261122", "\u00e920261122", NAME_STEADY},
		{"", "", NAME_STEADY},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		char shape[64];
		enum name_shape is = stable_name_shape(table[i].name, shape);

		if (strcmp(shape, table[i].shape) != 0 || is != table[i].is)
			fail_msg("%s: %s, %d", table[i].name, shape, (int)is);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_differs_between_runs_is_in_no_name),
		cmocka_unit_test(what_changes_is_taken_off_a_name),
		cmocka_unit_test(what_the_owner_of_a_pod_added_is_taken_off),
		cmocka_unit_test(name_of_a_pod_tells_which_kind_of_owner_made_it),
		cmocka_unit_test(dates_and_numbers_of_runs_alone_are_no_name),
		cmocka_unit_test(dates_before_the_end_are_taken_out),
		cmocka_unit_test(the_shape_of_a_name_hides_what_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
