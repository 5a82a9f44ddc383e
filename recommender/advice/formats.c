/* The answer in the syntax and units of the systems that people paste it into: one table row each.
 */
#include "recommender/advice/formats.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "recommender/sizing/strategy.h"

/*
 * Less disk than this is not asked for: whoever asks for little gets little, where the default would have been
 * gigabytes, and logs and the like need room that no run shows.
 */
#define DISK_LEAST (1024 * MIB)

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

/* Up to whole thousandths; what floating point added to a whole one is not a reason for one more.
 */
static uint64_t millicores(double cores)
{
	return cores > 0 && cores < 1e6 ? (uint64_t)fmax(1, ceil(cores * 1000 - 1e-6)) : 0;
}

static uint64_t at_least(uint64_t limit, uint64_t request)
{
	return limit > request ? limit : request;
}

struct ask ask_of(const struct sizing *s)
{
	const struct demand *d = &s->demand;
	struct ask a = {
		.millicores = millicores(d->cpu_cores),
		.cpus = s->resources.cpu,
		.mib = s->resources.memory,
		.gpus = s->resources.gpu,
		.disk_mib = d->disk_bytes >= DISK_LEAST ? round_up_memory(d->disk_bytes) : 0,
	};

	if (s->cpu_cores_limit > 0)
		a.millicores_limit = at_least(millicores(s->cpu_cores_limit), a.millicores);
	a.mib_limit = a.mib;
	if (s->memory_bytes_limit > d->memory_bytes)
		a.mib_limit = at_least(round_up_memory(s->memory_bytes_limit), a.mib);
	if (s->duration_high > 0 && s->duration_high < 1e9)
		a.minutes = (uint64_t)fmax(10,
			ceil(2 * s->duration_high * fmax(1, s->cpu_slowdown) / 60));
	return a;
}

uint64_t megabytes(uint64_t mib)
{
	return (mib * 1048576 + 999999) / 1000000;
}

void add_cores(struct buf *out, uint64_t milli)
{
	buf_add_double(out, (double)milli / 1000);
}

void list_add(struct list *l, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (l->started)
		buf_adds(l->out, l->separator);
	l->started = true;
	buf_adds(l->out, text);
}
