/* Detects different jobs under one name. Two conditions must be true: the best constant allocation
 * would waste at least half of the use, and either input sizes explain the peaks or the peaks form
 * two groups. */
#include <math.h>
#include <stdlib.h>

#include "recommender/sizing/strategy.h"

#define RUNS_MIN      10
#define WASTE_MIN     0.5
#define EXPLAINED_MIN 0.5 /* share of the variance of log peaks that the input explains */
#define GROUPED_MIN   0.8 /* share of that variance that two groups explain */
#define GROUP_MIN     3   /* runs in the smaller group */

/* Returns the waste of the best constant allocation, as a share of the used memory. If a run does
 * not fit, its allocation is doubled until the run fits. `peak` is in ascending order. */
static double least_constant_waste(const double *peak, size_t n)
{
	double best = INFINITY, used = 0;

	for (size_t i = 0; i < n; i++)
		used += peak[i];
	for (size_t i = 0; i < n; i++) {
		double waste = 0;

		for (size_t k = 0; k < n && waste < best; k++) {
			double a = peak[i];

			while (a < peak[k]) {
				waste += a;
				a *= 2;
			}
			waste += a - peak[k];
		}
		best = fmin(best, waste);
	}
	return best / used;
}

/* Finds the split of ascending logarithms that explains most of the variance. Returns the explained
 * share. */
static double two_groups(const double *log_peak, size_t n, size_t *ret_first_of_upper)
{
	double sum = 0, squares = 0, lower = 0, best = 0;

	for (size_t i = 0; i < n; i++) {
		sum += log_peak[i];
		squares += log_peak[i] * log_peak[i];
	}

	double total = squares - sum * sum / (double)n;

	for (size_t i = 1; i < n; i++) {
		lower += log_peak[i - 1];

		double difference = lower / (double)i - (sum - lower) / (double)(n - i);
		double between = (double)i * (double)(n - i) / (double)n * difference * difference;

		if (i >= GROUP_MIN && n - i >= GROUP_MIN && between > best) {
			best = between;
			*ret_first_of_upper = i;
		}
	}
	return total > 0 ? best / total : 0;
}

/* Returns the share of the variance of log peaks that a line over log input explains. NaN = too few
 * inputs. */
static double explained_by_input(const struct runs *used)
{
	double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;

	for (size_t i = 0; i < used->n; i++) {
		double input = used->run[i].input_bytes, peak = run_needs_memory(&used->run[i]);

		if (!(input > 0 && peak > 0))
			continue;
		n++;
		x += log(input);
		y += log(peak);
		xx += log(input) * log(input);
		xy += log(input) * log(peak);
		yy += log(peak) * log(peak);
	}

	double vx = xx - x * x / n, vy = yy - y * y / n, c = xy - x * y / n;

	return n >= RUNS_MIN && vx > 1e-9 && vy > 1e-9 ? c * c / (vx * vy) : (double)NAN;
}

void mixed_jobs_advise(struct sizing *s, const struct runs *used, bool announced,
	struct arena *arena)
{
	double *peak = arena_alloc(arena, (used->n + 1) * sizeof *peak);
	char low[WORDING_MAX], high[WORDING_MAX];
	size_t n = 0, upper = 0;

	for (size_t i = 0; i < used->n; i++)
		if (run_needs_memory(&used->run[i]) > 0)
			peak[n++] = run_needs_memory(&used->run[i]);
	if (n < RUNS_MIN)
		return;
	qsort(peak, n, sizeof *peak, stats_ascending);

	double waste = least_constant_waste(peak, n), explained = explained_by_input(used);

	if (waste < WASTE_MIN)
		return;
	if (explained >= EXPLAINED_MIN && announced)
		return;
	if (explained >= EXPLAINED_MIN) {
		s->split_label = true;
		sizing_explain(s, arena,
			"split: no single request fits these runs (the best would waste %.0f %%), "
			"and the input size explains %.0f %% of the difference: announce it with "
			"each run (RIGHTSIZE_INPUT_BYTES), or give small and large inputs names of "
			"their own",
			100 * waste, 100 * explained);
		return;
	}
	for (size_t i = 0; i < n; i++)
		peak[i] = log(peak[i]);
	if (two_groups(peak, n, &upper) < GROUPED_MIN)
		return;
	s->split_label = true;
	sizing_explain(s, arena,
		"split: these runs fall in two groups, %zu with peaks up to %s and %zu from %s "
		"on, and no single request fits both (the best would waste %.0f %%): give them "
		"names of their own",
		upper, wording_bytes(low, exp(peak[upper - 1])), n - upper,
		wording_bytes(high, exp(peak[upper])), 100 * waste);
}
