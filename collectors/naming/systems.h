/* The table of systems: which variables, arguments, files and labels each leaves behind, and which word each is. */
#ifndef COLLECTORS_NAMING_SYSTEMS_H
#define COLLECTORS_NAMING_SYSTEMS_H

#include <stdbool.h>

/* Every variable that is looked at, sorted. */
/* clang-format off */
#define RECOGNISED_VARIABLES(X) \
X(AIRFLOW_CTX_DAG_ID) \
X(AIRFLOW_CTX_DAG_RUN_ID) \
X(AIRFLOW_CTX_TASK_ID) \
X(AIRFLOW_CTX_TRY_NUMBER) \
X(ARGO_NODE_ID) \
X(ARGO_TEMPLATE) \
X(ARGO_WORKFLOW_NAME) \
X(AWS_BATCH_CE_NAME) \
X(AWS_BATCH_JOB_ARRAY_INDEX) \
X(AWS_BATCH_JOB_ATTEMPT) \
X(AWS_BATCH_JOB_ID) \
X(AWS_BATCH_JQ_NAME) \
X(BUILDKITE_BUILD_ID) \
X(BUILDKITE_JOB_ID) \
X(BUILDKITE_LABEL) \
X(BUILDKITE_ORGANIZATION_SLUG) \
X(BUILDKITE_PIPELINE_SLUG) \
X(BUILDKITE_RETRY_COUNT) \
X(BUILDKITE_STEP_KEY) \
X(BUILD_NUMBER) \
X(BUILD_TAG) \
X(CI_JOB_ID) \
X(CI_JOB_NAME) \
X(CI_JOB_STAGE) \
X(CI_PIPELINE_ID) \
X(CI_PROJECT_PATH) \
X(DAGSTER_RUN_JOB_NAME) \
X(DAGSTER_RUN_STEP_KEY) \
X(FLYTE_ATTEMPT_NUMBER) \
X(FLYTE_INTERNAL_EXECUTION_DOMAIN) \
X(FLYTE_INTERNAL_EXECUTION_ID) \
X(FLYTE_INTERNAL_EXECUTION_PROJECT) \
X(FLYTE_INTERNAL_EXECUTION_WORKFLOW) \
X(FLYTE_INTERNAL_TASK_NAME) \
X(FLYTE_K8S_ARRAY_INDEX) \
X(GITHUB_JOB) \
X(GITHUB_REPOSITORY) \
X(GITHUB_RUN_ATTEMPT) \
X(GITHUB_RUN_ID) \
X(GITHUB_WORKFLOW) \
X(GITLAB_CI) \
X(JOB_NAME) \
X(METAFLOW_FLOW_NAME) \
X(METAFLOW_RETRY_COUNT) \
X(METAFLOW_RUN_ID) \
X(METAFLOW_STEP_NAME) \
X(METAFLOW_TASK_ID) \
X(MF_ATTEMPT) \
X(MF_PATHSPEC) \
X(NXF_TASK_WORKDIR) \
X(PREFECT__DEPLOYMENT_NAME) \
X(PREFECT__FLOW_ENTRYPOINT) \
X(PREFECT__FLOW_NAME) \
X(PREFECT__FLOW_RUN_ID) \
X(RAY_JOB_ID) \
X(RIGHTSIZE_ATTEMPT) \
X(RIGHTSIZE_INPUT_BYTES) \
X(RIGHTSIZE_JOB_NAME) \
X(RIGHTSIZE_RUN_ID) \
X(RUNNER_TRACKING_ID) \
X(SLURM_ARRAY_JOB_ID) \
X(SLURM_ARRAY_TASK_ID) \
X(SLURM_CLUSTER_NAME) \
X(SLURM_CPUS_ON_NODE) \
X(SLURM_CPUS_PER_TASK) \
X(SLURM_JOB_ID) \
X(SLURM_JOB_NAME) \
X(SLURM_JOB_PARTITION) \
X(SLURM_MEM_PER_NODE) \
X(SLURM_RESTART_COUNT) \
X(SM_CURRENT_HOST) \
X(STAGE_NAME) \
X(TRAINING_JOB_ARN) \
X(TRAINING_JOB_NAME)
/* clang-format on */

