/* collectors/naming/recognise.c: what each job system leaves in a process, and the resulting job
 * name. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "collectors/naming/process_words.h"
#include "tests/support/process_texts.h"

static const struct {
	const char *what;
	struct process_text text;
	const char *system, *job_name, *run, *task, *labels;
	double attempt;
} cases[] = {
	{"our own variable", {ENVIRON("A=1\0RIGHTSIZE_JOB_NAME=etl/load")}, "environment",
		"etl/load", "", "", "", NAN},
	{"our own variable wins, the rest stays",
		{ENVIRON(
			"AIRFLOW_CTX_DAG_ID=d\0AIRFLOW_CTX_TASK_ID=t\0AIRFLOW_CTX_DAG_RUN_ID=r\0AIRFLOW_CTX_TRY_NUMBER=2\0RIGHTSIZE_JOB_NAME=mine")},
		"airflow", "mine", "r", "", "dag=d task=t ", 2},
	{"Metaflow on Argo",
		{ENVIRON("METAFLOW_FLOW_NAME=TrainFlow\0METAFLOW_STEP_NAME=fit\0"
			 "METAFLOW_RUN_ID=argo-trainflow-x7k2p\0METAFLOW_RETRY_COUNT=1\0"
			 "ARGO_TEMPLATE={\"name\":\"fit\"}\0ARGO_NODE_ID=trainflow-x7k2p-1")},
		"metaflow", "TrainFlow/fit", "argo-trainflow-x7k2p", "", "flow=TrainFlow step=fit ",
		2},
	{"Metaflow's own remote tasks", {ENVIRON("MF_PATHSPEC=TrainFlow/12/fit/34\0MF_ATTEMPT=0")},
		"metaflow", "TrainFlow/fit", "12", "34", "flow=TrainFlow step=fit ", 1},
	{"Metaflow on this machine",
		{COMMAND("python\0-u\0/x/train.py\0--quiet\0--metadata\0local\0step\0fit\0"
			 "--run-id\0"
			 "1700000000000000\0--task-id\0"
			 "3\0--retry-count\0"
			 "0")},
		"metaflow", "train/fit", "1700000000000000", "3", "flow=train step=fit ", 1},
	{"Metaflow on this machine, with its script",
		{COMMAND("python\0-u\0/x/train.py\0--quiet\0step\0fit\0--run-id\0"
			 "12"),
			FILE_TEXT("from metaflow import FlowSpec\n"
				  "class Base(FlowSpec):\n    def load(self):\n        load()\n"
				  "class TrainFlow(Base):\n    x = Base()\n"
				  "if __name__ == '__main__':\n    TrainFlow()\n")},
		"metaflow", "TrainFlow/fit", "12", "", "flow=TrainFlow step=fit ", NAN},
	{"Flyte",
		{ENVIRON("FLYTE_INTERNAL_EXECUTION_WORKFLOW=shop:production:etl.daily\0"
			 "FLYTE_INTERNAL_TASK_NAME=etl.load\0FLYTE_INTERNAL_EXECUTION_ID=f3a\0"
			 "FLYTE_ATTEMPT_NUMBER=0\0FLYTE_INTERNAL_EXECUTION_PROJECT=shop\0"
			 "FLYTE_INTERNAL_EXECUTION_DOMAIN=production")},
		"flyte", "etl.daily/etl.load", "f3a", "",
		"workflow=etl.daily task=etl.load project=shop domain=production ", 1},
	{"Airflow's shell tasks",
		{ENVIRON("AIRFLOW_CTX_DAG_ID=daily\0AIRFLOW_CTX_TASK_ID=extract.load\0"
			 "AIRFLOW_CTX_DAG_RUN_ID=scheduled__2026-11-21T00:00:00+00:00\0"
			 "AIRFLOW_CTX_TRY_NUMBER=3")},
		"airflow", "daily/extract.load", "scheduled__2026-11-21T00:00:00+00:00", "",
		"dag=daily task=extract.load ", 3},
	{"Airflow's task command",
		{COMMAND("/usr/bin/python3\0/usr/local/bin/airflow\0tasks\0run\0daily\0load\0"
			 "manual__1\0--local\0--subdir\0x")},
		"airflow", "daily/load", "manual__1", "", "dag=daily task=load ", NAN},
	{"Airflow's process title", {COMMAND("airflow task runner: daily load manual__1 12")},
		"airflow", "daily/load", "manual__1", "", "dag=daily task=load ", NAN},
	{"Kubeflow Pipelines",
		{COMMAND("/kfp-launcher/launch\0--pipeline_name\0churn\0--run_id\0"
			 "5d0f\0"
			 "--execution_id\0"
			 "77\0--\0python3\0-m\0kfp.dsl.executor_main\0"
			 "--function_to_execute\0train"),
			ENVIRON("ARGO_TEMPLATE={\"name\":\"system-container-impl\"}")},
		"kubeflow", "churn/train", "5d0f", "77", "pipeline=churn component=train ", NAN},
	{"Kubeflow Pipelines' components that are no function",
		{COMMAND("/kfp-launcher/launch\0--pipeline_name\0churn\0--run_id\0"
			 "5d0f\0"
			 "--execution_id\0"
			 "78\0--component_spec\0"
			 "{\"inputDefinitions\":{\"executorLabel\":\"no\"},\"executorLabel\":"
			 "\"exec-load\"}\0"
			 "--\0load.sh")},
		"kubeflow", "churn/load", "5d0f", "78", "pipeline=churn component=load ", NAN},
	{"Argo Workflows",
		{ENVIRON("ARGO_TEMPLATE={\"inputs\":{\"name\":\"no\"},\"name\":\"load\"}\0"
			 "ARGO_NODE_ID=etl-x7k2p-1234567890\0ARGO_CONTAINER_NAME=main")},
		"argo", "etl/load", "etl-x7k2p-1234567890", "etl-x7k2p-1234567890",
		"workflow=etl template=load ", NAN},
	{"Argo Workflows 3.5 and later, the template in a file",
		{ENVIRON("ARGO_CONTAINER_NAME=main\0ARGO_NODE_ID=etl-x7k2p-1234567890\0"
			 "ARGO_WORKFLOW_NAME=etl-x7k2p"),
			FILE_TEXT("{\"name\":\"load\",\"inputs\":{}}")},
		"argo", "etl/load", "etl-x7k2p", "etl-x7k2p-1234567890",
		"workflow=etl template=load ", NAN},
	{"Argo's cron workflows",
		{ENVIRON("ARGO_TEMPLATE={ \"name\" : \"load\" "
			 "}\0ARGO_WORKFLOW_NAME=etl-1732147200\0ARGO_NODE_ID=etl-1732147200-99")},
		"argo", "etl/load", "etl-1732147200", "etl-1732147200-99",
		"workflow=etl template=load ", NAN},
	{"Dagster",
		{ENVIRON("DAGSTER_RUN_JOB_NAME=daily\0DAGSTER_RUN_STEP_KEY=load[3]"),
			POD("dagster/run-id=u")},
		"dagster", "daily/load", "u", "load[3]", "job=daily step=load ", NAN},
	{"Prefect",
		{ENVIRON("PREFECT__FLOW_NAME=etl\0PREFECT__DEPLOYMENT_NAME=nightly\0"
			 "PREFECT__FLOW_RUN_ID=u")},
		"prefect", "etl/nightly", "u", "", "flow=etl deployment=nightly ", NAN},
	{"Prefect's flows that wait for their runs",
		{ENVIRON("PREFECT__FLOW_ENTRYPOINT=flows/etl.py:load\0PREFECT__FLOW_RUN_ID=u")},
		"prefect", "load", "u", "", "flow=load ", NAN},
	{"Nextflow",
		{ENVIRON("NXF_TASK_WORKDIR=/x/ab/cd"),
			FILE_TEXT("#!/bin/bash\n### ---\n### name: 'RNA:ALIGN (sample 1)'\n### "
				  "...\nset -e\n")},
		"nextflow", "RNA:ALIGN", "", "/x/ab/cd", "process=RNA:ALIGN ", NAN},
	{"Nextflow's processes that run once",
		{FILE_TEXT("#!/bin/bash\n### ---\n### name: 'RNA:REPORT'\n")}, "nextflow",
		"RNA:REPORT", "", "", "process=RNA:REPORT ", NAN},
	{"Nextflow up to 22.10",
		{ENVIRON("NXF_TASK_WORKDIR=/x/ab/cd"),
			FILE_TEXT("#!/bin/bash\n### ---\n# NEXTFLOW TASK: RNA:ALIGN (sample "
				  "1)\nset -e\n")},
		"nextflow", "RNA:ALIGN", "", "/x/ab/cd", "process=RNA:ALIGN ", NAN},
	{"Snakemake's jobs",
		{COMMAND("python\0-m\0snakemake\0--target-jobs\0align:sample=A\0--cores\0"
			 "1")},
		"snakemake", "snakemake/align", "", "", "rule=align ", NAN},
	{"Snakemake's job scripts", {COMMAND("/bin/sh\0/x/.snakemake/tmp.k/snakejob.align.12.sh")},
		"snakemake", "snakemake/align", "", "", "rule=align ", NAN},
	{"Ray's workers", {COMMAND("ray::train_one"), ENVIRON("RAY_JOB_ID=01000000")}, "ray",
		"ray/train_one", "01000000", "", "task=train_one ", NAN},
	{"Spark's drivers",
		{COMMAND("java\0-cp\0x\0org.apache.spark.deploy.SparkSubmit\0--name\0"
			 "daily-2026-11-21\0etl.py")},
		"spark", "daily", "", "", "application=daily ", NAN},
	{"Slurm",
		{ENVIRON(
			"SLURM_JOB_NAME=train_2026-11-21\0SLURM_JOB_ID=103\0SLURM_ARRAY_JOB_ID=100\0SLURM_ARRAY_TASK_ID=3\0SLURM_RESTART_COUNT=1\0SLURM_JOB_PARTITION=gpu")},
		"slurm", "train", "100", "3", "job=train partition=gpu ", 2},
	{"LSF", {ENVIRON("LSB_JOBNAME=fit[1-9]\0LSB_JOBID=7\0LSB_JOBINDEX=3\0LSB_QUEUE=long")},
		"lsf", "fit", "7", "3", "job=fit queue=long ", NAN},
	{"PBS", {ENVIRON("PBS_JOBNAME=fit\0PBS_JOBID=7[3].srv\0PBS_ARRAY_INDEX=3\0PBS_QUEUE=long")},
		"pbs", "fit", "7[3].srv", "3", "job=fit queue=long ", NAN},
	{"AWS Batch",
		{ENVIRON(
			"AWS_BATCH_JQ_NAME=nightly\0AWS_BATCH_JOB_ID=u:3\0AWS_BATCH_JOB_ARRAY_INDEX=3\0AWS_BATCH_JOB_ATTEMPT=1\0AWS_BATCH_CE_NAME=spot")},
		"aws-batch", "nightly", "u:3", "3", "queue=nightly compute_environment=spot ", 1},
	{"SageMaker",
		{ENVIRON("TRAINING_JOB_NAME=churn-2026-11-21-08-45-12-123\0TRAINING_JOB_ARN=arn")},
		"sagemaker", "churn", "churn-2026-11-21-08-45-12-123", "", "training_job=churn ",
		NAN},
	{"SageMaker's toolkit",
		{ENVIRON(
			"TRAINING_JOB_NAME=churn-2026-11-21-08-45-12-123\0SM_CURRENT_HOST=algo-1")},
		"sagemaker", "churn", "churn-2026-11-21-08-45-12-123", "", "training_job=churn ",
		NAN},
	{"GitHub Actions",
		{ENVIRON("GITHUB_REPOSITORY=o/r\0GITHUB_WORKFLOW=CI\0GITHUB_JOB=test\0"
			 "GITHUB_RUN_ID=9\0GITHUB_RUN_ATTEMPT=2\0RUNNER_TRACKING_ID=github_u")},
		"github-actions", "o/r/CI/test", "9", "github_u",
		"repository=o/r workflow=CI job=test ", 2},
	{"GitLab CI",
		{ENVIRON("GITLAB_CI=true\0CI_PROJECT_PATH=g/p\0CI_JOB_NAME=test 3/5\0"
			 "CI_JOB_STAGE=check\0CI_PIPELINE_ID=7\0CI_JOB_ID=71")},
		"gitlab-ci", "g/p/test", "7", "71", "project=g/p job=test stage=check ", NAN},
	{"Buildkite",
		{ENVIRON("BUILDKITE_PIPELINE_SLUG=app\0BUILDKITE_STEP_KEY=test\0"
			 "BUILDKITE_ORGANIZATION_SLUG=o\0BUILDKITE_BUILD_ID=u\0"
			 "BUILDKITE_JOB_ID=v\0BUILDKITE_RETRY_COUNT=0")},
		"buildkite", "app/test", "u", "v", "pipeline=app step=test organization=o ", 1},
	{"Jenkins",
		{ENVIRON(
			"JOB_NAME=folder/app\0STAGE_NAME=Test\0BUILD_TAG=jenkins-folder-app-12\0BUILD_NUMBER=12")},
		"jenkins", "folder/app/Test", "jenkins-folder-app-12", "",
		"job=folder/app stage=Test ", NAN},
	{"a pod of Kubernetes",
		{POD("app=web\0pod.name=web-6d5f7c8b9d-x7k2p\0pod.namespace=shop\0pod.uid=u")},
		"kubernetes", "web", "u", "", "app=web namespace=shop ", NAN},
	{"a pod of Argo, by its labels",
		{POD("workflows.argoproj.io/workflow=etl-x7k2p\0pod.uid=u")}, "argo", "etl",
		"etl-x7k2p", "u", "workflow=etl ", NAN},
};

static void add_labels(const struct recognised *r, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < r->n_labels; i++)
		n += (size_t)snprintf(out + n, size - n, "%s=%s ", r->label[i].name,
			r->label[i].value);
}

static void each_system_gives_its_name(void **state)
{
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct recognised r;
		char labels[JOB_LABELS_MAX * (JOB_WORD_MAX + 40)];

		if (!recognise(&cases[i].text, &r))
			fail_msg("%s: not recognised", cases[i].what);
		add_labels(&r, labels, sizeof labels);
		if (strcmp(r.system, cases[i].system) != 0 ||
			strcmp(r.job_name, cases[i].job_name) != 0 ||
			strcmp(r.run, cases[i].run) != 0 || strcmp(r.task, cases[i].task) != 0 ||
			strcmp(labels, cases[i].labels) != 0)
			fail_msg("%s: %s \"%s\" run \"%s\" task \"%s\" labels \"%s\"",
				cases[i].what, r.system, r.job_name, r.run, r.task, labels);
		if (!(isnan(r.attempt) && isnan(cases[i].attempt)) && r.attempt != cases[i].attempt)
			fail_msg("%s: attempt %g", cases[i].what, r.attempt);
	}
}

static void every_system_is_tried_here(void **state)
{
	for (size_t i = 0; naming_systems[i].name; i++) {
		bool seen = false;

		for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
			seen = seen || strcmp(cases[k].system, naming_systems[i].name) == 0;
		if (!seen)
			fail_msg("no case for %s", naming_systems[i].name);
	}
}

static void ordinary_processes_have_no_name(void **state)
{
	static const struct process_text texts[] = {
		{.environment = {NULL, 0}},
		{ENVIRON("PATH=/bin\0JOB_NAME=x\0BUILD_NUMBER=1")},
		{ENVIRON("RIGHTSIZE_JOB_NAME=")},
		{ENVIRON("RIGHTSIZE_JOB_NAMES=x\0XRIGHTSIZE_JOB_NAME=x\0RIGHTSIZE_JOB=x")},
		{ENVIRON("METAFLOW_FLOW_NAME=a\0METAFLOW_RUN_ID=1")},
		{ENVIRON("MF_PATHSPEC=a/1//2")},
		{ENVIRON("ARGO_TEMPLATE={\"inputs\":{\"name\":\"x\"}}\0ARGO_NODE_ID=a")},
		{ENVIRON("ARGO_TEMPLATE={\"name\":\"x\0ARGO_NODE_ID=a")},
		{ENVIRON("ARGO_NODE_ID=a"), FILE_TEXT("no object")},
		{ENVIRON("PREFECT__FLOW_RUN_ID=u")},
		{ENVIRON("TRAINING_JOB_NAME=x")},
		{COMMAND("launch\0--pipeline_name\0x\0--component_spec\0{}")},
		{FILE_TEXT("### name: ''\n")},
		{COMMAND("airflow\0tasks\0list\0daily")},
		{COMMAND("python\0walk.py\0step\0one")},
		{COMMAND("ray::IDLE"), ENVIRON("RAY_JOB_ID=01")},
		{COMMAND("snakejob.sh")},
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct recognised r;

		if (recognise(&texts[i], &r))
			fail_msg("number %zu is %s of %s", i, r.job_name, r.system);
	}
}

/* The file of a flow has the name of its class. Without the file, the flow is named after it. */
static void the_name_without_the_file_is_the_former_one(void **state)
{
	static const struct {
		struct process_text text;
		const char *former;
	} table[] = {
		{{COMMAND("python\0train.py\0step\0fit\0--run-id\0"
			  "12"),
			 FILE_TEXT("class TrainFlow(FlowSpec):\n    pass\nTrainFlow()\n")},
			"train/fit"},
		{{COMMAND("python\0train.py\0step\0fit\0--run-id\0"
			  "12"),
			 FILE_TEXT("class train(FlowSpec):\n    pass\ntrain()\n")},
			""},
		{{COMMAND("python\0train.py\0step\0fit\0--run-id\0"
			  "12"),
			 FILE_TEXT("pass\n")},
			""},
		{{ENVIRON("NXF_TASK_WORKDIR=/x\0SLURM_JOB_NAME=nf-ALIGN\0SLURM_JOB_ID=7"),
			 FILE_TEXT("### name: 'ALIGN (1)'\n")},
			""},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct recognised r;

		assert_true(recognise(&table[i].text, &r));
		assert_string_equal(r.former_name, table[i].former);
	}
}

