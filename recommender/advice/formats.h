/* Layouts of the advice formats: text pieces around numbers. Private to recommender/. */
#ifndef RECOMMENDER_ADVICE_FORMATS_H
#define RECOMMENDER_ADVICE_FORMATS_H

#include "recommender/advice/advice.h"

/* Numbers of a sizing. 0 = the number is unknown, or the job does not use the resource. A text
 * piece whose number is 0 is left out, so the target system uses its default. A limit is never
 * below its request. A limit of 0 means that no limit is advised. */
enum advice_number {
	NO_NUMBER, /* terminates a list of pieces */
	CPUS,      /* whole CPUs */
	MILLICORES,
	MILLICORES_LIMIT,
	MILLICORES_LIMIT_ASKED, /* the limit if the caller asked for one, else 0 */
	MILLICORES_MOST,        /* the limit; the request if no limit is advised */
	CORES,                  /* cores as a decimal number, exact to thousandths: 2.25 */
	CORES_LIMIT,            /* decimal number like CORES, at most the CPUs of the machine */
	CPU_PERCENT_LIMIT,      /* percent of one CPU */
	MEMORY_MIB,
	/* Memory of the 2nd, 3rd and 4th attempt. Each attempt has more than the one before. */
	MEMORY_MIB_2,
	MEMORY_MIB_3,
	MEMORY_MIB_4,
	MEMORY_MIB_LOW, /* memory at risk=economy */
	MEMORY_MIB_LIMIT,
	MEMORY_MIB_DASK, /* MEMORY_MIB / 0.95, because Dask kills a worker at 95 % of its limit */
	MEMORY_MB,       /* decimal megabytes, rounded up */
	MEMORY_MB_2,
	MEMORY_MB_3,
	MEMORY_MB_4,
	MEMORY_BYTES,
	RETRIES,        /* number of attempts after the first, if MEMORY_MIB is known */
	SPARK_HEAP_MIB, /* parts of MEMORY_MIB: see spark_numbers */
	SPARK_OVERHEAD_MIB,
	GPUS,
	/* GPUS, if the job uses GPUs of this manufacturer. NVIDIA also stands for an unknown
	 * manufacturer. */
	GPUS_NVIDIA,
	GPUS_AMD,
	GPUS_INTEL,
	GPU_SHARE,     /* GPUS as a decimal number; below 1 if the job needs only a share */
	GPU_SHARE_MIB, /* GPU memory of a job that needs a share of a GPU */
	DISK_MIB,
	DISK_MB,
	DISK_TMP_MIB,   /* DISK_MIB if the caller asked for disk on the node */
	DISK_GIB_EXTRA, /* disk in GiB if it is more than the disk of a Fargate task */
	/* Time limit in minutes: twice sizing.duration_bound, at least 10. It is longer if the
	 * requested CPUs slow the run down. */
	TIME_MINUTES,
	TIME_HMS,       /* TIME_MINUTES as HH:MM:SS */
	SIZE_CORES,     /* SIZE_*: the smallest size of the target that is large enough */
	SIZE_CPU_UNITS, /* 1,024 units are one CPU */
	SIZE_CPUS,
	SIZE_MIB,

	/* Conditions; 1 = true. A condition decides only whether its piece or section is written.
	 * The number itself is never written. */
	IF_CPU_LIFTED,  /* the advice has a CPU request and no CPU limit */
	IF_DISK_LIFTED, /* the advice has a disk request; a disk never has a limit */
	/* The job uses GPUs of this manufacturer. An unknown manufacturer is none of them. */
	IF_GPU_NVIDIA,
	IF_GPU_AMD,
	IF_GPU_INTEL,
	IF_GPU_SHARE_UNKNOWN, /* the job needs a share of a GPU, but the GPU memory is unknown */
	/* Metaflow uses the larger of a request and its own default, METAFLOW_MEMORY_MB. WIN:
	 * MEMORY_MB is below this default, so the default counts. LOSE: otherwise. */
	IF_METAFLOW_DEFAULTS_WIN,
	IF_METAFLOW_DEFAULTS_LOSE,
	ADVICE_NUMBERS,

	/* Texts, which are always written. */
	CONTAINER = ADVICE_NUMBERS,
	PROCESS,
	SIZE_SERIES,
};

struct advice_piece {
	const char *before;
	enum advice_number number;
	const char *after; /* text after the number; NULL = none */
};

struct advice_section {
	const char *start, *between, *end;
	const struct advice_piece *piece; /* ends with NO_NUMBER */
	/* Leave out the section if none of its numbers is known. */
	bool optional;
	/* Write the section only under this condition; NO_NUMBER = always. */
	enum advice_number when;
};

struct advice_layout {
	const char *nothing; /* the whole text if no number is known; NULL = unused */
	const struct advice_section *section; /* ends with piece NULL */
};

/* Writes a job's name as the name of a Nextflow process: the part after the last "/", with "_" for
 * each byte that such a name cannot have. */
void advice_add_process(struct buf *out, const char *job_name);

#endif
