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
	{"Torque, an array", {ENVIRON("PBS_JOBNAME=fit\0PBS_JOBID=7[3].srv\0PBS_ARRAYID=3")}, "fit",
		"7[3].srv", "3"},
	{"Slurm, nothing but a date", {ENVIRON("SLURM_JOB_NAME=2026-11-21\0SLURM_JOB_ID=7")},
		"slurm", "7", ""},
};

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

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

#define MI         1048576.0
#define SLURM      "SLURM_JOB_NAME=a\0SLURM_JOB_ID=1\0"
#define KUBERNETES "RIGHTSIZE_JOB_NAME=a\0KUBERNETES_SERVICE_HOST=10.0.0.1\0"

/* Each job system has its own units: Slurm counts in MiB, and PBS writes 4gb for 2^32 bytes. */
static void what_was_asked_for_is_what_the_node_gives(void **state)
{
	static const struct {
		struct process_text text;
		double cpu_cores, memory_bytes, input_bytes;
	} table[] = {
		{{ENVIRON(SLURM "SLURM_NTASKS=8\0SLURM_CPUS_PER_TASK=2\0SLURM_CPUS_ON_NODE=16")},
			16, NAN, NAN},
		{{ENVIRON(SLURM "SLURM_CPUS_PER_TASK=2")}, 2, NAN, NAN},
		{{ENVIRON(SLURM)}, NAN, NAN, NAN},
		{{ENVIRON(SLURM "SLURM_MEM_PER_NODE=4096")}, NAN, 4096 * MI, NAN},
		{{ENVIRON(SLURM "SLURM_MEM_PER_NODE=8G")}, NAN, 8192 * MI, NAN},
		{{ENVIRON(SLURM "SLURM_CPUS_PER_TASK=4\0SLURM_MEM_PER_CPU=2048")}, 4, 8192 * MI,
			NAN},
		{{ENVIRON(SLURM "SLURM_MEM_PER_CPU=2048\0SLURM_CPUS_ON_NODE=3")}, 3, 6144 * MI,
			NAN},
		{{ENVIRON(SLURM "SLURM_MEM_PER_CPU=2048")}, NAN, NAN, NAN},
		{{ENVIRON(SLURM "SLURM_CPUS_PER_TASK=4\0SLURM_MEM_PER_CPU=2048\0"
				"SLURM_MEM_PER_NODE=1024")},
			4, 1024 * MI, NAN},
		{{ENVIRON(SLURM "SLURM_MEM_PER_NODE=much\0SLURM_CPUS_PER_TASK=x")}, NAN, NAN, NAN},
		{{ENVIRON("LSB_JOBNAME=fit[1-9]\0LSB_JOBID=1\0LSB_DJOB_NUMPROC=6")}, 6, NAN, NAN},
		{{ENVIRON("PBS_JOBNAME=a\0PBS_JOBID=1.srv\0NCPUS=3\0PBS_RESC_MEM=4gb")}, 3,
			4096 * MI, NAN},
		{{ENVIRON("PBS_JOBNAME=a\0PBS_JOBID=1.srv\0PBS_NUM_PPN=5\0NCPUS=3\0"
			  "PBS_RESC_MEM=1048576")},
			5, MI, NAN},
		{{ENVIRON("NCPUS=3\0RIGHTSIZE_JOB_NAME=a")}, NAN, NAN, NAN},
		{{ENVIRON(KUBERNETES "MY_CPU_REQUEST=1\0MY_MEM_REQUEST=67108864")}, 1, 64 * MI,
			NAN},
		{{ENVIRON(KUBERNETES "KUBERNETES_CPU_REQUEST=500m\0KUBERNETES_MEMORY_REQUEST=4Gi")},
			0.5, 4096 * MI, NAN},
		{{ENVIRON(KUBERNETES "CPU_REQUEST=2\0MEMORY_REQUEST=8G")}, 2, 8e9, NAN},
		{{ENVIRON(KUBERNETES SLURM
			 "SLURM_CPUS_PER_TASK=4\0CPU_REQUEST=2\0MEM_REQUEST=1Gi")},
			4, NAN, NAN},
		{{ENVIRON("RIGHTSIZE_JOB_NAME=a\0CPU_REQUEST=2\0MEM_REQUEST=8G")}, NAN, NAN, NAN},
		{{ENVIRON(KUBERNETES "CPU_REQUEST=2\0MEM_REQUEST=8G\0RIGHTSIZE_REQUEST_CPU=250m\0"
				     "RIGHTSIZE_REQUEST_MEMORY=1GB")},
			0.25, 1e9, NAN},
		/* A wrong value of the user is ignored, also one out of bounds. */
		{{ENVIRON(SLURM "SLURM_CPUS_ON_NODE=3\0SLURM_MEM_PER_NODE=4096\0"
				"RIGHTSIZE_REQUEST_CPU=0\0RIGHTSIZE_REQUEST_MEMORY=1e300\0"
				"RIGHTSIZE_INPUT_BYTES=1e19")},
			3, 4096 * MI, NAN},
		{{ENVIRON(KUBERNETES "CPU_REQUEST=2\0MEM_REQUEST=8G\0RIGHTSIZE_REQUEST_CPU=1e9\0"
				     "RIGHTSIZE_REQUEST_MEMORY=0")},
			2, 8e9, NAN},
		{{ENVIRON(SLURM "SLURM_CPUS_ON_NODE=0\0SLURM_MEM_PER_NODE=0")}, NAN, NAN, NAN},
		/* The batch system around a workflow system knows the request. */
		{{ENVIRON("METAFLOW_FLOW_NAME=f\0METAFLOW_STEP_NAME=s\0METAFLOW_RUN_ID=1\0" SLURM
			  "SLURM_CPUS_PER_TASK=4\0SLURM_MEM_PER_NODE=4096")},
			4, 4096 * MI, NAN},
		{{ENVIRON("RIGHTSIZE_JOB_NAME=a\0SLURM_JOB_ID=1\0SLURM_CPUS_PER_TASK=4\0"
			  "SLURM_MEM_PER_CPU=1024")},
			4, 4096 * MI, NAN},
		{{ENVIRON("RIGHTSIZE_JOB_NAME=a\0LSB_JOBID=1\0LSB_DJOB_NUMPROC=6")}, 6, NAN, NAN},
		{{ENVIRON("RIGHTSIZE_JOB_NAME=a\0PBS_JOBID=1\0NCPUS=6\0PBS_RESC_MEM=4gb")}, 6,
			4096 * MI, NAN},
		{{ENVIRON("RIGHTSIZE_JOB_NAME=a\0PBS_JOBID=1\0SLURM_CPUS_PER_TASK=6")}, NAN, NAN,
			NAN},
		{{ENVIRON("RIGHTSIZE_JOB_NAME=a\0RIGHTSIZE_INPUT_BYTES=0")}, NAN, NAN, 0},
		{{ENVIRON("RIGHTSIZE_JOB_NAME=a\0RIGHTSIZE_INPUT_BYTES=2Gi")}, NAN, NAN, 2048 * MI},
		{{ENVIRON("RIGHTSIZE_JOB_NAME=a\0RIGHTSIZE_INPUT_BYTES=")}, NAN, NAN, NAN},
		{{ENVIRON("RIGHTSIZE_JOB_NAME=a\0RIGHTSIZE_INPUT_BYTES=much")}, NAN, NAN, NAN},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct recognised r, wrapped;

		assert_true(recognise(&table[i].text, &r));
		if (!same(r.cpu_cores, table[i].cpu_cores) ||
			!same(r.memory_bytes, table[i].memory_bytes) ||
			!same(r.input_bytes, table[i].input_bytes))
			fail_msg("%zu: %g cores, %g bytes, input %g", i, r.cpu_cores,
				r.memory_bytes, r.input_bytes);
		assert_true(recognise_wrapped(&table[i].text, &wrapped));
		assert_string_equal(wrapped.job_name, r.job_name);
	}
}

static void a_command_that_names_no_job_has_its_numbers(void **state)
{
	const struct process_text text = {
		ENVIRON("RIGHTSIZE_REQUEST_CPU=2\0RIGHTSIZE_ATTEMPT=3\0SLURM_MEM_PER_NODE=1")};
	struct recognised r = {.job_name = "left over"};

	assert_false(recognise(&text, &r));
	assert_string_equal(r.job_name, "left over");
	assert_false(recognise_wrapped(&text, &r));
	assert_string_equal(r.job_name, "");
	assert_string_equal(r.system, "environment");
	assert_double_equal(r.cpu_cores, 2, 0);
	assert_double_equal(r.attempt, 3, 0);
	assert_true(isnan(r.memory_bytes) && isnan(r.input_bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(different_jobs_keep_their_names),
		cmocka_unit_test(what_was_asked_for_is_what_the_node_gives),
		cmocka_unit_test(a_command_that_names_no_job_has_its_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
