/*
 * What the writers of recommender/advice*.c share. Private to recommender/.
 */
#ifndef RECOMMENDER_ADVICE_H
#define RECOMMENDER_ADVICE_H

#include "recommender/sizing/sizing.h"

/*
 * The numbers of a sizing in whole units. 0 = unknown, or none; then the target's own default holds
 * and nothing is written. A limit is never below its request; it is 0 where no advice is given.
 */
struct ask {
	uint64_t millicores, millicores_limit;
	uint64_t cpus; /* whole */
	uint64_t mib, mib_limit;
	uint64_t gpus;
	uint64_t disk_mib;
	uint64_t minutes; /* a time limit: twice what nine of ten runs are expected to take */
};
struct ask ask_of(const struct sizing *s);

/* Decimal megabytes, rounded up. */
uint64_t megabytes(uint64_t mib);

/* Cores as a decimal number: 2250 -> "2.25". */
void add_cores(struct buf *out, uint64_t millicores);

/* Writes ", " before every piece but the first. */
struct list {
	struct buf *out;
	const char *separator;
	bool started;
};
void list_add(struct list *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

void write_metaflow(struct buf *out, const struct sizing *s);
void write_metaflow_kubernetes(struct buf *out, const struct sizing *s);
void write_metaflow_batch(struct buf *out, const struct sizing *s);
void write_airflow(struct buf *out, const struct sizing *s);
void write_flyte(struct buf *out, const struct sizing *s);
void write_kubeflow(struct buf *out, const struct sizing *s);
void write_ray(struct buf *out, const struct sizing *s);
void write_dask(struct buf *out, const struct sizing *s);

void write_kubernetes(struct buf *out, const struct sizing *s);
void write_kubernetes_patch(struct buf *out, const struct sizing *s);
void write_vpa(struct buf *out, const struct sizing *s);
void write_argo(struct buf *out, const struct sizing *s);
void write_argo_patch(struct buf *out, const struct sizing *s);

void write_nextflow(struct buf *out, const struct sizing *s);
void write_snakemake(struct buf *out, const struct sizing *s);
void write_slurm(struct buf *out, const struct sizing *s);
void write_docker(struct buf *out, const struct sizing *s);
void write_systemd(struct buf *out, const struct sizing *s);

#endif
