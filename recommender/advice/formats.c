#include "recommender/advice/formats.h"

#include <string.h>

#define TEXT "text/plain; charset=utf-8"
#define YAML "application/yaml"

/* clang-format off */
#define PIECES(...) (const struct advice_piece[]){__VA_ARGS__, {0}}
#define LAYOUT(nothing, ...) \
	&(const struct advice_layout){nothing, (const struct advice_section[]){__VA_ARGS__, {0}}}

/* Pieces of the requests and the limits of a container. The caller gives three texts: `before`
 * stands before the name of a resource, `middle` stands after the name, and `after` stands after
 * the unit. Kubernetes requires that the request of a GPU equals its limit, so both macros use
 * GPUS. */
#define REQUESTS(before, middle, after) \
	{before "cpu" middle, MILLICORES, "m" after}, {before "memory" middle, MEMORY_MIB, "Mi" after}, \
	{before "ephemeral-storage" middle, DISK_MIB, "Mi" after}, {before "nvidia.com/gpu" middle, GPUS, after}
#define LIMITS(before, middle, after) \
	{before "cpu" middle, MILLICORES_LIMIT, "m" after}, {before "memory" middle, MEMORY_MIB_LIMIT, "Mi" after}, \
	{before "nvidia.com/gpu" middle, GPUS, after}

/* Selects the container by the name "main", because most systems use that name. The position does
 * not identify it, because the first container in the list can be a sidecar. */
#define MAIN_REQUESTS(before) \
	{before "{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{", ",", "}", \
		PIECES(REQUESTS("\"", "\":\"", "\""))}
/* If a resource has a new request but no new limit, writes null, which removes the old limit.
 * Otherwise the old limit could be below the new request, and Kubernetes would refuse the patch. */
#define MAIN_LIMITS(after) \
	{",\"limits\":{", ",", "}}}]}" after, \
		PIECES(LIMITS("\"", "\":\"", "\""), {"\"cpu\":null", CPU_LIFTED}, \
			{"\"ephemeral-storage\":null", DISK_LIFTED})}

#define BOUND(cpu, mib) {"          cpu: \"", cpu, "m\"\n"}, {"          memory: \"", mib, "Mi\"\n"}

