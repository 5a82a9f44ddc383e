#include "exporter/answers/series_view.h"

#include <math.h>
#include <string.h>

/* clang-format off */
static const struct series_view_column {
	const char *name, *from; /* JSON key, history column */
	bool rate;               /* true = the history has growth; show growth / duration */
} series_view_columns[] = {
	{"cpu_cores", "cpu_seconds", true},
	{"cpu_throttled_cores", "cpu_throttled_seconds", true},
	{"memory_bytes", "memory_bytes", false},
	{"memory_peak_bytes", "memory_peak_bytes", false},
	{"memory_swap_bytes", "memory_swap_bytes", false},
	{"memory_cgroup_bytes", "memory_cgroup_bytes", false},
	{"disk_read_bytes_per_second", "disk_read_bytes", true},
	{"disk_written_bytes_per_second", "disk_written_bytes", true},
	{"disk_grown_bytes", "disk_grown_bytes", false},
	{"network_received_bytes_per_second", "network_received_bytes", true},
	{"network_sent_bytes_per_second", "network_sent_bytes", true},
	{"processes", "processes", false},
	{"threads", "threads", false},
	{"gpu_usage", "gpu_usage", false},
	{"gpus_used", "gpus_used", false},
	{"vram_bytes", "vram_bytes", false},
	{"vram_peak_bytes", "vram_peak_bytes", false},
	{"system_cpu_cores", "system_cpu_usage_cores", false},
	{"system_memory_used_bytes", "system_memory_used_bytes", false},
	{"system_disk_read_bytes_per_second", "system_disk_read_bytes", true},
	{"system_disk_written_bytes_per_second", "system_disk_written_bytes", true},
	{"system_disk_space_used_bytes", "system_disk_space_used_bytes", false},
	{"system_network_received_bytes_per_second", "system_network_received_bytes", true},
	{"system_network_sent_bytes_per_second", "system_network_sent_bytes", true},
	{"system_gpu_usage", "system_gpu_usage", false},
	{"system_gpu_vram_bytes", "system_gpu_vram_bytes", false},
	{0},
};
/* clang-format on */

#define VIEW_COLUMNS (ARRAY_LEN(series_view_columns) - 1)

const char *const *series_view_sources(struct arena *arena)
{
	const char **names = arena_alloc(arena, (VIEW_COLUMNS + 1) * sizeof *names);

	for (size_t i = 0; i < VIEW_COLUMNS; i++)
		names[i] = series_view_columns[i].from;
	return names;
}

const double *series_column(const struct series *s, const char *name)
{
	for (size_t i = 0; name && i < s->n_columns; i++)
		if (strcmp(s->columns[i], name) == 0)
			return s->values[i];
	return NULL;
}

static bool any_known(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			return true;
	return false;
}

/* Returns half of the median interval, in seconds. A shorter interval is joined to the next one,
 * because its rate could be a false peak (recommender/stats.c does the same). */
static double shortest_interval(const struct series *s, struct arena *arena)
{
	double *known = arena_alloc(arena, (s->n + 1) * sizeof *known);

	for (size_t i = 0; i < s->n; i++)
		known[i] = s->duration[i] > 0 ? s->duration[i] : NAN;
	return stats_distribution(known, NULL, s->n).p50 / 2;
}

static double *rates(const struct series *s, const double *growth, double shortest,
	struct arena *arena)
{
	double *rate = arena_alloc(arena, (s->n + 1) * sizeof *rate), open = 0, time = 0, held = 0;
	size_t last = s->n;

	for (size_t i = 0; i < s->n; i++) {
		rate[i] = NAN;
		if (isnan(growth[i]))
			continue;
		open += growth[i];
		time += s->duration[i];
		if (time <= 0 || time < shortest)
			continue;
		rate[i] = open / time;
		held = time;
		last = i;
		open = time = 0;
	}
	if (last < s->n && held + time > 0)
		rate[last] = (rate[last] * held + open) / (held + time);
	else if (time > 0)
		rate[s->n - 1] = open / time;
	return rate;
}

struct series series_view_of(const struct series *s, struct arena *arena)
{
	double shortest = shortest_interval(s, arena);
	const char **names = arena_alloc(arena, (VIEW_COLUMNS + 1) * sizeof *names);
	double **values = arena_alloc(arena, (VIEW_COLUMNS + 1) * sizeof *values);
	size_t n = 0;

	for (const struct series_view_column *c = series_view_columns; c->name; c++) {
		const double *from = series_column(s, c->from);

		if (!from || !any_known(from, s->n))
			continue;
		names[n] = c->name;
		if (c->rate) {
			values[n++] = rates(s, from, shortest, arena);
			continue;
		}
		values[n] = arena_alloc(arena, s->n * sizeof **values);
		memcpy(values[n++], from, s->n * sizeof **values);
	}
	return (struct series){s->n, n, names, s->at, s->duration, values};
}