static void hostile_names_are_made_fit_to_show(void **state)
{
	static char big[5000] = "RIGHTSIZE_JOB_NAME=";
	struct process_text control = {ENVIRON("RIGHTSIZE_JOB_NAME=a\nb\x7f\xff")};
	struct process_text text = {.environment = {big, sizeof big}};
	struct recognised r, other;

	assert_true(recognise(&control, &r));
	assert_string_equal(r.job_name, "a_b_\xef\xbf\xbd");
	memset(big + strlen(big), 'x', sizeof big - strlen(big) - 1);
	assert_true(recognise(&text, &r));
	assert_true(strlen(r.job_name) < JOB_NAME_MAX);
	big[sizeof big - 2] = 'y';
	assert_true(recognise(&text, &other));
	assert_string_not_equal(r.job_name, other.job_name);
}

static void variables_are_sorted(void **state)
{
	for (size_t i = 1; i < VARIABLE_COUNT; i++)
		if (strcmp(naming_variables[i - 1], naming_variables[i]) >= 0)
			fail_msg("%s before %s", naming_variables[i - 1], naming_variables[i]);
}

static void runs_are_the_same_when_no_word_differs(void **state)
{
	struct recognised a = {.system = "s", .job_name = "j", .run = "1", .attempt = NAN}, b = a;

	assert_true(recognised_same(&a, &b));
	b.attempt = 2;
	memcpy(b.task, "7", 2);
	assert_true(recognised_same(&a, &b));
	a.attempt = 1;
	assert_false(recognised_same(&a, &b));
	b.attempt = 1;
	memcpy(b.run, "2", 2);
	assert_false(recognised_same(&a, &b));
}

