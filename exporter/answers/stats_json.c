#include "exporter/answers/stats_json.h"

#include <math.h>
#include <string.h>

#include "collectors/base/units.h"
#include "exporter/answers/run_json.h"
#include "exporter/answers/series_csv.h"
#include "exporter/answers/sizing_json.h"
#include "recommender/kept_statistics.h"
#include "recommender/plausible.h"
#include "recommender/waits.h"

/* Columns with levels, such as the memory in use, not with amounts per interval. The name of each
 * column tells its unit. */
static const char *const levels[] = {
	"cpu_cores",
	"memory_bytes",
	"memory_rss_bytes",
	"memory_pss_bytes",
	"memory_pss_age_seconds",
	"memory_anonymous_bytes",
	"memory_file_bytes",
	"memory_shmem_bytes",
	"memory_tmpfs_bytes",
	"memory_huge_bytes",
	"memory_hugetlb_bytes",
	"memory_swap_bytes",
	"disk_read_bytes_per_second",
	"disk_written_bytes_per_second",
	"processes",
	"threads",
	"open_fds",
};

static const struct shown_statistic {
	enum statistic statistic;
	bool extreme; /* true = over several runs use the maximum, not the mean */
} statistics[] = {
	{STATISTIC_MEAN, false},
	{STATISTIC_MAX, true},
	{STATISTIC_P50, false},
	{STATISTIC_P95, false},
	{STATISTIC_P99, false},
};

/* Mean and range of the known values; all NaN when no value is known. */
struct spread {
	double mean, min, max;
};

struct stats_window stats_json_window(const struct runs *all, size_t most, struct arena *arena)
{
	struct stats_window w = {.run = arena_alloc(arena, (all->n + 1) * sizeof *w.run)};
	size_t others = 0;

	for (size_t i = 0; i < all->n && w.n < most; i++) {
		const struct run *r = &all->run[i];

		if (r->outcome == OUTCOME_SUCCEEDED) {
			w.run[w.n++] = r;
			w.excluded = others;
		} else if (r->outcome != OUTCOME_RUNNING) {
			others++;
		}
	}
	return w;
}

static double value_of(const struct distribution *d, const struct shown_statistic *s)
{
	return d ? statistic_get(d, s->statistic) : (double)NAN;
}

/* Returns true if a headline number must be written in addition to the levels: its key is the name
 * of its column. All other headline numbers repeat a value of a level. */
static bool beside_levels(const struct headline *h)
{
	return strcmp(h->key, h->column) == 0;
}

static struct spread spread_of(const double *value, size_t n)
{
	struct spread s = {NAN, NAN, NAN};
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(value[i]))
			continue;
		sum += value[i];
		known++;
		s.min = fmin(s.min, value[i]);
		s.max = fmax(s.max, value[i]);
	}
	if (known)
		s.mean = sum / (double)known;
	return s;
}

static json_t *spread_json(const char *key, const double *value, size_t n)
{
	struct spread s = spread_of(value, n);

	if (isnan(s.mean))
		return json_null();
	json_t *o = json_object();

	json_put(o, "mean", json_by_key(key, s.mean));
	json_put(o, "min", json_by_key(key, s.min));
	json_put(o, "max", json_by_key(key, s.max));
	return o;
}

static json_t *level_json(const char *column, const struct distribution *d)
{
	if (!d)
		return json_null();
	json_t *o = json_object();

	for (size_t i = 0; i < ARRAY_LEN(statistics); i++)
		json_put(o, statistic_name[statistics[i].statistic],
			json_by_key(column, value_of(d, &statistics[i])));
	return o;
}

static bool any_run_has(const struct stats_window *w, const char *column)
{
	for (size_t i = 0; i < w->n; i++)
		if (run_json_level(w->run[i], column))
			return true;
	return false;
}

static json_t *level_over_runs(const struct stats_window *w, const char *column, double *scratch)
{
	if (!any_run_has(w, column))
		return json_null();
	json_t *o = json_object();

	for (size_t k = 0; k < ARRAY_LEN(statistics); k++) {
		for (size_t i = 0; i < w->n; i++)
			scratch[i] = value_of(run_json_level(w->run[i], column), &statistics[k]);
		struct spread s = spread_of(scratch, w->n);

		json_put(o, statistic_name[statistics[k].statistic],
			json_by_key(column, statistics[k].extreme ? s.max : s.mean));
	}
	return o;
}

static json_t *run_stats(const struct run *r)
{
	json_t *o = json_object();

	json_put(o, "run_id", json_text(r->run_id));
	json_put(o, "started_at", json_time(r->started_at));
	json_put(o, "duration_seconds", json_seconds(r->duration_seconds));
	json_put(o, "samples", json_num((double)r->samples));
	if (r->not_measured)
		json_put(o, "not_measured", json_text(r->not_measured));
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		json_put(o, levels[i], level_json(levels[i], run_json_level(r, levels[i])));
	for (const struct headline *h = run_json_headlines; h->key; h++)
		if (beside_levels(h))
			json_put(o, h->key, json_by_key(h->key, run_json_headline(h, r)));
	return o;
}

/* Adds the JSON `take` and takes over its reference. Without `details`, null is left out. */
static void put_column(json_t *o, const char *key, json_t *take, bool details)
{
	if (details || !json_is_null(take))
		json_put(o, key, take);
	else
		json_decref(take);
}

