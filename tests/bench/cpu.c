/* Replays traces through the sizing of cores and the forecast of durations, online and in the order
 * of time. Each run is sized from the earlier runs of its label, from the second run on. Labels
 * with fewer than 10 runs are left out. Longer labels count with their first 200 runs.
 *
 * Cores: the traces have only the mean cores in use of each run. The slowdown of a run is the
 * larger of 1 and mean cores / requested cores. Its cost is requested cores x duration x slowdown.
 * The cost is compared with hindsight, a constant number of cores for each label. Hindsight is the
 * cheapest constant with which at most 2 % of the label's runs are slowed by more than 10 %. Whole
 * numbers are compared with a whole constant, fractions (quarters below 8 cores) with a fraction.
 *
 * Durations: how often the range of 80 % holds by number of earlier runs, and the median error. A
 * range is right when the share of runs inside is within the 95 % confidence interval of 80 %.
 * Otherwise it is marked with *.
 *
 * The constants of cpu_speed.c and duration.c were chosen with all labels in view: --half shows how
 * much the result depends on the labels. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/cpu_speed.h"
#include "recommender/sizing/duration.h"
#include "recommender/sizing/strategy.h"
#include "tests/bench/trace.h"

#define RUNS_MIN    10
#define RUNS_CAP    200
#define LOOK_BACK   50  /* number of newest runs that the simple rules look at */
#define SLOWED      1.1 /* smallest slowdown that counts */
#define SLOWED_MOST 0.02

enum half { HALF_BOTH, HALF_EVEN, HALF_ODD };

struct options {
	enum input_mode input;
	enum half half;
};

/* The runs of a label whose cores and durations are known, in order of time. */
struct label {
	size_t n;
	double cores[RUNS_CAP], duration[RUNS_CAP], peak[RUNS_CAP], input[RUNS_CAP];
};

struct labels {
	size_t n, room;
	struct label *at;
};

/* ---- rules for cores ---- */

static double mean_of_newest_5(const struct label *l, size_t n)
{
	size_t first = n > 5 ? n - 5 : 0;
	double sum = 0;

	for (size_t i = first; i < n; i++)
		sum += l->cores[i];
	return sum / (double)(n - first);
}

/* Returns the percentile of the mean cores of the newest runs, by nearest rank. */
static double percentile(const struct label *l, size_t n, double share)
{
	double sorted[LOOK_BACK];
	size_t first = n > LOOK_BACK ? n - LOOK_BACK : 0;

	memcpy(sorted, l->cores + first, (n - first) * sizeof *sorted);
	qsort(sorted, n - first, sizeof *sorted, stats_ascending);
	return sorted[(size_t)ceil(share * (double)(n - first)) - 1];
}

struct request {
	double whole, fraction;
};

static struct request same(double whole)
{
	return (struct request){whole, whole};
}

static struct request rounded_up(double cores)
{
	return (struct request){fmax(1, ceil(cores)), fmax(0.25, ceil(cores * 4) / 4)};
}

static struct request by_baseline(const struct label *l, size_t n)
{
	return same((double)sizing_round_cores(mean_of_newest_5(l, n)));
}

static struct request by_mean_rounded_up(const struct label *l, size_t n)
{
	return same(fmax(1, ceil(mean_of_newest_5(l, n))));
}

static struct request by_p90(const struct label *l, size_t n)
{
	return rounded_up(percentile(l, n, 0.9));
}

static struct request by_krr(const struct label *l, size_t n)
{
	return rounded_up(percentile(l, n, 0.95));
}

static struct request by_vpa(const struct label *l, size_t n)
{
	return rounded_up(1.15 * percentile(l, n, 0.9));
}

/* Sizes as the strategy auto does, from the mean cores of the runs, because a trace has no other
 * numbers about cores. The baseline's request for memory is enough here: only the cost depends on
 * it. */
static struct request by_auto(const struct label *l, size_t n, enum cpu_for purpose)
{
	static const struct sizing_method method = {.rule = NULL};
	const struct sizing_options options = {.cpu_for = purpose};
	AUTO(arena_done) struct arena arena = {0};
	struct run run[LOOK_BACK];
	struct column_stats cores[LOOK_BACK];
	struct runs used = {.run = run};
	struct sizing s = {.demand = {NAN, NAN, NAN, NAN, NAN, NAN}};

