/* Sizes in bytes, and numbers of CPUs, as people, Kubernetes, Slurm and PBS write them. quantity.c
 * has one table of suffixes for sizes and one for CPUs. quantity_markdown prints the suffixes for
 * the manual. */
#ifndef COLLECTORS_BASE_QUANTITY_H
#define COLLECTORS_BASE_QUANTITY_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"

/* The writer of a size decides what its suffix means. */
enum quantity_writer {
	QUANTITY_OF_PEOPLE, /* people and Kubernetes: G is 10^9, Gi is 2^30 */
	QUANTITY_OF_SLURM,  /* G is 2^30, a number without a suffix counts MiB */
	QUANTITY_OF_PBS,    /* gb is 2^30 */
	QUANTITY_WRITERS,
};

/* Bounds of all requests (CPUs and bytes) and input sizes (bytes). The upper bounds are far above
 * the size of one machine, because a request may be for many machines. */
#define QUANTITY_CORES_LEAST 0.001
#define QUANTITY_CORES_MOST  1e6
#define QUANTITY_BYTES_MOST  1e18

/* Largest valid number of an attempt; the first attempt of a run is number 1. No system retries a
 * run so often. A larger number is probably something else, such as an id. */
#define ATTEMPT_MOST 1000

/* The three quantities that a user or a system may state for a run: requested cores, requested
 * memory and input size. */
enum quantity_of_run { QUANTITY_RUN_CORES, QUANTITY_RUN_MEMORY, QUANTITY_RUN_INPUT };

/* In cores or bytes. */
extern const struct quantity_bounds {
	double least, most;
} quantity_bounds[];

/* Error messages show these examples of texts that are accepted. */
#define QUANTITY_BYTES_EXAMPLES "1048576, 512M, 1G (10^9), 4Gi (2^30) or 8GB"
#define QUANTITY_CORES_EXAMPLES "2, 1.5 or 500m"

/* Converts the whole text, such as "4Gi", "8 GB" or "4096", to a whole number of bytes. `unit` is
 * the unit of a number without a suffix, in bytes; 0 = the usual unit of the writer. Returns false
 * for any other text, including negative numbers; `*ret` then stays unchanged. */
bool quantity_bytes(struct slice text, enum quantity_writer writer, double unit, double *ret);

/* Converts the whole text, such as "2", "1.5" or "500m", to a number of CPUs. */
bool quantity_cores(struct slice text, double *ret);

/* Converts the whole text to a quantity of a run, in cores or bytes. `writer` matters only for
 * sizes. Returns false for any other text and for a quantity out of bounds; `*ret` then stays
 * unchanged. */
bool quantity_of_run(enum quantity_of_run what, struct slice text, enum quantity_writer writer,
	double *ret);

/* Returns true for a size whose suffix is a single K, M, G or T. Such a suffix is a power of 1000
 * now, but was a power of 1024 in earlier versions of this program. Sets `*ret` to the size that
 * the earlier versions read. */
bool quantity_was_binary(struct slice text, double *ret);

/* Appends the table of suffixes as Markdown. */
void quantity_markdown(struct buf *out);

#endif
