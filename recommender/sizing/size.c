/* What the strategies share: choosing runs, rounding, sentences, and the order of the parts. */
#include "recommender/sizing/strategy.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const risk_names[RISK_COUNT] = {
	[RISK_BALANCED] = "balanced",
	[RISK_ECONOMY] = "economy",
	[RISK_SAFE] = "safe",
};

const char *risk_name(enum risk r)
{
	return risk_names[r];
}

bool risk_parse(const char *name, enum risk *ret)
{
	for (unsigned i = 0; i < RISK_COUNT; i++)
		if (strcmp(name, risk_names[i]) == 0) {
			*ret = (enum risk)i;
			return true;
		}
	return false;
}

const char *confidence_name(enum confidence c)
{
	switch (c) {
	case CONFIDENCE_NONE:
		return "none";
	case CONFIDENCE_LOW:
		return "low";
	case CONFIDENCE_MEDIUM:
		return "medium";
	case CONFIDENCE_HIGH:
		return "high";
	}
	return "none";
}

/* A number that can be a size: measured, positive, not absurd. */
static double size_or_nan(double v)
{
	return v > 0 && v < 0x1p62 ? v : NAN;
}

bool run_tmpfs_is_known(const struct run *r)
{
	return run_column(r, "memory_cgroup_shmem_bytes") != NULL;
}

double run_tmpfs(const struct run *r)
{
	double tmpfs = run_peak(r, "memory_tmpfs_bytes");

	if (!run_tmpfs_is_known(r))
		return 0;
	/* Recorded before that was told, or by a kernel that does not tell what processes mapped. */
	if (isnan(tmpfs))
		tmpfs = run_peak(r, "memory_cgroup_shmem_bytes") -
			fmax(0, run_peak(r, "memory_shmem_bytes"));
	return fmax(0, tmpfs);
}

/*
 * Marks of processes lack the files in tmpfs that none has mapped. When they were largest is known, when a mark was made is
 * not: perhaps both at once, but together no more than their group ever had.
 */
double run_memory_peak(const struct run *r)
{
	double mark = size_or_nan(run_peak(r, "memory_peak_bytes"));
	double group = run_peak(r, "memory_cgroup_peak_bytes");
	double peak = isnan(mark) ? size_or_nan(run_peak(r, "memory_bytes")) : mark;
	double with_tmpfs = size_or_nan(peak + run_tmpfs(r));

	return isnan(with_tmpfs) ? peak : fmax(peak, fmin(with_tmpfs, group));
}

struct summary runs_summary(const struct runs *runs, double (*get)(const struct run *))
{
	struct summary s = {.min = NAN, .max = NAN, .mean = NAN};
	double sum = 0;

	for (size_t i = 0; i < runs->n; i++) {
		double v = get(&runs->run[i]);

		if (!isfinite(v))
			continue;
		s.n++;
		s.min = fmin(s.min, v);
		s.max = fmax(s.max, v);
		sum += v;
	}
	if (s.n)
		s.mean = sum / (double)s.n;
	return s;
}

uint64_t round_memory(double bytes)
{
	static const uint64_t steps[] = {128, 256, 512, 1024, 2048};
	double mib = bytes / MIB;

	if (!(bytes >= 0) || mib > 0x1p43)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (mib <= (double)steps[i])
			return steps[i];
	return (uint64_t)ceil(mib / 1024) * 1024;
}

uint64_t round_up_memory(double bytes)
{
	double mib = fmax(16, bytes / MIB);

	if (!(bytes >= 0) || !(mib <= 0x1p43))
		return 0;

	double step = fmax(1, exp2(floor(log2(mib)) - 5));

	return (uint64_t)(ceil(mib / step) * step);
}

uint64_t round_cores(double cores)
{
	if (!(cores >= 0) || cores > 1e6)
		return 0;
	return cores < 1 ? 1 :
			   (uint64_t)rint(cores); /* rint: half to even, nobody sets another mode */
}

double run_gpus(const struct run *r)
{
	double used = run_peak(r, "gpus_used");

	if (isnan(used))
		used = ceil(run_peak(r, "gpu_usage")); /* at least as many as were busy */
	return used >= 0 && used < 1e6 ? used : (double)NAN;
}

double run_vram_peak(const struct run *r)
{
	double peak = run_peak(r, "vram_peak_bytes");

	if (isnan(peak))
		peak = run_peak(r, "vram_bytes");
	return peak >= 0 && peak < 0x1p62 ? peak : (double)NAN;
}

double run_killed_at(const struct run *r)
{
	double limit = size_or_nan(r->memory_limit_bytes);

	return isnan(limit) ? run_memory_peak(r) : limit;
}

static enum confidence confidence_of(const struct runs *used)
{
	struct summary peaks = runs_summary(used, run_memory_peak);