static json_t *over_runs(const struct stats_window *w, bool details)
{
	AUTO(freep) double *scratch = xcalloc(w->n + 1, sizeof *scratch);
	json_t *o = json_object();

	for (size_t i = 0; i < w->n; i++)
		scratch[i] = w->run[i]->duration_seconds;
	put_column(o, "duration_seconds", spread_json("duration_seconds", scratch, w->n), details);
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		put_column(o, levels[i], level_over_runs(w, levels[i], scratch), details);
	for (const struct headline *h = run_json_headlines; h->key; h++) {
		if (!beside_levels(h))
			continue;
		for (size_t i = 0; i < w->n; i++)
			scratch[i] = run_json_headline(h, w->run[i]);
		put_column(o, h->key, spread_json(h->key, scratch, w->n), details);
	}
	return o;
}

/* Makes JSON of the resources for which the runs waited. recommender/waits.h explains the
 * numbers. */
static json_t *waits_json(const struct stats_window *w)
{
	struct waits all = waits_of(w->run, w->n);
	json_t *o = json_object();

	json_put(o, "for", json_text(wait_verdict_name(all.verdict)));
	json_put(o, "cpu_share", json_ratio(all.cpu_share));
	json_put(o, "memory_share", json_ratio(all.memory_share));
	json_put(o, "storage_share", json_ratio(all.storage_share));
	json_put(o, "idle_share", json_ratio(all.idle_share));
	return o;
}

static size_t runs_not_measured(const struct stats_window *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->run[i]->not_measured != NULL;
	return n;
}

/* Makes JSON of a sentence about the uncertainty of the CPU time; null = it is negligible. */
static json_t *cpu_doubt_json(const struct stats_window *w)
{
	AUTO(buf_done) struct buf words = BUF_MAX(CPU_DOUBT_MAX);
	bool doubtful = run_cpu_doubt(&words, w->run, w->n);

	return json_text(doubtful ? buf_text(&words) : NULL);
}

json_t *stats_json(const char *job_name, const struct stats_window *w, const struct sizing *next,
	double now, bool details)
{
	json_t *o = json_object(), *runs;

	json_put_job(o, job_name);
	json_put(o, "generated_at", json_time(now));
	sizing_json_put_warnings(o, &next->warnings);
	json_put(o, "resources", sizing_json_resources(&next->resources));
	json_put(o, "demand", sizing_json_demand(&next->demand));
	json_put(o, "runs_analyzed", json_num((double)w->n));
	json_put(o, "runs_excluded", json_num((double)w->excluded));
	json_put(o, "runs_not_measured", json_num((double)runs_not_measured(w)));
	json_put(o, "cpu_doubt", cpu_doubt_json(w));
	json_put(o, "first_started_at",
		json_time(w->n ? w->run[w->n - 1]->started_at : (double)NAN));
	json_put(o, "last_started_at", json_time(w->n ? w->run[0]->started_at : (double)NAN));
	json_put(o, "over_runs", over_runs(w, details));
	json_put(o, "waits", waits_json(w));
	if (!details)
		return o;
	runs = json_array();
	for (size_t i = 0; i < w->n; i++)
		json_push(runs, run_stats(w->run[i]));
	json_put(o, "runs", runs);
	return o;
}

/* The statistics that the Python package resource-tracker gives by default. */
static const struct tracker_statistic {
	const char *key, *statistic, *column;
	double (*get)(const struct run *, const char *column);
	double scale;
	int decimals;
	bool largest; /* true = over several runs use the maximum, not the mean */
} peers[] = {
	{"process_cpu_usage", "mean", "cpu_cores", run_mean, 1, 2, false},
	{"process_cpu_usage", "max", "cpu_cores", run_peak, 1, 2, true},
	{"process_memory_mib", "mean", "memory_bytes", run_mean, MIB, 2, false},
	{"process_memory_mib", "max", "memory_bytes", run_peak, MIB, 2, true},
	{"process_gpu_usage", "mean", "gpu_usage", run_mean, 1, 2, false},
	{"process_gpu_usage", "max", "gpu_usage", run_peak, 1, 2, true},
	{"process_gpu_vram_mib", "mean", "vram_bytes", run_mean, MIB, 2, false},
	{"process_gpu_vram_mib", "max", "vram_bytes", run_peak, MIB, 2, true},
	{"process_gpu_utilized", "mean", "gpus_used", run_mean, 1, 2, false},
	{"process_gpu_utilized", "max", "gpus_used", run_peak, 1, 2, true},
	{"system_disk_space_used_gb", "max", "system_disk_space_used_bytes", run_peak, GB, 2, true},
	{"system_net_recv_bytes", "sum", "system_network_received_bytes", run_total, 1, 0, true},
	{"system_net_sent_bytes", "sum", "system_network_sent_bytes", run_total, 1, 0, true},
};

static void put_peer(json_t *o, const struct tracker_statistic *p, double v)
{
	json_t *inner = json_object_get(o, p->key);

	if (!inner) {
		inner = json_object();
		json_put(o, p->key, inner);
	}
	json_put(inner, p->statistic, json_num(series_csv_rounded(v, p->decimals)));
}

json_t *stats_json_resource_tracker(const struct stats_window *w)
{
	static const struct tracker_statistic duration = {
		.key = "timestamp", .statistic = "duration", .decimals = 2};
	AUTO(freep) double *scratch = xcalloc(w->n, sizeof *scratch);
	json_t *o = json_object();

	for (size_t k = 0; k < ARRAY_LEN(peers); k++) {
		const struct tracker_statistic *p = &peers[k];

		for (size_t i = 0; i < w->n; i++)
			scratch[i] = p->get(w->run[i], p->column) / p->scale;
		struct spread s = spread_of(scratch, w->n);

		put_peer(o, p, p->largest ? s.max : s.mean);
	}
	for (size_t i = 0; i < w->n; i++)
		scratch[i] = w->run[i]->duration_seconds;
	put_peer(o, &duration, spread_of(scratch, w->n).mean);
	return o;
}
