#include "recommender/run.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"

static const char *const outcome_names[OUTCOME_COUNT] = {
	[OUTCOME_RUNNING] = "running",
	[OUTCOME_SUCCEEDED] = "succeeded",
	[OUTCOME_FAILED] = "failed",
	[OUTCOME_OOM_KILLED] = "oom_killed",
	[OUTCOME_INTERRUPTED] = "interrupted",
	[OUTCOME_UNKNOWN] = "unknown",
};

const char *run_outcome_name(enum outcome o)
{
	return outcome_names[o];
}

bool run_outcome_parse(const char *name, enum outcome *ret)
{
	for (unsigned i = 0; i < OUTCOME_COUNT; i++)
		if (strcmp(name, outcome_names[i]) == 0) {
			*ret = (enum outcome)i;
			return true;
		}
	return false;
}

static const char *const time_limit_reasons[] = {"DeadlineExceeded", "TIMEOUT", "DEADLINE"};

bool run_reason_is_time_limit(const char *reason)
{
	for (size_t i = 0; reason && i < ARRAY_LEN(time_limit_reasons); i++)
		if (strcmp(reason, time_limit_reasons[i]) == 0)
			return true;
	return false;
}

bool run_outcome_told(const char *text, enum outcome *ret, const char **reason)
{
	enum outcome o;

	if (run_reason_is_time_limit(text)) {
		o = OUTCOME_FAILED;
		*reason = *reason ? *reason : text;
	} else if (!run_outcome_parse(text, &o) || o == OUTCOME_RUNNING) {
		return false;
	}
	*ret = o == OUTCOME_UNKNOWN && run_reason_is_time_limit(*reason) ? OUTCOME_FAILED : o;
	return true;
}

const char *run_outcome_told_word(size_t i)
{
	/* Skips OUTCOME_RUNNING, the first outcome, because clients may not send it. */
	const size_t n = OUTCOME_COUNT - 1;

	if (i < n)
		return outcome_names[i + 1];
	return i < n + ARRAY_LEN(time_limit_reasons) ? time_limit_reasons[i - n] : NULL;
}

#define CENTURY_SECONDS 3155760000.0

double run_duration(const struct run *r)
{
	double v = r->duration_seconds;

	return v >= 0 && v <= CENTURY_SECONDS ? v : (double)NAN;
}

const struct distribution *run_column(const struct run *r, const char *column)
{
	size_t low = 0, high = r->not_measured ? 0 : r->n_stats;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(column, r->stats[middle].column);

		if (order == 0)
			return &r->stats[middle].d;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

double run_total(const struct run *r, const char *column)
{
	const struct distribution *d = run_column(r, column);

	return d ? d->sum : NAN;
}

double run_peak(const struct run *r, const char *column)
{
	const struct distribution *d = run_column(r, column);

	return d ? d->max : NAN;
}

double run_mean(const struct run *r, const char *column)
{
	const struct distribution *d = run_column(r, column);

	return d ? d->mean : NAN;
}

enum architecture runs_architecture(const struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++) {
		enum architecture a = runs->run[i].architecture;

		if (a != ARCHITECTURE_UNKNOWN)
			return a == ARCHITECTURE_I386 ? ARCHITECTURE_X86_64 : a;
	}
	return ARCHITECTURE_UNKNOWN;
}

bool runs_gpu_manufacturer(const struct runs *runs, const char **ret)
{
	const char *first = NULL;

	*ret = NULL;
	for (size_t i = 0; i < runs->n; i++) {
		const char *one = runs->run[i].gpu_manufacturer;

		if (one && first && strcasecmp(one, first) != 0)
			*ret = NULL;
		else if (one && !first)
			*ret = first = one;
	}
	return first;
}

const char *runs_newest_gpu_manufacturer(const struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		if (runs->run[i].gpu_manufacturer)
			return runs->run[i].gpu_manufacturer;
	return NULL;
}

const char *runs_gpu_model(const struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		if (runs->run[i].gpu_model)
			return runs->run[i].gpu_model;
	return NULL;
}

bool run_limits_differ(double a, double b)
{
	return a > RUN_LIMITS_DIFFER * b || b > RUN_LIMITS_DIFFER * a;
}

void runs_requested(const struct runs *runs, double *cpu_cores, double *memory_bytes)
{
	*cpu_cores = *memory_bytes = NAN;
	for (size_t i = runs->n; i-- > 0;) {
		const struct run *r = &runs->run[i];

		*cpu_cores = isnan(r->requested_cpu_cores) ? *cpu_cores : r->requested_cpu_cores;
		*memory_bytes = isnan(r->requested_memory_bytes) ? *memory_bytes :
								   r->requested_memory_bytes;
	}
}

double runs_a_month(const struct runs *runs)
{
	size_t n = runs->n < MONTH_RUNS_MAX ? runs->n : MONTH_RUNS_MAX;
	double first = INFINITY, last = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		first = fmin(first, runs->run[i].started_at);
		last = fmax(last, runs->run[i].started_at);
	}
	if (n < 2 || !(last - first >= MONTH_LEAST_SECONDS))
		return NAN;
	return (double)(n - 1) / (last - first) * MONTH_HOURS * 3600;
}
