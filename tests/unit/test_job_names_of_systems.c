/* collectors/naming/recognise.c: different jobs keep different names, regardless of other data of
 * their processes and pods. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/naming/recognise.h"
#include "tests/support/process_texts.h"

#define SUBMIT  "java\0-cp\0x\0org.apache.spark.deploy.SparkSubmit\0"
#define JENKINS "BUILD_TAG=t\0BUILD_NUMBER=12\0JOB_NAME="
#define GITLAB  "GITLAB_CI=true\0CI_PROJECT_PATH=g/p\0CI_JOB_ID=71\0CI_JOB_NAME="

static const struct {
	const char *what;
	struct process_text text;
	const char *job_name, *run, *task;
} cases[] = {
	{"Spark, Python in a driver of Kubernetes",
		{COMMAND(SUBMIT
			"--conf\0spark.driver.bindAddress=10.0.0.1\0--deploy-mode\0client\0"
			"--properties-file\0F\0--class\0org.apache.spark.deploy.PythonRunner\0"
			"local:///opt/jobs/train_model.py\0--date\0"
			"2026-11-21")},
		"train_model", "", ""},
	{"Spark, the pod tells the name",
		{COMMAND(SUBMIT
			 "--deploy-mode\0client\0--class\0org.apache.spark.deploy.PythonRunner\0local:///x/etl.py"),
			POD("spark-app-name=nightly\0spark-role=driver\0spark-app-selector=spark-"
			    "1")},
		"nightly/driver", "spark-1", ""},
	{"Spark, the pod alone",
		{POD("spark-app-name=nightly\0spark-role=driver\0spark-app-selector=spark-1")},
		"nightly/driver", "spark-1", ""},
	{"Spark, R", {COMMAND(SUBMIT "--class\0org.apache.spark.deploy.RRunner\0/x/fit.R")}, "fit",
		"", ""},
	{"Spark, modules beside the file", {COMMAND(SUBMIT "--py-files\0/x/deps.py\0/x/etl.py")},
		"etl", "", ""},
	{"Spark, libraries beside the file", {COMMAND(SUBMIT "--jars\0/x/dep.jar\0/x/etl.jar")},
		"etl", "", ""},
	{"Spark, a name by configuration",
		{COMMAND(SUBMIT "--conf\0spark.a=b\0--conf\0spark.app.name=nightly\0--class\0"
				"com.x.Main\0/x/all.jar")},
		"nightly", "", ""},
	{"Spark, options with their values in one",
		{COMMAND(SUBMIT "--master=yarn\0--conf=spark.app.name=nightly\0/x/a.jar")},
		"nightly", "", ""},
	{"Spark, a class", {COMMAND(SUBMIT "--verbose\0--class\0com.x.Main\0/x/all.jar")},
		"com.x.Main", "", ""},
	{"Spark, the application's own arguments",
		{COMMAND(SUBMIT "--supervise\0/x/etl.py\0--name\0run-77\0--conf\0spark.app.name=x\0"
				"other.py")},
		"etl", "", ""},
	{"GitLab, a job of its own in front of a matrix",
		{ENVIRON(GITLAB "linux:rspec: [aws, monitoring]")}, "g/p/linux:rspec", "", "71"},
	{"GitLab, another in front of the same", {ENVIRON(GITLAB "linux:build: [aws, monitoring]")},
		"g/p/linux:build", "", "71"},
	{"GitLab, brackets of the name", {ENVIRON(GITLAB "test [a]")}, "g/p/test [a]", "", "71"},
	{"GitLab, a version", {ENVIRON(GITLAB "py 3.12 2/5")}, "g/p/py 3.12", "", "71"},
	{"GitLab, a number", {ENVIRON(GITLAB "python 2 2/5")}, "g/p/python 2", "", "71"},
	{"GitLab, another number", {ENVIRON(GITLAB "python 3 2/5")}, "g/p/python 3", "", "71"},
	{"GitLab, a fraction of the name", {ENVIRON(GITLAB "part1/2")}, "g/p/part1/2", "", "71"},
	{"GitLab, a date", {ENVIRON(GITLAB "load-2026-11-21")}, "g/p/load", "", "71"},
	{"GitLab, nothing but a date", {ENVIRON(GITLAB "2026-11-21")}, "g/p", "", "71"},
	{"Flyte, an element of a map",
		{ENVIRON(
			"FLYTE_INTERNAL_EXECUTION_WORKFLOW=p:d:etl\0FLYTE_INTERNAL_TASK_NAME=load\0FLYTE_INTERNAL_EXECUTION_ID=f\0FLYTE_K8S_ARRAY_INDEX=1")},
		"etl/load", "f", "1"},
	{"Argo, a date",
		{ENVIRON("ARGO_WORKFLOW_NAME=etl-2026-11-21\0ARGO_NODE_ID=etl-2026-11-21-9\0"
			 "ARGO_TEMPLATE={\"name\":\"load\"}")},
		"etl/load", "etl-2026-11-21", "etl-2026-11-21-9"},
	{"Argo, numbers of names",
		{ENVIRON("ARGO_WORKFLOW_NAME=train-resnet-50\0ARGO_NODE_ID=n\0"
			 "ARGO_TEMPLATE={\"name\":\"fit-llama-3\"}")},
		"train-resnet-50/fit-llama-3", "train-resnet-50", "n"},
	{"Argo, a template that people named",
		{POD("workflows.argoproj.io/workflow-template=train-lstm2\0workflows.argoproj.io/workflow=train-lstm2-x7k2p\0pod.uid=u")},
		"train-lstm2", "train-lstm2-x7k2p", "u"},
	{"Airflow, options first",
		{COMMAND("airflow\0tasks\0run\0--map-index\0"
			 "3\0--local\0etl\0--pool\0p\0"
			 "load\0r1")},
		"etl/load", "r1", "3"},
	{"Kubernetes, a job of a day", {POD("job-name=load-2026-11-21\0pod.uid=u")}, "load", "u",
		""},
	{"Kubernetes, a pod of a day", {POD("pod.name=load-2026-11-21-x7k2p\0pod.uid=u")}, "load",
		"u", ""},
	{"Kubernetes, a number of a name",
		{POD("app.kubernetes.io/name=resnet-50\0pod.name=resnet-50-0\0pod.uid=u")},
		"resnet-50", "u", ""},
	{"Kubernetes, another label", {POD("app=llama-3\0pod.uid=u")}, "llama-3", "u", ""},
	{"Kubernetes, a job of people", {POD("job-name=resnet-50\0pod.uid=u")}, "resnet-50", "u",
		""},
	{"Kubernetes, an index of a job without labels of its name",
		{POD("batch.kubernetes.io/job-completion-index=3\0pod.name=sweep-3-x7k2p\0"
		     "pod.uid=u")},
		"sweep", "u", ""},
	{"Kubernetes, a stateful set",
		{POD("statefulset.kubernetes.io/pod-name=resnet-50-0\0pod.name=resnet-50-0\0pod.uid=u")},
		"resnet-50", "u", ""},
	{"Kubernetes, a pod that people named",
		{POD("run=resnet-50\0pod.name=resnet-50\0pod.uid=u")}, "resnet-50", "u", ""},
	{"Kubernetes, a component that is a date",
		{POD("app=load\0app.kubernetes.io/component=2026-11-21\0pod.uid=u")}, "load", "u",
		""},
	{"Buildkite, a share with blanks",
		{ENVIRON("BUILDKITE_PIPELINE_SLUG=app\0BUILDKITE_LABEL=py 3.12 2 / 5\0"
			 "BUILDKITE_JOB_ID=v")},
		"app/py 3.12", "", "v"},
	{"Jenkins, a change", {ENVIRON(JENKINS "o/app/PR-12")}, "o/app", "t", ""},
	{"Jenkins, a change as merged", {ENVIRON(JENKINS "o/app/PR-12-merge")}, "o/app", "t", ""},
	{"Jenkins, a branch", {ENVIRON(JENKINS "o/app/main")}, "o/app/main", "t", ""},
	{"Jenkins, a branch like a change", {ENVIRON(JENKINS "o/app/PR-12b")}, "o/app/PR-12b", "t",
		""},
	{"Jenkins, a job like a change", {ENVIRON(JENKINS "PR-12")}, "PR-12", "t", ""},
	{"Ray, an actor at work", {COMMAND("ray::Trainer.fit"), ENVIRON("RAY_JOB_ID=01")},
		"ray/Trainer", "01", ""},
	{"Ray, a task of older versions", {COMMAND("ray::load()"), ENVIRON("RAY_JOB_ID=01")},
		"ray/load", "01", ""},
	{"Slurm, nothing but a date", {ENVIRON("SLURM_JOB_NAME=2026-11-21\0SLURM_JOB_ID=7")},
		"slurm", "7", ""},
};

static void different_jobs_keep_their_names(void **state)
{
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct recognised r;

		if (!recognise(&cases[i].text, &r))
			fail_msg("%s: not recognised", cases[i].what);
		if (strcmp(r.job_name, cases[i].job_name) != 0 ||
			strcmp(r.run, cases[i].run) != 0 || strcmp(r.task, cases[i].task) != 0)
			fail_msg("%s: \"%s\" run \"%s\" task \"%s\"", cases[i].what, r.job_name,
				r.run, r.task);
	}
}

static void what_was_asked_for_is_what_the_node_gives(void **state)
{
	static const struct {
		struct process_text text;
		double cpu_cores;
	} table[] = {
		{{ENVIRON("SLURM_JOB_NAME=a\0SLURM_JOB_ID=1\0SLURM_NTASKS=8\0"
			  "SLURM_CPUS_PER_TASK=2\0SLURM_CPUS_ON_NODE=16")},
			16},
		{{ENVIRON("SLURM_JOB_NAME=a\0SLURM_JOB_ID=1\0SLURM_CPUS_PER_TASK=2")}, 2},
		{{ENVIRON("SLURM_JOB_NAME=a\0SLURM_JOB_ID=1")}, NAN},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct recognised r;

		assert_true(recognise(&table[i].text, &r));
		if (r.cpu_cores != table[i].cpu_cores &&
			!(isnan(r.cpu_cores) && isnan(table[i].cpu_cores)))
			fail_msg("%zu: %g", i, r.cpu_cores);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(different_jobs_keep_their_names),
		cmocka_unit_test(what_was_asked_for_is_what_the_node_gives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
