/* Layouts of the advice formats: text pieces around numbers. Private to recommender/. */
#ifndef RECOMMENDER_ADVICE_FORMATS_H
#define RECOMMENDER_ADVICE_FORMATS_H

#include "recommender/advice/advice.h"

/* Numbers of a sizing, in whole units. 0 = the number is unknown, or the resource is not used. The
 * piece with the number is then left out, and the target system uses its default. A limit is never
 * below its request. A limit of 0 means that no limit is advised. */
enum advice_number {
	NO_NUMBER, /* terminates a list of pieces */
	CPUS,      /* whole CPUs */
	MILLICORES,
	MILLICORES_LIMIT,
	MILLICORES_MOST,   /* the limit; the request if no limit is advised */
	CORES,             /* decimal number, exact to thousandths: 2.25 */
	CORES_LIMIT,       /* decimal number like CORES */
	CPU_PERCENT_LIMIT, /* percent of one CPU */
	CPU_LIFTED,        /* 1 = CPU has a request but no limit; a condition, never written */
	MEMORY_MIB,
	MEMORY_MIB_LOW, /* memory at risk=economy */
	MEMORY_MIB_LIMIT,
	MEMORY_MIB_DASK, /* MEMORY_MIB / 0.95, because Dask kills a worker at 95 % of its limit */
	MEMORY_MB,       /* decimal megabytes, rounded up */
	MEMORY_BYTES,
	GPUS,
	DISK_MIB,
	DISK_MB,
	DISK_LIFTED, /* 1 = the disk has a request; a condition, never written */
	MINUTES,     /* time limit as HH:MM:SS, twice the 90th percentile of the duration */
	ADVICE_NUMBERS,
};

struct advice_piece {
	const char *before;
	enum advice_number number;
	const char *after; /* NULL = nothing */
	bool always;       /* written even if the number is 0 */
};

struct advice_section {
	const char *start, *between, *end;
	const struct advice_piece *piece; /* ends with NO_NUMBER */
	bool optional;                    /* left out if all its numbers are 0 */
};

struct advice_layout {
	const char *nothing; /* the whole text if the first section has no number; NULL = unused */
	const struct advice_section *section; /* ends with piece NULL */
};

#endif