#define VARIABLE_ID(name) VARIABLE_##name,
enum variable { RECOGNISED_VARIABLES(VARIABLE_ID) VARIABLE_COUNT };

extern const char *const naming_variables[VARIABLE_COUNT];

enum from_kind {
	FROM_NOTHING,
	FROM_ENVIRONMENT, /* the value of variable */
	FROM_PART,        /* its part number index between slashes, from 0 */
	FROM_LAST_PART,   /* what follows its last colon */
	FROM_JSON,        /* member at the top of the object that it is */
	FROM_OPTION, /* of the command line: text VALUE or text=VALUE; of program, when there is one */
	FROM_OPTION_JSON, /* member at the top of the object that this is */
	FROM_OPTION_PAIR, /* the rest of the first such value that begins with member, of several options */
	FROM_ARGUMENT, /* the index-th argument of program that is no option, from 1; 0 = its name */
	FROM_SCRIPT, /* the first argument that ends in text, without folders and that ending; of program, if it does */
	FROM_TITLE, /* the index-th word of the rest of a command line that begins with text */
	FROM_WORKER, /* all of the rest, of a worker that changes its title with its task; none when that is member */
	FROM_MIDDLE, /* what stands between text and ".NUMBER.sh" in the last component of an argument */
	FROM_FILE, /* the rest of the line of the file that begins with text; up to the last quote when that ends in one */
	FROM_FILE_JSON, /* member at the top of the object that the file is */
	FROM_POD,       /* the annotation or label text of the pod */
	FROM_POD_NAME,  /* the name of the pod, without what its owner added */
	FROM_TEXT,      /* text itself */
};

enum trim {
	TRIM_NOTHING,
	TRIM_GENERATED, /* what Kubernetes adds to a prefix */
	TRIM_NODE,      /* what Argo adds to the name of a workflow for its nodes */
	TRIM_SCHEDULE,  /* what CronJobs add, or Kubernetes */
	TRIM_BRACKETS, /* from the first "[" or "(" on, where indexes stand: "process[3]", "ALIGN (s1)" */
	TRIM_MAPPED,   /* from the first "[" or "-" on: "load[3]", which is "load-3" as a label */
	TRIM_TRAINING, /* what SageMaker adds to the name of a training job */
	TRIM_COLON,    /* from the first colon on: "align:sample=A" */
	TRIM_METHOD,   /* from the first "." or "(" on: "Actor.method", "task()" */
	TRIM_EXECUTOR, /* without "exec-" in front */
	TRIM_CHANGE,   /* "/PR-12" at the end */
	TRIM_OF_TOTAL, /* " 3/5" at the end, as of parallel jobs, or a list: "test: [a, b]" */
};

/* Words of a command line that begin a program's own arguments. */
struct program {
	const char *name;   /* one argument, or several: "tasks run" */
	const char *valued; /* its options that are followed by a value */
	bool options_first; /* none behind its first argument, which takes the rest */
};

struct from {
	enum from_kind kind;
	enum variable variable;
	const char *text, *member;
	int index;
	const struct program *program;
	enum trim trim; /* instead of the word's */
};

enum word_is {
	WORD_NAME = 1,   /* a part of the job's name */
	WORD_NEEDED = 2, /* without it nothing is recognised */
	WORD_RUN = 4,
	WORD_TASK = 8,
	WORD_ATTEMPT = 16,    /* counted from 1 */
	WORD_RETRY = 32,      /* counted from 0 */
	WORD_CPU = 64,        /* cores asked for */
	WORD_MEBIBYTES = 128, /* memory asked for */
	WORD_HIDDEN = 256,    /* no label */
};

#define SOURCES_MAX      7
#define SYSTEM_WORDS_MAX 9

struct word {
	const char *label;
	unsigned is;                   /* of enum word_is */
	struct from from[SOURCES_MAX]; /* the first that is there */
	enum trim trim;
};

struct job_system {
	const char *name;
	double grace_seconds;
	struct word words[SYSTEM_WORDS_MAX];
};

extern const struct job_system
	naming_systems[]; /* name NULL ends; the first that has all it needs */

#endif
