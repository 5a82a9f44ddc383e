#include <math.h>
#include <stdlib.h>

#include "recommender/sizing/cost_aware.h"
#include "recommender/plausible.h"
#include "recommender/sizing/cpu.h"
#include "recommender/resource_prices.h"
#include "recommender/sizing/strategy.h"
#include "recommender/waits.h"

#define RUNS_FOR_CPU 50
#define FADING       24.0 /* half-life of the weight of a run, in runs */
/* Minimum memory to assume, also when the peak is unknown, because idle memory must have a price.
 * If idle memory were free, all numbers of cores up to the number in use would cost the same. The
 * smallest number would then be chosen. */
#define MEMORY_LEAST (256 * MIB)
#define NOT_SLOWER   1.02 /* a run that takes at most 2 % longer is not slowed down */

/* Returns the larger value; `bound` when `a` is NaN. */
static double at_least(double a, double bound)
{
	return a >= bound ? a : bound;
}

/* Returns the exponent `bend` for which the curve low + (high - low) s^bend (0 <= s <= 1) has this
 * mean. The mean of the curve is low + (high - low) / (bend + 1). */
static double bend_for(double mean, double low, double high)
{
	double share = high > low ? (mean - low) / (high - low) : 0.5;

	return 1 / fmin(fmax(share, 0.01), 0.99) - 1;
}

static double between(double low, double high, double s, double bend)
{
	return low + (high - low) * pow(s, bend);
}

bool cpu_parallel_of(const struct distribution *d, struct parallel *ret)
{
	double min = d->min, p50 = d->p50, p95 = d->p95, p99 = d->p99, max = d->max;

	if (!(d->mean >= 0 && d->mean <= RUN_CPUS_MAX))
		return false;
	if (!isfinite(min) || !isfinite(p50) || !isfinite(p95) || !isfinite(p99) || !isfinite(max))
		min = p50 = p95 = p99 = max = d->mean;
	min = fmax(min, 0);
	p50 = at_least(p50, min);
	p95 = at_least(p95, p50);
	p99 = at_least(p99, p95);
	max = fmin(at_least(max, p99), RUN_CPUS_MAX);

	/* Choose the mean of each part of the curve: `lower` is the mean below the median, and
	 * `upper` is the mean between the median and the 95th percentile. `lower` is near the
	 * median, because a run idles only for a short time. `upper` then follows from the mean of
	 * the whole curve. If `upper` is out of range, it is set to the bound of its range, and
	 * `lower` follows from the whole mean. */
	double tail = 0.04 * (p95 + p99) / 2 + 0.01 * (p99 + max) / 2;
	double lower = p50 - (p50 - min) / 4, upper = (d->mean - tail - 0.5 * lower) / 0.45;

	upper = fmin(fmax(upper, p50), p95);
	lower = fmin(fmax((d->mean - tail - 0.45 * upper) / 0.5, min), p50);

	ret->wanted = 1;

	double lower_bend = bend_for(lower, min, p50), upper_bend = bend_for(upper, p50, p95);

	for (int i = 0; i < PARALLEL_POINTS; i++) {
		double u = (i + 0.5) / PARALLEL_POINTS;

		if (u < 0.5)
			ret->cores[i] = between(min, p50, u / 0.5, lower_bend);
		else if (u < 0.95)
			ret->cores[i] = between(p50, p95, (u - 0.5) / 0.45, upper_bend);
		else if (u < 0.99)
			ret->cores[i] = between(p95, p99, (u - 0.95) / 0.04, 1);
		else
			ret->cores[i] = between(p99, max, (u - 0.99) / 0.01, 1);
	}
	return true;
}

/* Estimates how long a part of the run would take if no thread had to wait for a CPU. Returns this
 * length, divided by the measured length. `busy` is the number of cores in use during this part. */
static double without_waiting(double busy, double wanted)
{
	double least = 1 / (wanted < PARALLEL_ROOM ? wanted : PARALLEL_ROOM),
	       rest = 1 - busy * (wanted - 1);

	return rest > least ? rest : least;
}

double cpu_parallel_stretch(const struct parallel *p, double cores)
{
	double sum;
	int i = 0;

	while (p->wanted == 1 && i < PARALLEL_POINTS && p->cores[i] <= cores)
		i++;
	for (sum = i; i < PARALLEL_POINTS; i++) {
		double least = without_waiting(p->cores[i], p->wanted),
		       longer = p->cores[i] / cores;

		sum += longer > least ? longer : least;
	}
	return sum / PARALLEL_POINTS;
}

struct parallelism {
	size_t n;
	struct parallel run[RUNS_FOR_CPU]; /* newest first */
	double weight[RUNS_FOR_CPU];       /* sums to 1 */
	double fastest[RUNS_FOR_CPU];      /* duration with unlimited cores / measured duration */
	double mean, most;                 /* cores in use: mean and maximum */
	double widest; /* most cores that would be in use if no thread had to wait */
	bool waited;   /* threads of some run had to wait for a CPU */
};