	for (size_t i = n; i-- > 0 && used.n < LOOK_BACK; used.n++) {
		double mean = l->cores[i];

		cores[used.n] = (struct column_stats){
			"cpu_cores", {1, mean, mean, mean, mean, mean, mean, NAN}};
		run[used.n] = (struct run){
			.outcome = OUTCOME_SUCCEEDED,
			.duration_seconds = l->duration[i],
			.machine_cpus = NAN,
			.cpu_missed_seconds = NAN,
			.cpu_foreign_seconds = NAN,
			.n_stats = 1,
			.stats = &cores[used.n],
		};
		if (used.n < 5)
			s.demand.memory_bytes = fmax(s.demand.memory_bytes, 1.2 * l->peak[i] * MIB);
	}
	sizing_cpu(&s, &method, &used, &options, &arena);
	return (struct request){(double)s.resources.cpu, s.demand.cpu_cores};
}

static struct request by_cost(const struct label *l, size_t n)
{
	return by_auto(l, n, CPU_FOR_COST);
}

static struct request by_speed(const struct label *l, size_t n)
{
	return by_auto(l, n, CPU_FOR_SPEED);
}

static const struct rule {
	const char *name;
	struct request (*request)(const struct label *l, size_t n); /* from the first n runs */
} rules[] = {
	{"baseline: round(mean of 5)", by_baseline},
	{"ceil(mean of 5)", by_mean_rounded_up},
	{"P90 of means", by_p90},
	{"P95 of means, as KRR", by_krr},
	{"P90 of means x 1.15, as VPA", by_vpa},
	{"auto cpu_for=cost", by_cost},
	{"auto cpu_for=speed", by_speed},
};

/* ---- scores of cores ---- */

enum kind { WHOLE, FRACTION, KINDS };

struct score {
	size_t runs, slowed;
	double slowdown, cost; /* sums */
};

static void count(struct score *s, const struct label *l, size_t run, double cores)
{
	double slowdown = fmax(1, l->cores[run] / cores);

	s->runs++;
	s->slowed += slowdown > SLOWED + 1e-9;
	s->slowdown += slowdown;
	s->cost += cores * l->duration[run] * slowdown;
}

static void add(struct score *sum, const struct score *s)
{
	sum->runs += s->runs;
	sum->slowed += s->slowed;
	sum->slowdown += s->slowdown;
	sum->cost += s->cost;
}

static struct score with_constant(const struct label *l, double cores)
{
	struct score s = {0};

	for (size_t i = 1; i < l->n; i++)
		count(&s, l, i, cores);
	return s;
}

static struct score hindsight(const struct label *l, enum kind kind)
{
	double least = kind == WHOLE ? 1 : 0.25, most = least;
	struct score best = {.cost = INFINITY};

	for (size_t i = 1; i < l->n; i++)
		most = fmax(most, ceil(l->cores[i]));
	for (double cores = least; cores <= most;
		cores += kind == WHOLE ? 1 : fmin(cpu_speed_step(cores), 1)) {
		struct score s = with_constant(l, cores);

		if ((double)s.slowed <= SLOWED_MOST * (double)s.runs && s.cost < best.cost)
			best = s;
	}
	return best;
}

static void print_score(const char *source, const char *name, const struct score s[KINDS],
	const struct score best[KINDS])
{
	printf("%-15s %-28s %5zu", source, name, s[WHOLE].runs);
	for (size_t kind = 0; kind < KINDS; kind++)
		printf("  %6.2f %8.3f %8.3f", 100 * (double)s[kind].slowed / (double)s[kind].runs,
			s[kind].slowdown / (double)s[kind].runs, s[kind].cost / best[kind].cost);
	putchar('\n');
}