static void files_are_asked_for_where_the_name_is_in_one(void **state)
{
	static const struct {
		struct process_text text;
		const char *paths;
	} table[] = {
		{{COMMAND("/bin/bash\0-ue\0/x/ab/cd/.command.sh")}, "root/x/ab/cd/.command.run "},
		{{COMMAND("bash\0.command.run")}, "cwd/.command.run "},
		{{COMMAND("bash\0../.command.run")}, ""},
		{{COMMAND("bash\0-c\0true")}, ""},
		{{COMMAND("python\0-u\0flows/train.py\0--quiet\0step\0fit\0--run-id\0"
			  "12")},
			"cwd/flows/train.py "},
		{{COMMAND("python\0/x/train.py\0step\0fit")}, ""},
		{{COMMAND("python\0/x/train.py\0step\0fit\0--run-id\0"
			  "12"),
			 ENVIRON("METAFLOW_FLOW_NAME=TrainFlow")},
			""},
		{{ENVIRON("ARGO_NODE_ID=etl-x7k2p-1")},
			"root/var/run/argo/template root/run/argo/template "},
		{{ENVIRON("ARGO_NODE_ID=etl-x7k2p-1\0ARGO_TEMPLATE={}")}, ""},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		char path[200], all[400] = "";
		size_t n = 0;

		for (size_t k = 0; recognise_file(&table[i].text, k, path, sizeof path); k++)
			n += (size_t)snprintf(all + n, sizeof all - n, "%s ", path);
		assert_string_equal(all, table[i].paths);
	}
}

