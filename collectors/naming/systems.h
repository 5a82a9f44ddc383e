/* The table of systems: workflow systems, batch systems, CI systems and Kubernetes. A system gives
 * variables, arguments, files and labels to the processes that it starts. The table lists these
 * texts, by which the system is recognised, with their meanings. */
#ifndef COLLECTORS_NAMING_SYSTEMS_H
#define COLLECTORS_NAMING_SYSTEMS_H

#include <stdbool.h>

#include "collectors/base/quantity.h"

/* All variables that are read. The list must be sorted, because bsearch() searches it. */
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

/* The place where a word is found. `variable`, `text`, `member`, `index` and `program` are the
 * members of struct from. */
enum from_kind {
	FROM_NOTHING,
	FROM_ENVIRONMENT, /* value of `variable` */
	FROM_PART,        /* the `index`-th part (from 0) of `variable`, split at slashes */
	FROM_LAST_PART,   /* text after the last colon of `variable` */
	FROM_JSON,        /* `member` of the JSON object in `variable` */
	FROM_OPTION,      /* value of option `text`; if `program` is set, only of that program */
	FROM_OPTION_JSON, /* `member` of the JSON object in the value of option `text` */
	/* Option `text` may be given several times. Finds the first value that begins with
	 * `member`, and returns it without `member`. */
	FROM_OPTION_PAIR,
	/* The `index`-th argument of `program`. Options do not count. 0 = the program's name. */
	FROM_ARGUMENT,
	/* File name of an argument that ends in `text`, without this ending. If `program` is set,
	 * only the program's first argument is examined. */
	FROM_SCRIPT,
	/* The `index`-th word (from 0) after `text`. `text` is the start of a process title. */
	FROM_TITLE,
	/* Process title of a worker, without `text` at its start. If `member` follows `text`, the
	 * worker is idle and there is no value. */
	FROM_WORKER,
	/* Finds an argument that is a file called `text`NAME.NUMBER.sh. The value is NAME. */
	FROM_MIDDLE,
	/* Rest of the line of the file that begins with `text`. If `text` ends in a quote, the
	 * value ends before the closing quote. */
	FROM_FILE,
	FROM_FILE_JSON, /* `member` of the JSON object in the file */
	/* Name of a Python class: the file declares the class, and a line consists only of its
	 * call, "NAME()". If there are several such lines, the last one counts. */
	FROM_FILE_CLASS,
	FROM_POD,      /* value of the pod's annotation or label `text` */
	FROM_POD_NAME, /* name of the pod, without the part that a Job or another owner added */
	FROM_TEXT,     /* `text` itself */
};

/* The part of a word that is removed before the word is used in the job's name. */
enum trim {
	TRIM_NOTHING,
	TRIM_GENERATED, /* removes the "-" and 5 characters of a generated name */
	TRIM_NODE,      /* removes the hash that Argo adds for a node of a workflow */
	TRIM_SCHEDULE,  /* like TRIM_GENERATED; also removes the minutes that a CronJob adds */
	TRIM_BRACKETS,  /* "process[3]" becomes "process", and "ALIGN (s1)" becomes "ALIGN" */
	TRIM_MAPPED,    /* "load[3]" becomes "load", and "load-3" (in a label) becomes "load" */
	TRIM_TRAINING,  /* removes the parts that SageMaker adds to a training job */
	TRIM_COLON,     /* "align:sample=A" becomes "align" */
	TRIM_METHOD,    /* "Actor.method" becomes "Actor", and "task()" becomes "task" */
	TRIM_EXECUTOR,  /* removes "exec-" in front */
	TRIM_CHANGE,    /* removes "/PR-12" at the end */
	TRIM_OF_TOTAL,  /* removes the end " 3/5" or ": [a, b]", which parallel jobs have */
};

/* A program on a command line, and the rules by which its options are recognised. */
struct program {
	const char *name;   /* one word or several words, such as "tasks run" */
	const char *valued; /* blank-separated list of the program's options that take a value */
	bool options_first; /* all options stand before the program's first argument */
};

struct from {
	enum from_kind kind;
	enum variable variable;
	const char *text, *member;
	int index;
	const struct program *program;
	enum trim trim; /* TRIM_NOTHING = use `trim` of struct word */
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
	unsigned is;                   /* bits of enum word_is: meaning of the word */
	struct from from[SOURCES_MAX]; /* the first source that has a value is used */
	enum trim trim;
};

/* Name of the systems at the end of the table. They are used if no other system matches, and name a
 * job after the pod's owner or labels. */
#define SYSTEM_KUBERNETES "kubernetes"

struct job_system {
	const char *name;
	double grace_seconds;
	struct word words[SYSTEM_WORDS_MAX];
	enum quantity_writer writer; /* notation of the memory sizes in the words */
};

/* The first system whose needed words all have a value is used. The table ends with name NULL. */
extern const struct job_system naming_systems[];

/* Names of variables that usually contain the resource requests of a pod's container. The author of
 * the pod's manifest chooses the name, and Kubernetes sets the value (resourceFieldRef of the
 * downward API). The table ends with `is` 0. */
extern const struct word naming_pod_requests[];

#endif