static struct parallelism *parallelism_of(const struct runs *used, struct arena *arena)
{
	struct parallelism *p = arena_alloc(arena, sizeof *p);
	double sum = 0;

	for (size_t i = 0; i < used->n && p->n < RUNS_FOR_CPU; i++) {
		const struct distribution *d = run_column(&used->run[i], "cpu_cores");

		if (!d || run_cpu_uncertain(&used->run[i]) || !cpu_parallel_of(d, &p->run[p->n]))
			continue;
		struct parallel *run = &p->run[p->n];

		run->wanted = waits_cpu_wanted(&used->run[i]);
		p->fastest[p->n] = cpu_parallel_stretch(run, INFINITY);
		p->waited |= run->wanted > 1;
		p->most = fmax(p->most, run->cores[PARALLEL_POINTS - 1]);
		p->widest = fmax(p->widest,
			run->cores[PARALLEL_POINTS - 1] * fmin(run->wanted, PARALLEL_ROOM));
		p->weight[p->n] = exp2(-(double)p->n / FADING);
		sum += p->weight[p->n++];
	}
	for (size_t i = 0; i < p->n; i++) {
		p->weight[i] /= sum;
		for (size_t k = 0; k < PARALLEL_POINTS; k++)
			p->mean += p->weight[i] * p->run[i].cores[k] / PARALLEL_POINTS;
	}
	return p;
}

static double mean_stretch(const struct parallelism *p, double cores)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += p->weight[i] * cpu_parallel_stretch(&p->run[i], cores);
	return sum;
}

/* Returns the largest slowdown of a run, compared with unlimited cores. */
static double worst_stretch(const struct parallelism *p, double cores)
{
	double worst = 1;

	for (size_t i = 0; i < p->n; i++)
		worst = fmax(worst, cpu_parallel_stretch(&p->run[i], cores) / p->fastest[i]);
	return worst;
}

/* Returns the next candidate. The step is 0.25 below 8 cores, 0.5 below 16 cores and 1 below 64
 * cores. From 64 cores on, the step is a sixteenth of the cores. If `whole` is true, the step is at
 * least 1. */
static double next_cores(double cores, bool whole)
{
	if (cores >= 64)
		return ceil(cores * 1.0625);
	if (cores >= 16 || whole)
		return cores + 1;
	return cores + (cores < 8 ? 0.25 : 0.5);
}

/* Returns the cores that minimise (cores + waiting) x time. `waiting` is the price of idle memory
 * and GPUs, in cores. */
static double cheapest_cores(const struct parallelism *p, double waiting, bool whole)
{
	double c = whole ? 1 : 0.25, best = c, best_cost = INFINITY;

	while (c < next_cores(p->widest, whole) + 1) {
		double cost = (c + waiting) * mean_stretch(p, c);

		if (cost < best_cost * (1 - 1e-9)) {
			best_cost = cost;
			best = c;
		}
		c = next_cores(c, whole);
	}
	return best;
}

static double cores_for_speed(const struct parallelism *p)
{
	double c = 0.25;

	while (c < p->widest && worst_stretch(p, c) > NOT_SLOWER)
		c = next_cores(c, false);
	return c;
}

/* Returns the cores that suffice for this share of the time of every run. */
static double cores_for_share(const struct parallelism *p, double share)
{
	size_t at = (size_t)fmin(share * PARALLEL_POINTS, PARALLEL_POINTS - 1);
	double most = 0;

	for (size_t i = 0; i < p->n; i++)
		most = fmax(most, p->run[i].cores[at]);
	return most;
}

/* Returns the cores that suffice for this share of the time of all runs together. Newer runs weigh
 * more. */
static double cores_for_share_fading(const struct parallelism *p, double share, struct arena *arena)
{
	double(*sample)[2] = arena_alloc(arena, p->n * PARALLEL_POINTS * sizeof *sample);
	size_t n = 0;
	double sum = 0;

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < PARALLEL_POINTS; k++, n++) {
			sample[n][0] = p->run[i].cores[k];
			sample[n][1] = p->weight[i] / PARALLEL_POINTS;
		}
	qsort(sample, n, sizeof *sample, stats_ascending);
	for (size_t i = 0; i < n; i++) {
		sum += sample[i][1];
		if (sum >= share)
			return sample[i][0];
	}
	return sample[n - 1][0];
}

