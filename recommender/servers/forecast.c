#include "recommender/servers/forecast.h"

#include <math.h>
#include <string.h>

#include "collectors/base/units.h"
#include "recommender/catalogue/billing.h"
#include "recommender/resource_prices.h"

#define HOUR            3600.0
#define HOURS_PER_MONTH 730.0 /* the length of a month that Spare Cores Keeper uses */

/* The benchmark that is used to compare different GPU models. Its score is the number of tokens per
 * second with which a small model processes a prompt. */
#define GPU_BENCHMARK "llm_speed:prompt_processing"

const char *const forecast_basis_name[FORECAST_BASES] = {
	[FORECAST_NONE] = "none",
	[FORECAST_SAME] = "same_server",
	[FORECAST_MEASURED] = "measured_speed",
	[FORECAST_ASSUMED] = "assumed_same_speed",
};

struct job_profile forecast_profile(double seconds)
{
	return (struct job_profile){seconds, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NULL};
}

static double at_least_one(double n)
{
	return n > 1 ? n : 1;
}

/* Returns the mean share of a run's `duration` for which its `n` CPUs or GPUs were busy, at most 1.
 * `busy_seconds` is the sum over all of them. */
static double busy_share(double busy_seconds, double duration, double n)
{
	double share = busy_seconds / (duration * at_least_one(n));

	return share > 1 ? 1 : share;
}

double forecast_cpu_share(const struct job_profile *p)
{
	return p->duration_seconds > 0 ? busy_share(p->cpu_seconds, p->duration_seconds, p->cores) :
					 (double)NAN;
}

/* Returns the ratio of two scores. NaN = unknown. A score of 0 means that it was not measured. */
static double times_faster(double score, double reference)
{
	double times = score / reference;

	return score > 0 && times > 0 && isfinite(times) ? times : (double)NAN;
}

/* Returns true for a job that keeps at most one core busy. Also returns true if `cores` is NaN,
 * because the runs have no samples. */
static bool one_core(double cores)
{
	return !(cores > 1);
}

double forecast_usable_score(const struct server *s, double cores)
{
	double score = s->score;

	if (cores <= 1)
		score = s->score1;
	else if (cores * s->score1 < score && s->score1 > 0)
		score = cores * s->score1;
	else if (cores < s->vcpus && !(s->score1 > 0))
		score = s->score * cores / s->vcpus;
	return score > 0 ? score : (double)NAN;
}

bool forecast_scales(const struct job_profile *p)
{
	const struct server *r = p->reference;

	return r && !isnan(forecast_cpu_share(p)) &&
	       (one_core(p->cores) ? r->score1 : r->score) > 0;
}

/* Returns the speed of the job's CPU work on server `s`, divided by the speed on the server of its
 * runs (p->reference). NaN = unknown. */
static double cpu_speed(const struct job_profile *p, const struct server *s)
{
	double cores = at_least_one(p->cores);

	return times_faster(forecast_usable_score(s, cores),
		forecast_usable_score(p->reference, cores));
}

static double gpu_speed(const struct catalogue *c, const struct job_profile *p,
	const struct server *s)
{
	const struct server *r = p->reference;
	const struct benchmark *b = catalogue_benchmark(c, GPU_BENCHMARK);

	if (*r->gpu_model && strcmp(r->gpu_model, s->gpu_model) == 0)
		return 1;
	if (!b)
		return NAN;
	return times_faster((double)b->score[s - c->server], (double)b->score[r - c->server]);
}

/* Returns (duration on server `s`) / (measured duration) when the speed of `s` is unknown. Its CPUs
 * are assumed to be as fast as those of the job's server. A run takes longer only if `s` has fewer
 * CPUs than the run keeps busy. */
static double stretch_by_cpus(const struct job_profile *p, const struct server *s)
{
	double f = forecast_cpu_share(p), few = at_least_one(p->cores / s->vcpus);

	return isnan(f) ? 1 : 1 - f + f * few;
}