static void score_cores(const char *source, const struct labels *l)
{
	struct score best[KINDS] = {0};

	for (size_t i = 0; i < l->n; i++)
		for (enum kind kind = 0; kind < KINDS; kind++) {
			struct score s = hindsight(&l->at[i], kind);

			add(&best[kind], &s);
		}
	if (!l->n)
		return;
	for (size_t r = 0; r < ARRAY_LEN(rules); r++) {
		struct score s[KINDS] = {0};

		for (size_t i = 0; i < l->n; i++)
			for (size_t run = 1; run < l->at[i].n; run++) {
				struct request q = rules[r].request(&l->at[i], run);

				count(&s[WHOLE], &l->at[i], run, q.whole);
				count(&s[FRACTION], &l->at[i], run, q.fraction);
			}
		print_score(source, rules[r].name, s, best);
	}
	print_score(source, "hindsight", best, best);
}

/* ---- durations ---- */

static const size_t bucket_end[] = {2, 3, 4, 11, 31, RUNS_CAP + 1};
static const char *const bucket_name[] = {"1", "2", "3", "4-10", "11-30", "31-"};
#define BUCKETS ARRAY_LEN(bucket_end)

struct ranges {
	size_t n, told, held, room;
	double *error;
};

static void score_durations(const struct label *l, struct ranges bucket[BUCKETS])
{
	struct duration_seen seen[RUNS_CAP];

	for (size_t i = 0; i < l->n; i++) {
		if (i) {
			struct duration_forecast f = duration_forecast(seen, i, l->input[i]);
			struct ranges *b = bucket;

			for (size_t k = 0; i >= bucket_end[k]; k++)
				b++;
			GROW(b->error, b->n, b->room);
			b->error[b->n++] = fabs(log(l->duration[i] / f.seconds));
			b->told += isnan(f.low) ? 0 : 1;
			b->held += l->duration[i] >= f.low * (1 - 1e-9) &&
				   l->duration[i] <= f.high * (1 + 1e-9);
		}
		seen[i] = (struct duration_seen){l->duration[i], l->input[i]};
	}
}

/* Returns true if the share of runs inside the ranges is within the 95 % confidence interval of
 * 80 %. */
static bool is_true(const struct ranges *r)
{
	double n = (double)r->told;

	return fabs((double)r->held - 0.8 * n) <= 1.96 * sqrt(n * 0.8 * 0.2) + 0.5;
}

static void print_ranges(const char *source, struct ranges bucket[BUCKETS])
{
	printf("%-15s", source);
	for (size_t k = 0; k < BUCKETS; k++) {
		struct ranges *b = &bucket[k];

		qsort(b->error, b->n, sizeof *b->error, stats_ascending);
		if (b->told)
			printf("  %5zu %5.1f%c", b->n, 100 * (double)b->held / (double)b->told,
				is_true(b) ? ' ' : '*');
		else
			printf("  %5zu     - ", b->n);
		printf(" %3.0f", b->n ? 100 * expm1(b->error[b->n / 2]) : NAN);
	}
	putchar('\n');
}

static void add_ranges(struct ranges all[BUCKETS], struct ranges bucket[BUCKETS])
{
	for (size_t k = 0; k < BUCKETS; k++) {
		for (size_t i = 0; i < bucket[k].n; i++) {
			GROW(all[k].error, all[k].n, all[k].room);
			all[k].error[all[k].n++] = bucket[k].error[i];
		}
		all[k].told += bucket[k].told;
		all[k].held += bucket[k].held;
	}
}

static void free_ranges(struct ranges bucket[BUCKETS])
{
	for (size_t k = 0; k < BUCKETS; k++)
		free(bucket[k].error);
}

/* ---- labels ---- */

/* Returns the runs of a label. `with_cores`: only those whose cores are known. */
static struct label label_of(const struct trace_row *row, size_t n, const struct options *o,
	bool with_cores)
{
	struct label l = {0};

	for (size_t i = 0; i < n && i < RUNS_CAP; i++) {
		if (!(row[i].duration >= 0) || (with_cores && !(row[i].cores >= 0)))
			continue;
		l.cores[l.n] = fmax(row[i].cores, 0.001);
		l.duration[l.n] = fmax(row[i].duration, 0.1);
		l.peak[l.n] = row[i].peak_mib;
		l.input[l.n++] = trace_input(&row[i], o->input);
	}
	return l;
}

