/* The list of jobs: how the newest runs ended, and how much of the request they used. */
#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "exporter/terminal/figures.h"
#include "exporter/terminal/grid.h"
#include "exporter/terminal/members.h"
#include "exporter/terminal/outcomes.h"
#include "exporter/terminal/paragraphs.h"
#include "exporter/terminal/show.h"

#define OUTCOMES_SHOWN 12

/* Adds a cell that shows the outcomes of the newest runs, each as one letter. The newest comes
 * last. */
static void add_strip(struct grid *g, const json_t *all)
{
	char strip[OUTCOMES_SHOWN + 1];
	size_t n = json_array_size(all), first = n > OUTCOMES_SHOWN ? n - OUTCOMES_SHOWN : 0,
	       at = 0;

	for (size_t i = 0; i + (n - first) < OUTCOMES_SHOWN; i++)
		strip[at++] = ' ';
	for (size_t i = first; i < n; i++)
		strip[at++] = outcomes_find(member_as_text(json_array_get(all, i)))->letter;
	strip[at] = '\0';
	grid_add(g, STYLE_PLAIN, strip);
}

static void add_last(struct grid *g, const json_t *job, double now)
{
	const json_t *all = json_object_get(job, "outcomes");
	size_t n = json_array_size(all);
	const struct outcome_row *last =
		outcomes_find(member_as_text(n ? json_array_get(all, n - 1) : NULL));
	double ago = now - figure_time_seconds(member_text(job, "last_started_at"));
	struct buf text AUTO(buf_done) = BUF_MAX(256);

	buf_adds(&text, last->brief);
	if (ago >= 0) {
		buf_adds(&text, ", ");
		figure_seconds(&text, ago);
	}
	grid_take(g, last->style, &text);
}

/* Returns the largest number of an array. NaN = it has none. */
static double most_of(const json_t *array)
{
	double most = NAN;

	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *v = json_array_get(array, i);

		if (json_is_number(v))
			most = fmax(most, json_number_value(v)); /* fmax ignores NaN */
	}
	return most;
}

static double last_of(const json_t *array)
{
	size_t n = json_array_size(array);
	const json_t *v = n ? json_array_get(array, n - 1) : NULL;

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static const char *place_of(const json_t *job, char ret[static JOB_KEY_MAX])
{
	const char *space = member_text(job, "namespace"), *cluster = member_text(job, "cluster");

	snprintf(ret, JOB_KEY_MAX, "%s%s%s", space, *space && *cluster ? ", " : "", cluster);
	return ret;
}

static bool any_place(const json_t *jobs)
{
	char place[JOB_KEY_MAX];
	const json_t *job;
	size_t i;

	json_array_foreach(jobs, i, job) if (*place_of(job, place)) return true;
	return false;
}

/* Adds a cell with the saving in a month. If it is unknown, adds the saving of one run. */
static void add_saving(struct grid *g, const json_t *job)
{
	double month = member_number(job, "saving_a_month"), run = member_number(job, "saving");
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	if (month > 0 || run > 0) {
		figure_number(&b, isnan(month) ? run : month);
		buf_addf(&b, " %s%s", member_text(job, "currency"), isnan(month) ? "/run" : "");
		grid_take(g, STYLE_GOOD, &b);
	} else if (json_is_true(json_object_get(job, "too_small"))) {
		grid_add(g, STYLE_WARN, "too small");
	} else {
		grid_add(g, STYLE_PLAIN, isnan(run) ? "?" : "nothing");
	}
}

static void add_job(struct grid *g, const json_t *job, bool places, double now)
{
	struct buf b AUTO(buf_done) = BUF_MAX(256);
	double waste = member_number(job, "waste");
	char place[JOB_KEY_MAX];

	grid_add(g, STYLE_PLAIN, member_text(job, "job_name"));
	if (places)
		grid_add(g, STYLE_PLAIN, place_of(job, place));
	add_strip(g, json_object_get(job, "outcomes"));
	add_last(g, job, now);
	figure_seconds(&b, last_of(json_object_get(job, "duration_seconds")));
	grid_take(g, STYLE_PLAIN, &b);
	figure_bytes_of(&b, most_of(json_object_get(job, "memory_peak_bytes")),
		member_number(job, "requested_memory_bytes"));
	grid_take(g, STYLE_PLAIN, &b);
	if (!isnan(waste))
		figure_percent(&b, waste);
	grid_take(g, STYLE_PLAIN, &b);
	if (!isnan(member_number(job, "cost"))) {
		figure_number(&b, member_number(job, "cost"));
		buf_addf(&b, " %s", member_text(job, "currency"));
	}
	grid_take(g, STYLE_PLAIN, &b);
	add_saving(g, job);
}

/* Adds how much the jobs of the table together could save in a month. Also adds how many jobs this
 * includes, because the saving of some jobs may be unknown. */
static void add_savings(struct buf *out, const json_t *jobs)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(jobs); i++) {
		double month = member_number(json_array_get(jobs, i), "saving_a_month");

		if (month > 0) {
			sum += month;
			n++;
		}
	}
	if (!n)
		return;
	buf_addf(out, "The requests recommended for %zu job%s save ", n, n > 1 ? "s" : "");
	figure_number(out, sum);
	buf_addf(out, " %s a month.\n", member_text(json_array_get(jobs, 0), "currency"));
}

