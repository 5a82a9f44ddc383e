/* Advice as Python: decorators, calls and arguments of workflow libraries. */
#include <inttypes.h>

#include "recommender/advice/formats.h"

void write_metaflow(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);
	struct list l = {out, ", ", false};

	buf_adds(out, "@resources(");
	if (a.cpus)
		list_add(&l, "cpu=%" PRIu64, a.cpus);
	if (a.mib)
		list_add(&l, "memory=%" PRIu64, megabytes(a.mib));
	list_add(&l, "gpu=%" PRIu64, a.gpus);
	buf_adds(out, ")\n");
}

void write_metaflow_kubernetes(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);
	struct list l = {out, ", ", false};

	buf_adds(out, "@kubernetes(");
	if (a.millicores) {
		list_add(&l, "cpu=");
		add_cores(out, a.millicores);
	}
	if (a.mib)
		list_add(&l, "memory=%" PRIu64, megabytes(a.mib));
	if (a.disk_mib)
		list_add(&l, "disk=%" PRIu64, megabytes(a.disk_mib));
	if (a.gpus)
		list_add(&l, "gpu=%" PRIu64, a.gpus);
	buf_adds(out, ")\n");
}

void write_metaflow_batch(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);
	struct list l = {out, ", ", false};

	buf_adds(out, "@batch(");
	if (a.cpus)
		list_add(&l, "cpu=%" PRIu64, a.cpus);
	if (a.mib)
		list_add(&l, "memory=%" PRIu64, a.mib);
	if (a.gpus)
		list_add(&l, "gpu=%" PRIu64, a.gpus);
	buf_adds(out, ")\n");
}

/* {"cpu": "2250m", ...}; which = 0 requests, 1 limits. */
static void add_kubernetes_dict(struct buf *out, const struct ask *a, bool limits)
{
	struct list l = {out, ", ", false};
	uint64_t milli = limits ? a->millicores_limit : a->millicores;
	uint64_t mib = limits ? a->mib_limit : a->mib;

	buf_adds(out, "{");
	if (milli)
		list_add(&l, "\"cpu\": \"%" PRIu64 "m\"", milli);
	if (mib)
		list_add(&l, "\"memory\": \"%" PRIu64 "Mi\"", mib);
	if (a->disk_mib && !limits)
		list_add(&l, "\"ephemeral-storage\": \"%" PRIu64 "Mi\"", a->disk_mib);
	if (a->gpus)
		list_add(&l, "\"nvidia.com/gpu\": \"%" PRIu64 "\"", a->gpus);
	buf_adds(out, "}");
}

void write_airflow(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);

	buf_adds(out,
		"executor_config={\"pod_override\": k8s.V1Pod(spec=k8s.V1PodSpec(containers=["
		"k8s.V1Container(name=\"base\", resources=k8s.V1ResourceRequirements(requests=");
	add_kubernetes_dict(out, &a, false);
	buf_adds(out, ", limits=");
	add_kubernetes_dict(out, &a, true);
	buf_adds(out, "))]))}\n");
}

static void add_flyte_resources(struct buf *out, const struct ask *a, bool limits)
{
	struct list l = {out, ", ", false};
	uint64_t milli = limits ? a->millicores_limit : a->millicores;
	uint64_t mib = limits ? a->mib_limit : a->mib;

	buf_adds(out, "Resources(");
	if (milli)
		list_add(&l, "cpu=\"%" PRIu64 "m\"", milli);
	if (mib)
		list_add(&l, "mem=\"%" PRIu64 "Mi\"", mib);
	if (a->gpus)
		list_add(&l, "gpu=\"%" PRIu64 "\"", a->gpus);
	if (a->disk_mib && !limits)
		list_add(&l, "ephemeral_storage=\"%" PRIu64 "Mi\"", a->disk_mib);
	buf_adds(out, ")");
}

void write_flyte(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);

	buf_adds(out, "@task(requests=");
	add_flyte_resources(out, &a, false);
	buf_adds(out, ", limits=");
	add_flyte_resources(out, &a, true);
	buf_adds(out, ")\n");
}

void write_kubeflow(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);

	buf_adds(out, "task");
	if (a.millicores)
		buf_addf(out, ".set_cpu_request('%" PRIu64 "m')", a.millicores);
	if (a.millicores_limit)
		buf_addf(out, ".set_cpu_limit('%" PRIu64 "m')", a.millicores_limit);
	if (a.mib)
		buf_addf(out,
			".set_memory_request('%" PRIu64 "Mi').set_memory_limit('%" PRIu64 "Mi')",
			a.mib, a.mib_limit);
	if (a.gpus)
		buf_addf(out,
			".set_accelerator_type('nvidia.com/gpu').set_accelerator_limit(%" PRIu64
			")",
			a.gpus);
	buf_adds(out, "\n");
}

void write_ray(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);
	struct list l = {out, ", ", false};

	buf_adds(out, "@ray.remote");
	if (!a.millicores && !a.mib && !a.gpus) { /* Ray refuses empty parentheses */
		buf_adds(out, "\n");
		return;
	}
	buf_adds(out, "(");
	if (a.millicores) {
		list_add(&l, "num_cpus=");
		add_cores(out, a.millicores);
	}
	if (a.mib)
		list_add(&l, "memory=%" PRIu64, a.mib * 1048576);
	if (a.gpus)
		list_add(&l, "num_gpus=%" PRIu64, a.gpus);
	buf_adds(out, ")\n");
}

void write_dask(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);

	buf_adds(out, "LocalCluster(n_workers=1");
	if (a.cpus)
		buf_addf(out, ", threads_per_worker=%" PRIu64, a.cpus);
	if (a.mib)
		buf_addf(out, ", memory_limit=\"%" PRIu64 "MiB\"", (a.mib * 100 + 94) / 95);
	buf_adds(out, ")\n");
}
