#include "recommender/advice/formats.h"

#include <string.h>

#include "recommender/advice/sizes.h"

#define TEXT "text/plain; charset=utf-8"
#define YAML "application/yaml"
#define JSON "application/json"

/* clang-format off */
#define PIECES(...) (const struct advice_piece[]){__VA_ARGS__, {0}}
#define LAYOUT(nothing, ...) \
	&(const struct advice_layout){nothing, (const struct advice_section[]){__VA_ARGS__, {0}}}

/* The GPUs of a container: the device plugins of the manufacturers have resources of their own. The
 * resource of Intel is the one of its driver i915. */
#define CONTAINER_GPUS(before, middle, after) \
	{before "nvidia.com/gpu" middle, GPUS_NVIDIA, after}, {before "amd.com/gpu" middle, GPUS_AMD, after}, \
	{before "gpu.intel.com/i915" middle, GPUS_INTEL, after}

/* Pieces of the requests and the limits of a container. The arguments are three texts: `before`
 * stands before the name of a resource, `middle` stands after the name, and `after` stands after
 * the unit. Kubernetes requires that the request of a GPU equals its limit, so both macros use
 * CONTAINER_GPUS. A CPU limit slows a container down even on an idle node, so it is written only at
 * the caller's request. */
#define REQUESTS(before, middle, after) \
	{before "cpu" middle, MILLICORES, "m" after}, {before "memory" middle, MEMORY_MIB, "Mi" after}, \
	{before "ephemeral-storage" middle, DISK_MIB, "Mi" after}, CONTAINER_GPUS(before, middle, after)
#define LIMITS(before, middle, after) \
	{before "cpu" middle, MILLICORES_LIMIT_ASKED, "m" after}, \
	{before "memory" middle, MEMORY_MIB_LIMIT, "Mi" after}, CONTAINER_GPUS(before, middle, after)

/* Selects the container by its name. The position does not identify it, because the first container
 * in the list can be a sidecar. */
#define PATCH_REQUESTS(before) \
	{before "{\"containers\":[{", "", "", PIECES({"\"name\":\"", CONTAINER, "\","})}, \
	{"\"resources\":{\"requests\":{", ",", "}", PIECES(REQUESTS("\"", "\":\"", "\""))}
/* If a resource has a new request but no new limit, null removes the old limit. An old limit below
 * the new request would make Kubernetes refuse the patch. */
#define PATCH_LIMITS(after) \
	{",\"limits\":{", ",", "}}}]}" after, \
		PIECES(LIMITS("\"", "\":\"", "\""), {"\"cpu\":null", IF_CPU_LIFTED}, \
			{"\"ephemeral-storage\":null", IF_DISK_LIFTED})}

#define BOUND(cpu, mib) {"          cpu: \"", cpu, "m\"\n"}, {"          memory: \"", mib, "Mi\"\n"}

#define METAFLOW_KUBERNETES \
	PIECES({"cpu=", CORES}, {"memory=", MEMORY_MB}, {"disk=", DISK_MB}, {"gpu=", GPUS}, \
		{"gpu_vendor=\"amd\"", IF_GPU_AMD})
#define METAFLOW_BATCH PIECES({"cpu=", CPUS}, {"memory=", MEMORY_MIB}, {"gpu=", GPUS})

/* Settings of a Spark executor or driver; `of` is "executor" or "driver". */
#define SPARK(of) \
	PIECES({"spark." of ".cores ", CPUS, "\n"}, \
		{"spark.kubernetes." of ".request.cores ", MILLICORES, "m\n"}, \
		{"spark." of ".memory ", SPARK_HEAP_MIB, "m\n"}, \
		{"spark." of ".memoryOverhead ", SPARK_OVERHEAD_MIB, "m\n"}, \
		{"spark." of ".resource.gpu.amount ", GPUS, "\n"}, \
		{"spark." of ".resource.gpu.vendor nvidia.com\n", IF_GPU_NVIDIA}, \
		{"spark." of ".resource.gpu.vendor amd.com\n", IF_GPU_AMD})

