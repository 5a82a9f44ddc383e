/* Replays traces through the program's sizing rules, online and in the order of time. Prints for
 * each rule and source: the memory wasted, the number of failed first attempts, and the ratio of
 * allocation to use. Protocol: each label is sized from its second run on, the first --cap runs are
 * used, and labels with fewer than 10 runs are left out. A failed attempt is charged its allocation
 * for the whole run. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "recommender/sizing/cost_aware.h"
#include "recommender/sizing/strategy.h"
#include "tests/bench/caq.h"
#include "tests/bench/ponder.h"
#include "tests/bench/tovar.h"
#include "tests/bench/trace.h"

#define GIB_HOURS (1024 * MIB * 3600)
#define RUNS_MIN  10

static const struct entry {
	const char *name;
	const struct sizing_rule *rule;
} entries[] = {
	{"baseline", &rule_baseline},
	{"max", &rule_max},
	{"percentile", &rule_percentile},
	{"krr", &rule_krr},
	{"vpa", &rule_vpa},
	{"ponder", &bench_ponder},
	{"tovar", &bench_tovar},
	{"caq-economy", &bench_caq[RISK_ECONOMY]},
	{"caq-balanced", &bench_caq[RISK_BALANCED]},
	{"caq-safe", &bench_caq[RISK_SAFE]},
	{"auto-economy", &cost_aware_rules[RISK_ECONOMY]},
	{"auto-balanced", &cost_aware_rules[RISK_BALANCED]},
	{"auto-safe", &cost_aware_rules[RISK_SAFE]},
};

struct options {
	size_t cap;
	enum input_mode input;
	const char *only; /* NULL = all rules */
	FILE *dump;       /* every first allocation is written here; NULL = nowhere */
};

struct score {
	struct replay_record record;
	size_t n, room;
	double *ratio; /* allocation / use of every scored run */
};

static void replay_label(const struct entry *entry, const struct trace_row *row, size_t n,
	const struct options *o, struct score *score)
{
	AUTO(freep) void *state = xcalloc(1, entry->rule->state_size);

	entry->rule->start(state, &entry->rule->defaults);
	for (size_t i = 0; i < n && i < o->cap; i++) {
		struct observation run =
			rule_observation(row[i].peak_mib * MIB, trace_input(&row[i], o->input),
				isnan(row[i].duration) ? 3600 : fmax(row[i].duration, 0.1));
		double allocation = rule_replay(entry->rule, state, &run, &score->record);

		if (isnan(allocation))
			continue;
		GROW(score->ratio, score->n, score->room);
		score->ratio[score->n++] = allocation / run.peak;
		if (o->dump)
			fprintf(o->dump, "%s,%s,%g,%s,%.17g\n", row[i].source, row[i].label,
				row[i].index, entry->name, allocation / MIB);
	}
}

static void print_score(const char *source, const char *name, struct score *s)
{
	qsort(s->ratio, s->n, sizeof *s->ratio, stats_ascending);
	printf("%-16s %-14s %6zu %8.2f %6.2f %12.4g %7.2f %7.2f\n", source, name, s->record.runs,
		100 * s->record.wasted / s->record.used,
		100 * (double)s->record.failures / (double)s->record.runs,
		s->record.wasted / GIB_HOURS, s->n ? s->ratio[s->n / 2] : NAN,
		s->n ? s->ratio[s->n * 95 / 100] : NAN);
}

struct mean {
	size_t sources;
	double waste, failures;
};

/* Replays one source through all rules. Returns the index after its last row. */
static size_t replay_source(const struct trace *t, size_t first, const struct options *o,
	struct mean mean[ARRAY_LEN(entries)])
{
	size_t end = first;

	while (end < t->n && strcmp(t->row[end].source, t->row[first].source) == 0)
		end++;
	for (size_t e = 0; e < ARRAY_LEN(entries); e++) {
		struct score score = {0};

		if (o->only && !strstr(entries[e].name, o->only))
			continue;
		for (size_t i = first, next; i < end; i = next) {
			next = trace_label_end(t, i);
			if (next - i >= RUNS_MIN)
				replay_label(&entries[e], t->row + i, next - i, o, &score);
		}
		if (score.record.runs) {
			print_score(t->row[first].source, entries[e].name, &score);
			mean[e].sources++;
			mean[e].waste += score.record.wasted / score.record.used;
			mean[e].failures +=
				(double)score.record.failures / (double)score.record.runs;
		}
		free(score.ratio);
	}
	return end;
}

static int usage(void)
{
	fputs("usage: bench_sizing [--cap RUNS] [--input proxy|announced|none] [--only RULE] "
	      "[--dump FILE] TRACE.csv...\n"
	      "  proxy (default): the announced input size, else the bytes read\n",
		stderr);
	return 2;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
	static const struct option flags[] = {
		{"cap", required_argument, NULL, 'c'},
		{"input", required_argument, NULL, 'i'},
		{"only", required_argument, NULL, 'o'},
		{"dump", required_argument, NULL, 'd'},
		{0},
	};
	static const char *const modes[] = {"proxy", "announced", "none"};

	for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
		struct scan s = SCAN(optarg ? optarg : "", optarg ? strlen(optarg) : 0);
		uint64_t n;
		size_t mode = 0;

		switch (flag) {
		case 'c':
			if (!scan_u64(&s, &n) || !scan_end(&s))
				return false;
			o->cap = n;
			break;
		case 'i':
			while (mode < ARRAY_LEN(modes) && strcmp(modes[mode], optarg) != 0)
				mode++;
			if (mode == ARRAY_LEN(modes))
				return false;
			o->input = (enum input_mode)mode;
			break;
		case 'o':
			o->only = optarg;
			break;
		case 'd':
			o->dump = fopen(optarg, "we");
			if (!o->dump)
				return false;
			break;
		default:
			return false;
		}
	}
	return optind < argc;
}

int main(int argc, char **argv)
{
	struct options o = {.cap = 200};
	struct trace t = {0};
	struct mean mean[ARRAY_LEN(entries)] = {0};

	if (!parse_options(argc, argv, &o))
		return usage();
	if (!trace_read_all(&t, argv + optind))
		return 1;
	printf("%-16s %-14s %6s %8s %6s %12s %7s %7s\n", "source", "rule", "runs", "waste %",
		"fail %", "GiB h", "ratio50", "ratio95");
	for (size_t i = 0; i < t.n;)
		i = replay_source(&t, i, &o, mean);
	for (size_t k = 0; k < ARRAY_LEN(entries); k++)
		if (mean[k].sources)
			printf("%-16s %-14s %6s %8.2f %6.2f\n", "mean of sources", entries[k].name,
				"", 100 * mean[k].waste / (double)mean[k].sources,
				100 * mean[k].failures / (double)mean[k].sources);
	if (o.dump)
		fclose(o.dump);
	trace_done(&t);
	return 0;
}
