#include "recommender/waits.h"

#include <math.h>

/* A wait matters only if it is above its bound below. The shares are defined in struct waits. */
#define CPU_SHARE_MUCH   0.10
#define CPU_SECONDS_MUCH 0.5 /* a shorter wait is ignored: short runs wait mostly at their start */
#define OTHER_SHARE_MUCH 0.10
#define IDLE_SHARE_MUCH  0.50

static const char *const verdict_names[] = {
	[WAITED_UNKNOWN] = "unknown",
	[WAITED_LITTLE] = "little",
	[WAITED_FOR_CPU] = "cpu",
	[WAITED_FOR_MEMORY] = "memory",
	[WAITED_FOR_STORAGE] = "storage",
	[WAITED_IDLE] = "idle",
};

const char *wait_verdict_name(enum wait_verdict v)
{
	return verdict_names[v];
}

/* Sums of two values over the runs for which both are known. The result is part / whole. */
struct ratio {
	double part, whole;
};

static void ratio_add(struct ratio *r, double part, double whole)
{
	if (part >= 0 && whole >= 0) {
		r->part += part;
		r->whole += whole;
	}
}

static double ratio_share(const struct ratio *r)
{
	return r->whole > 0 ? r->part / r->whole : NAN;
}

/* Returns the waiting time of all threads. If this time is unknown, returns the time in which at
 * least one task of the control group waited (pressure). */
static double waited_seconds(const struct run *r, const char *delay, const char *pressure)
{
	double v = run_total(r, delay);

	return isnan(v) ? run_total(r, pressure) : v;
}

static double idle_of(const struct run *r, double waited_for_cpu)
{
	double busy = run_total(r, "cpu_seconds") + waited_for_cpu, took = run_duration(r);

	/* Only possible if a client sent negative times. */
	if (busy < 0)
		return NAN;
	return busy > took ? 0 : took - busy; /* NaN when `busy` or `took` is unknown */
}

static enum wait_verdict verdict_of(const struct waits *w)
{
	if (w->cpu_share > CPU_SHARE_MUCH && w->cpu_seconds > CPU_SECONDS_MUCH)
		return WAITED_FOR_CPU;
	if (w->memory_share > OTHER_SHARE_MUCH)
		return WAITED_FOR_MEMORY;
	if (w->storage_share > OTHER_SHARE_MUCH)
		return WAITED_FOR_STORAGE;
	if (w->idle_share > IDLE_SHARE_MUCH)
		return WAITED_IDLE;
	return isnan(w->cpu_share) ? WAITED_UNKNOWN : WAITED_LITTLE;
}

double waits_cpu_wanted(const struct run *r)
{
	double ran = run_total(r, "cpu_seconds");
	double for_cpu = waited_seconds(r, "cpu_wait_seconds", "cpu_pressure_seconds");

	if (!(ran > 0 && for_cpu > CPU_SECONDS_MUCH && for_cpu / (ran + for_cpu) > CPU_SHARE_MUCH))
		return 1;
	return (ran + for_cpu) / ran;
}

struct waits waits_of(const struct run *const *runs, size_t n)
{
	struct ratio cpu = {0}, memory = {0}, storage = {0}, idle = {0}, throttled = {0};

	for (size_t i = 0; i < n; i++) {
		const struct run *r = runs[i];
		double took = run_duration(r);
		double for_cpu = waited_seconds(r, "cpu_wait_seconds", "cpu_pressure_seconds");

		ratio_add(&cpu, for_cpu, run_total(r, "cpu_seconds") + for_cpu);
		ratio_add(&memory,
			waited_seconds(r, "memory_wait_seconds", "memory_pressure_seconds"), took);
		ratio_add(&storage, waited_seconds(r, "io_wait_seconds", "io_pressure_seconds"),
			took);
		ratio_add(&idle, idle_of(r, for_cpu), took);
		ratio_add(&throttled, run_total(r, "cpu_throttled_seconds"), took);
	}
	struct waits w = {
		.cpu_seconds = cpu.whole > 0 ? cpu.part : NAN,
		.cpu_share = ratio_share(&cpu),
		.throttled_seconds = throttled.whole > 0 ? throttled.part : NAN,
		.memory_share = ratio_share(&memory),
		.storage_share = ratio_share(&storage),
		.idle_share = ratio_share(&idle),
	};

	w.verdict = verdict_of(&w);
	return w;
}
