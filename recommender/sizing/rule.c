#include "recommender/sizing/rule.h"

#include <math.h>
#include <string.h>

#include "recommender/run.h"

struct observation rule_observation(double peak, double input, double duration)
{
	return (struct observation){
		.peak = peak,
		.input = input >= 0 && isfinite(input) ? input : NAN,
		.duration = duration > 0 && isfinite(duration) ? duration : NAN,
	};
}

void rule_peaks_add(struct peaks_seen *p, const struct observation *o)
{
	if (p->n == PEAKS_SEEN_MAX) {
		memmove(p->at, p->at + 1, sizeof p->at - sizeof p->at[0]);
		p->n--;
	}
	p->at[p->n++] = *o;
}

double rule_peaks_largest(const struct peaks_seen *p, size_t newest)
{
	double peak = 0;

	for (size_t i = p->n > newest ? p->n - newest : 0; i < p->n; i++)
		peak = p->at[i].peak > peak ? p->at[i].peak : peak;
	return peak;
}

#define CHANGE_BEFORE 8
/* With at least this many earlier peaks, a fall of the peaks is recognised even if one earlier peak
 * was as low as the newest ones. Without this exception, a single low peak among twenty could hide
 * that the peaks have halved. */
#define CHANGE_ODD_ONE 15
#define STEP_SHARE     0.5

static double mean_log(const struct observation *o, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += log(o[i].peak);
	return sum / (double)n;
}

/* Returns true if the newest PEAKS_CHANGE_RUNS peaks are all above, or all below, the earlier ones
 * by CLEARLY. Returns false if one of the newest inputs is outside the range of the earlier
 * inputs. */
static bool stand_apart(const struct peaks_seen *p)
{
	double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0}, second_low = INFINITY;
	double least_input = INFINITY, most_input = -INFINITY;
	size_t old = p->n - PEAKS_CHANGE_RUNS;

	for (size_t i = 0; i < p->n; i++) {
		const struct observation *o = &p->at[i];
		unsigned newer = i >= old;

		if (!newer)
			second_low = fmin(second_low, fmax(low[0], o->peak));
		low[newer] = fmin(low[newer], o->peak);
		high[newer] = fmax(high[newer], o->peak);
		if (!newer) {
			least_input = fmin(least_input, o->input);
			most_input = fmax(most_input, o->input);
		} else if (o->input < least_input || o->input > most_input) {
			return false;
		}
	}
	/* If no earlier input is known, a single low peak among the earlier ones does not hide a
	 * fall (CHANGE_ODD_ONE). If inputs are known, a low peak may come from a small input, so it
	 * counts. */
	if (old >= CHANGE_ODD_ONE && isinf(least_input))
		low[0] = second_low;
	return high[1] * CLEARLY < low[0] || low[1] > high[0] * CLEARLY;
}

/* Returns by how much the newest peaks are above the earlier ones: the difference of the mean
 * logarithms. */
static double step_of(const struct peaks_seen *p)
{
	size_t old = p->n - PEAKS_CHANGE_RUNS;

	return mean_log(p->at + old, PEAKS_CHANGE_RUNS) - mean_log(p->at, old);
}

static double input_of(const struct observation *o)
{
	return o->input;
}

static double duration_of(const struct observation *o)
{
	return o->duration;
}

/* Divides each peak by the part that `cause` (the input or the duration) explains: cause ^ slope.
 * `slope` is the slope of a line through log peak over log cause. Returns false in three cases:
 * - The cause is unknown for a run.
 * - A cause of the newest runs is outside the range of the earlier causes.
 * - The peaks do not rise with the cause. */
static bool divide_by(const struct peaks_seen *p, double (*cause)(const struct observation *),
	struct peaks_seen *ret)
{
	double least = INFINITY, most = -INFINITY, slope;
	struct stats_line line = {0};

