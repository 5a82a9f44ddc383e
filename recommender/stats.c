/* Statistics over time of one run's series. */
#include "recommender/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"

/* The derived columns are rates: the growth of the column `from`, divided by the duration of the
 * interval. */
static const struct derived {
	const char *column, *from;
} derived[] = {
	{"cpu_cores", "cpu_seconds"},
	{"disk_read_bytes_per_second", "disk_read_bytes"},
	{"disk_written_bytes_per_second", "disk_written_bytes"},
	{"read_chars_per_second", "read_chars"},
	{"written_chars_per_second", "written_chars"},
	{"system_disk_read_bytes_per_second", "system_disk_read_bytes"},
	{"system_disk_written_bytes_per_second", "system_disk_written_bytes"},
	{"system_network_received_bytes_per_second", "system_network_received_bytes"},
	{"system_network_sent_bytes_per_second", "system_network_sent_bytes"},
};

struct held {
	double value, weight;
};

int stats_ascending(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Returns a weighted percentile. `held` is sorted by value. `total` is the sum of its weights. The
 * factor just below 1 absorbs rounding errors: otherwise P95 of 100 intervals of 0.1 s could be the
 * 96th value instead of the 95th. */
static double percentile(const struct held *held, size_t n, double total, double share)
{
	double rank = total * share * (1 - 1e-12), so_far = 0;

	for (size_t i = 0; i < n; i++) {
		so_far += held[i].weight;
		if (held[i].weight > 0 && so_far >= rank)
			return held[i].value;
	}
	return n ? held[n - 1].value : NAN;
}

/* Writes the known values with their weights to `out`. If all weights are 0, sets all to 1. Returns
 * the number of known values. */
static size_t gather(const double *value, const double *weight, size_t n, struct held *out)
{
	double total = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(value[i]))
			continue;
		out[known] = (struct held){value[i], weight ? weight[i] : 1};
		total += out[known++].weight;
	}
	for (size_t i = 0; i < known && total <= 0; i++)
		out[i].weight = 1;
	return known;
}

struct distribution stats_distribution(const double *value, const double *weight, size_t n)
{
	struct distribution d = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	AUTO(freep) struct held *held = xmalloc(n * sizeof *held);
	double total = 0, weighted = 0;

	d.n = gather(value, weight, n, held);
	if (d.n == 0)
		return d;
	d.sum = 0;
	for (size_t i = 0; i < d.n; i++) {
		d.sum += held[i].value;
		total += held[i].weight;
		weighted += held[i].value * held[i].weight;
	}
	qsort(held, d.n, sizeof *held, stats_ascending);
	d.mean = weighted / total;
	d.min = percentile(held, d.n, total, 0);
	d.max = held[d.n - 1].value;
	d.p50 = percentile(held, d.n, total, 0.50);
	d.p95 = percentile(held, d.n, total, 0.95);
	d.p99 = percentile(held, d.n, total, 0.99);
	return d;
}

/* Returns half of the median interval, in seconds. Shorter intervals are joined to the next one,
 * because their rates would be too inexact. */
static double shortest_interval(const struct series *s)
{
	AUTO(freep) double *known = xmalloc(s->n * sizeof *known);

	for (size_t i = 0; i < s->n; i++)
		known[i] = s->duration[i] > 0 ? s->duration[i] : NAN;
	return stats_distribution(known, NULL, s->n).p50 / 2;
}

struct rates {
	size_t n;
	double *rate, *held;
	double growth, time;           /* sums over all intervals */
	double open_growth, open_time; /* sums over short intervals to join to the next one */
};

static void close_interval(struct rates *r)
{
	r->rate[r->n] = r->open_growth / r->open_time;
	r->held[r->n++] = r->open_time;
	r->open_growth = r->open_time = 0;
}

/* Computes the rates of a column. CPU time moves in steps of up to 10 ms, so the rate over a very
 * short interval shows the kernel's rounding, not the job. An interval shorter than `shortest`
 * seconds is joined to the next interval. If the last interval is too short, it is joined to the
 * interval before it. */