static void exporters_are_known(void **state)
{
	assert_true(recognise_is_exporter((struct slice)TEXT("/usr/bin/rightsize-exporter\0run")));
	assert_true(recognise_is_exporter((struct slice)TEXT("rightsize-exporter")));
	assert_false(recognise_is_exporter((struct slice)TEXT("sh\0rightsize-exporter")));
	assert_true(recognise_is_wrapper((struct slice)TEXT("x\0run\0--job-name=a")));
	assert_false(recognise_is_wrapper((struct slice)TEXT("run\0serve")));
	assert_false(recognise_is_wrapper((struct slice)TEXT("rightsize-exporter")));
	assert_false(recognise_is_wrapper((struct slice){NULL, 0}));
}

static void helpers_are_declared_by_one_value_of_a_variable(void **state)
{
	assert_true(recognise_declares_helper((struct slice)TEXT("RIGHTSIZE_HELPER=1")));
	assert_true(recognise_declares_helper((struct slice)TEXT("A=1\0RIGHTSIZE_HELPER=1\0B=2")));
	assert_false(recognise_declares_helper((struct slice)TEXT("A=1\0RIGHTSIZE_HELPER=0")));
	assert_false(recognise_declares_helper((struct slice)TEXT("A=1\0RIGHTSIZE_HELPER=")));
	assert_false(recognise_declares_helper((struct slice)TEXT("A=RIGHTSIZE_HELPER=1")));
	assert_false(recognise_declares_helper((struct slice){NULL, 0}));
}

