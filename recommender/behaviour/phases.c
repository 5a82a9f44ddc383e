#include "recommender/behaviour/phases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "recommender/resource_prices.h"
#include "recommender/behaviour/segments.h"
#include "recommender/sizing/strategy.h"

#define BINS         512 /* maximum number of bins; each is the mean of one or more samples */
#define SHORTEST     20  /* a phase takes at least 1/20 of the run, and at least 5 bins */
#define PART_SECONDS 60
#define PART_SHARE   0.1
#define RECENT       5
#define RECURS       3
#define SAME_PLACE   0.05
#define PAYS         0.8
#define WORTH_A_CUT  0.02 /* a cut must save this share of the whole run's cost */

enum channel { CORES, MEMORY, GPU, VRAM, IO, CHANNELS };

enum column_source {
	CPU_USED,
	MEMORY_USED,
	GPU_USED,
	GPUS_USED,
	VRAM_USED,
	DISK_READ,
	DISK_WRITTEN,
	SOURCES
};
const char *const phases_columns[] = {
	[CPU_USED] = "cpu_seconds",
	[MEMORY_USED] = "memory_bytes",
	[GPU_USED] = "gpu_usage",
	[GPUS_USED] = "gpus_used",
	[VRAM_USED] = "vram_bytes",
	[DISK_READ] = "disk_read_bytes",
	[DISK_WRITTEN] = "disk_written_bytes",
	[SOURCES] = NULL,
};

static const struct {
	size_t n;
	enum column_source from[2];
	bool per_second; /* divide by the interval's duration, because the column has growth */
} channels[CHANNELS] = {
	[CORES] = {1, {CPU_USED}, true},
	[MEMORY] = {1, {MEMORY_USED}},
	[GPU] = {1, {GPU_USED}},
	[VRAM] = {1, {VRAM_USED}},
	[IO] = {2, {DISK_READ, DISK_WRITTEN}, true},
};

static const double *source_column(const struct series *s, enum column_source source)
{
	for (size_t c = 0; c < s->n_columns; c++)
		if (strcmp(s->columns[c], phases_columns[source]) == 0)
			return s->values[c];
	return NULL;
}

/* Returns one channel: the sum of its columns at each sample. */
static double *channel_of(const struct series *s, enum channel c, struct arena *arena)
{
	double *v = arena_alloc(arena, (s->n + 1) * sizeof *v);

	for (size_t k = 0; k < channels[c].n; k++) {
		const double *from = source_column(s, channels[c].from[k]);

		for (size_t i = 0; i < s->n; i++) {
			double seconds = channels[c].per_second ? s->duration[i] : 1;

			v[i] += from && seconds > 0 ? from[i] / seconds : (double)NAN;
		}
	}
	return v;
}

/* Returns an array of means: one for each group of `width` samples in succession. Ignores unknown
 * samples. */
static double *binned(const double *v, size_t n, size_t width, struct arena *arena)
{
	size_t bins = (n + width - 1) / width;
	double *bin = arena_alloc(arena, (bins + 1) * sizeof *bin);

	for (size_t b = 0; b < bins; b++) {
		double sum = 0, count = 0;

		for (size_t i = b * width; i < (b + 1) * width && i < n; i++)
			if (isfinite(v[i])) {
				sum += v[i];
				count++;
			}
		bin[b] = count > 0 ? sum / count : (double)NAN;
	}
	return bin;
}

static double at_most_known(double peak, double v)
{
	return fmax(peak, v); /* fmax ignores NaN */
}

