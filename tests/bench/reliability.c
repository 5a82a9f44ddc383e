/* Checks whether the stated probabilities are true, by replaying traces through `auto`. Before each
 * run there are four allocations: the allocation of `auto` at the balanced level, and those of
 * three simple rules. `auto` states for each allocation the probability that it is too small.
 * During a run, each allocation of a simple rule is also a memory limit. When the run's memory
 * reaches a quarter, a half and three quarters of such a limit, `auto` states the probability that
 * the run will reach the limit. Prints for each class of stated probability how many runs
 * failed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/cost_aware.h"
#include "recommender/behaviour/running.h"
#include "recommender/sizing/strategy.h"
#include "tests/bench/trace.h"

#define RUNS_MIN 10
#define RUNS_CAP 200
#define OWN      0 /* index of the allocation of `auto`; 1 and above: the simple rules */
#define ASKED    4

static const double class_end[] = {.005, .01, .02, .05, .1, .2, .4, .7, 1.01};

struct tally {
	size_t asked[ARRAY_LEN(class_end)], failed[ARRAY_LEN(class_end)], n, all_failed;
	double stated[ARRAY_LEN(class_end)], squares; /* sums */
};

static void count(struct tally *t, double stated, bool failed)
{
	size_t c = 0;

	while (stated >= class_end[c])
		c++;
	t->asked[c]++;
	t->failed[c] += failed;
	t->stated[c] += stated;
	t->squares += (stated - failed) * (stated - failed);
	t->n++;
	t->all_failed += failed;
}

static double median(const struct peaks_seen *p)
{
	double peak[PEAKS_SEEN_MAX];

	for (size_t i = 0; i < p->n; i++)
		peak[i] = p->at[i].peak;
	qsort(peak, p->n, sizeof *peak, stats_ascending);
	return peak[p->n / 2];
}

/* Asks for the probabilities in the middle of a run, as /metrics and /stats do. */
static void ask_running(void *state, const struct observation *run, const double limit[ASKED],
	struct tally *running)
{
	static const double reached[] = {0.25, 0.5, 0.75};
	struct prospect p;

	cost_aware_quantiles(state, run->input, PROSPECT_POINTS, p.peak);
	for (size_t i = 0; i < PROSPECT_POINTS; i++)
		p.duration[i] = NAN;
	for (size_t k = OWN + 1; k < ASKED; k++)
		for (size_t i = 0; i < ARRAY_LEN(reached); i++) {
			struct running_progress now = {
				.peak_bytes = reached[i] * limit[k],
				.peak_at_half_bytes = NAN,
				.memory_limit_bytes = limit[k],
			};
			struct running r;

			running_outlook(&p, &now, &r);
			if (run->peak >= now.peak_bytes)
				count(running, r.oom_risk, run->peak > limit[k]);
		}
}

static void replay_label(const struct trace_row *row, size_t n, struct tally *own,
	struct tally *plain, struct tally *running)
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	AUTO(freep) void *state = xcalloc(1, rule->state_size);
	struct peaks_seen past = {0};

	rule->start(state, &rule->defaults);
	for (size_t i = 0; i < n && i < RUNS_CAP; i++) {
		double input = isnan(row[i].input_bytes) ? row[i].read_bytes : row[i].input_bytes;
		struct observation run =
			rule_observation(row[i].peak_mib * MIB, input, row[i].duration);

		if (past.n) {
			double asked[ASKED] = {
				rule->allocate(state, run.input),
				rule_peaks_largest(&past, 5) * 1.2,
				median(&past) * 1.1,
				rule_peaks_largest(&past, PEAKS_SEEN_MAX) * 1.02,
			};

			for (size_t k = 0; k < ASKED; k++) {
				struct cost_aware_outlook o;

				cost_aware_outlook(state, run.input, asked[k], &o);
				count(k == OWN ? own : plain, o.too_small, run.peak > asked[k]);
			}
			ask_running(state, &run, asked, running);
		}
		rule_peaks_add(&past, &run);
		rule->learn(state, &run);
	}
}

static void print(const char *what, const struct tally *t)
{
	double rate = (double)t->all_failed / (double)t->n;

	printf("%s: %zu allocations, %.2f %% too small, Brier score %.4f (of the rate alone: "
	       "%.4f)\n",
		what, t->n, 100 * rate, t->squares / (double)t->n, rate * (1 - rate));
	printf("  %-12s %8s %10s %10s\n", "stated below", "n", "stated %", "observed %");
	for (size_t c = 0; c < ARRAY_LEN(class_end); c++)
		if (t->asked[c])
			printf("  %-12g %8zu %10.2f %10.2f\n", fmin(class_end[c], 1), t->asked[c],
				100 * t->stated[c] / (double)t->asked[c],
				100 * (double)t->failed[c] / (double)t->asked[c]);
}

int main(int argc, char **argv)
{
	struct trace t = {0};
	struct tally own = {0}, plain = {0}, running = {0};

	if (argc < 2) {
		fputs("usage: bench_reliability TRACE.csv...\n", stderr);
		return 2;
	}
	if (!trace_read_all(&t, argv + 1))
		return 1;
	for (size_t i = 0, next; i < t.n; i = next) {
		next = trace_label_end(&t, i);
		if (next - i >= RUNS_MIN)
			replay_label(t.row + i, next - i, &own, &plain, &running);
	}
	print("auto's own allocations", &own);
	print("allocations of plain rules", &plain);
	print("limits of plain rules, while the run goes on", &running);
	trace_done(&t);
	return 0;
}
