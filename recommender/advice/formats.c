/* The answer in the syntax and units of the systems that people paste it into: one table row each.
 */
#include "recommender/advice/formats.h"

#include <string.h>

#define TEXT "text/plain; charset=utf-8"
#define YAML "application/yaml"

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
			"decimal "
			"megabytes, rounded up, which suffices on Kubernetes (10^6 bytes) and on "
			"AWS Batch "
			"(MiB)",
		.write = write_metaflow,
	},
	{
		.name = "metaflow-kubernetes",
		.content_type = TEXT,
		.help = "The line @kubernetes(...) to put above a step; memory and disk in decimal "
			"megabytes",
		.write = write_metaflow_kubernetes,
	},
	{
		.name = "metaflow-batch",
		.content_type = TEXT,
		.help = "The line @batch(...) to put above a step; memory in MiB",
		.write = write_metaflow_batch,
	},
	{
		.name = "kubernetes",
		.content_type = YAML,
		.help = "The resources of a container: requests, and as limits what does not slow "
			"the job "
			"down and has room for every peak that was seen",
		.write = write_kubernetes,
	},
	{
		.name = "kubernetes-patch",
		.content_type = "application/strategic-merge-patch+json",
		.help = "Strategic merge patch for a container called main: kubectl patch of a "
			"Deployment, or below spec.jobTemplate of a CronJob; of a Job in its "
			"manifest with --local, for Kubernetes refuses to change the template of "
			"one that is there",
		.write = write_kubernetes_patch,
	},
	{
		.name = "vpa",
		.content_type = YAML,
		.help = "The status of a VerticalPodAutoscaler, for a container called main: "
			"lowerBound is "
			"risk=economy, upperBound the limit",
		.write = write_vpa,
	},
	{
		.name = "argo",
		.content_type = YAML,
		.help = "The resources of an Argo Workflows template's container",
		.write = write_argo,
	},
	{
		.name = "argo-patch",
		.content_type = YAML,
		.help = "The podSpecPatch of an Argo Workflows template or workflow, for its "
			"container main",
		.write = write_argo_patch,
	},
	{
		.name = "airflow",
		.content_type = TEXT,
		.help = "The executor_config of a task under Airflow's Kubernetes executor; k8s is "
			"kubernetes.client.models",
		.write = write_airflow,
	},
	{
		.name = "flyte",
		.content_type = TEXT,
		.help = "The decorator @task(requests=, limits=) of flytekit",
		.write = write_flyte,
	},
	{
		.name = "nextflow",
		.content_type = TEXT,
		.help = "A process scope for nextflow.config; memory (MB is 2^20 bytes there) "
			"grows with each "
			"attempt after a kill",
		.write = write_nextflow,
	},
	{
		.name = "snakemake",
		.content_type = TEXT,
		.help = "threads and resources of a Snakemake rule; mem_mb and disk_mb are decimal",
		.write = write_snakemake,
	},
	{
		.name = "slurm",
		.content_type = TEXT,
		.help = "#SBATCH lines; M is 2^20 bytes; the time limit is twice what nine of ten "
			"runs are "
			"expected to take",
		.write = write_slurm,
	},
	{
		.name = "ray",
		.content_type = TEXT,
		.help = "The decorator @ray.remote(...); memory in bytes",
		.write = write_ray,
	},
	{
		.name = "kubeflow",
		.content_type = TEXT,
		.help = "Calls on a task of Kubeflow Pipelines v2",
		.write = write_kubeflow,
	},
	{
		.name = "dask",
		.content_type = TEXT,
		.help = "A LocalCluster of one worker; its memory limit is larger by what Dask "
			"keeps free: it "
			"kills a worker at 95 %",
		.write = write_dask,
	},
	{
		.name = "docker",
		.content_type = TEXT,
		.help = "Flags of docker run and podman run: hard limits, m is 2^20 bytes; --cpus "
			"is what does not slow the job "
			"down, which is refused by a host with fewer CPUs, and missing with "
			"strategy=baseline, which knows no such number",
		.write = write_docker,
	},
	{
		.name = "systemd",
		.content_type = TEXT,
		.help = "A [Service] section: hard limits, M is 2^20 bytes; no CPUQuota with "
			"strategy=baseline",
		.write = write_systemd,
	},
	{0},
};

const struct advice_format *advice_format_find(const char *name)
{
	for (const struct advice_format *f = advice_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}