/* Makes one phase of the samples `from` to `end - 1`. */
static struct phase phase_of(const struct series *s, double *const channel[CHANNELS], size_t from,
	size_t end)
{
	const double *gpus = source_column(s, GPUS_USED);
	struct distribution cores =
		stats_distribution(channel[CORES] + from, s->duration + from, end - from);
	struct distribution gpu =
		stats_distribution(channel[GPU] + from, s->duration + from, end - from);
	struct phase p = {
		.demand = {cores.p95, NAN, NAN, NAN, NAN, NAN},
		.cores_mean = cores.mean,
		.gpu_mean = gpu.mean,
	};

	for (size_t i = from; i < end; i++) {
		p.seconds += s->duration[i];
		p.demand.memory_bytes = at_most_known(p.demand.memory_bytes, channel[MEMORY][i]);
		p.demand.vram_bytes = at_most_known(p.demand.vram_bytes, channel[VRAM][i]);
		bool counted = gpus && !isnan(gpus[i]);

		p.demand.gpus =
			at_most_known(p.demand.gpus, counted ? gpus[i] : ceil(channel[GPU][i]));
	}
	p.demand.duration_seconds = p.seconds;
	return p;
}

void phases_copy(struct phases *p, struct arena *arena)
{
	struct phase *copy = arena_alloc(arena, (p->n + 1) * sizeof *copy);

	if (p->n)
		memcpy(copy, p->phase, p->n * sizeof *copy);
	p->phase = copy;
}

void phases_of(const struct series *s, struct arena *arena, struct phases *ret)
{
	double *channel[CHANNELS];
	const double *bin[CHANNELS];
	size_t width = (s->n + BINS - 1) / BINS, bins, cuts, cut[BINS + 1];

	*ret = (struct phases){0};
	if (!s->n)
		return;
	bins = (s->n + width - 1) / width;
	for (unsigned c = 0; c < CHANNELS; c++) {
		channel[c] = channel_of(s, (enum channel)c, arena);
		bin[c] = binned(channel[c], s->n, width, arena);
	}
	cuts = segments_cut(bin, CHANNELS, bins, bins / SHORTEST > 5 ? bins / SHORTEST : 5, cut);
	ret->phase = arena_alloc(arena, (cuts + 1) * sizeof *ret->phase);
	for (size_t i = 0; i <= cuts; i++) {
		size_t from = i ? cut[i - 1] * width : 0, end = i < cuts ? cut[i] * width : s->n;

		ret->phase[i] = phase_of(s, channel, from, end);
		ret->phase[i].start = ret->seconds;
		ret->seconds += ret->phase[i].seconds;
	}
	ret->n = cuts + 1;
}

static double known_or_zero(double v)
{
	return v > 0 ? v : 0;
}

static double reserved_cores(const struct demand *d, double seconds)
{
	return (known_or_zero(d->cpu_cores) +
		       known_or_zero(d->memory_bytes) / (1024 * MIB) * GIB_IN_CORES +
		       known_or_zero(d->gpus) * GPU_IN_CORES) *
	       seconds;
}

static struct phase joined_phase(const struct phase *a, const struct phase *b)
{
	struct phase p = *a;

	p.seconds += b->seconds;
	p.demand.cpu_cores = fmax(a->demand.cpu_cores, b->demand.cpu_cores);
	p.demand.memory_bytes = fmax(a->demand.memory_bytes, b->demand.memory_bytes);
	p.demand.gpus = fmax(a->demand.gpus, b->demand.gpus);
	p.demand.vram_bytes = fmax(a->demand.vram_bytes, b->demand.vram_bytes);
	p.demand.duration_seconds = p.seconds;
	p.cores_mean = (a->cores_mean * a->seconds + b->cores_mean * b->seconds) / p.seconds;
	p.gpu_mean = (a->gpu_mean * a->seconds + b->gpu_mean * b->seconds) / p.seconds;
	return p;
}

static void join_at(struct phases *p, size_t i)
{
	p->phase[i] = joined_phase(&p->phase[i], &p->phase[i + 1]);
	memmove(&p->phase[i + 1], &p->phase[i + 2], (p->n - i - 2) * sizeof p->phase[0]);
	p->n--;
}

