/* How many cores to request, and how long a run takes with other numbers of cores. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/plausible.h"
#include "recommender/resource_prices.h"
#include "recommender/sizing/cpu.h"
#include "recommender/sizing/cpu_speed.h"
#include "recommender/sizing/strategy.h"
#include "recommender/waits.h"

static const char *const cpu_for_names[CPU_FOR_COUNT] = {"speed", "cost"};

const char *sizing_cpu_for_name(enum cpu_for c)
{
	return cpu_for_names[c];
}

bool sizing_cpu_for_parse(const char *name, enum cpu_for *ret)
{
	for (unsigned i = 0; i < CPU_FOR_COUNT; i++)
		if (strcmp(name, cpu_for_names[i]) == 0) {
			*ret = (enum cpu_for)i;
			return true;
		}
	return false;
}

#define RUNS_FOR_CPU 50
#define RUNS_SEEN    (RUNS_FOR_CPU + CPU_FALL_RUNS) /* to see a fall before the runs that count */
#define FADING       24.0                           /* half-life of the weight of a run, in runs */
/* Least memory in the cost of a run, even if the peak is unknown. Without memory, a run on 1 core
 * for 4 hours would cost the same as on 4 cores for 1 hour, and 1 core would be chosen. */
#define MEMORY_LEAST (256 * MIB)
/* A limit on cores slows a run down if the run takes more than 2 % longer. */
#define NOT_SLOWER 1.02

struct parallelism {
	size_t n;
	struct parallel run[RUNS_SEEN]; /* newest first */
	double weight[RUNS_SEEN];       /* sums to 1 */
	double fastest[RUNS_SEEN];      /* duration with unlimited cores / measured duration */
	double possible[RUNS_SEEN];     /* most cores that the run can use; INFINITY = unknown */
	double at_once[RUNS_SEEN];      /* most cores in use at once; NaN = unknown */
	double machine[RUNS_SEEN];      /* CPUs of the machine; NaN = unknown */
	double mean, most;              /* cores in use: mean of the runs; largest of any run */
	bool most_known;                /* `most` was measured, and is not only a mean */
	double widest;       /* most cores that any run would use if no thread had to wait */
	bool waited;         /* in at least one run, threads had to wait for a CPU */
	double machine_cpus; /* CPUs of the largest machine; NaN = unknown */
};

/* Returns the most cores that a run can use; INFINITY = unknown. There are three cases:
 * - The number of cores in use varied: the most that it used or waited for at once
 *   (cpu_parallel_widest).
 * - The number was constant: the CPUs of its machine.
 * - Only the mean is known: its request, or the mean in whole CPUs if the request is unknown. The
 *   result is at most the CPUs of its machine. */
static double widest_possible(const struct parallel *p, const struct run *r)
{
	double machine = r->machine_cpus >= 1 ? r->machine_cpus : INFINITY;

	if (p->varied)
		return cpu_parallel_widest(p);
	if (isfinite(run_peak(r, "cpu_cores")))
		return machine;
	return fmin(r->requested_cpu_cores > 0 ? r->requested_cpu_cores :
						 ceil(cpu_parallel_widest(p)),
		machine);
}

/* Adds the next older run. */
static void add_parallel(struct parallelism *p, const struct run *r)
{
	const struct distribution *d = run_column(r, "cpu_cores");
	struct parallel *run = &p->run[p->n];

	if (!d || run_cpu_uncertain(r) || !cpu_parallel_of(d, run))
		return;
	run->wanted = waits_cpu_wanted(r);
	p->fastest[p->n] = cpu_parallel_stretch(run, INFINITY);
	p->possible[p->n] = widest_possible(run, r);
	p->at_once[p->n] = isfinite(d->max) ? d->max : (double)NAN;
	p->machine[p->n++] = r->machine_cpus;
}

/* Returns the number of newest runs since the last lasting fall of the need, at most `most`. Writes
 * the needs of all runs to `need`. */
static size_t needs_since_fall(const struct parallelism *p, size_t most, double need[RUNS_SEEN])
{
	size_t n;

	for (size_t i = 0; i < p->n; i++)
		need[i] = cpu_parallel_need(&p->run[i]);
	n = cpu_speed_since_fall(need, p->n);
	return n < most ? n : most;
}

