/* Writes a sizing in the format of another system, such as Kubernetes or Slurm. */
#ifndef RECOMMENDER_ADVICE_ADVICE_H
#define RECOMMENDER_ADVICE_ADVICE_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "recommender/sizing/sizing.h"

/* Facts that the caller knows about the target. If all members are zero, each format uses its
 * defaults. Only a format with READS_PROCESS needs `job_name` or `process`. If `process` is given,
 * advice_process_valid must be true for it. If `container` is given, advice_container_valid must be
 * true for it. */
struct advice_target {
	const char *job_name;  /* key or name of the job */
	const char *process;   /* name of a Nextflow process; NULL = made from `job_name` */
	const char *container; /* name of a container */
	bool cpu_limit;        /* also write a CPU limit, if it is known */
	bool tmp;              /* request disk on the node */
	/* Manufacturer of the GPUs that the job uses, as in struct run; NULL = unknown, or several */
	const char *gpu_manufacturer;
	double gpu_memory_bytes; /* memory of one GPU of the target; 0 = unknown */
};

/* Members of advice_target that only some formats read. */
enum advice_reads {
	READS_PROCESS = 1,
	READS_CONTAINER = 2,
	READS_CPU_LIMIT = 4,
	READS_TMP = 8,
	READS_GPU_MEMORY = 16,
};

/* One row per format. */
struct advice_layout;
struct advice_sizes;
struct advice_format {
	const char *name, *content_type, *help;
	/* Reason why the numbers differ from those of the request, as in "For docker (NOTE)". NULL
	 * = they do not. */
	const char *note;
	unsigned reads;                     /* bits of enum advice_reads */
	const char *container;              /* the default container */
	const struct advice_sizes *sizes;   /* sizes that the target sells; NULL = any size */
	const struct advice_layout *layout; /* NULL = JSON, which advice_write cannot write */
};
extern const struct advice_format advice_formats[]; /* ends with name NULL; json is the default */
const struct advice_format *advice_format_find(const char *name); /* NULL = unknown name */
/* Returns the format with the name of a batch or workflow system, such as "slurm" (struct run,
 * `system`). If there is no such format, or if `system` is NULL, returns the format "docker",
 * because its flags are the easiest to read. */
const struct advice_format *advice_format_for(const char *system);

/* Appends the sizing `s` in the format `f` to `out`. -ERANGE: the target sells no size that is
 * large enough, and nothing was written. */
int advice_write(struct buf *out, const struct advice_format *f, const struct advice_target *t,
	const struct sizing *s, struct err *e);

/* True for a DNS-1123 label: 1 to 63 characters of a-z, 0-9 and "-". The first and the last are not
 * "-". */
bool advice_container_valid(const char *name);

/* True for identifiers of letters, digits and "_" joined by ":". This is the full name of a
 * Nextflow process: WORKFLOW:PROCESS. */
bool advice_process_valid(const char *name);

#endif
