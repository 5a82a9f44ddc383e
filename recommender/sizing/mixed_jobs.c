/* Detects different jobs under one name. With at least RUNS_MIN runs, warns if two conditions are
 * true:
 * - The best constant allocation would waste at least half as much memory as the runs use.
 * - Input sizes explain the peaks, or the peaks form two groups.
 *
 * If there are two groups, the warning names a property that differs between the groups, such as a
 * label. There is no warning if input sizes explain the peaks and the next input size is announced:
 * the sizing then uses this input. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/utf8.h"
#include "recommender/run_labels.h"
#include "recommender/sizing/strategy.h"

#define RUNS_MIN       10
#define WASTE_MIN      0.5
#define EXPLAINED_MIN  0.5 /* share of the variance of log peaks that the input explains */
#define GROUPED_MIN    0.8 /* share of the same variance that two groups explain */
#define GROUP_MIN      3   /* runs in the smaller group */
#define TOLD_APART_MIN 0.9 /* share of each group that a property must assign correctly */
#define DIFFERENCE_MAX 300
#define VALUE_SHOWN    48 /* bytes for the name or the value of a label in a sentence */

/* `peak` must be the first member, because stats_ascending sorts by it. */
struct grouped_run {
	double peak;
	const struct run *run;
};

/* Runs in ascending order of their peak. The upper group begins at `upper`. */
struct groups {
	size_t n, upper;
	struct grouped_run *of;
};

/* Returns (wasted memory) / (used memory) with the best constant allocation for all runs. For a run
 * that does not fit, the allocation is doubled until it fits. Failed attempts are waste, too. */
static double least_constant_waste(const struct groups *g)
{
	double best = INFINITY, used = 0;

	for (size_t i = 0; i < g->n; i++)
		used += g->of[i].peak;
	for (size_t i = 0; i < g->n; i++) {
		double waste = 0;

		for (size_t k = 0; k < g->n && waste < best; k++) {
			double a = g->of[i].peak;

			while (a < g->of[k].peak) {
				waste += a;
				a *= 2;
			}
			waste += a - g->of[k].peak;
		}
		best = fmin(best, waste);
	}
	return best / used;
}

/* Splits the runs into a group of small and a group of large peaks, where the peaks within a group
 * differ least. Sets g->upper. Returns the share of the variance of the log peaks that the two
 * groups explain. */
static double two_groups(struct groups *g)
{
	double n = (double)g->n, sum = 0, squares = 0, lower = 0, best = 0;

	for (size_t i = 0; i < g->n; i++) {
		sum += log(g->of[i].peak);
		squares += log(g->of[i].peak) * log(g->of[i].peak);
	}

	double total = squares - sum * sum / n;

	for (size_t i = 1; i < g->n; i++) {
		lower += log(g->of[i - 1].peak);

		double below = (double)i, above = n - below;
		double difference = lower / below - (sum - lower) / above;
		double between = below * above / n * difference * difference;

		if (i >= GROUP_MIN && g->n - i >= GROUP_MIN && between > best) {
			best = between;
			g->upper = i;
		}
	}
	return total > 0 ? best / total : 0;
}

/* Returns the share of the variance of the log peaks that a line over the log inputs explains. NaN
 * = too few inputs are known. */
static double explained_by_input(const struct groups *g)
{
	struct stats_line l = {0};

	for (size_t i = 0; i < g->n; i++)
		if (g->of[i].run->input_bytes > 0)
			stats_line_add(&l, log(g->of[i].run->input_bytes), log(g->of[i].peak));
	return l.n >= RUNS_MIN ? stats_line_explains(&l) : (double)NAN;
}

/* ---- a property that tells the groups apart ---- */

/* A property of runs: the text that `text` returns. If `text` is NULL, it is the label with the
 * name `label`. */
struct property {
	struct slice label;
	const char *(*text)(const struct run *);
};

static const char *attempt_of(const struct run *r)
{
	return r->attempt >= 2 ? "retry" : r->attempt == 1 ? "first attempt" : NULL;
}

static const char *instance_type_of(const struct run *r)
{
	return r->instance_type;
}

static const char *host_of(const struct run *r)
{
	return r->host;
}

static struct slice value_of(const struct run *r, const struct property *p)
{
	const char *text = p->text ? p->text(r) : NULL;

	if (!p->text)
		return run_labels_find(r->labels, p->label);
	return (struct slice){text, text ? strlen(text) : 0};
}

/* Returns true if a property tells the two groups apart. The property predicts the group of a run:
 * the group of most OTHER runs with the same value. (An id that differs in each run predicts
 * nothing.) It must predict at least TOLD_APART_MIN of the runs of each group correctly. ret[i]
 * receives a value of group i that is predicted correctly. */
static bool told_by_text(const struct groups *g, const struct property *p, struct arena *arena,
	struct slice ret[2])
{
	struct slice *value = arena_alloc(arena, g->n * sizeof *value);
	size_t right[2] = {0};