/* Summarises the cores that the runs used. If `all` is false, only the runs after the last lasting
 * fall of the need count. The expected duration comes from these runs, so the slowdown by fewer
 * cores must come from the same runs. */
static struct parallelism *parallelism_of(const struct runs *used, bool all, struct arena *arena)
{
	struct parallelism *p = arena_alloc(arena, sizeof *p);
	double sum = 0, need[RUNS_SEEN];

	p->machine_cpus = NAN; /* fmax ignores NaN */
	for (size_t i = 0; i < used->n && p->n < RUNS_SEEN; i++)
		add_parallel(p, &used->run[i]);
	p->n = all ? (p->n < RUNS_FOR_CPU ? p->n : RUNS_FOR_CPU) :
		     needs_since_fall(p, RUNS_FOR_CPU, need);
	for (size_t i = 0; i < p->n; i++) {
		struct parallel *run = &p->run[i];
		bool known = !isnan(p->at_once[i]);

		p->machine_cpus = fmax(p->machine_cpus, p->machine[i]);
		p->waited |= run->wanted > 1;
		/* If the peak is unknown, use the last point of the curve. It is somewhat below the
		 * peak, because it is a mean over 1/PARALLEL_POINTS of the time. */
		p->most = fmax(p->most, known ? p->at_once[i] : run->cores[PARALLEL_POINTS - 1]);
		p->most_known |= known;
		p->widest = fmax(p->widest, cpu_parallel_widest(run));
		p->weight[i] = exp2(-(double)i / FADING);
		sum += p->weight[i];
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

/* Returns the largest slowdown of any run with this many cores, compared with unlimited cores. */
static double worst_stretch(const struct parallelism *p, double cores)
{
	double worst = 1;

	for (size_t i = 0; i < p->n; i++)
		worst = fmax(worst, cpu_parallel_stretch(&p->run[i], cores) / p->fastest[i]);
	return worst;
}

/* Returns the next larger number of cores to try. If `whole` is true, the step is at least 1
 * core. */
static double next_cores(double cores, bool whole)
{
	return cores + fmax(cpu_speed_step(cores), whole ? 1 : 0);
}

/* Returns the number of cores that minimises the cost of a run: (cores + waiting) x duration.
 * `waiting` is the price of the reserved memory and GPUs, in cores. */
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

/* Returns the fewest cores with which each run takes at most NOT_SLOWER times as long as with
 * unlimited cores. They also cover bursts. */
static double cores_for_bursts(const struct parallelism *p)
{
	double c = 0.25;

	while (c < p->widest && worst_stretch(p, c) > NOT_SLOWER)
		c = next_cores(c, false);
	return c;
}

static double cores_for_speed(const struct parallelism *p)
{
	double need[RUNS_SEEN], widest = 0;
	size_t n = needs_since_fall(p, SPEED_RUNS, need);

	for (size_t i = 0; i < n; i++)
		widest = fmax(widest, p->possible[i]);
	return cpu_speed_cores(need, n, widest);
}

/* Returns the fewest cores that were enough for each run for this share of its time. Example: share
 * 0.9 -> each run used at most this many cores for 90 % of its time. */
static double cores_for_share(const struct parallelism *p, double share)
{
	size_t at = (size_t)fmin(share * PARALLEL_POINTS, PARALLEL_POINTS - 1);
	double most = 0;

	for (size_t i = 0; i < p->n; i++)
		most = fmax(most, p->run[i].cores[at]);
	return most;
}

/* Returns the fewest cores that were enough for this share of the total time of all runs. Newer
 * runs weigh more. */
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

/* The number of cores for one purpose (enum cpu_for): in fractions of a core, and as a whole
 * number. */
struct choice {
	double fraction, whole;
};

/* Explains how many cores the purpose `other` would request, how much longer or shorter the run
 * would take, and what it would cost. */
static void explain_other(struct sizing *s, const struct parallelism *p, enum cpu_for other,
	const struct choice *own, const struct choice *its, double waiting, struct arena *arena)
{
	double longer = mean_stretch(p, its->whole) / mean_stretch(p, own->whole);
	double dearer = longer * (its->whole + waiting) / (own->whole + waiting);

	if (its->whole == own->whole)
		sizing_explain(s, arena, TOPIC_CPU, "With cpu_for %s, the request is the same.",
			sizing_cpu_for_name(other));
	else
		sizing_explain(s, arena, TOPIC_CPU,
			"With cpu_for %s, a run has %g CPU%s, takes %.2f times as long and costs "
			"%.0f %% %s.",
			sizing_cpu_for_name(other), its->whole, its->whole > 1 ? "s" : "", longer,
			100 * fabs(dearer - 1), dearer < 1 ? "less" : "more");
}

/* Explains the number of cores of the request, before and after rounding. */
static void explain_own(struct sizing *s, const struct choice *own, enum cpu_for purpose,
	struct arena *arena)
{
	char cores[WORDING_MAX];

	wording_cores(cores, own->fraction);
	if (purpose == CPU_FOR_COST)
		sizing_explain(s, arena, TOPIC_CPU, "A run costs least with %s.", cores);
	else
		sizing_explain(s, arena, TOPIC_CPU,
			"With %s, the next run should take at most 10 %% longer than with "
			"unlimited cores.",
			cores);
	if (own->whole > own->fraction)
		sizing_explain(s, arena, TOPIC_CPU,
			"For systems that need whole CPUs, the request is %g CPU%s.", own->whole,
			own->whole > 1 ? "s" : "");
}

static void explain_use(struct sizing *s, const struct parallelism *p, struct arena *arena)
{
	char n[WORDING_MAX], most[WORDING_MAX] = ", and the most at once is unknown";

	if (p->most_known)
		snprintf(most, sizeof most, " and up to %.2f", p->most);
	sizing_explain(s, arena, TOPIC_CPU, "%s used %.2f cores on average%s%s.",
		wording_runs(n, p->n), p->mean, most,
		p->waited ? ", and threads had to wait for a CPU" : "");
}

/* Sets the requested cores for this purpose. `for_speed` is the number of cores for CPU_FOR_SPEED
 * before rounding. */
static void size_by_purpose(struct sizing *s, const struct parallelism *p, double for_speed,
	enum cpu_for purpose, struct arena *arena)
{
	double memory = fmax(s->demand.memory_bytes, MEMORY_LEAST);
	double waiting = memory / (1024 * MIB) * GIB_IN_CORES;

	if (s->demand.gpus > 0)
		waiting += s->demand.gpus * GPU_IN_CORES;

	struct choice choice[CPU_FOR_COUNT] = {
		[CPU_FOR_SPEED] = {cpu_speed_fraction(for_speed),
			(double)cpu_speed_whole(for_speed)},
		[CPU_FOR_COST] = {cheapest_cores(p, waiting, false),
			cheapest_cores(p, waiting, true)},
	};
	const struct choice *own = &choice[purpose];

	s->demand.cpu_cores = own->fraction;
	s->resources.cpu = (uint64_t)own->whole;
	explain_use(s, p, arena);
	explain_own(s, own, purpose, arena);
	explain_other(s, p, purpose == CPU_FOR_COST ? CPU_FOR_SPEED : CPU_FOR_COST, own,
		&choice[CPU_FOR_COUNT - 1 - purpose], waiting, arena);
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
	sizing_explain(s, arena, TOPIC_CPU, "%.2f cores suffice for %g %% of the time of %s.",
		m->cpu_fades ? cores / 1.15 : cores, 100 * share, wording_runs(n, p->n));
	if (m->cpu_fades)
		sizing_explain(s, arena, TOPIC_CPU,
			"Newer runs count more, and the request adds 15 %%.");
}

/* Explains how long a run takes with the fewest cores, the requested cores and the most cores.
 * Leaves out a number of cores that does not change the duration. `waited` is true if threads of
 * earlier runs waited for a CPU. In that case, a run that does not share its cores with other
 * programs takes less than the expected duration. */
static void explain_at_cores(struct sizing *s, bool waited, struct arena *arena)
{
	AUTO(buf_done) struct buf words = BUF_MAX(200);
	char seconds[WORDING_MAX], before[WORDING_MAX] = "", cores[WORDING_MAX];
	size_t last = s->n_at_cores - 1;

	if (isnan(s->demand.duration_seconds))
		return;
	if (s->cpu_slowdown > NOT_SLOWER)
		sizing_explain(s, arena, TOPIC_DURATION,
			"With %llu CPU%s, a run takes %.2f times as long: %s.",
			(unsigned long long)s->resources.cpu, s->resources.cpu == 1 ? "" : "s",
			s->cpu_slowdown,
			wording_seconds(seconds, s->demand.duration_seconds * s->cpu_slowdown));
	if (!sizing_gains_by_cores(s)) {
		sizing_explain(s, arena, TOPIC_DURATION_MORE,
			"More than %s would not make a run faster.",
			wording_cores(cores, s->at_cores[0].cores));
		return;
	}
	for (size_t i = 0; i <= last; i++) {
		bool own = s->at_cores[i].cores >= s->demand.cpu_cores &&
			   s->at_cores[i].cores <= s->demand.cpu_cores;

		if (i > 0 && i < last && !own)
			continue;
		wording_seconds(seconds, s->at_cores[i].seconds);
		if (strcmp(seconds, before) != 0)
			buf_addf(&words, "%s%s with %s", i ? ", " : "", seconds,
				wording_cores(cores, s->at_cores[i].cores));
		memcpy(before, seconds, sizeof before);
	}
	sizing_explain(s, arena, TOPIC_DURATION_MORE, "%s a run takes %s.",
		waited ? "With its cores to itself," : "With other numbers of cores,",
		buf_text(&words));
}

/* Fills s->at_cores with these numbers of cores:
 * - 1, 2, 4, ... until no run can use all of them
 * - the recommended need (demand.cpu_cores)
 * - the recommended request (resources.cpu) */
static void forecast_at_cores(struct sizing *s, const struct parallelism *p)
{
	const double own[] = {s->demand.cpu_cores, (double)s->resources.cpu};
	double cores[AT_CORES_MAX], c = 1;
	size_t n = 0;

	for (; n < ARRAY_LEN(own); n++)
		cores[n] = own[n];
	cores[n++] = c;
	while (n < AT_CORES_MAX && (c < p->widest || c < own[0]))
		cores[n++] = c *= 2;
	qsort(cores, n, sizeof *cores, stats_ascending);
	for (size_t i = 0; i < n; i++) {
		if (i && cores[i] <= cores[i - 1])
			continue;
		s->at_cores[s->n_at_cores].cores = cores[i];
		s->at_cores[s->n_at_cores++].seconds =
			s->demand.duration_seconds * mean_stretch(p, cores[i]);
	}
}

void sizing_cpu(struct sizing *s, const struct sizing_method *m, const struct runs *used,
	const struct sizing_options *options, struct arena *arena)
{
	struct parallelism *p = parallelism_of(used, m->cpu_share > 0, arena);
	char n[WORDING_MAX];
	double for_speed;

	if (!p->n && s->uncertain_cpu) {
		sizing_explain(s, arena, TOPIC_CPU,
			"The need is unknown, because the CPU time of %s is too uncertain.",
			wording_runs(n, s->uncertain_cpu));
		return;
	}
	if (!p->n) {
		sizing_explain(s, arena, TOPIC_CPU,
			"The need is unknown, because no CPU time was measured in %s.",
			wording_runs(n, used->n));
		return;
	}
	if (!p->most_known)
		warnings_add(&s->warnings, arena, WARNING_CPU_PEAK_UNKNOWN, p->n,
			"Only the mean use of CPU of %s is known. A run that uses more for a part of its "
			"time may be slowed down by the request. Measure a run with \"rightsize-exporter "
			"run\" or \"serve\".",
			wording_runs(n, p->n));
	for_speed = cores_for_speed(p);
	if (m->cpu_share > 0)
		size_by_share(s, m, p, options, arena);
	else
		size_by_purpose(s, p, for_speed, options->cpu_for, arena);
	s->cpu_cores_for_speed = cpu_speed_fraction(for_speed);
	s->cpu_slowdown = mean_stretch(p, (double)s->resources.cpu);
	s->cpu_cores_limit =
		fmax(fmax(s->demand.cpu_cores, s->cpu_cores_for_speed), cores_for_bursts(p));
	s->machine_cpus = p->machine_cpus;
	forecast_at_cores(s, p);
	explain_at_cores(s, p->waited, arena);
}