/* Returns (duration on server `s`) / (measured duration). NaN = the speed of a CPU or GPU that the
 * job uses is unknown. */
static double duration_stretch(const struct catalogue *c, const struct job_profile *p,
	const struct server *s)
{
	double f = forecast_cpu_share(p), g = 0, on_gpu = 0;

	if (!p->reference || isnan(f))
		return NAN;
	if (p->gpu_seconds > 0) {
		g = busy_share(p->gpu_seconds, p->duration_seconds, p->gpus);
		on_gpu = g / gpu_speed(c, p, s);
	} else if (p->gpus > 0 && isnan(p->gpu_seconds) && gpu_speed(c, p, s) != 1) {
		return NAN;
	}
	double on_cpu = f / cpu_speed(p, s);

	if (!isfinite(on_cpu) || !isfinite(on_gpu))
		return NAN;
	return 1 - fmax(f, g) + fmax(on_cpu, on_gpu);
}

struct forecast forecast_on(const struct catalogue *c, const struct job_profile *p,
	const struct server *s)
{
	struct forecast f = {p->duration_low, p->duration_seconds, p->duration_high, FORECAST_NONE};
	double longer;

	if (!(p->duration_seconds > 0))
		return (struct forecast){NAN, NAN, NAN, FORECAST_NONE};
	f.basis = FORECAST_SAME;
	if (s == p->reference)
		return f;
	longer = duration_stretch(c, p, s);
	f.basis = isnan(longer) ? FORECAST_ASSUMED : FORECAST_MEASURED;
	if (isnan(longer))
		longer = stretch_by_cpus(p, s);
	f.low *= longer;
	f.seconds *= longer;
	f.high *= longer;
	return f;
}

double forecast_with_rework(double seconds, double interruptions_per_hour)
{
	double rate = interruptions_per_hour / HOUR;

	/* With so few interruptions, the result differs from `seconds` by less than a millionth. */
	if (!(rate * seconds > 1e-6))
		return seconds;
	return expm1(rate * seconds) / rate;
}

/* Everything that decides how many seconds of a run on a server are billed. */
struct bill {
	struct billing rule;
	double start_seconds;          /* time in which the server starts, which is billed */
	double interruptions_per_hour; /* 0 if it is not a spot server */
};

static struct bill bill_of(const struct catalogue *c, const struct server *s, bool spot,
	const struct cost_terms *terms)
{
	return (struct bill){
		.rule = billing_of(&c->vendor[s->vendor], s),
		.start_seconds = isnan(s->average_time_to_start) ? 0 : s->average_time_to_start,
		.interruptions_per_hour = spot ? terms->spot_interruptions_per_hour : 0,
	};
}

/* Returns the seconds that a run uses the server, including restarts and the server's start. */
static double used_seconds(const struct bill *b, double seconds)
{
	return forecast_with_rework(seconds, b->interruptions_per_hour) + b->start_seconds;
}

/* Returns one part of the cost: amount x price. If the price is unknown, returns 0 and sets the bit
 * `gap` in `lacks`. */
static double part_of(double amount, double price, enum cost_gap gap, unsigned *lacks)
{
	if (!(amount > 0))
		return 0;
	if (isnan(price)) {
		*lacks |= gap;
		return 0;
	}
	return amount * price;
}

static double extras_rate(const struct catalogue *c, const struct region *r,
	const struct currency *to)
{
	const struct currency *from =
		*r->extras_currency ? catalogue_currency(c, r->extras_currency) : &c->currency[0];

	return from ? catalogue_currency_rate(from, to) : (double)NAN;
}

/* Prices of the server, of storage, of traffic and of an address, in the currency of the answer. */
struct price_rates {
	double hour, storage_gb_month, outbound_gb, ipv4_hour;
};