static void add_rates(struct rates *r, const struct series *s, const double *growth,
	double shortest)
{
	for (size_t i = 0; i < s->n; i++) {
		if (isnan(growth[i]))
			continue;
		r->growth += growth[i];
		r->time += s->duration[i];
		if (s->duration[i] <= 0)
			continue;
		r->open_growth += growth[i];
		r->open_time += s->duration[i];
		if (s->duration[i] >= shortest)
			close_interval(r);
	}
	if (r->open_time > 0 && r->n) {
		r->n--;
		r->open_growth += r->rate[r->n] * r->held[r->n];
		r->open_time += r->held[r->n];
	}
	if (r->open_time > 0)
		close_interval(r);
}

static double whole_time(const struct series *s)
{
	double time = 0;

	for (size_t i = 0; i < s->n; i++)
		time += s->duration[i] > 0 ? s->duration[i] : 0;
	return time;
}

/* Computes the distribution of a column's rates. If no time passed, n is 0. A sum of rates has no
 * meaning, so `sum` is NaN. Samples of duration 0 only correct the total. If all growth is in such
 * samples, only the mean over the whole series is known. */
static struct distribution distribution_of_rates(const struct series *s, const double *growth,
	double shortest)
{
	AUTO(freep) double *rate = xmalloc(s->n * sizeof *rate);
	AUTO(freep) double *held = xmalloc(s->n * sizeof *held);
	struct rates r = {.rate = rate, .held = held};

	add_rates(&r, s, growth, shortest);
	struct distribution d = stats_distribution(rate, held, r.n);
	double time = r.time > 0 ? r.time : whole_time(s);

	if (time > 0 && (d.n || r.growth > 0)) {
		d.n += d.n == 0;
		d.mean = r.growth / time;
	}
	d.sum = NAN;
	return d;
}

static const struct derived *derived_from(const char *column)
{
	for (size_t i = 0; i < ARRAY_LEN(derived); i++)
		if (strcmp(derived[i].from, column) == 0)
			return &derived[i];
	return NULL;
}

static int by_column(const void *a, const void *b)
{
	const struct column_stats *x = a, *y = b;

	return strcmp(x->column, y->column);
}

static void add_stats(struct column_stats *stats, size_t *n, const char *column,
	struct distribution d, struct arena *arena)
{
	if (d.n)
		stats[(*n)++] = (struct column_stats){arena_text(arena, column, strlen(column)), d};
}

size_t stats_of_series(const struct series *s, struct arena *arena, struct column_stats **ret)
{
	struct column_stats *stats = arena_alloc(arena, (2 * s->n_columns + 1) * sizeof *stats);
	double shortest = shortest_interval(s);
	size_t n = 0;

	for (size_t i = 0; i < s->n_columns; i++) {
		const struct derived *rate = derived_from(s->columns[i]);

		add_stats(stats, &n, s->columns[i],
			stats_distribution(s->values[i], s->duration, s->n), arena);
		if (rate)
			add_stats(stats, &n, rate->column,
				distribution_of_rates(s, s->values[i], shortest), arena);
	}
	qsort(stats, n, sizeof *stats, by_column);
	*ret = stats;
	return n;
}

void stats_line_add(struct stats_line *l, double x, double y)
{
	l->n++;
	l->x += x;
	l->y += y;
	l->xx += x * x;
	l->xy += x * y;
	l->yy += y * y;
}

#define LINE_SPREAD 1e-9 /* below this sum of squares, all values are equal */

double stats_line_explains(const struct stats_line *l)
{
	double vx = l->xx - l->x * l->x / l->n, vy = l->yy - l->y * l->y / l->n,
	       c = l->xy - l->x * l->y / l->n;

	return vx > LINE_SPREAD && vy > LINE_SPREAD ? c * c / (vx * vy) : (double)NAN;
}

double stats_line_slope(const struct stats_line *l)
{
	double vx = l->xx - l->x * l->x / l->n;

	return vx > LINE_SPREAD ? (l->xy - l->x * l->y / l->n) / vx : (double)NAN;
}
