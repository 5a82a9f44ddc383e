/* The table of systems: the texts that each system leaves in its processes. The comment above a row
 * names the source code or the documentation of that system, with the commit that was read.
 *
 * The first matching row is used, so the systems that describe a step in most detail come first. CI
 * systems and batch queues come last: they describe only the build or the machine, and a step of
 * another system may run inside them. */
#include "collectors/naming/systems.h"

#include <stddef.h>

#define VARIABLE_NAME(name) #name,
const char *const naming_variables[VARIABLE_COUNT] = {RECOGNISED_VARIABLES(VARIABLE_NAME)};

/* Macros that describe where a text comes from, such as the name of a job: from an environment
 * variable, from a part of one, from an option. enum from_kind explains each kind. */
/* clang-format off */
#define ENV(name) {.kind = FROM_ENVIRONMENT, .variable = VARIABLE_##name}
#define TRIMMED_ENV(name, trim_) {.kind = FROM_ENVIRONMENT, .variable = VARIABLE_##name, .trim = (trim_)}
#define PART(name, number) {.kind = FROM_PART, .variable = VARIABLE_##name, .index = (number)}
#define LAST(name) {.kind = FROM_LAST_PART, .variable = VARIABLE_##name}
#define JSON(name_, member_) {.kind = FROM_JSON, .variable = VARIABLE_##name_, .member = (member_)}
#define OPTION(text_) {.kind = FROM_OPTION, .text = (text_)}
#define OPTION_JSON(text_, member_) {.kind = FROM_OPTION_JSON, .text = (text_), .member = (member_)}
#define OPTION_OF(program_, text_) {.kind = FROM_OPTION, .program = &(program_), .text = (text_)}
#define PAIR_OF(program_, text_, member_) {.kind = FROM_OPTION_PAIR, .program = &(program_), .text = (text_), .member = (member_)}
#define ARGUMENT(program_, n) {.kind = FROM_ARGUMENT, .program = &(program_), .index = (n)}
#define SCRIPT(ending) {.kind = FROM_SCRIPT, .text = (ending)}
#define SCRIPT_OF(program_, ending) {.kind = FROM_SCRIPT, .program = &(program_), .text = (ending)}
#define TITLE(text_, n) {.kind = FROM_TITLE, .text = (text_), .index = (n)}
#define WORKER(text_, idle) {.kind = FROM_WORKER, .text = (text_), .member = (idle)}
#define MIDDLE(text_) {.kind = FROM_MIDDLE, .text = (text_)}
#define FILE_LINE(text_) {.kind = FROM_FILE, .text = (text_)}
#define FILE_CLASS {.kind = FROM_FILE_CLASS}
#define FILE_JSON(member_) {.kind = FROM_FILE_JSON, .member = (member_)}
#define POD(text_) {.kind = FROM_POD, .text = (text_)}
#define POD_NAME {.kind = FROM_POD_NAME}
#define TRIMMED_POD(text_, trim_) {.kind = FROM_POD, .text = (text_), .trim = (trim_)}
#define TEXT(text_) {.kind = FROM_TEXT, .text = (text_)}
/* clang-format on */

#define MUST (WORD_NAME | WORD_NEEDED)
#define SIGN (WORD_NEEDED | WORD_HIDDEN)

/* A CI runner starts a process for each step of a script, one after another. Between two steps, the
 * runner is the only process for a moment. */
#define BETWEEN_STEPS_SECONDS 30

static const struct program metaflow_step = {"step", "", false};
/* Options of Airflow 2 that take a value: airflow/cli/cli_config.py. */
static const struct program airflow_run = {"tasks run",
	"--map-index --subdir -S --pool --cfg-path --depends-on-past -d --pickle -p --job-id",
	false};
/* Options of Spark 4 that take a value, and their older names:
 * launcher/src/main/java/org/apache/spark/launcher/SparkSubmitOptionParser.java. */
static const struct program spark_submit = {"org.apache.spark.deploy.SparkSubmit",
	"--archives --class --conf -c --deploy-mode --driver-class-path --driver-cores "
	"--driver-default-class-path --driver-java-options --driver-library-path --driver-memory "
	"--exclude-packages --executor-cores --executor-memory --files --jars --keytab --kill "
	"--master --name --num-executors --packages --principal --properties-file --proxy-user "
	"--py-files --queue --remote --repositories --status --total-executor-cores",
	true};

