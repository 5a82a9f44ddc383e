/*
 * How the formats of advice are laid out: pieces of text around the numbers of a sizing. Private to recommender/.
 */
#ifndef RECOMMENDER_ADVICE_FORMATS_H
#define RECOMMENDER_ADVICE_FORMATS_H

#include "recommender/advice/advice.h"

/*
 * The numbers of a sizing in whole units. 0 = unknown, or none; then the target's own default holds and the piece is left
 * out. A limit is never below its request; it is 0 where no advice is given.
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
	CPU_LIFTED,        /* only a request is there, no limit; the number is not written */
	MEMORY_MIB,
	MEMORY_MIB_LOW, /* by risk=economy */
	MEMORY_MIB_LIMIT,
	MEMORY_MIB_DASK, /* a worker is killed at 95 % of it */
	MEMORY_MB,       /* decimal megabytes, rounded up */
	MEMORY_BYTES,
	GPUS,
	DISK_MIB,
	DISK_MB,
	DISK_LIFTED, /* there is a request; the number is not written */
	MINUTES, /* hours:minutes:seconds: a time limit, twice what nine of ten runs are expected to take */
	ADVICE_NUMBERS,
};

struct advice_piece {
	const char *before;
	enum advice_number number;
	const char *after; /* NULL = nothing */
	bool always;       /* 0 is written, too */
};

struct advice_section {
	const char *start, *between, *end;
	const struct advice_piece *piece; /* NO_NUMBER ends */
	bool optional;                    /* left out when none of its numbers is known */
};

struct advice_layout {
	const char *
		nothing; /* written alone when the first section has no number; NULL = the sections all the same */
	const struct advice_section *section; /* piece NULL ends */
};

#endif
