/*
 * How long a job would run on another server, and what that would cost. Pure arithmetic on what was measured
 * of the job and of the servers; what is not known is said to be assumed.
 *
 * The model: of a run of D seconds the share
 *
 *	f = min(1, cpu_seconds / (D x max(1, cores)))
 *
 * is bound by the CPU, and g, in the same way, by the GPUs. A server whose CPU is faster by speed then needs
 *
 *	D x (1 - max(f, g) + max(f / speed x max(1, cores / vcpus), g / gpu_speed))
 *
 * where speed compares score1 for a job of one CPU, score / vcpus for a job of more, and gpu_speed is 1 on
 * the same GPU model, or compares the LLM benchmark. The rest of the run, waiting, is not made shorter.
 */
#ifndef RECOMMENDER_SERVERS_FORECAST_H
#define RECOMMENDER_SERVERS_FORECAST_H

#include <stdbool.h>

#include "recommender/catalogue/catalogue.h"
#include "recommender/demand.h"

/* What was measured of the job. Unknown is NaN. */
struct job_profile {
	double duration_seconds; /* of a usual run */
	double duration_low,
		duration_high;          /* of short and of long runs: 10th and 90th percentile */
	double cpu_seconds;             /* of a run */
	double gpu_seconds;             /* of a run: utilisation x time, over all GPUs */
	double cores, gpus;             /* used at once: 90th percentile */
	double sent_bytes;              /* over the network, of a run */
	const struct server *reference; /* where it ran, of the same catalogue; NULL = unknown */
};

/* Of which only the duration is known. */
struct job_profile forecast_profile(double seconds);

/* The share of the run that the CPU was the limit; NaN = unknown. */
double forecast_cpu_share(const struct job_profile *p);

enum forecast_basis {
	FORECAST_NONE,     /* the duration is not known */
	FORECAST_SAME,     /* it ran on this very type */
	FORECAST_MEASURED, /* scaled by measured speed */
	FORECAST_ASSUMED,  /* the speed of one of the two is not known: the same is assumed */
	FORECAST_BASES,
};
extern const char *const forecast_basis_name[FORECAST_BASES];

struct forecast {
	double low, seconds, high; /* low and high: as the runs varied; NaN = unknown */
	enum forecast_basis basis;
};

struct forecast forecast_on(const struct catalogue *c, const struct job_profile *p,
	const struct server *s);

/* Seconds that the vendor bills for a run of that long: its minimum, in its increments, where known. */
double billed_seconds(const struct vendor *v, double seconds);

/*
 * Expected seconds until a run of that long has ended, when it is interrupted at random (a rate per hour) and
 * starts again from the beginning: (e^(rate x T) - 1) / rate.
 */
double forecast_with_rework(double seconds, double interruptions_per_hour);

/* What a cost leaves out because its price is not known. */
enum cost_gap {
	COST_LACKS_BILLING = 1,  /* the vendor's minimum and increment */
	COST_LACKS_STORAGE = 2,  /* the disk that the server has not */
	COST_LACKS_OUTBOUND = 4, /* the traffic that leaves */
	COST_LACKS_IPV4 = 8,
};

struct cost {
	double low, amount, high;                /* of a run, in the currency asked for */
	double compute, storage, outbound, ipv4; /* parts of amount; 0 = none */
	double billed_seconds;
	unsigned lacks; /* enum cost_gap bits */
};

struct cost_terms {
	const struct currency *currency;
	double spot_interruptions_per_hour;
	bool ipv4; /* a public address is wanted */
};

/* Of a run of that forecast at that price. All NaN when the duration or the exchange rate is not known. */
struct cost forecast_cost_of(const struct catalogue *c, const struct server *s,
	const struct price *price, const struct forecast *f, const struct demand *d,
	const struct job_profile *p, const struct cost_terms *terms);

/*
 * Which part of a server so many cores and so much memory are, by what clouds take for each; at most 1. An unknown
 * amount is none; NaN when both are, or when the server's size is unknown.
 */
double forecast_server_share(const struct server *s, double cores, double memory_bytes);

#endif
