/* Advice for schedulers, workflow languages and runtimes with a syntax of their own. */
#include <inttypes.h>

#include "recommender/advice/formats.h"

/* 137 to 140: killed, as by the kernel or a batch system when memory ran out. */
void write_nextflow(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);

	buf_adds(out, "process {\n");
	if (a.cpus)
		buf_addf(out, "    cpus = %" PRIu64 "\n", a.cpus);
	if (a.mib)
		buf_addf(out,
			"    memory = { %" PRIu64 ".MB * task.attempt }\n"
			"    errorStrategy = { task.exitStatus in 137..140 ? 'retry' : 'finish' }\n"
			"    maxRetries = 2\n",
			a.mib);
	if (a.disk_mib)
		buf_addf(out, "    disk = %" PRIu64 ".MB\n", a.disk_mib);
	if (a.gpus)
		buf_addf(out, "    accelerator = %" PRIu64 "\n", a.gpus);
	buf_adds(out, "}\n");
}

void write_snakemake(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);
	struct list l = {out, ",\n", false};

	if (a.cpus)
		buf_addf(out, "threads: %" PRIu64 "\n", a.cpus);
	if (!a.mib && !a.disk_mib && !a.gpus)
		return;
	buf_adds(out, "resources:\n");
	if (a.mib)
		list_add(&l, "    mem_mb=%" PRIu64, megabytes(a.mib));
	if (a.disk_mib)
		list_add(&l, "    disk_mb=%" PRIu64, megabytes(a.disk_mib));
	if (a.gpus)
		list_add(&l, "    gpu=%" PRIu64, a.gpus);
	buf_adds(out, "\n");
}

/* hours:minutes:seconds; Slurm takes any number of hours. */
void write_slurm(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);

	if (a.cpus)
		buf_addf(out, "#SBATCH --cpus-per-task=%" PRIu64 "\n", a.cpus);
	if (a.mib)
		buf_addf(out, "#SBATCH --mem=%" PRIu64 "M\n", a.mib);
	if (a.gpus)
		buf_addf(out, "#SBATCH --gres=gpu:%" PRIu64 "\n", a.gpus);
	if (a.minutes)
		buf_addf(out, "#SBATCH --time=%02" PRIu64 ":%02" PRIu64 ":00\n", a.minutes / 60,
			a.minutes % 60);
	if (a.disk_mib)
		buf_addf(out, "#SBATCH --tmp=%" PRIu64 "M\n", a.disk_mib);
}

/*
 * Both know hard limits only. A request is none: the mean of a job as a limit would slow down all that is above it.
 * Swap would hide that memory ran out: --memory-swap is memory and swap together.
 */
void write_docker(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);
	struct list l = {out, " ", false};

	if (a.millicores_limit) {
		list_add(&l, "--cpus=");
		add_cores(out, a.millicores_limit);
	}
	if (a.mib_limit)
		list_add(&l, "--memory=%" PRIu64 "m --memory-swap=%" PRIu64 "m", a.mib_limit,
			a.mib_limit);
	if (a.gpus)
		list_add(&l, "--gpus %" PRIu64, a.gpus);
	buf_adds(out, "\n");
}

void write_systemd(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);

	buf_adds(out, "[Service]\n");
	if (a.millicores_limit)
		buf_addf(out, "CPUQuota=%" PRIu64 "%%\n", (a.millicores_limit + 9) / 10);
	if (a.mib_limit)
		buf_addf(out, "MemoryMax=%" PRIu64 "M\n", a.mib_limit);
}