/* clang-format off */
const struct job_system naming_systems[] = {
	/* Netflix/metaflow d2dd7f9. Sources:
	 * - MF_*: mflog/__init__.py.
	 * - METAFLOW_*: plugins/argo/argo_workflows.py, plugins/airflow/airflow.py and
	 *   plugins/aws/step_functions/step_functions.py.
	 * - Annotations: plugins/kubernetes. Command: runtime.py.
	 * - The name of the flow is the name of a class in the script (flowspec.py). */
	{"metaflow", 0, {
		{"flow", MUST, {ENV(METAFLOW_FLOW_NAME), PART(MF_PATHSPEC, 0), FILE_CLASS, SCRIPT(".py"), POD("metaflow/flow_name")}, 0},
		{"step", MUST, {ENV(METAFLOW_STEP_NAME), PART(MF_PATHSPEC, 2), ARGUMENT(metaflow_step, 1), POD("metaflow/step_name")}, 0},
		{NULL, WORD_RUN | WORD_NEEDED, {ENV(METAFLOW_RUN_ID), PART(MF_PATHSPEC, 1), OPTION("--run-id"), POD("metaflow/run_id")}, 0},
		{NULL, WORD_TASK, {PART(MF_PATHSPEC, 3), OPTION("--task-id"), ENV(METAFLOW_TASK_ID), POD("metaflow/task_id")}, 0},
		{NULL, WORD_RETRY, {ENV(MF_ATTEMPT), ENV(METAFLOW_RETRY_COUNT), OPTION("--retry-count"), POD("metaflow/attempt")}, 0},
	}},
	/* flyteorg/flyte, version 1 (v1.16.8) and version 2 (6fadb90). Sources:
	 * - Variables, both versions:
	 *   flyteplugins/go/tasks/pluginmachinery/flytek8s/k8s_resource_adds.go.
	 * - Labels, version 1: flytepropeller/pkg/compiler/transformers/k8s/workflow.go and
	 *   controller/nodes/node_exec_context.go.
	 * - Labels, version 2: executor/pkg/plugin/task_exec_metadata.go. */
	{"flyte", 0, {
		{"workflow", WORD_NAME, {LAST(FLYTE_INTERNAL_EXECUTION_WORKFLOW), POD("workflow-name")}, 0},
		{"task", MUST, {ENV(FLYTE_INTERNAL_TASK_NAME), POD("task-name")}, 0},
		{NULL, WORD_RUN | WORD_NEEDED, {ENV(FLYTE_INTERNAL_EXECUTION_ID), POD("execution-id"), POD("run")}, 0},
		{NULL, WORD_TASK, {ENV(FLYTE_K8S_ARRAY_INDEX), ENV(AWS_BATCH_JOB_ARRAY_INDEX)}, 0},
		{NULL, WORD_RETRY, {ENV(FLYTE_ATTEMPT_NUMBER)}, 0},
		{NULL, WORD_ATTEMPT, {POD("attempt")}, 0},
		{"project", 0, {ENV(FLYTE_INTERNAL_EXECUTION_PROJECT)}, 0},
		{"domain", 0, {ENV(FLYTE_INTERNAL_EXECUTION_DOMAIN)}, 0},
	}},
	/* apache/airflow 084adf0. The command and the title are those of version 2. Sources:
	 * - Variables, version 2: airflow/utils/operator_helpers.py. Version 3:
	 *   task-sdk/src/airflow/sdk/execution_time/context.py.
	 * - Annotations (pod_generator.py, 0b3d3e9) and labels with the same names
	 *   (operators/pod.py): providers/cncf/kubernetes/src/airflow/providers/cncf/kubernetes. */
	{"airflow", 0, {
		{"dag", MUST, {ENV(AIRFLOW_CTX_DAG_ID), ARGUMENT(airflow_run, 1), TITLE("airflow task runner: ", 0), POD("dag_id")}, 0},
		{"task", MUST, {ENV(AIRFLOW_CTX_TASK_ID), ARGUMENT(airflow_run, 2), TITLE("airflow task runner: ", 1), POD("task_id")}, 0},
		{NULL, WORD_RUN | WORD_NEEDED, {ENV(AIRFLOW_CTX_DAG_RUN_ID), ARGUMENT(airflow_run, 3), TITLE("airflow task runner: ", 2), POD("run_id")}, 0},
		{NULL, WORD_TASK, {OPTION("--map-index"), POD("map_index")}, 0},
		{NULL, WORD_ATTEMPT, {ENV(AIRFLOW_CTX_TRY_NUMBER), POD("try_number")}, 0},
	}},
	/* kubeflow/pipelines 7b70c7b. backend/src/v2/driver/driver.go starts the launcher with
	 * these options. The command of the component follows the options, and contains the name of
	 * the function (sdk/python/kfp/dsl/component_factory.py). */
	{"kubeflow", 0, {
		{"pipeline", MUST, {OPTION("--pipeline_name")}, TRIM_GENERATED},
		{"component", MUST, {OPTION("--function_to_execute"), OPTION_JSON("--component_spec", "executorLabel")}, TRIM_EXECUTOR},
		{NULL, WORD_RUN, {OPTION("--run_id"), ENV(ARGO_WORKFLOW_NAME)}, 0},
		{NULL, WORD_TASK, {OPTION("--execution_id"), ENV(ARGO_NODE_ID)}, 0},
	}},
	/* argoproj/argo-workflows f016ad8: workflow/controller/workflowpod.go. Up to version 3.4,
	 * the template is in the environment of the step's container. Later versions write it to a
	 * file. A second row "argo" below reads the labels (workflow/common/common.go), for
	 * workflows whose name was generated from a workflow template or a prefix. */
	{"argo", 0, {
		{"workflow", MUST, {TRIMMED_ENV(ARGO_WORKFLOW_NAME, TRIM_GENERATED), TRIMMED_ENV(ARGO_NODE_ID, TRIM_NODE)}, 0},
		{"template", MUST, {JSON(ARGO_TEMPLATE, "name"), FILE_JSON("name")}, 0},
		{NULL, WORD_RUN, {ENV(ARGO_WORKFLOW_NAME), ENV(ARGO_NODE_ID)}, 0},
		{NULL, WORD_TASK, {ENV(ARGO_NODE_ID)}, 0},
	}},
	/* dagster-io/dagster 00b877e: python_modules/libraries/dagster-k8s/dagster_k8s/executor.py.
	 * Names of ops have only letters, digits and underscores. Only the labels have the run's
	 * id. The attempt is in neither labels nor variables. */
	{"dagster", 0, {
		{"job", MUST, {ENV(DAGSTER_RUN_JOB_NAME), POD("dagster/job")}, 0},
		{"step", WORD_NAME, {ENV(DAGSTER_RUN_STEP_KEY), POD("dagster/op")}, TRIM_MAPPED},
		{NULL, WORD_RUN, {POD("dagster/run-id")}, 0},
		{NULL, WORD_TASK, {ENV(DAGSTER_RUN_STEP_KEY)}, 0},
	}},
	/* PrefectHQ/prefect ce79dd3. src/prefect/workers/base.py sets the labels (since version 2)
	 * and the names (since version 3). runner/runner.py starts the runs of flow.serve(), and
	 * sets only the entry point file:function. */
	{"prefect", 0, {
		{"flow", MUST, {ENV(PREFECT__FLOW_NAME), POD("prefect.io/flow-name"), LAST(PREFECT__FLOW_ENTRYPOINT)}, 0},
		{"deployment", WORD_NAME, {ENV(PREFECT__DEPLOYMENT_NAME), POD("prefect.io/deployment-name")}, 0},
		{NULL, WORD_RUN, {ENV(PREFECT__FLOW_RUN_ID), POD("prefect.io/flow-run-id")}, 0},
	}},
	/* nextflow-io/nextflow. The name is in the head of .command.run:
	 * - Since 24.04, in the line "### name:" (BashWrapperBuilder.groovy, 2aad02f).
	 * - Up to 22.10, in the line "# NEXTFLOW TASK:" (command-run.txt).
	 *
	 * Labels: plugins/nf-k8s/src/main/nextflow/k8s/K8sTaskHandler.groovy. */
	{"nextflow", 0, {
		{"process", MUST, {FILE_LINE("### name: '"), FILE_LINE("# NEXTFLOW TASK: "), POD("nextflow.io/processName")}, TRIM_BRACKETS},
		{NULL, WORD_TASK, {ENV(NXF_TASK_WORKDIR), POD("nextflow.io/taskName")}, 0},
	}},
	/* --target-jobs and the default of --jobname: src/snakemake/cli.py of snakemake/snakemake
	 * ead894b. --attempt: executors/real.py of snakemake/snakemake-interface-executor-plugins
	 * 1579dc6. */
	{"snakemake", 0, {
		{NULL, WORD_NAME, {TEXT("snakemake")}, 0},
		{"rule", MUST, {OPTION("--target-jobs"), MIDDLE("snakejob.")}, TRIM_COLON},
		{NULL, WORD_ATTEMPT, {OPTION("--attempt")}, 0},
	}},
	/* ray-project/ray: src/ray/common/constants.h, raylet/worker_pool.cc, and the titles in
	 * python/ray/_raylet.pyx. While a method of an actor runs, the process title is
	 * CLASS.METHOD (older versions add "()"). Between two methods the title is CLASS.
	 *
	 * An actor holds its requested resources until it ends. A task holds them only while it
	 * runs. */
	{"ray", 0, {
		{NULL, WORD_NAME, {TEXT("ray")}, 0},
		{"task", MUST, {WORKER("ray::", "IDLE")}, TRIM_METHOD},
		{NULL, WORD_RUN | WORD_NEEDED, {ENV(RAY_JOB_ID)}, 0},
	}},
	/* apache/spark 000120f. Command:
	 * launcher/src/main/java/org/apache/spark/launcher/SparkSubmitCommandBuilder.java. Labels:
	 * resource-managers/kubernetes/core/src/main/scala/org/apache/spark/deploy/k8s/Constants.scala. */
	{"spark", 0, {
		{NULL, SIGN, {ARGUMENT(spark_submit, 0), POD("spark-app-name")}, 0},
		{"application", MUST, {OPTION_OF(spark_submit, "--name"), PAIR_OF(spark_submit, "--conf", "spark.app.name="), TRIMMED_POD("spark-app-name", TRIM_GENERATED), SCRIPT_OF(spark_submit, ".py"), SCRIPT_OF(spark_submit, ".R"), OPTION_OF(spark_submit, "--class"), SCRIPT_OF(spark_submit, ".jar")}, 0},
		{"role", WORD_NAME, {POD("spark-role")}, 0},
		{NULL, WORD_RUN, {POD("spark-app-selector")}, 0},
		{NULL, WORD_TASK, {POD("spark-exec-id")}, 0},
	}},
	/* SchedMD/slurm 284c3b9: src/common/env.c, src/slurmctld/job_scheduler.c;
	 * doc/man/man1/sbatch.1. */
	{"slurm", 0, {
		{"job", MUST, {ENV(SLURM_JOB_NAME)}, 0},
		{NULL, WORD_RUN | WORD_NEEDED, {ENV(SLURM_ARRAY_JOB_ID), ENV(SLURM_JOB_ID)}, 0},
		{NULL, WORD_TASK, {ENV(SLURM_ARRAY_TASK_ID)}, 0},
		{NULL, WORD_RETRY, {ENV(SLURM_RESTART_COUNT)}, 0},
		{"partition", 0, {ENV(SLURM_JOB_PARTITION)}, 0},
		{"cluster", 0, {ENV(SLURM_CLUSTER_NAME)}, 0},
		{NULL, WORD_CPU, {ENV(SLURM_CPUS_ON_NODE), ENV(SLURM_CPUS_PER_TASK)}, 0},
		{NULL, WORD_MEMORY, {ENV(SLURM_MEM_PER_NODE)}, 0},
		{NULL, WORD_MEMORY_PER_CPU, {ENV(SLURM_MEM_PER_CPU)}, 0},
	}, QUANTITY_OF_SLURM},
	/* IBM Spectrum LSF 10.1, "Environment variables set for job execution". The memory in
	 * LSB_EFFECTIVE_RSRCREQ is not read, because each site chooses its unit
	 * (LSF_UNIT_FOR_LIMITS). */
	{"lsf", 0, {
		{"job", MUST, {ENV(LSB_JOBNAME)}, TRIM_BRACKETS},
		{NULL, WORD_RUN | WORD_NEEDED, {ENV(LSB_JOBID)}, 0},
		{NULL, WORD_TASK, {ENV(LSB_JOBINDEX)}, 0},
		{"queue", 0, {ENV(LSB_QUEUE)}, 0},
		{NULL, WORD_CPU, {ENV(LSB_DJOB_NUMPROC)}, 0},
	}, QUANTITY_OF_PEOPLE},
	/* OpenPBS: src/resmom/start_exec.c (NCPUS), and "Environment Variables" in the user's
	 * guide. Torque sets PBS_ARRAYID and PBS_NUM_PPN. Some sites, such as MetaCentrum, set
	 * PBS_NCPUS and PBS_RESC_MEM in hooks. */
	{"pbs", 0, {
		{"job", MUST, {ENV(PBS_JOBNAME)}, 0},
		{NULL, WORD_RUN | WORD_NEEDED, {ENV(PBS_JOBID)}, 0},
		{NULL, WORD_TASK, {ENV(PBS_ARRAY_INDEX), ENV(PBS_ARRAYID)}, 0},
		{"queue", 0, {ENV(PBS_QUEUE)}, 0},
		{NULL, WORD_CPU, {ENV(PBS_NCPUS), ENV(PBS_NUM_PPN), ENV(NCPUS)}, 0},
		{NULL, WORD_MEMORY, {ENV(PBS_RESC_MEM)}, 0},
	}, QUANTITY_OF_PBS},
	/* https://docs.aws.amazon.com/batch/latest/userguide/job_env_vars.html */
	{"aws-batch", 0, {
		{"queue", MUST, {ENV(AWS_BATCH_JQ_NAME)}, 0},
		{NULL, WORD_RUN | WORD_NEEDED, {ENV(AWS_BATCH_JOB_ID)}, 0},
		{NULL, WORD_TASK, {ENV(AWS_BATCH_JOB_ARRAY_INDEX)}, 0},
		{NULL, WORD_ATTEMPT, {ENV(AWS_BATCH_JOB_ATTEMPT)}, 0},
		{"compute_environment", 0, {ENV(AWS_BATCH_CE_NAME)}, 0},
	}},
	/* aws/sagemaker-training-toolkit 3383937: src/sagemaker_training/{environment,params}.py.
	 * Names of training jobs: issue 6299 of aws/sagemaker-python-sdk, and base_name in its
	 * src/sagemaker/utils.py. */
	{"sagemaker", 0, {
		{"training_job", MUST, {ENV(TRAINING_JOB_NAME)}, TRIM_TRAINING},
		{NULL, SIGN, {ENV(TRAINING_JOB_ARN), ENV(SM_CURRENT_HOST)}, 0},
		{NULL, WORD_RUN, {ENV(TRAINING_JOB_NAME)}, 0},
	}},
	/* actions/runner 258d6c8: src/Runner.Worker/{GitHubContext,JobExtension}.cs. */
	{"github-actions", BETWEEN_STEPS_SECONDS, {
		{"repository", MUST, {ENV(GITHUB_REPOSITORY)}, 0},
		{"workflow", MUST, {ENV(GITHUB_WORKFLOW)}, 0},
		{"job", MUST, {ENV(GITHUB_JOB)}, 0},
		{NULL, WORD_RUN | WORD_NEEDED, {ENV(GITHUB_RUN_ID)}, 0},
		{NULL, WORD_TASK, {ENV(RUNNER_TRACKING_ID)}, 0},
		{NULL, WORD_ATTEMPT, {ENV(GITHUB_RUN_ATTEMPT)}, 0},
	}},
	/* https://docs.gitlab.com/ci/variables/predefined_variables */
	{"gitlab-ci", BETWEEN_STEPS_SECONDS, {
		{NULL, SIGN, {ENV(GITLAB_CI)}, 0},
		{"project", MUST, {ENV(CI_PROJECT_PATH)}, 0},
		{"job", MUST, {ENV(CI_JOB_NAME)}, TRIM_OF_TOTAL},
		{"stage", 0, {ENV(CI_JOB_STAGE)}, 0},
		{NULL, WORD_RUN, {ENV(CI_PIPELINE_ID)}, 0},
		{NULL, WORD_TASK | WORD_NEEDED, {ENV(CI_JOB_ID)}, 0},
	}},
	/* buildkite/agent 5c21980: agent/json_job_logger.go;
	 * https://buildkite.com/docs/pipelines/environment_variables */
	{"buildkite", BETWEEN_STEPS_SECONDS, {
		{"pipeline", MUST, {ENV(BUILDKITE_PIPELINE_SLUG)}, 0},
		{"step", WORD_NAME, {ENV(BUILDKITE_STEP_KEY), ENV(BUILDKITE_LABEL)}, TRIM_OF_TOTAL},
		{"organization", 0, {ENV(BUILDKITE_ORGANIZATION_SLUG)}, 0},
		{NULL, WORD_RUN, {ENV(BUILDKITE_BUILD_ID)}, 0},
		{NULL, WORD_TASK | WORD_NEEDED, {ENV(BUILDKITE_JOB_ID)}, 0},
		{NULL, WORD_RETRY, {ENV(BUILDKITE_RETRY_COUNT)}, 0},
	}},
	/* jenkinsci/jenkins 20dbd5b: getCharacteristicEnvVars in
	 * core/src/main/java/hudson/model/{Job,Run}.java. STAGE_NAME:
	 * jenkinsci/pipeline-stage-step-plugin 90181c4,
	 * src/main/java/org/jenkinsci/plugins/workflow/support/steps/StageStepExecution.java.
	 * Changes of multibranch projects: GitHubSCMSource.java of
	 * jenkinsci/github-branch-source-plugin. */
	{"jenkins", BETWEEN_STEPS_SECONDS, {
		{"job", MUST, {ENV(JOB_NAME)}, TRIM_CHANGE},
		{"stage", WORD_NAME, {ENV(STAGE_NAME)}, 0},
		{NULL, WORD_RUN | WORD_NEEDED, {ENV(BUILD_TAG)}, 0},
		{NULL, SIGN, {ENV(BUILD_NUMBER)}, 0},
	}},
	{"argo", 0, {
		{"workflow", MUST, {POD("workflows.argoproj.io/cron-workflow"), POD("workflows.argoproj.io/workflow-template"), TRIMMED_POD("workflows.argoproj.io/workflow", TRIM_GENERATED)}, 0},
		{"template", WORD_NAME, {POD("workflows.argoproj.io/template")}, 0},
		{NULL, WORD_RUN | WORD_NEEDED, {POD("workflows.argoproj.io/workflow")}, 0},
		{NULL, WORD_TASK, {POD("workflows.argoproj.io/node-id"), POD("workflows.argoproj.io/node-name"), POD("pod.uid")}, 0},
	}},
	/* The owner of a pod, read from the Kubernetes API (exporter/kubernetes/owner_chain.h). */
	{SYSTEM_KUBERNETES, 0, {
		{"owner", MUST, {POD("pod.owner")}, 0},
		{"kind", 0, {POD("pod.owner-kind")}, 0},
		{"namespace", 0, {POD("pod.namespace")}, 0},
		{NULL, WORD_RUN, {POD("pod.uid")}, 0},
	}},
	{SYSTEM_KUBERNETES, 0, {
		{"app", MUST, {TRIMMED_POD("batch.kubernetes.io/job-name", TRIM_SCHEDULE), TRIMMED_POD("job-name", TRIM_SCHEDULE), POD("app.kubernetes.io/name"), POD("app"), POD_NAME}, 0},
		{"component", WORD_NAME, {POD("app.kubernetes.io/component")}, 0},
		{"namespace", 0, {POD("pod.namespace")}, 0},
		{NULL, WORD_RUN, {POD("pod.uid"), POD("pod.name")}, 0},
	}},
	{0},
};

/* Variables with the resource requests of a pod's container. Sources:
 * https://docs.gitlab.com/runner/executors/kubernetes (KUBERNETES_*), and the examples of
 * https://kubernetes.io/docs/tasks/inject-data-application/environment-variable-expose-pod-information
 * (MY_*). */
const struct word naming_pod_requests[] = {
	{NULL, WORD_CPU, {ENV(KUBERNETES_CPU_REQUEST), ENV(MY_CPU_REQUEST), ENV(CPU_REQUEST)}, 0},
	{NULL, WORD_MEMORY, {ENV(KUBERNETES_MEMORY_REQUEST), ENV(MY_MEM_REQUEST), ENV(MEMORY_REQUEST), ENV(MEM_REQUEST)}, 0},
	{0},
};
/* clang-format on */