static bool cut_recurs(const struct phases *run, size_t n, double place)
{
	size_t found = 0;

	for (size_t r = 0; r < n && r < RECENT; r++)
		for (size_t i = 1; i < run[r].n; i++)
			if (fabs(run[r].phase[i].start / run[r].seconds - place) <= SAME_PLACE) {
				found++;
				break;
			}
	return found >= RECURS;
}

static bool long_enough(const struct phases *p, size_t i)
{
	return p->phase[i].seconds >= PART_SECONDS &&
	       p->phase[i].seconds >= PART_SHARE * p->seconds;
}

/* Joins neighbouring phases if the change between them does not recur in other runs, if one of them
 * is too short, or if separate steps would save too little. */
static void keep_worthwhile(struct phases *p, const struct phases *run, size_t n, double whole)
{
	for (size_t i = 0; i + 1 < p->n;)
		if (cut_recurs(run, n, p->phase[i + 1].start / p->seconds))
			i++;
		else
			join_at(p, i);
	for (size_t i = 0; i < p->n && p->n > 1;)
		if (long_enough(p, i))
			i++;
		else
			join_at(p, i + 1 < p->n ? i : --i);
	while (p->n > 1) {
		double least = INFINITY;
		size_t at = 0;

		for (size_t i = 0; i + 1 < p->n; i++) {
			struct phase both = joined_phase(&p->phase[i], &p->phase[i + 1]);
			double saved =
				reserved_cores(&both.demand, both.seconds) -
				reserved_cores(&p->phase[i].demand, p->phase[i].seconds) -
				reserved_cores(&p->phase[i + 1].demand, p->phase[i + 1].seconds);

			if (saved < least) {
				least = saved;
				at = i;
			}
		}
		if (least >= WORTH_A_CUT * whole)
			return;
		join_at(p, at);
	}
}

static const char *split_sentence(const struct split *s, struct arena *arena)
{
	AUTO(buf_done) struct buf b = BUF_MAX(2000);
	char words[WORDING_MAX];

	buf_adds(&b, "split: ");
	for (size_t i = 0; i < s->parts.n; i++) {
		const struct phase *p = &s->parts.phase[i];

		buf_addf(&b, "%s%s", i ? ", then " : "the run takes ",
			wording_seconds(words, p->seconds));
		if (p->demand.cpu_cores >= 0)
			buf_addf(&b, " on %.1f cores", p->demand.cpu_cores);
		if (p->demand.memory_bytes >= 0)
			buf_addf(&b, " with %s", wording_bytes(words, p->demand.memory_bytes));
		if (p->demand.gpus > 0)
			buf_addf(&b, " and %g GPU%s", p->demand.gpus,
				p->demand.gpus > 1 ? "s" : "");
	}
	buf_addf(&b, "; as %zu steps, each with its own request, it would reserve %.0f %% less",
		s->parts.n, 100 * s->saving);
	return arena_text(arena, buf_text(&b), strlen(buf_text(&b)));
}

bool phases_split(const struct phases *run, size_t n, struct arena *arena, struct split *ret)
{
	struct split s = {0};
	double together, apart = 0;

	if (n < RECURS || run[0].n < 2)
		return false;
	s.parts = run[0];
	phases_copy(&s.parts, arena);

	struct phase whole = run[0].phase[0];

	for (size_t i = 1; i < run[0].n; i++)
		whole = joined_phase(&whole, &run[0].phase[i]);
	together = reserved_cores(&whole.demand, whole.seconds);
	keep_worthwhile(&s.parts, run, n, together);
	for (size_t i = 0; i < s.parts.n; i++)
		apart += reserved_cores(&s.parts.phase[i].demand, s.parts.phase[i].seconds);
	if (s.parts.n < 2 || !(apart <= PAYS * together))
		return false;
	s.saving = 1 - apart / together;
	s.words = split_sentence(&s, arena);
	*ret = s;
	return true;
}
