/* Layouts of the advice formats: text around numbers. Private to recommender/. */
#ifndef RECOMMENDER_ADVICE_FORMATS_H
#define RECOMMENDER_ADVICE_FORMATS_H

#include "recommender/advice/advice.h"

/*
 * Numbers of a sizing in whole units. 0 = unknown or none: the piece is left out and the target's
 * default holds. A limit is never below its request; 0 = no limit advised.
 */
enum advice_number {
	NO_NUMBER, /* ends the pieces */
	CPUS,      /* whole */
	MILLICORES,
	MILLICORES_LIMIT,
	MILLICORES_MOST,   /* the limit, else the request */
	CORES,             /* decimal, from thousandths: 2.25 */
	CORES_LIMIT,       /* likewise */
	CPU_PERCENT_LIMIT, /* of one CPU */
	CPU_LIFTED,        /* 1 = a request without a limit; the number is not written */
	MEMORY_MIB,
	MEMORY_MIB_LOW, /* at risk=economy */
	MEMORY_MIB_LIMIT,
	MEMORY_MIB_DASK, /* Dask kills a worker at 95 % of it */
	MEMORY_MB,       /* decimal megabytes, rounded up */
	MEMORY_BYTES,
	GPUS,
	DISK_MIB,
	DISK_MB,
	DISK_LIFTED, /* 1 = there is a request; the number is not written */
	MINUTES,     /* time limit as HH:MM:SS, twice the 90th percentile of the duration */
	ADVICE_NUMBERS,
};

struct advice_piece {
	const char *before;
	enum advice_number number;
	const char *after; /* NULL = nothing */
	bool always;       /* also written if 0 */
};

struct advice_section {
	const char *start, *between, *end;
	const struct advice_piece *piece; /* NO_NUMBER ends */
	bool optional;                    /* left out if all its numbers are 0 */
};

struct advice_layout {
	const char *nothing; /* replaces all if the first section is empty; NULL = no replacement */
	const struct advice_section *section; /* piece NULL ends */
};

#endif