static void add_label(struct labels *l, const struct label *label)
{
	if (label->n < 2)
		return;
	GROW(l->at, l->n, l->room);
	l->at[l->n++] = *label;
}

struct source {
	const char *name;
	struct labels of_cores, of_durations;
};

/* Reads the labels of one source. Returns the index after its last row. */
static size_t read_source(const struct trace *t, size_t first, const struct options *o,
	struct source *ret)
{
	size_t i = first, number = 0;

	*ret = (struct source){.name = t->row[first].source};
	for (size_t next; i < t->n && strcmp(t->row[i].source, ret->name) == 0; i = next) {
		enum half half = number++ % 2 ? HALF_ODD : HALF_EVEN;

		next = trace_label_end(t, i);
		if (next - i < RUNS_MIN || (o->half != HALF_BOTH && o->half != half))
			continue;
		struct label of_cores = label_of(t->row + i, next - i, o, true);
		struct label of_durations = label_of(t->row + i, next - i, o, false);

		add_label(&ret->of_cores, &of_cores);
		add_label(&ret->of_durations, &of_durations);
	}
	return i;
}

static void free_source(struct source *s)
{
	free(s->of_cores.at);
	free(s->of_durations.at);
}

static void cores_of_sources(const struct trace *t, const struct options *o)
{
	struct source s;

	printf("%-43s %5s  whole: slowed %%, mean, cost  fractions: the same\n",
		"cores; cost / hindsight", "runs");
	for (size_t i = 0; i < t->n;) {
		i = read_source(t, i, o, &s);
		score_cores(s.name, &s.of_cores);
		free_source(&s);
	}
}

static void durations_of_sources(const struct trace *t, const struct options *o)
{
	struct ranges all[BUCKETS] = {0};
	struct source s;

	printf("\n%-15s", "durations");
	for (size_t k = 0; k < BUCKETS; k++)
		printf("  %5s runs: ", bucket_name[k]);
	printf("\n%-15s", "");
	for (size_t k = 0; k < BUCKETS; k++)
		printf("  %5s %6s %3s", "n", "held", "err");
	putchar('\n');
	for (size_t i = 0; i < t->n;) {
		struct ranges bucket[BUCKETS] = {0};

		i = read_source(t, i, o, &s);
		for (size_t k = 0; k < s.of_durations.n; k++)
			score_durations(&s.of_durations.at[k], bucket);
		if (bucket[0].n)
			print_ranges(s.name, bucket);
		add_ranges(all, bucket);
		free_ranges(bucket);
		free_source(&s);
	}
	print_ranges("all", all);
	free_ranges(all);
}

/* ---- command line ---- */

static int usage(void)
{
	fputs("usage: bench_cpu [--input proxy|announced|none] [--half even|odd] TRACE.csv...\n"
	      "  proxy (default): the announced input size, else the bytes read\n"
	      "  half: every other label of each source\n",
		stderr);
	return 2;
}

/* Returns the index of the text in the list, which ends with NULL, or that of NULL. */
static unsigned index_of(const char *const list[], const char *text)
{
	unsigned i = 0;

	while (list[i] && strcmp(list[i], text) != 0)
		i++;
	return i;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
	static const struct option flags[] = {
		{"input", required_argument, NULL, 'i'},
		{"half", required_argument, NULL, 'h'},
		{0},
	};
	static const char *const modes[] = {"proxy", "announced", "none", NULL};
	static const char *const halves[] = {"both", "even", "odd", NULL};

	for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
		if (flag == 'i')
			o->input = (enum input_mode)index_of(modes, optarg);
		else if (flag == 'h')
			o->half = (enum half)index_of(halves, optarg);
		else
			return false;
	}
	return o->input <= INPUT_NONE && o->half <= HALF_ODD && optind < argc;
}

int main(int argc, char **argv)
{
	struct options o = {0};
	struct trace t = {0};

	if (!parse_options(argc, argv, &o))
		return usage();
	if (!trace_read_all(&t, argv + optind))
		return 1;
	cores_of_sources(&t, &o);
	durations_of_sources(&t, &o);
	trace_done(&t);
	return 0;
}