static void size_by_cost(struct sizing *s, const struct parallelism *p, struct arena *arena)
{
	double memory = fmax(s->demand.memory_bytes, MEMORY_LEAST), speed = cores_for_speed(p);
	double waiting = memory / (1024 * MIB) * GIB_IN_CORES;
	char n[WORDING_MAX];

	if (s->demand.gpus > 0)
		waiting += s->demand.gpus * GPU_IN_CORES;
	s->demand.cpu_cores = cheapest_cores(p, waiting, false);
	s->resources.cpu = (uint64_t)cheapest_cores(p, waiting, true);
	sizing_explain(s, arena,
		"cpu %llu: %s kept %.2f cores busy on average, %.2f at most; with %g a run costs "
		"least and takes %.2f times as long as with %g, %s",
		(unsigned long long)s->resources.cpu, wording_runs(n, p->n), p->mean, p->most,
		s->demand.cpu_cores,
		mean_stretch(p, s->demand.cpu_cores) / (p->waited ? mean_stretch(p, speed) : 1),
		speed,
		p->waited ? "the most that is known to help runs that had to wait for a CPU" :
			    "which do not slow it down");
}

static void size_by_share(struct sizing *s, const struct sizing_method *m,
	const struct parallelism *p, const struct sizing_options *options, struct arena *arena)
{
	double share =
		m->uses_percentile && options->percentile > 0 ? options->percentile : m->cpu_share;
	double cores = m->cpu_fades ? 1.15 * cores_for_share_fading(p, share, arena) :
				      cores_for_share(p, share);
	char n[WORDING_MAX];

	s->demand.cpu_cores = fmax(cores, 0.01);
	s->resources.cpu = (uint64_t)fmax(1, ceil(s->demand.cpu_cores));
	sizing_explain(s, arena, "cpu %llu: %.2f cores suffice for %g %% of the time of %s%s",
		(unsigned long long)s->resources.cpu, m->cpu_fades ? cores / 1.15 : cores,
		100 * share, wording_runs(n, p->n),
		m->cpu_fades ? ", newer ones counting more; plus 15 %" : "");
}

static void explain_at_cores(struct sizing *s, struct arena *arena)
{
	AUTO(buf_done) struct buf words = BUF_MAX(200);
	char seconds[WORDING_MAX];

	if (isnan(s->demand.duration_seconds))
		return;
	for (size_t i = 0; i < FORECAST_CORES; i++)
		buf_addf(&words, "%s%s with %g", i ? ", " : "",
			wording_seconds(seconds, s->at_cores[i].seconds), s->at_cores[i].cores);
	sizing_explain(s, arena, "duration by cores: %s", buf_text(&words));
}

void sizing_cpu(struct sizing *s, const struct sizing_method *m, const struct runs *used,
	const struct sizing_options *options, struct arena *arena)
{
	struct parallelism *p = parallelism_of(used, arena);
	char n[WORDING_MAX];

	if (!p->n && s->uncertain_cpu) {
		sizing_explain(s, arena, "cpu: unknown, the CPU time of %s is too uncertain",
			wording_runs(n, s->uncertain_cpu));
		return;
	}
	if (!p->n) {
		sizing_explain(s, arena, "cpu: unknown, no CPU time was measured in %s",
			wording_runs(n, used->n));
		return;
	}
	if (m->cpu_share > 0)
		size_by_share(s, m, p, options, arena);
	else
		size_by_cost(s, p, arena);
	s->cpu_cores_for_speed = cores_for_speed(p);
	s->cpu_slowdown = mean_stretch(p, (double)s->resources.cpu);
	s->cpu_cores_limit = fmax(s->demand.cpu_cores, s->cpu_cores_for_speed);
	for (size_t i = 0; i < FORECAST_CORES; i++)
		s->at_cores[i].seconds =
			s->demand.duration_seconds * mean_stretch(p, s->at_cores[i].cores);
	explain_at_cores(s, arena);
}

void sizing_duration(struct sizing *s, const struct runs *runs, const struct runs *used,
	const struct sizing_options *options, struct arena *arena)
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	double input = sizing_next_input(options);
	char n[WORDING_MAX], middle[WORDING_MAX], low[WORDING_MAX], high[WORDING_MAX];
	struct replayed f;

	replay_runs(&f, rule, &rule->defaults, runs, used, sizing_duration_as_bytes,
		REPLAY_UNSCORED);
	if (f.learnt) {
		s->demand.duration_seconds =
			cost_aware_quantile(f.state, input, 0.5) / SECOND_IN_BYTES;
		s->duration_low = cost_aware_quantile(f.state, input, 0.1) / SECOND_IN_BYTES;
		s->duration_high = cost_aware_quantile(f.state, input, 0.9) / SECOND_IN_BYTES;
		sizing_explain(s, arena,
			"duration: as %s went, half of the runs are expected to take up to %s, "
			"four of five between %s and %s",
			wording_runs(n, f.learnt),
			wording_seconds(middle, s->demand.duration_seconds),
			wording_seconds(low, s->duration_low),
			wording_seconds(high, s->duration_high));
	}
	replay_done(&f);
}
