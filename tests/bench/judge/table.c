/* Tables for people, and the same cells as CSV for programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/judge/judge.h"

static int width_of(const struct table_column *c)
{
	int name = (int)strlen(c->name);

	return c->decimals == TABLE_MARK ? 2 : name > 7 ? name + 1 : 8;
}

static const char *mark(double value)
{
	return value == MARK_SURE ? "*" : value == MARK_DOUBTFUL ? "?" : "";
}

void table_head(const struct table *t, const struct judge_options *o)
{
	if (o->csv)
		return;
	printf("\n%s\n%-16s %-20s", t->title, "source", t->row_name);
	for (size_t i = 0; i < t->n; i++)
		printf("%*s", width_of(&t->column[i]),
			t->column[i].decimals == TABLE_MARK ? "" : t->column[i].name);
	printf("\n");
}

void table_row(const struct table *t, const struct judge_options *o, const char *source,
	const char *row, const double *value)
{
	if (!o->csv)
		printf("%-16s %-20s", source, row);
	for (size_t i = 0; i < t->n; i++) {
		const struct table_column *c = &t->column[i];
		int width = width_of(c);

		if (o->csv && !isnan(value[i]))
			printf("%s,%s,%s,%s,%.10g\n", t->name, source, row, c->name, value[i]);
		else if (o->csv)
			continue;
		else if (c->decimals == TABLE_MARK)
			printf("%*s", width, mark(value[i]));
		else if (isnan(value[i]))
			printf("%*s", width, "-");
		else
			printf("%*.*f", width, c->decimals, value[i]);
	}
	if (!o->csv)
		printf("\n");
}
