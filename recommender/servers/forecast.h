/*
 * Forecast of a run's duration and cost on another server. Pure arithmetic on measurements of the
 * job and the servers; an unknown speed is marked as assumed.
 *
 * The CPU-bound share of a run of D seconds is
 *
 *	f = min(1, cpu_seconds / (D x max(1, cores)))
 *
 * and g, in the same way, its GPU-bound share. On a server whose CPU is faster by speed it needs
 *
 *	D x (1 - max(f, g) + max(f / speed x max(1, cores / vcpus), g / gpu_speed))
 *
 * speed compares score1 for a job of one CPU, score / vcpus for a job of more. gpu_speed is 1 on
 * the same GPU model, else it compares the LLM benchmark. Waiting time does not change.
 */
#ifndef RECOMMENDER_SERVERS_FORECAST_H
#define RECOMMENDER_SERVERS_FORECAST_H

#include <stdbool.h>

#include "recommender/catalogue/catalogue.h"
#include "recommender/demand.h"

/* Measurements of the job. NaN = unknown. */
struct job_profile {
	double duration_seconds;            /* median run */
	double duration_low, duration_high; /* 10th and 90th percentile */
	double cpu_seconds;                 /* of a run */
	double gpu_seconds;                 /* per run: utilisation x time, over all GPUs */
	double cores, gpus;                 /* used at the same time: 90th percentile */
	double sent_bytes;                  /* over the network, per run */
	/* server where it ran, of the same catalogue; NULL = unknown */
	const struct server *reference;
};

/* A profile with only a duration. */
struct job_profile forecast_profile(double seconds);

/* CPU-bound share of the run; NaN = unknown. */
double forecast_cpu_share(const struct job_profile *p);

enum forecast_basis {
	FORECAST_NONE,     /* unknown duration */
	FORECAST_SAME,     /* the job ran on this server type */
	FORECAST_MEASURED, /* scaled by measured speed */
	FORECAST_ASSUMED,  /* one of the two speeds is unknown: equal speed is assumed */
	FORECAST_BASES,
};
extern const char *const forecast_basis_name[FORECAST_BASES];

struct forecast {
	double low, seconds, high; /* low and high: variation of the runs; NaN = unknown */
	enum forecast_basis basis;
};

struct forecast forecast_on(const struct catalogue *c, const struct job_profile *p,
	const struct server *s);

/* Seconds that the vendor bills for such a run: its minimum and increments, where known. */
double billed_seconds(const struct vendor *v, double seconds);

/*
 * Expected seconds until a run ends that restarts from the beginning at each random interruption:
 * (e^(rate x T) - 1) / rate.
 */
double forecast_with_rework(double seconds, double interruptions_per_hour);

/* Parts that a cost lacks because their price is unknown. */
enum cost_gap {
	COST_LACKS_BILLING = 1,  /* the vendor's minimum and increment */
	COST_LACKS_STORAGE = 2,  /* disk beyond the server's own */
	COST_LACKS_OUTBOUND = 4, /* outbound traffic */
	COST_LACKS_IPV4 = 8,
};

struct cost {
	double low, amount, high;                /* per run, in terms->currency */
	double compute, storage, outbound, ipv4; /* parts of amount; 0 = none */
	double billed_seconds;
	unsigned lacks; /* enum cost_gap bits */
};

struct cost_terms {
	const struct currency *currency;
	double spot_interruptions_per_hour;
	bool ipv4; /* with a public address */
};

/* Cost of such a run at that price. NaN if its duration or the exchange rate is unknown. */
struct cost forecast_cost_of(const struct catalogue *c, const struct server *s,
	const struct price *price, const struct forecast *f, const struct demand *d,
	const struct job_profile *p, const struct cost_terms *terms);

/*
 * Share of a server, at most 1, that these cores and memory take, by usual cloud prices. An unknown
 * amount counts as 0; NaN if both or the server's size are unknown.
 */
double forecast_server_share(const struct server *s, double cores, double memory_bytes);

#endif
