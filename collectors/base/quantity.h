/* Sizes and numbers of CPUs as people, Kubernetes, Slurm and PBS write them. One table has all
 * suffixes: quantity_markdown prints it for the manual. */
#ifndef COLLECTORS_BASE_QUANTITY_H
#define COLLECTORS_BASE_QUANTITY_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"

/* Who wrote a size. The same suffix has different meanings. */
enum quantity_writer {
	QUANTITY_OF_PEOPLE, /* also of Kubernetes: G is 10^9, Gi is 2^30 */
	QUANTITY_OF_SLURM,  /* G is 2^30, a number without a suffix counts MiB */
	QUANTITY_OF_PBS,    /* gb is 2^30 */
	QUANTITY_WRITERS,
};

/* Examples for errors that name what is accepted. */
#define QUANTITY_BYTES_EXAMPLES "1048576, 512M, 1G (10^9), 4Gi (2^30) or 8GB"
#define QUANTITY_CORES_EXAMPLES "2, 1.5 or 500m"

/* Reads the whole text, such as "4Gi", "8 GB" or "4096", as bytes, rounded to whole ones. `unit` is
 * what a number without a suffix counts, in bytes; 0 = what the writer means by it. Returns false,
 * and leaves `*ret` as it is, for any other text. Negative numbers are such texts. */
bool quantity_bytes(struct slice text, enum quantity_writer writer, double unit, double *ret);

/* Reads the whole text, such as "2", "1.5" or "500m". */
bool quantity_cores(struct slice text, double *ret);

/* Returns true for a size whose suffix is K, M, G or T alone. Such a suffix was a power of 1024
 * before it was one of 1000. `*ret` is the size by the powers of 1024. */
bool quantity_was_binary(struct slice text, double *ret);

/* Appends the table of suffixes as Markdown. */
void quantity_markdown(struct buf *out);

#endif