/* Only the name of the option is kept: its value may be secret. */
static void options_of_the_heap_are_named(void **state)
{
	static const struct {
		struct process_text text;
		const char *labels;
	} table[] = {
		{{COMMAND("java\0-XX:MaxRAMPercentage=80\0-jar\0a.jar")},
			"heap_share_option=MaxRAMPercentage "},
		{{COMMAND("java\0-Xmx4g\0-jar\0a.jar")}, "heap_size_option=Xmx "},
		{{COMMAND("node\0--max-old-space-size=4096\0a.js")},
			"heap_size_option=max-old-space-size "},
		{{COMMAND("spark-submit\0--conf\0spark.executor.memory=4g\0a.py")},
			"heap_size_option=spark.executor.memory "},
		{{COMMAND("java\0-Xms4g\0-jar\0a.jar")}, ""},
		{{COMMAND("-Xmx4g\0a")}, ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct recognised r;
		char labels[256];

		recognise_wrapped(&table[i].text, &r);
		add_labels(&r, labels, sizeof labels);
		assert_string_equal(labels, table[i].labels);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_of_the_heap_are_named),
		cmocka_unit_test(each_system_gives_its_name),
		cmocka_unit_test(every_system_is_tried_here),
		cmocka_unit_test(ordinary_processes_have_no_name),
		cmocka_unit_test(the_name_without_the_file_is_the_former_one),
		cmocka_unit_test(hostile_names_are_made_fit_to_show),
		cmocka_unit_test(variables_are_sorted),
		cmocka_unit_test(runs_are_the_same_when_no_word_differs),
		cmocka_unit_test(files_are_asked_for_where_the_name_is_in_one),
		cmocka_unit_test(exporters_are_known),
		cmocka_unit_test(helpers_are_declared_by_one_value_of_a_variable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
