/* Measures how long a large catalogue takes to load, how much memory it uses, and how long a query
 * takes. It is not part of the test run:
 *
 * bench_catalogue SERVERS.csv
 *
 * SERVERS.csv has the columns of recommender/catalogue/fields.h. tests/bench/catalogue_csv.py makes
 * the file from the tables of Spare Cores. */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "exporter/catalogue/file.h"
#include "recommender/servers/pick.h"

#define ROUNDS 200

static double milliseconds_since(struct mono start)
{
	return mono_seconds_between(start, now_read().mono) * 1e3;
}

static int by_size(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Prints the median duration of many queries. */
static void ask(const struct catalogue *c, const char *what, const struct demand *d,
	const struct pick_options *o)
{
	struct arena arena = {0};
	struct picks p;
	double took[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		struct mono start = now_read().mono;

		arena_reset(&arena);
		pick_servers(c, d, o, &arena, &p);
		took[i] = milliseconds_since(start);
	}
	qsort(took, ROUNDS, sizeof *took, by_size);
	printf("  %-42s %6.3f ms  %5zu fit", what, took[ROUNDS / 2], p.fitting);
	if (p.n)
		printf("  %s %s %.4f %s/h", p.pick[0].server->vendor_id,
			p.pick[0].server->display_name, p.pick[0].price, p.currency);
	putchar('\n');
	arena_done(&arena);
}

static void ask_all(const struct catalogue *c)
{
	static const char *const europe[] = {"Europe"}, *const aws[] = {"aws"};
	struct demand d = {3.2, 12e9, NAN, NAN, NAN, 1800}, gpu = {4, 30e9, 1, 20e9, NAN, 7200};
	struct job_profile p = {
		1800, 1700, 2100, 5000, NAN, 4, NAN, NAN, catalogue_find(c, "aws", "m7i.xlarge")};
	struct arena arena = {0};
	const bool *regions = NULL;

	if (!regions_find(c, &(struct region_filter){.continents = {1, europe}}, &arena, &regions,
		    NULL))
		printf("  (no region is in Europe)\n");
	ask(c, "everything", &(struct demand){NAN, NAN, NAN, NAN, NAN, NAN},
		&(struct pick_options){.limit = 25});
	ask(c, "cheapest", &d,
		&(struct pick_options){.limit = 5, .objective = objective_find("price")});
	ask(c, "cheapest, x86_64, dedicated", &d,
		&(struct pick_options){.limit = 5,
			.objective = objective_find("price"),
			.architectures = 1u << ARCHITECTURE_X86_64,
			.cpu_allocations = 1u << CPU_DEDICATED});
	ask(c, "cheapest in Europe, on demand or spot", &d,
		&(struct pick_options){.limit = 5,
			.objective = objective_find("price"),
			.regions = regions,
			.allocations = ALLOCATION_BIT(ALLOCATION_ONDEMAND) |
				       ALLOCATION_BIT(ALLOCATION_SPOT)});
	ask(c, "lowest cost of a run", &d,
		&(struct pick_options){.limit = 5,
			.profile = &p,
			.objective = objective_find("cost"),
			.reserve = system_reserves});
	ask(c, "lowest cost of a run, on demand or spot", &d,
		&(struct pick_options){.limit = 5,
			.profile = &p,
			.objective = objective_find("cost"),
			.reserve = system_reserves,
			.spot_interruptions_per_hour = 0.05,
			.allocations = ALLOCATION_BIT(ALLOCATION_ONDEMAND) |
				       ALLOCATION_BIT(ALLOCATION_SPOT)});
	ask(c, "fastest at aws", &d,
		&(struct pick_options){.limit = 5,
			.profile = &p,
			.objective = objective_find("fastest"),
			.vendors = {1, aws}});
	ask(c, "efficiency, all on one page", &d,
		&(struct pick_options){.objective = objective_find("efficiency")});
	ask(c, "one GPU with 20 GB", &gpu, &(struct pick_options){.limit = 5});
	arena_done(&arena);
}

int main(int argc, char **argv)
{
	struct catalogue *c = NULL;
	struct err e = {0};

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 2;
	}
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct mono start = now_read().mono;

	if (catalogue_from_file(&c, argv[1], NULL, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	double took = milliseconds_since(start);
	size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;

	printf("%zu servers, %zu prices, %zu regions, %zu benchmarks\n", c->n, c->n_prices,
		c->n_regions, c->n_benchmarks);
	printf("  load %.1f ms, %.2f MiB allocated (%.2f MiB of it used)\n", took,
		(double)(after - before) / 1048576, (double)c->bytes / 1048576);
	ask_all(c);
	catalogue_free(c);
	return 0;
}