/* A format without a request has the limits of the answer. They are smaller than the request in
 * whole CPUs if the job uses a part of a CPU. */
#define LIMITS_ONLY "hard limits, which do not slow the job down"

const struct advice_format advice_formats[] = {
	{
		.name = "json",
		.content_type = "application/json",
		.help = "All that is known, with the reasons",
	},
	{
		.name = "metaflow",
		.content_type = TEXT,
		.help = "The line @resources(...) to put above a step. Memory and disk are in decimal "
			"megabytes, rounded up. Below 4096 MB the line is @kubernetes(...), because "
			"Metaflow replaces a smaller @resources by the defaults of @kubernetes and "
			"@batch (1 CPU, 4096 MB). Remove an older @resources of the step: Metaflow "
			"takes the larger value",
		/* Source of how Metaflow combines the values of two decorators (version 2.19.39):
		 * step_init() in plugins/kubernetes/kubernetes_decorator.py and, for AWS Batch,
		 * compute_resource_attributes() in plugins/aws/aws_utils.py. */
		.layout = LAYOUT(NULL,
			{"# @resources(memory=", "", ") has no effect below 4096 MB. ",
				PIECES({"", MEMORY_MB}), .when = IF_METAFLOW_DEFAULTS_WIN},
			{"On AWS Batch, use @batch(", ", ", ").\n", METAFLOW_BATCH,
				.when = IF_METAFLOW_DEFAULTS_WIN},
			{"@kubernetes(", ", ", ")\n", METAFLOW_KUBERNETES, .when = IF_METAFLOW_DEFAULTS_WIN},
			{"", "", "", PIECES({"# On Kubernetes, GPUs of AMD need @kubernetes(gpu_vendor=\"amd\").\n", IF_GPU_AMD}),
				.when = IF_METAFLOW_DEFAULTS_LOSE},
			{"@resources(", ", ", ")\n",
				PIECES({"cpu=", CPUS}, {"memory=", MEMORY_MB}, {"disk=", DISK_MB}, {"gpu=", GPUS}),
				.when = IF_METAFLOW_DEFAULTS_LOSE}),
	},
	{
		.name = "metaflow-kubernetes",
		.content_type = TEXT,
		.help = "The line @kubernetes(...) to put above a step. Memory and disk are in decimal "
			"megabytes (10^6 bytes), as Metaflow passes them to Kubernetes",
		.layout = LAYOUT(NULL, {"@kubernetes(", ", ", ")\n", METAFLOW_KUBERNETES}),
	},
	{
		.name = "metaflow-batch",
		.content_type = TEXT,
		.help = "The line @batch(...) to put above a step. Memory is in MiB (2^20 bytes), as AWS "
			"Batch counts it. Metaflow's manual calls them MB",
		.layout = LAYOUT(NULL, {"@batch(", ", ", ")\n", METAFLOW_BATCH}),
	},
	{
		.name = "kubernetes",
		.content_type = YAML,
		.help = "The resources of a container: requests, and a memory limit with room for every "
			"peak that was seen. A CPU limit only with cpu_limit",
		.reads = READS_CPU_LIMIT,
		.layout = LAYOUT(
			"resources: {}\n",
			{"resources:\n  requests:\n", "", "", PIECES(REQUESTS("    ", ": \"", "\"\n"))},
			{"  limits:\n", "", "", PIECES(LIMITS("    ", ": \"", "\"\n")), .optional = true}),
	},
	{
		.name = "kubernetes-patch",
		.content_type = "application/strategic-merge-patch+json",
		.help = "Strategic merge patch for kubectl patch of a Deployment, or below "
			"spec.jobTemplate of a CronJob. Patch a Job in its manifest with --local, "
			"because Kubernetes does not change the template of a Job that exists. It "
			"removes a CPU limit, and sets one only with cpu_limit",
		.reads = READS_CONTAINER | READS_CPU_LIMIT,
		.container = "main",
		/* The patch leaves all else unchanged: Kubernetes merges containers by name and
		 * resources by key. */
		.layout = LAYOUT(
			"{}\n",
			PATCH_REQUESTS("{\"spec\":{\"template\":{\"spec\":"),
			PATCH_LIMITS("}}}\n")),
	},
	{
		.name = "vpa",
		.content_type = YAML,
		.help = "The status of a VerticalPodAutoscaler: lowerBound is for risk economy, upperBound "
			"the limits",
		.reads = READS_CONTAINER,
		.container = "main",
		.layout = LAYOUT(
			"status: {}\n",
			{"status:\n  recommendation:\n    containerRecommendations:\n", "", "",
				PIECES({"      - containerName: \"", CONTAINER, "\"\n"})},
			{"        lowerBound:\n", "", "", PIECES(BOUND(MILLICORES, MEMORY_MIB_LOW))},
			{"        target:\n", "", "", PIECES(BOUND(MILLICORES, MEMORY_MIB))},
			{"        uncappedTarget:\n", "", "", PIECES(BOUND(MILLICORES, MEMORY_MIB))},
			{"        upperBound:\n", "", "", PIECES(BOUND(MILLICORES_MOST, MEMORY_MIB_LIMIT))}),
	},
	{
		.name = "argo",
		.content_type = YAML,
		.help = "The resources of an Argo Workflows template's container. A CPU limit only with "
			"cpu_limit",
		.reads = READS_CPU_LIMIT,
		.layout = LAYOUT(
			"container:\n  resources: {}\n",
			{"container:\n  resources:\n    requests:\n", "", "", PIECES(REQUESTS("      ", ": \"", "\"\n"))},
			{"    limits:\n", "", "", PIECES(LIMITS("      ", ": \"", "\"\n")), .optional = true}),
	},
	{
		.name = "argo-patch",
		.content_type = YAML,
		.help = "The podSpecPatch of an Argo Workflows template or workflow. It removes a CPU "
			"limit, and sets one only with cpu_limit",
		.reads = READS_CONTAINER | READS_CPU_LIMIT,
		.container = "main",
		/* Argo merges the patch as Kubernetes does (ApplyPodSpecPatch() in
		 * workflow/util/util.go). */
		.layout = LAYOUT(NULL, PATCH_REQUESTS("podSpecPatch: '"), PATCH_LIMITS("'\n")),
	},
	{
		.name = "airflow",
		.content_type = TEXT,
		.help = "The executor_config of a task under Airflow's Kubernetes executor; k8s is "
			"kubernetes.client.models. A CPU limit only with cpu_limit",
		.reads = READS_CONTAINER | READS_CPU_LIMIT,
		.container = "base",
		.layout = LAYOUT(
			NULL,
			{"executor_config={\"pod_override\": k8s.V1Pod(spec=k8s.V1PodSpec(containers=[k8s.V1Container(",
				"", "", PIECES({"name=\"", CONTAINER, "\", "})},
			{"resources=k8s.V1ResourceRequirements(requests={",
				", ", "}", PIECES(REQUESTS("\"", "\": \"", "\""))},
			{", limits={", ", ", "}))]))}\n", PIECES(LIMITS("\"", "\": \"", "\""))}),
	},
	{
		.name = "flyte",
		.content_type = TEXT,
		.help = "The decorator @task(requests=, limits=) of flytekit. It has the CPU limit that "
			"does not slow the job down, because Flyte takes the request as the limit "
			"where no limit is set",
		/* Source of how Flyte combines requests and limits: AdjustOrDefaultResource() in
		 * flytek8s/container_helper.go of flyteplugins. */
		.layout = LAYOUT(
			NULL,
			{"@task(requests=Resources(", ", ", ")",
				PIECES({"cpu=\"", MILLICORES, "m\""}, {"mem=\"", MEMORY_MIB, "Mi\""},
					{"gpu=\"", GPUS, "\""}, {"ephemeral_storage=\"", DISK_MIB, "Mi\""})},
			{", limits=Resources(", ", ", "))\n",
				PIECES({"cpu=\"", MILLICORES_LIMIT, "m\""}, {"mem=\"", MEMORY_MIB_LIMIT, "Mi\""},
					{"gpu=\"", GPUS, "\""})}),
	},
	{
		.name = "nextflow",
		.content_type = TEXT,
		.help = "Settings of one process for nextflow.config; MB is 2^20 bytes there. A task that "
			"is killed gets more memory and time, up to three retries. Without process, the "
			"process has the name of the job: the part after the last /, with _ for "
			"characters that no process name has",
		/* Nextflow retries a task with one of these exit statuses, which are those of
		 * nf-core (conf/base.config of its pipelines). 130 to 145 are signals: 137 is out
		 * of memory, 140 is out of time. A task of a killed pod leaves no status, and
		 * Nextflow reports Integer.MAX_VALUE (nextflow-io/nextflow#6436). */
		.reads = READS_PROCESS,
		.layout = LAYOUT(
			"process {\n}\n",
			{"process {\n", "", "", PIECES({"    withName: '", PROCESS, "' {\n"})},
			{"", "", "    }\n}\n",
				PIECES({"        cpus = ", CPUS, "\n"},
					{"        memory = { [", MEMORY_MIB, ".MB"}, {", ", MEMORY_MIB_2, ".MB"},
					{", ", MEMORY_MIB_3, ".MB][task.attempt - 1]"}, {" ?: ", MEMORY_MIB_4, ".MB }\n"},
					{"        time = { ", TIME_MINUTES, ".m * task.attempt }\n"},
					{"        disk = ", DISK_MIB, ".MB\n"},
					{"        accelerator = ", GPUS_NVIDIA, "\n"},
					{"        accelerator = [limit: ", GPUS_AMD, ", type: 'amd.com/gpu']\n"},
					{"        accelerator = [limit: ", GPUS_INTEL, ", type: 'gpu.intel.com/i915']\n"},
					{"        errorStrategy = { task.exitStatus in ((130..145) + [104, 175, "
					 "Integer.MAX_VALUE]) ? 'retry' : 'finish' }\n"
					 "        maxRetries = ", RETRIES, "\n"})}),
	},
	{
		.name = "snakemake",
		.content_type = TEXT,
		.help = "threads, retries and resources of a Snakemake rule; mem_mb and disk_mb are "
			"decimal megabytes. A job that fails gets more memory, up to three retries",
		.layout = LAYOUT(
			NULL,
			{"", "", "", PIECES({"threads: ", CPUS, "\n"}, {"retries: ", RETRIES, "\n"})},
			{"resources:\n", "", "",
				PIECES({"    mem_mb=lambda wildcards, attempt: [", MEMORY_MB},
					{", ", MEMORY_MB_2}, {", ", MEMORY_MB_3},
					{", ", MEMORY_MB_4, "][min(attempt, 4) - 1],\n"},
					{"    disk_mb=", DISK_MB, ",\n"}, {"    gpu=", GPUS, ",\n"},
					{"    gpu_manufacturer=\"nvidia\",\n", IF_GPU_NVIDIA},
					{"    gpu_manufacturer=\"amd\",\n", IF_GPU_AMD}),
				.optional = true}),
	},
	{
		.name = "slurm",
		.content_type = TEXT,
		.help = "#SBATCH lines; M is 2^20 bytes. The time limit is twice the time that nine of ten "
			"runs stay below. --tmp, the disk of the node, only with tmp, because a "
			"cluster without TmpDisk refuses it",
		.reads = READS_TMP,
		.layout = LAYOUT(NULL, {"", "", "",
				PIECES({"#SBATCH --cpus-per-task=", CPUS, "\n"},
					{"#SBATCH --mem=", MEMORY_MIB, "M\n"},
					{"#SBATCH --gres=gpu:", GPUS, "\n"},
					{"#SBATCH --time=", TIME_HMS, "\n"},
					{"#SBATCH --tmp=", DISK_TMP_MIB, "M\n"})}),
	},
	{
		.name = "ray",
		.content_type = TEXT,
		.help = "The decorator @ray.remote(...); memory in bytes. num_gpus is a share if the job "
			"uses less than one GPU: the larger of its share of the computing power and "
			"of the memory, at its peak. The GPU has gpu_memory, or else 16 GiB",
		.reads = READS_GPU_MEMORY,
		.layout = LAYOUT(
			"@ray.remote\n", /* Ray refuses empty parentheses */
			{"", "", "",
				PIECES({"# Tasks on one GPU share its memory. This task holds up to ", GPU_SHARE_MIB, " MiB.\n"},
					{"# Tasks on one GPU share its memory. How much this task holds is unknown.\n",
						IF_GPU_SHARE_UNKNOWN})},
			{"@ray.remote(", ", ", ")\n",
				PIECES({"num_cpus=", CORES}, {"memory=", MEMORY_BYTES}, {"num_gpus=", GPU_SHARE})}),
	},
	{
		.name = "spark",
		.content_type = TEXT,
		.help = "Settings of an executor for spark-defaults.conf, when the job is an executor. "
			"Heap and overhead together are the memory that the executor needs. The "
			"overhead is 10 %, at least 384 MiB. m is 2^20 bytes. PySpark workers use "
			"the overhead: raise it for them",
		.layout = LAYOUT(NULL, {"", "", "", SPARK("executor")}),
	},
	{
		.name = "spark-driver",
		.content_type = TEXT,
		.help = "Settings of a driver for spark-defaults.conf, when the job is a driver or runs "
			"with --master local",
		.layout = LAYOUT(NULL, {"", "", "", SPARK("driver")}),
	},
	{
		.name = "fargate",
		.content_type = JSON,
		.help = "The size of an Amazon ECS task definition for Fargate: the smallest pair of CPU "
			"units and MiB that Fargate sells, and disk above its 20 GiB. An error if no "
			"pair is large enough",
		.sizes = &advice_sizes_fargate,
		.layout = LAYOUT(
			"{}\n",
			{"{\"requiresCompatibilities\":[\"FARGATE\"],", ",", "}\n",
				PIECES({"\"cpu\":\"", SIZE_CPU_UNITS, "\""}, {"\"memory\":\"", SIZE_MIB, "\""},
					{"\"ephemeralStorage\":{\"sizeInGiB\":", DISK_GIB_EXTRA, "}"})}),
	},
	{
		.name = "aws-batch",
		.content_type = JSON,
		.help = "The resources of an AWS Batch job definition on EC2: whole CPUs and MiB. AWS "
			"Batch retries with the same memory: after a kill, submit the job with the "
			"resourceRequirements of attempt 2",
		.layout = LAYOUT(
			"{}\n",
			{"{\"type\":\"container\",\"containerProperties\":{\"resourceRequirements\":[", ",", "]}}\n",
				PIECES({"{\"type\":\"VCPU\",\"value\":\"", CPUS, "\"}"},
					{"{\"type\":\"MEMORY\",\"value\":\"", MEMORY_MIB, "\"}"},
					{"{\"type\":\"GPU\",\"value\":\"", GPUS, "\"}"})}),
	},
	{
		.name = "aws-batch-fargate",
		.content_type = JSON,
		.help = "The same on Fargate: the smallest pair that Fargate sells, as for fargate",
		.sizes = &advice_sizes_fargate,
		.layout = LAYOUT(
			"{}\n",
			{"{\"type\":\"container\",\"platformCapabilities\":[\"FARGATE\"],"
			 "\"containerProperties\":{\"resourceRequirements\":[", ",", "]",
				PIECES({"{\"type\":\"VCPU\",\"value\":\"", SIZE_CORES, "\"}"},
					{"{\"type\":\"MEMORY\",\"value\":\"", SIZE_MIB, "\"}"})},
			{"", "", "}}\n", PIECES({",\"ephemeralStorage\":{\"sizeInGiB\":", DISK_GIB_EXTRA, "}"})}),
	},
	{
		.name = "gcp-batch",
		.content_type = JSON,
		.help = "The resources of a Google Cloud Batch job, and the smallest custom machine type "
			"for one task: of E2, or of N2 above 32 CPUs or 128 GiB. An error if no "
			"machine is large enough, or if the job needs GPUs, which come with other "
			"machine types",
		.sizes = &advice_sizes_gcp,
		.layout = LAYOUT(
			"{}\n",
			{"{\"taskGroups\":[{\"taskSpec\":{\"computeResource\":{", ",", "}}}]",
				PIECES({"\"cpuMilli\":", MILLICORES}, {"\"memoryMib\":", MEMORY_MIB},
					{"\"bootDiskMib\":", DISK_MIB})},
			{",\"allocationPolicy\":{\"instances\":[{\"policy\":{\"machineType\":\"", "-", "\"}}]}}\n",
				PIECES({"", SIZE_SERIES}, {"", SIZE_CPUS}, {"", SIZE_MIB})}),
	},
	{
		.name = "kubeflow",
		.content_type = TEXT,
		.help = "Calls on a task of Kubeflow Pipelines v2. A CPU limit only with cpu_limit",
		.reads = READS_CPU_LIMIT,
		.layout = LAYOUT(NULL, {"task", "", "\n",
				PIECES({".set_cpu_request('", MILLICORES, "m')"},
					{".set_cpu_limit('", MILLICORES_LIMIT_ASKED, "m')"},
					{".set_memory_request('", MEMORY_MIB, "Mi')"},
					{".set_memory_limit('", MEMORY_MIB_LIMIT, "Mi')"},
					{".set_accelerator_type('nvidia.com/gpu').set_accelerator_limit(", GPUS_NVIDIA, ")"},
					{".set_accelerator_type('amd.com/gpu').set_accelerator_limit(", GPUS_AMD, ")"},
					{".set_accelerator_type('gpu.intel.com/i915').set_accelerator_limit(", GPUS_INTEL, ")"})}),
	},
	{
		.name = "dask",
		.content_type = TEXT,
		.help = "A LocalCluster of one worker. Dask kills a worker at 95 % of its memory limit, "
			"so the limit is that much larger",
		.layout = LAYOUT(NULL, {"LocalCluster(n_workers=1", "", ")\n",
				PIECES({", threads_per_worker=", CPUS}, {", memory_limit=\"", MEMORY_MIB_DASK, "MiB\""})}),
	},
	{
		.name = "docker",
		.content_type = TEXT,
		.help = "Flags of docker run and podman run: hard limits, m is 2^20 bytes. --cpus does "
			"not slow the job down. It is at most the CPUs of the machine that ran the "
			"job, because a host with fewer CPUs refuses it. Strategy baseline does not "
			"know it",
		.note = LIMITS_ONLY,
		/* Docker has only hard limits. --cpus is therefore the CPU limit: with the CPU
		 * request as a limit, bursts would be slow. --memory-swap limits memory plus swap.
		 * Here it equals --memory, which forbids swap: swap would hide that memory ran
		 * out. --gpus is for NVIDIA only. AMD and Intel get the devices of their drivers,
		 * for all GPUs of the machine. */
		.layout = LAYOUT(NULL, {"", " ", "\n",
				PIECES({"--cpus=", CORES_LIMIT}, {"--memory=", MEMORY_MIB_LIMIT, "m"},
					{"--memory-swap=", MEMORY_MIB_LIMIT, "m"}, {"--gpus ", GPUS_NVIDIA},
					{"--device /dev/kfd --device /dev/dri", IF_GPU_AMD},
					{"--device /dev/dri", IF_GPU_INTEL})}),
	},
	{
		.name = "systemd",
		.content_type = TEXT,
		.help = "A [Service] section: hard limits, M is 2^20 bytes. No CPUQuota with "
			"strategy baseline",
		.note = LIMITS_ONLY,
		.layout = LAYOUT(NULL, {"[Service]\n", "", "",
				PIECES({"CPUQuota=", CPU_PERCENT_LIMIT, "%\n"}, {"MemoryMax=", MEMORY_MIB_LIMIT, "M\n"})}),
	},
	{0},
};
/* clang-format on */

const struct advice_format *advice_format_find(const char *name)
{
	for (const struct advice_format *f = advice_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

const struct advice_format *advice_format_for(const char *system)
{
	const struct advice_format *f = system ? advice_format_find(system) : NULL;

	return f && f->layout ? f : advice_format_find("docker");
}