const struct advice_format advice_formats[] = {
	{
		.name = "json",
		.content_type = "application/json",
		.help = "Everything that is known, with the reasons",
	},
	{
		.name = "metaflow",
		.content_type = TEXT,
		.help = "The line @resources(cpu=, memory=, gpu=) to put above a step; memory in "
			"decimal megabytes, rounded up, which suffices on Kubernetes (10^6 bytes) "
			"and on AWS Batch (MiB)",
		.layout = LAYOUT(NULL, {"@resources(", ", ", ")\n",
				PIECES({"cpu=", CPUS}, {"memory=", MEMORY_MB}, {"gpu=", GPUS, .always = true})}),
	},
	{
		.name = "metaflow-kubernetes",
		.content_type = TEXT,
		.help = "The line @kubernetes(...) to put above a step; memory and disk in "
			"decimal megabytes",
		.layout = LAYOUT(NULL, {"@kubernetes(", ", ", ")\n",
				PIECES({"cpu=", CORES}, {"memory=", MEMORY_MB}, {"disk=", DISK_MB}, {"gpu=", GPUS})}),
	},
	{
		.name = "metaflow-batch",
		.content_type = TEXT,
		.help = "The line @batch(...) to put above a step; memory in MiB",
		.layout = LAYOUT(NULL, {"@batch(", ", ", ")\n",
				PIECES({"cpu=", CPUS}, {"memory=", MEMORY_MIB}, {"gpu=", GPUS})}),
	},
	{
		.name = "kubernetes",
		.content_type = YAML,
		.help = "The resources of a container: requests, and as limits what does not slow "
			"the job down and has room for every peak that was seen",
		.layout = LAYOUT(
			"resources: {}\n",
			{"resources:\n  requests:\n", "", "", PIECES(REQUESTS("    ", ": \"", "\"\n"))},
			{"  limits:\n", "", "", PIECES(LIMITS("    ", ": \"", "\"\n")), .optional = true}),
	},
	{
		.name = "kubernetes-patch",
		.content_type = "application/strategic-merge-patch+json",
		.help = "Strategic merge patch for a container called main: kubectl patch of a "
			"Deployment, or below spec.jobTemplate of a CronJob; of a Job in its "
			"manifest with --local, for Kubernetes refuses to change the template of "
			"one that is there",
		/* The patch leaves all else unchanged: Kubernetes merges containers by name and
		 * resources by key. */
		.layout = LAYOUT(
			"{}\n",
			MAIN_REQUESTS("{\"spec\":{\"template\":{\"spec\":"),
			MAIN_LIMITS("}}}\n")),
	},
	{
		.name = "vpa",
		.content_type = YAML,
		.help = "The status of a VerticalPodAutoscaler, for a container called main: "
			"lowerBound is risk=economy, upperBound the limit",
		.layout = LAYOUT(
			"status: {}\n",
			{"status:\n  recommendation:\n    containerRecommendations:\n      - containerName: main\n"
			 "        lowerBound:\n", "", "", PIECES(BOUND(MILLICORES, MEMORY_MIB_LOW))},
			{"        target:\n", "", "", PIECES(BOUND(MILLICORES, MEMORY_MIB))},
			{"        uncappedTarget:\n", "", "", PIECES(BOUND(MILLICORES, MEMORY_MIB))},
			{"        upperBound:\n", "", "", PIECES(BOUND(MILLICORES_MOST, MEMORY_MIB_LIMIT))}),
	},
	{
		.name = "argo",
		.content_type = YAML,
		.help = "The resources of an Argo Workflows template's container",
		.layout = LAYOUT(
			"container:\n  resources: {}\n",
			{"container:\n  resources:\n    requests:\n", "", "", PIECES(REQUESTS("      ", ": \"", "\"\n"))},
			{"    limits:\n", "", "", PIECES(LIMITS("      ", ": \"", "\"\n")), .optional = true}),
	},
	{
		.name = "argo-patch",
		.content_type = YAML,
		.help = "The podSpecPatch of an Argo Workflows template or workflow, for its "
			"container main",
		/* Argo merges the patch as Kubernetes does (ApplyPodSpecPatch() in
		 * workflow/util/util.go). */
		.layout = LAYOUT(NULL, MAIN_REQUESTS("podSpecPatch: '"), MAIN_LIMITS("'\n")),
	},
	{
		.name = "airflow",
		.content_type = TEXT,
		.help = "The executor_config of a task under Airflow's Kubernetes executor; k8s "
			"is kubernetes.client.models",
		.layout = LAYOUT(
			NULL,
			{"executor_config={\"pod_override\": k8s.V1Pod(spec=k8s.V1PodSpec(containers=[k8s.V1Container("
			 "name=\"base\", resources=k8s.V1ResourceRequirements(requests={",
				", ", "}", PIECES(REQUESTS("\"", "\": \"", "\""))},
			{", limits={", ", ", "}))]))}\n", PIECES(LIMITS("\"", "\": \"", "\""))}),
	},
	{
		.name = "flyte",
		.content_type = TEXT,
		.help = "The decorator @task(requests=, limits=) of flytekit",
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
		.help = "A process scope for nextflow.config; memory (MB is 2^20 bytes there) "
			"grows with each attempt after a kill",
		/* Exit statuses 137 to 140: a signal killed the task, for example when memory ran
		 * out. */
		.layout = LAYOUT(NULL, {"process {\n", "", "}\n",
				PIECES({"    cpus = ", CPUS, "\n"},
					{"    memory = { ", MEMORY_MIB,
						".MB * task.attempt }\n"
						"    errorStrategy = { task.exitStatus in 137..140 ? 'retry' : 'finish' }\n"
						"    maxRetries = 2\n"},
					{"    disk = ", DISK_MIB, ".MB\n"},
					{"    accelerator = ", GPUS, "\n"})}),
	},
	{
		.name = "snakemake",
		.content_type = TEXT,
		.help = "threads and resources of a Snakemake rule; mem_mb and disk_mb are decimal",
		.layout = LAYOUT(
			NULL,
			{"", "", "", PIECES({"threads: ", CPUS, "\n"})},
			{"resources:\n", ",\n", "\n",
				PIECES({"    mem_mb=", MEMORY_MB}, {"    disk_mb=", DISK_MB}, {"    gpu=", GPUS}),
				.optional = true}),
	},
	{
		.name = "slurm",
		.content_type = TEXT,
		.help = "#SBATCH lines; M is 2^20 bytes; the time limit is twice what nine of ten "
			"runs are expected to take",
		.layout = LAYOUT(NULL, {"", "", "",
				PIECES({"#SBATCH --cpus-per-task=", CPUS, "\n"},
					{"#SBATCH --mem=", MEMORY_MIB, "M\n"},
					{"#SBATCH --gres=gpu:", GPUS, "\n"},
					{"#SBATCH --time=", MINUTES, "\n"},
					{"#SBATCH --tmp=", DISK_MIB, "M\n"})}),
	},
	{
		.name = "ray",
		.content_type = TEXT,
		.help = "The decorator @ray.remote(...); memory in bytes",
		.layout = LAYOUT(
			"@ray.remote\n", /* Ray refuses empty parentheses */
			{"@ray.remote(", ", ", ")\n",
				PIECES({"num_cpus=", CORES}, {"memory=", MEMORY_BYTES}, {"num_gpus=", GPUS})}),
	},
	{
		.name = "kubeflow",
		.content_type = TEXT,
		.help = "Calls on a task of Kubeflow Pipelines v2",
		.layout = LAYOUT(NULL, {"task", "", "\n",
				PIECES({".set_cpu_request('", MILLICORES, "m')"},
					{".set_cpu_limit('", MILLICORES_LIMIT, "m')"},
					{".set_memory_request('", MEMORY_MIB, "Mi')"},
					{".set_memory_limit('", MEMORY_MIB_LIMIT, "Mi')"},
					{".set_accelerator_type('nvidia.com/gpu').set_accelerator_limit(", GPUS, ")"})}),
	},
	{
		.name = "dask",
		.content_type = TEXT,
		.help = "A LocalCluster of one worker; its memory limit is larger by what Dask "
			"keeps free: it kills a worker at 95 %",
		.layout = LAYOUT(NULL, {"LocalCluster(n_workers=1", "", ")\n",
				PIECES({", threads_per_worker=", CPUS}, {", memory_limit=\"", MEMORY_MIB_DASK, "MiB\""})}),
	},
	{
		.name = "docker",
		.content_type = TEXT,
		.help = "Flags of docker run and podman run: hard limits, m is 2^20 bytes; --cpus "
			"is what does not slow the job down, which is refused by a host with fewer "
			"CPUs, and missing with strategy=baseline, which knows no such number",
		/* Docker has hard limits only. The request is not used: it is the job's mean, and
		 * as a limit it would slow down the peaks. --memory-swap is the limit of memory
		 * plus swap. It equals --memory here, which forbids swap, because swap would hide
		 * that memory ran out. */
		.layout = LAYOUT(NULL, {"", " ", "\n",
				PIECES({"--cpus=", CORES_LIMIT}, {"--memory=", MEMORY_MIB_LIMIT, "m"},
					{"--memory-swap=", MEMORY_MIB_LIMIT, "m"}, {"--gpus ", GPUS})}),
	},
	{
		.name = "systemd",
		.content_type = TEXT,
		.help = "A [Service] section: hard limits, M is 2^20 bytes; no CPUQuota with "
			"strategy=baseline",
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