struct series series_view_between(const struct series *s, double from, double to,
	struct arena *arena)
{
	double **values = arena_alloc(arena, (s->n_columns + 1) * sizeof *values);
	size_t first = 0, end = s->n;

	while (first < s->n && s->at[first] < from)
		first++;
	while (end > first && s->at[end - 1] > to)
		end--;
	for (size_t i = 0; i < s->n_columns; i++)
		values[i] = s->values[i] + first;
	return (struct series){
		end - first, s->n_columns, s->columns, s->at + first, s->duration + first, values};
}

/* Finds the lowest and the highest value of the samples `first` to `end` - 1. Writes them to `ret`
 * in the order of their times. */
static void two_of(const double *v, size_t first, size_t end, double ret[2])
{
	size_t low = end, high = end;

	for (size_t i = first; i < end; i++) {
		if (isnan(v[i]))
			continue;
		if (low == end || v[i] < v[low])
			low = i;
		if (high == end || v[i] > v[high])
			high = i;
	}
	if (low == end) {
		ret[0] = ret[1] = NAN;
		return;
	}
	ret[0] = v[low < high ? low : high];
	ret[1] = v[low < high ? high : low];
}

struct view_thinning {
	const struct series *from;
	size_t n;
	double *at, *duration, **values;
};

/* Adds the points of one stretch, the samples `first` to `end` - 1. One or two samples are copied
 * unchanged. More samples become two points (two_of). */
static void add_stretch(struct view_thinning *t, size_t first, size_t end)
{
	const struct series *s = t->from;
	size_t points = end - first < 2 ? 1 : 2;
	size_t middle = first + (end - first) / 2;

	t->at[t->n] = points == 1 ? s->at[first] : s->at[middle - 1];
	t->at[t->n + points - 1] = s->at[end - 1];
	for (size_t i = first; i < end; i++)
		t->duration[t->n + (points == 2 && i >= middle)] += s->duration[i];
	for (size_t i = 0; i < s->n_columns; i++) {
		double two[2];

		two_of(s->values[i], first, end, two);
		if (end - first == 2) {
			two[0] = s->values[i][first];
			two[1] = s->values[i][first + 1];
		}
		memcpy(t->values[i] + t->n, two, points * sizeof *two);
	}
	t->n += points;
}

struct series series_view_thinned(const struct series *s, size_t points, struct arena *arena)
{
	size_t stretches = points / 2;

	if (s->n <= points || stretches == 0)
		return *s;
	struct view_thinning t = {.from = s,
		.at = arena_alloc(arena, points * sizeof(double)),
		.duration = arena_alloc(arena, points * sizeof(double)),
		.values = arena_alloc(arena, (s->n_columns + 1) * sizeof(double *))};
	double start = s->at[0] - s->duration[0];
	double length = (s->at[s->n - 1] - start) / (double)stretches;
	size_t first = 0;

	for (size_t i = 0; i < s->n_columns; i++)
		t.values[i] = arena_alloc(arena, points * sizeof(double));
	for (size_t k = 1; k <= stretches && first < s->n; k++) {
		double until = start + length * (double)k;
		size_t end = first;

		/* The stretch ends before the first sample later than `until`. If the clock was set
		 * back, later samples can have earlier times. They belong to this stretch, too. */
		while (end < s->n && (k == stretches || s->at[end] <= until))
			end++;
		if (end > first)
			add_stretch(&t, first, end);
		first = end;
	}
	return (struct series){t.n, s->n_columns, s->columns, t.at, t.duration, t.values};
}

/* Writes a number. A rate gets six digits, because more would be noise and would make the text
 * three times as long. */
static void add_number(struct buf *out, double v, bool rate)
{
	if (!isfinite(v))
		buf_adds(out, "null");
	else if (rate)
		buf_addf(out, "%.6g", v);
	else
		buf_add_double(out, v);
}

static bool is_rate(const char *name)
{
	for (const struct series_view_column *c = series_view_columns; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c->rate;
	return false;
}

void series_view_json(struct buf *out, const struct series *s)
{
	buf_addf(out, "{\"n\": %zu, \"at\": [", s->n);
	for (size_t i = 0; i < s->n; i++)
		buf_addf(out, i ? ",%.3f" : "%.3f", s->at[i]);
	buf_adds(out, "], \"columns\": {");
	for (size_t c = 0; c < s->n_columns; c++) {
		buf_addf(out, c ? ", \"%s\": [" : "\"%s\": [", s->columns[c]);
		for (size_t i = 0; i < s->n; i++) {
			if (i)
				buf_addc(out, ',');
			add_number(out, s->values[c][i], is_rate(s->columns[c]));
		}
		buf_addc(out, ']');
	}
	buf_adds(out, "}}");
}
