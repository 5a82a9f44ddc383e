/* Forecast of a run's duration and cost on another server. Pure functions of measurements of the
 * job and the servers. If a speed is unknown, the same speed is assumed, and the forecast says this
 * (FORECAST_ASSUMED).
 *
 * f is the CPU-bound share of a run of D seconds:
 *
 * 	f = min(1, cpu_seconds / (D x max(1, cores)))
 *
 * g is the GPU-bound share, computed in the same way. On a server whose CPU is `speed` times as
 * fast, the run needs
 *
 * 	D x (1 - max(f, g) + max(f / speed, g / gpu_speed))
 *
 * `speed` is the ratio of the scores that the job can use (forecast_usable_score). `gpu_speed` is 1
 * on the same GPU model, else the ratio of the scores in an LLM benchmark. The rest of D, in which
 * the run waits, does not change.
 *
 * Bills have steps: a run of 50 to 70 minutes is billed as one hour or two. The expected cost is
 * therefore a mean of three bills, by Swanson's rule:
 *
 * 	0.3 x bill(low) + 0.4 x bill(expected) + 0.3 x bill(high)
 *
 * low and high are the 10th and 90th percentile (Hurst, Brown and Swanson 2000, AAPG Bulletin 84).
 * Without a range, the cost is bill(expected). */
#ifndef RECOMMENDER_SERVERS_FORECAST_H
#define RECOMMENDER_SERVERS_FORECAST_H

#include <stdbool.h>

#include "recommender/catalogue/catalogue.h"
#include "recommender/demand.h"

/* Measurements of the job. NaN = unknown. */
struct job_profile {
	double duration_seconds;            /* expected duration of a run */
	double duration_low, duration_high; /* 80 % of runs are expected to be between these */
	double cpu_seconds;                 /* CPU time per run */
	double gpu_seconds;                 /* GPU time per run: sum of utilisation x time */
	double cores, gpus;                 /* number in use at one time, median of the runs */
	double sent_bytes;                  /* bytes per run that are sent over the network */
	/* Server type of the runs, an entry of the catalogue that forecasts use; NULL = unknown. */
	const struct server *reference;
};

/* Returns a profile in which only the duration is known. */
struct job_profile forecast_profile(double seconds);

/* Returns the CPU-bound share of the run. NaN = unknown. */
double forecast_cpu_share(const struct job_profile *p);

enum forecast_basis {
	FORECAST_NONE,     /* the duration is unknown */
	FORECAST_SAME,     /* the job ran on this server type */
	FORECAST_MEASURED, /* scaled by measured speed */
	FORECAST_ASSUMED,  /* one of the two speeds is unknown, so equal speed is assumed */
	FORECAST_BASES,
};
extern const char *const forecast_basis_name[FORECAST_BASES];

struct forecast {
	double low, seconds, high; /* expected duration, and its range; NaN = unknown */
	enum forecast_basis basis;
};

struct forecast forecast_on(const struct catalogue *c, const struct job_profile *p,
	const struct server *s);

/* Returns true if the speed of the server on which the job ran is known, so that forecasts for
 * other servers can be scaled by it. */
bool forecast_scales(const struct job_profile *p);

/* Returns the part of the server's SCore that a job with `cores` busy cores can use:
 * - At most one core: score1.
 * - More cores: min(cores x score1, score). If score1 is unknown: score x min(cores, vcpus) /
 *   vcpus.
 * - `cores` is NaN: score.
 *
 * Returns NaN if the score is unknown. score1 is measured with one busy vCPU, and `score` with all
 * vCPUs busy. Two vCPUs often share one core of the processor. Each of them is then slower than a
 * vCPU alone on its core. A job that keeps few vCPUs busy does not have to share cores. */
double forecast_usable_score(const struct server *s, double cores);

/* Returns the expected seconds until a run ends, if each random interruption restarts the run from
 * the beginning: (e^(rate x T) - 1) / rate, where T is the undisturbed duration. */
double forecast_with_rework(double seconds, double interruptions_per_hour);

/* Parts that a cost does not include, because their price or rule is unknown. */
enum cost_gap {
	COST_LACKS_BILLING = 1,  /* vendor's minimum and increment */
	COST_LACKS_STORAGE = 2,  /* disk beyond the local storage */
	COST_LACKS_OUTBOUND = 4, /* outbound traffic */
	COST_LACKS_IPV4 = 8,
};

struct cost {
	/* Cost of a run. amount: expected cost. low, high: cost if the run
	 * takes forecast.low or forecast.high seconds. */
	double low, amount, high;
	/* Parts of amount; 0 = none. The first four are for a run of forecast.seconds. `spread` is
	 * `amount` minus these four, because `amount` is a mean over several durations. It can be
	 * negative. */
	double compute, storage, outbound, ipv4, spread;
	double billed_seconds; /* seconds that are billed for a run of forecast.seconds */
	double added_seconds;  /* part of billed_seconds that the vendor's rule adds */
	unsigned lacks;        /* bits of enum cost_gap */
};

struct cost_terms {
	double spot_interruptions_per_hour;
	bool ipv4; /* the cost includes a public address */
};

/* Amounts that a run on a server is billed for, without their prices. All spot prices of the server
 * use one run_bill, and all its other prices use another. */
struct run_bill {
	/* Billed seconds; NaN = unknown.
	 * - seconds: of a run that takes forecast.seconds.
	 * - low, high: of runs that take forecast.low and forecast.high.
	 * - mean: mean of these three, by Swanson's rule (above).
	 * - added: part of `seconds` that the vendor's minimum or rounding adds. */
	double seconds, mean, low, high, added;
	double disk_gb, sent_gb, addresses; /* billed extras; 0 or less, or NaN = none */
	unsigned lacks;                     /* COST_LACKS_BILLING or 0 */
};
struct run_bill forecast_bill(const struct catalogue *c, const struct server *s, bool spot,
	const struct forecast *f, const struct demand *d, const struct job_profile *p,
	const struct cost_terms *terms);

/* Returns the cost of a run at this price, in the currency `to`. `b` is a result of forecast_bill:
 * of the call with `spot` for a spot price, else of the call without. NaN = the duration or the
 * exchange rate is unknown. */
struct cost forecast_cost_of(const struct catalogue *c, const struct price *price,
	const struct run_bill *b, const struct currency *to);

/* Returns only the amount of forecast_cost_of. */
double forecast_cost_amount(const struct catalogue *c, const struct price *price,
	const struct run_bill *b, const struct currency *to);

/* Returns a lower bound of forecast_cost_amount: the cost without storage, traffic and address.
 * `hour`: price of an hour, in the currency of the result. */
double forecast_cost_least(double hour, const struct run_bill *b);

/* Returns the share of a server that these cores and this memory use, at most 1. Cores and memory
 * are weighted by usual cloud prices. An unknown amount counts as 0. NaN = both amounts or the
 * server's size are unknown. */
double forecast_server_share(const struct server *s, double cores, double memory_bytes);

#endif