	if (peaks.n < 3 || peaks.max > 2 * peaks.min)
		return CONFIDENCE_LOW;
	return peaks.n >= 5 && peaks.max <= 1.2 * peaks.min ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
}

/* What measured the peaks of these runs. */
static const char *memory_source_of(const struct runs *used)
{
	const char *source = NULL;

	for (size_t i = 0; i < used->n; i++) {
		const char *other = used->run[i].memory_source;

		if (source && other && strcmp(source, other) != 0)
			return "mixed";
		source = source ? source : other;
	}
	return source;
}

/* Why no run can be used, with what was there instead. */
static int nothing_to_go_by(const struct runs *runs, struct err *e)
{
	size_t by_outcome[OUTCOME_COUNT] = {0};
	AUTO(buf_done) struct buf words = BUF_MAX(128);

	if (runs->n == 0)
		return err_set(e, -ENODATA, "no run is recorded");
	for (size_t i = 0; i < runs->n; i++)
		by_outcome[runs->run[i].outcome]++;
	for (unsigned o = 0; o < OUTCOME_COUNT; o++)
		if (by_outcome[o])
			buf_addf(&words, "%s%zu %s", words.len ? ", " : "", by_outcome[o],
				outcome_name((enum outcome)o));
	return err_set(e, -ENODATA, "none of the %zu recorded runs succeeded (%s)", runs->n,
		buf_text(&words));
}

static struct sizing sizing_unknown(void)
{
	struct sizing s = {
		.demand = {NAN, NAN, NAN, NAN, NAN, NAN},
		.first = NAN,
		.last = NAN,
		.cpu_cores_limit = NAN,
		.memory_bytes_limit = NAN,
		.cpu_cores_for_speed = NAN,
		.duration_low = NAN,
		.duration_high = NAN,
		.memory_too_small = NAN,
		.memory_expected_waste = NAN,
		.memory_low = NAN,
		.memory_high = NAN,
		.memory_killed_at = NAN,
		.hindsight.waste = NAN,
		.hindsight_baseline.waste = NAN,
	};

	for (size_t i = 0; i < FORECAST_CORES; i++) {
		s.at_cores[i].cores = (double)(1u << i);
		s.at_cores[i].seconds = NAN;
	}
	for (size_t i = 0; i < RISK_COUNT; i++)
		s.memory_at_risk[i] = NAN;
	return s;
}

int sizing_start(const struct runs *runs, size_t most, struct arena *arena, struct runs *used,
	struct sizing *ret, struct err *e)
{
	struct sizing s = sizing_unknown();
	struct run *run = arena_alloc(arena, sizeof *run * (runs->n + 1));
	size_t excluded = 0;

	for (size_t i = 0; i < runs->n && s.runs < most; i++) {
		const struct run *r = &runs->run[i];

		if (r->outcome == OUTCOME_RUNNING)
			continue;
		if (r->outcome != OUTCOME_SUCCEEDED) {
			excluded++;
			continue;
		}
		s.excluded = excluded;
		s.samples += r->samples;
		s.first = fmin(s.first, r->started_at);
		s.last = fmax(s.last, r->started_at);
		run[s.runs++] = *r;
	}
	if (s.runs == 0)
		return nothing_to_go_by(runs, e);
	*used = (struct runs){.n = s.runs, .run = run};
	s.confidence = confidence_of(used);
	s.memory_source = memory_source_of(used);
	*ret = s;
	return 0;
}

/* A job that was only ever killed for memory: that much is known. */
static bool killed_somewhere(const struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		if (runs->run[i].outcome == OUTCOME_OOM_KILLED &&
			!isnan(run_killed_at(&runs->run[i])))
			return true;
	return false;
}

int size_by(const struct method *m, const struct runs *runs, const struct sizing_options *options,
	struct arena *arena, struct sizing *ret, struct err *e)
{
	size_t most = options->runs && options->runs < PAST_MAX ? options->runs : PAST_MAX;
	struct runs used = {0};
	struct sizing s;
	int r = sizing_start(runs, most, arena, &used, &s, e);

	if (r == -ENODATA && !m->rule && killed_somewhere(runs))
		s = sizing_unknown();
	else if (r < 0)
		return r;
	size_memory(&s, m, runs, &used, options, arena);
	if (used.n) {
		size_gpus(&s, m, runs, &used, options, arena);
		size_disk(&s, m, runs, &used, options, arena);
		size_duration(&s, runs, &used, options, arena);
		size_cpu(&s, m, &used, options, arena);
		explain_waits(&s, &used, arena);
		advise_split(&s, &used, !isnan(input_of_next(options)), arena);
	}
	size_summary(&s, options, arena);
	*ret = s;
	return 0;
}

void sizing_explain(struct sizing *s, struct arena *arena, const char *format, ...)
{
	char text[512];
	va_list args;

	if (s->n_explain == EXPLAIN_MAX)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	s->explain[s->n_explain++] = arena_text(arena, text, strlen(text));
}
