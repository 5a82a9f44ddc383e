/* The table of systems: the variables, arguments, files and labels that each system leaves behind,
 * and the meaning of each word. */
#ifndef COLLECTORS_NAMING_SYSTEMS_H
#define COLLECTORS_NAMING_SYSTEMS_H

#include <stdbool.h>

#include "collectors/base/quantity.h"

/* All variables that are read. Sorted, because bsearch finds them. */
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
X(CPU_REQUEST) \
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
X(KUBERNETES_CPU_REQUEST) \
X(KUBERNETES_MEMORY_REQUEST) \
X(KUBERNETES_SERVICE_HOST) \
X(LSB_DJOB_NUMPROC) \
X(LSB_JOBID) \
X(LSB_JOBINDEX) \
X(LSB_JOBNAME) \
X(LSB_QUEUE) \
X(MEMORY_REQUEST) \
X(MEM_REQUEST) \
X(METAFLOW_FLOW_NAME) \
X(METAFLOW_RETRY_COUNT) \
X(METAFLOW_RUN_ID) \
X(METAFLOW_STEP_NAME) \
X(METAFLOW_TASK_ID) \
X(MF_ATTEMPT) \
X(MF_PATHSPEC) \
X(MY_CPU_REQUEST) \
X(MY_MEM_REQUEST) \
X(NCPUS) \
X(NXF_TASK_WORKDIR) \
X(PBS_ARRAYID) \
X(PBS_ARRAY_INDEX) \
X(PBS_JOBID) \
X(PBS_JOBNAME) \
X(PBS_NCPUS) \
X(PBS_NUM_PPN) \
X(PBS_QUEUE) \
X(PBS_RESC_MEM) \
X(PREFECT__DEPLOYMENT_NAME) \
X(PREFECT__FLOW_ENTRYPOINT) \
X(PREFECT__FLOW_NAME) \
X(PREFECT__FLOW_RUN_ID) \
X(RAY_JOB_ID) \
X(RIGHTSIZE_ATTEMPT) \
X(RIGHTSIZE_HELPER) \
X(RIGHTSIZE_INPUT_BYTES) \
X(RIGHTSIZE_JOB_NAME) \
X(RIGHTSIZE_REQUEST_CPU) \
X(RIGHTSIZE_REQUEST_MEMORY) \
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
X(SLURM_MEM_PER_CPU) \
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

/* The source of a word. `variable`, `text`, `member`, `index` and `program` are the members of
 * struct from. */
enum from_kind {
	FROM_NOTHING,
	FROM_ENVIRONMENT, /* value of `variable` */
	FROM_PART,        /* part `index` of `variable`, between slashes, from 0 */
	FROM_LAST_PART,   /* text after the last colon of `variable` */
	FROM_JSON,        /* `member` of the JSON object in `variable` */
	FROM_OPTION,      /* value of option `text` of the command line, or of `program` if set */
	FROM_OPTION_JSON, /* `member` of the JSON object in the value of option `text` */
	FROM_OPTION_PAIR, /* rest of the first value of option `text` that begins with `member` */
	FROM_ARGUMENT,    /* argument `index` of `program`, without options, from 1; 0 = its name */
	FROM_SCRIPT,    /* NAME of an argument NAME`text`; if `program` is set, of its first one */
	FROM_TITLE,     /* word `index`, from 0, after `text` at the start of a title */
	FROM_WORKER,    /* title of a worker after `text`; no value if that is `member` (idle) */
	FROM_MIDDLE,    /* NAME of an argument that is a file `text`NAME.NUMBER.sh */
	FROM_FILE,      /* rest of a line that begins with `text`; a quote in both is left out */
	FROM_FILE_JSON, /* `member` of the JSON object in the file */
	FROM_POD,       /* value of the pod's annotation or label `text` */
	FROM_POD_NAME,  /* name of the pod, without the part that its owner added */
	FROM_TEXT,      /* `text` itself */
};

/* Which part of a word is removed before the word becomes part of a name. */
enum trim {
	TRIM_NOTHING,
	TRIM_GENERATED, /* removes the letters that Kubernetes adds to a prefix */
	TRIM_NODE,      /* removes the hash that Argo adds for a node of a workflow */
	TRIM_SCHEDULE,  /* removes the minutes of a CronJob, and letters of Kubernetes */
	TRIM_BRACKETS,  /* removes all from the first "[" or "(": "process[3]", "ALIGN (s1)" */
	TRIM_MAPPED, /* removes all from the first "[" or "-": "load[3]", or "load-3" in a label */
	TRIM_TRAINING, /* removes the parts that SageMaker adds to a training job */
	TRIM_COLON,    /* removes all from the first colon: "align:sample=A" */
	TRIM_METHOD,   /* removes all from the first "." or "(": "Actor.method", "task()" */
	TRIM_EXECUTOR, /* removes "exec-" in front */
	TRIM_CHANGE,   /* removes "/PR-12" at the end */
	TRIM_OF_TOTAL, /* removes " 3/5" of parallel jobs at the end, or ": [a, b]" */
};

/* A program on a command line. Its arguments follow these words. */
struct program {
	const char *name;   /* one argument or several: "tasks run" */
	const char *valued; /* its options that take a value, between blanks */
	bool options_first; /* its options are only before its first argument */
};

struct from {
	enum from_kind kind;
	enum variable variable;
	const char *text, *member;
	int index;
	const struct program *program;
	enum trim trim; /* replaces the trim of the word; TRIM_NOTHING = the word's trim stays */
};

enum word_is {
	WORD_NAME = 1,   /* a part of the job's name */
	WORD_NEEDED = 2, /* the system matches only if this word has a value */
	WORD_RUN = 4,
	WORD_TASK = 8,
	WORD_ATTEMPT = 16,         /* counted from 1 */
	WORD_RETRY = 32,           /* counted from 0 */
	WORD_CPU = 64,             /* requested cores */
	WORD_MEMORY = 128,         /* requested memory */
	WORD_HIDDEN = 256,         /* not a label */
	WORD_MEMORY_PER_CPU = 512, /* requested memory for each requested core */
};

#define SOURCES_MAX      7
#define SYSTEM_WORDS_MAX 9

struct word {
	const char *label;
	unsigned is;                   /* bits of enum word_is */
	struct from from[SOURCES_MAX]; /* the first that has a value is used */
	enum trim trim;
};

struct job_system {
	const char *name;
	double grace_seconds;
	struct word words[SYSTEM_WORDS_MAX];
	enum quantity_writer writer; /* of its sizes */
};

extern const struct job_system
	naming_systems[]; /* ends with name NULL; the first system with all needed words is used */

/* What manifests of pods commonly call the variables of the container's requests. Kubernetes fills
 * them (resourceFieldRef of the downward API), but does not name them. Ends with `is` 0. */
extern const struct word naming_pod_requests[];

#endif