static struct price_rates rates_of(const struct catalogue *c, const struct price *price,
	const struct currency *to)
{
	const struct region *r = &c->region[price->region];
	double extra = extras_rate(c, r, to);

	return (struct price_rates){
		price->price * catalogue_currency_rate(&c->currency[price->currency], to),
		r->storage_price_gb_month * extra, r->outbound_price_gb * extra,
		r->ipv4_price_hour * extra};
}

static struct cost cost_for(const struct price_rates *r, const struct run_bill *b, double seconds)
{
	struct cost cost = {.billed_seconds = seconds, .lacks = b->lacks};
	double hours = seconds / HOUR;

	cost.compute = r->hour * hours;
	cost.storage = part_of(b->disk_gb * hours / HOURS_PER_MONTH, r->storage_gb_month,
		COST_LACKS_STORAGE, &cost.lacks);
	cost.outbound = part_of(b->sent_gb, r->outbound_gb, COST_LACKS_OUTBOUND, &cost.lacks);
	cost.ipv4 = part_of(b->addresses * hours, r->ipv4_hour, COST_LACKS_IPV4, &cost.lacks);
	cost.amount = cost.compute + cost.storage + cost.outbound + cost.ipv4;
	return cost;
}

struct run_bill forecast_bill(const struct catalogue *c, const struct server *s, bool spot,
	const struct forecast *f, const struct demand *d, const struct job_profile *p,
	const struct cost_terms *terms)
{
	struct bill bill = bill_of(c, s, spot, terms);
	double local = isnan(s->storage_size) ? 0 : s->storage_size;
	double used = used_seconds(&bill, f->seconds);
	struct run_bill b = {
		.seconds = billing_seconds(&bill.rule, used),
		.low = billing_seconds(&bill.rule, used_seconds(&bill, f->low)),
		.high = billing_seconds(&bill.rule, used_seconds(&bill, f->high)),
		.disk_gb = d->disk_bytes / GB - local,
		.sent_gb = p->sent_bytes / GB,
		.addresses = terms->ipv4,
		.lacks = isnan(bill.rule.increment) || isnan(bill.rule.minimum) ?
				 COST_LACKS_BILLING :
				 0,
	};

	b.added = b.seconds - used;
	/* The mean of a short, an expected and a long run (Swanson's rule, forecast.h). */
	b.mean = isnan(f->low) || isnan(f->high) ? b.seconds :
						   0.3 * b.low + 0.4 * b.seconds + 0.3 * b.high;
	return b;
}

double forecast_cost_amount(const struct catalogue *c, const struct price *price,
	const struct run_bill *b, const struct currency *to)
{
	struct price_rates rates = rates_of(c, price, to);

	return cost_for(&rates, b, b->mean).amount;
}

double forecast_cost_least(double hour, const struct run_bill *b)
{
	return hour * (b->mean / HOUR);
}

struct cost forecast_cost_of(const struct catalogue *c, const struct price *price,
	const struct run_bill *b, const struct currency *to)
{
	struct price_rates rates = rates_of(c, price, to);
	struct cost cost = cost_for(&rates, b, b->seconds);
	double mean = cost_for(&rates, b, b->mean).amount;

	cost.added_seconds = b->added;
	cost.spread = mean - cost.amount;
	cost.amount = mean;
	cost.low = cost_for(&rates, b, b->low).amount;
	cost.high = cost_for(&rates, b, b->high).amount;
	return cost;
}

double forecast_server_share(const struct server *s, double cores, double memory_bytes)
{
	double all = s->vcpus + s->memory_amount / 1024 * GIB_IN_CORES, part = 0;

	if ((isnan(cores) && isnan(memory_bytes)) || !(all > 0))
		return NAN;
	if (!isnan(cores))
		part += cores;
	if (!isnan(memory_bytes))
		part += memory_bytes / 1073741824 * GIB_IN_CORES;
	return fmin(part / all, 1);
}