	for (size_t i = 0; i < g->n; i++)
		value[i] = value_of(g->of[i].run, p);
	for (size_t i = 0; i < g->n; i++) {
		bool upper = i >= g->upper;
		int votes = 0;

		for (size_t k = 0; k < g->n; k++)
			if (k != i && value[i].data && slice_equal(value[i], value[k]))
				votes += (k >= g->upper) == upper ? 1 : -1;
		if (votes > 0 && right[upper]++ == 0)
			ret[upper] = value[i];
	}
	return (double)right[0] >= TOLD_APART_MIN * (double)g->upper &&
	       (double)right[1] >= TOLD_APART_MIN * (double)(g->n - g->upper);
}

/* Finds a label that tells the groups apart. Tries only the labels of two runs: those with the
 * lowest and the highest peak. */
static bool told_by_label(const struct groups *g, struct arena *arena, struct property *ret,
	struct slice ret_value[2])
{
	const struct run *ends[] = {g->of[0].run, g->of[g->n - 1].run};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct scan s = run_labels_scan(ends[i]->labels);
		struct run_label l;

		while (run_labels_next(&s, &l)) {
			*ret = (struct property){.label = l.name};
			if (told_by_text(g, ret, arena, ret_value))
				return true;
		}
	}
	return false;
}

/* ---- sentences ---- */

static void add_value(struct buf *b, struct slice value)
{
	char shown[VALUE_SHOWN];

	utf8_clean_plain(value.data, value.len, '?', shown, sizeof shown);
	buf_addf(b, "\"%s\"", shown);
}

static void add_values(struct buf *b, const struct slice value[2], const char *advice)
{
	buf_adds(b, " tells them apart (such as ");
	add_value(b, value[0]);
	buf_adds(b, " below, ");
	add_value(b, value[1]);
	buf_addf(b, " above). %s.", advice);
}

#define GIVE_NAMES "Give them their own job names"

/* Appends a sentence about the property that tells the groups apart, and advice how to separate the
 * jobs. */
static void add_difference(struct buf *b, const struct groups *g, struct arena *arena)
{
	static const struct {
		const char *words;
		struct property property;
		const char *advice;
	} others[] = {
		{"attempt", {.text = attempt_of}, GIVE_NAMES},
		{"instance type", {.text = instance_type_of},
			"Size the job for each type, or use one type"},
		{"host", {.text = host_of},
			"Size the job for each host, or look for the difference"},
	};
	struct slice value[2];
	struct property label;

	if (told_by_label(g, arena, &label, value)) {
		buf_adds(b, "The label ");
		add_value(b, label.label);
		add_values(b, value, GIVE_NAMES);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (told_by_text(g, &others[i].property, arena, value)) {
			buf_addf(b, "The %s", others[i].words);
			add_values(b, value, others[i].advice);
			return;
		}
	buf_adds(b,
		"Neither input size, labels, attempt, instance type nor host tells them apart. " GIVE_NAMES
		".");
}

static void warn_of_inputs(struct sizing *s, const struct groups *g, double waste, double explained,
	struct arena *arena)
{
	warnings_add(&s->warnings, arena, WARNING_MIXED_JOBS, g->n,
		"No single request fits these %zu runs: the best would waste %.0f %%. The input size "
		"explains %.0f %% of the difference. Ask with the size of the next input "
		"(input_bytes), or give small and large inputs their own job names.",
		g->n, 100 * waste, 100 * explained);
}

static void warn_of_groups(struct sizing *s, const struct groups *g, double waste,
	struct arena *arena)
{
	AUTO(buf_done) struct buf difference = BUF_MAX(DIFFERENCE_MAX);
	char low[WORDING_MAX], high[WORDING_MAX];

	add_difference(&difference, g, arena);
	warnings_add(&s->warnings, arena, WARNING_MIXED_JOBS, g->n,
		"These runs fall in two groups: %zu peaked at up to %s, and %zu at %s or more. No "
		"single request fits both: the best would waste %.0f %%. %s",
		g->upper, wording_bytes(low, g->of[g->upper - 1].peak), g->n - g->upper,
		wording_bytes(high, g->of[g->upper].peak), 100 * waste, buf_text(&difference));
}

void mixed_jobs_warn(struct sizing *s, const struct runs *used, bool announced, struct arena *arena)
{
	struct groups g = {.of = arena_alloc(arena, (used->n + 1) * sizeof *g.of)};

	for (size_t i = 0; i < used->n; i++)
		if (run_needs_memory(&used->run[i]) > 0)
			g.of[g.n++] = (struct grouped_run){
				run_needs_memory(&used->run[i]), &used->run[i]};
	if (g.n < RUNS_MIN)
		return;
	qsort(g.of, g.n, sizeof *g.of, stats_ascending);

	double waste = least_constant_waste(&g), explained = explained_by_input(&g);

	if (waste < WASTE_MIN || (explained >= EXPLAINED_MIN && announced))
		return;
	if (explained >= EXPLAINED_MIN)
		warn_of_inputs(s, &g, waste, explained, arena);
	else if (two_groups(&g) >= GROUPED_MIN)
		warn_of_groups(s, &g, waste, arena);
}