/* Adds how many jobs the table shows. If --limit, --offset or --show leaves out some jobs, also
 * adds how many there are in total. */
static void add_count(struct buf *out, const json_t *answer, const struct screen *s, size_t n)
{
	double fit = member_number(answer, "total");
	double all = member_number(json_object_get(answer, "counts"), "all");

	struct buf b AUTO(buf_done) = BUF_MAX(512);

	if (n) {
		if ((double)n < fit)
			buf_addf(&b, "%zu of %.0f jobs; --limit and --offset show others.", n, fit);
		else
			buf_addf(&b, "%zu job%s.", n, n == 1 ? "" : "s");
		buf_adds(&b, " Runs: . ok, F failed, O out of memory, I interrupted, R running.");
		buf_addc(out, '\n');
		paragraphs_text(out, s, buf_text(&b));
	} else if (all > 0) {
		buf_addf(out, "The list is empty: --show or --offset leaves out all %.0f jobs.\n",
			all);
	} else {
		buf_adds(out, "The history has no such job.\n"
			      "Record one: rightsize-exporter run --job-name=NAME -- COMMAND\n");
	}
}

void show_jobs(struct buf *out, const json_t *answer, const struct screen *s, bool explain)
{
	static const struct grid_column columns[] = {
		{"JOB", false, 0, 20},
		{"NAMESPACE", false, 0, 12},
		{"LAST 12 RUNS", false, 2},
		{"LAST, AGO", false, 0},
		{"DURATION", true, 4},
		{"PEAK/REQUEST", true, 1},
		{"UNUSED", true, 3},
		{"COST/RUN", true, 5},
		{"SAVES/MONTH", true, 0},
	};
	const json_t *jobs = json_object_get(answer, "jobs");
	bool places = any_place(jobs);
	struct grid_column shown[ARRAY_LEN(columns)];

	memcpy(shown, columns, sizeof shown);
	if (!places)
		memmove(&shown[1], &shown[2], sizeof shown - 2 * sizeof shown[0]);
	AUTO(grid_freep) struct grid *g = grid_new(shown, ARRAY_LEN(shown) - !places);
	double now = wall_seconds(now_read().wall);
	size_t n = json_array_size(jobs);

	(void)explain;
	for (size_t i = 0; i < n; i++)
		add_job(g, json_array_get(jobs, i), places, now);
	if (n)
		grid_write(out, g, s);
	add_count(out, answer, s, n);
	add_savings(out, jobs);
	if (n)
		paragraphs_next(out, s, "recommend", json_array_get(jobs, 0));
}
