/* Waste that comes from rounding a request up. */
#include <math.h>
#include <stdio.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "tests/bench/judge/judge.h"

static double exactly(double bytes)
{
	return bytes;
}

static double to_mib(double bytes)
{
	return ceil(bytes / MIB) * MIB;
}

/* Rounds up to six significant bits, and to at least 16 MiB. */
static double to_six_bits(double bytes)
{
	double mib = fmax(16, bytes / MIB), step = fmax(1, exp2(floor(log2(mib)) - 5));

	return ceil(mib / step) * step * MIB;
}

static double (*const roundings[])(double bytes) = {exactly, to_mib, to_six_bits};
#define ROUNDINGS ARRAY_LEN(roundings)

enum size { SIZE_SMALL, SIZE_ALL, SIZES };
#define SMALL (256 * MIB)
static const char *const size_names[SIZES] = {"< 256 MiB", "all"};

struct rounded {
	struct tally tally[JUDGED_RULES][SIZES][ROUNDINGS];
};

static void ask(void *context, const struct asked *a)
{
	struct rounded *r = context;

	if (!a->earlier || isnan(a->allocation))
		return;
	for (size_t k = 0; k < ROUNDINGS; k++)
		for (size_t size = a->run->peak < SMALL ? SIZE_SMALL : SIZE_ALL; size < SIZES;
			size++)
			tally_run(&r->tally[a->rule - judged_rules][size][k], a->rule->rule,
				a->state, roundings[k](a->allocation), a->run);
}

static const struct table_column columns[] = {
	{"runs", 0},
	{"waste %", 2},
	{"MiB +%", 2},
	{"6 bits +%", 2},
	{"fail %", 2},
	{"MiB fail %", 2},
	{"6 bits fail %", 2},
};
static const struct table table = {
	.name = "rounding",
	.title = "Rounding up: waste without it, and the points that whole MiB and six significant "
		 "bits (3 %, at least 16 MiB) add;\nof runs that peak below 256 MiB, and of all",
	.row_name = "rule, peaks",
	.n = ARRAY_LEN(columns),
	.column = columns,
};

static void print(const struct judge_options *o, const char *source, const struct rounded *r)
{
	for (size_t i = 0; i < JUDGED_RULES; i++)
		for (size_t size = 0; size < SIZES; size++) {
			double cell[ROUNDINGS][TALLY_N];
			char name[64];

			if (!r->tally[i][size][0].runs)
				continue;
			for (size_t k = 0; k < ROUNDINGS; k++)
				tally_cells(&r->tally[i][size][k], cell[k]);
			snprintf(name, sizeof name, "%s %s", judged_rules[i].name,
				size_names[size]);
			table_row(&table, o, source, name,
				(const double[]){cell[0][0], cell[0][1], cell[1][1] - cell[0][1],
					cell[2][1] - cell[0][1], cell[0][2], cell[1][2],
					cell[2][2]});
		}
}

void judge_rounding(const struct sources *s, const struct judge_options *o)
{
	table_head(&table, o);
	for (size_t i = 0; i < s->n; i++) {
		const struct source *source = &s->source[i];
		struct rounded r = {0};

		replay_source(source, o,
			(struct replay){.auto_only = true, .ask = ask, .context = &r});
		print(o, source->name, &r);
	}
}