	for (size_t i = 0; i < p->n; i++) {
		double x = log(cause(&p->at[i]));

		if (i < p->n - PEAKS_CHANGE_RUNS) {
			least = fmin(least, x);
			most = fmax(most, x);
		} else if (x < least || x > most) {
			return false;
		}
		stats_line_add(&line, x, log(p->at[i].peak));
	}
	slope = stats_line_slope(&line);
	if (!(slope > 0))
		return false;
	*ret = *p;
	for (size_t i = 0; i < p->n; i++) {
		ret->at[i].peak /= pow(cause(&p->at[i]), slope);
		ret->at[i].input = NAN;
	}
	return true;
}

/* Finds a lasting change of the peaks that is hidden because they also follow the input or the
 * duration. Divides each peak by the peak that is usual for its input, then by that for its duration
 * (divide_by). Returns the logarithm of the change; 0 = no change.
 *
 * The undivided peaks must show at least half of the change. Example: runs on a faster server are
 * shorter. Divided by the duration, their equal peaks would look like a rise. */
static double explained_step(const struct peaks_seen *p)
{
	double (*const causes[])(const struct observation *) = {input_of, duration_of};
	struct peaks_seen divided;

	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
		double step;

		if (!divide_by(p, causes[i], &divided) || !stand_apart(&divided))
			continue;
		step = step_of(&divided);
		if (step_of(p) / step >= STEP_SHARE)
			return step;
	}
	return 0;
}

/* Compares each of the newest runs with the mean of the earlier runs that had the same input.
 * Returns true if these comparisons show less than half of the change. */
static bool same_inputs_deny(const struct peaks_seen *p, double step)
{
	size_t old = p->n - PEAKS_CHANGE_RUNS, compared = 0;
	double shown = 0;

	for (size_t i = old; i < p->n; i++) {
		double sum = 0;
		size_t n = 0;

		for (size_t k = 0; k < old; k++)
			if (fabs(log((p->at[i].input + 1) / (p->at[k].input + 1))) <
				SAME_INPUT_LOG) {
				sum += log(p->at[i].peak / p->at[k].peak);
				n++;
			}
		shown += n ? sum / (double)n : 0;
		compared += n > 0;
	}
	return compared > 0 && shown / (double)compared / step < STEP_SHARE;
}

double rule_peaks_change(const struct peaks_seen *p, const struct peaks_seen *measured)
{
	double step;

	if (p->n < CHANGE_BEFORE + PEAKS_CHANGE_RUNS)
		return 1;
	if (stand_apart(p) || stand_apart(measured)) {
		step = step_of(p);
		/* If only `measured` shows the change, `p` already has the older peaks on the new
		 * level. Then `step` is near 0, and the result is 1. */
		if (fabs(step) <= log(CLEARLY))
			return 1;
		if (!same_inputs_deny(p, step))
			return exp(step);
	}
	step = explained_step(p);
	return fabs(step) > log(CLEARLY) && !same_inputs_deny(p, step) ? exp(step) : 1;
}

double rule_doubled(double first, size_t attempt)
{
	return isnan(first) ?
		       first :
		       fmin(ldexp(first, attempt > 1 ? (int)attempt - 1 : 0), ALLOCATION_MAX);
}

double rule_score(const struct sizing_rule *rule, void *state, const struct observation *o,
	struct replay_record *r)
{
	double first = rule->allocate(state, o->input),
	       duration = o->duration > 0 ? o->duration : 1;

	if (!isnan(first)) {
		double allocation = fmin(first, ALLOCATION_MAX), wasted = 0;
		unsigned failures = 0;

		while (allocation < o->peak && allocation < ALLOCATION_MAX) {
			double next = rule->retry(state, allocation, ++failures);

			wasted += allocation;
			allocation =
				fmin(next > allocation ? next : 2 * allocation, ALLOCATION_MAX);
		}
		r->runs++;
		r->failures += allocation < o->peak || failures > 0;
		r->used += o->peak * duration;
		r->wasted += (wasted + fmax(0, allocation - o->peak)) * duration;
	}
	return first;
}

double rule_replay(const struct sizing_rule *rule, void *state, const struct observation *o,
	struct replay_record *r)
{
	double first = rule_score(rule, state, o, r);

	rule->learn(state, o);
	return first;
}
