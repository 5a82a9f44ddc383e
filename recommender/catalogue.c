/* The catalogue itself: looking things up, and letting go. */
#include "recommender/catalogue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct server *catalogue_find(const struct catalogue *c, const char *vendor_id,
	const char *name)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct server *s = &c->server[i];

		if (strcmp(s->vendor_id, vendor_id) == 0 &&
			(strcmp(s->server_id, name) == 0 || strcmp(s->api_reference, name) == 0))
			return s;
	}
	return NULL;
}

const struct benchmark *catalogue_benchmark(const struct catalogue *c, const char *benchmark_id)
{
	for (size_t i = 0; i < c->n_benchmarks; i++)
		if (strcmp(c->benchmark[i].benchmark_id, benchmark_id) == 0)
			return &c->benchmark[i];
	return NULL;
}

const struct currency *catalogue_currency(const struct catalogue *c, const char *code)
{
	for (size_t i = 0; i < c->n_currencies; i++)
		if (strcmp(c->currency[i].code, code) == 0)
			return &c->currency[i];
	return NULL;
}

void catalogue_set_usd(struct catalogue *c, const char *currency, double usd)
{
	struct currency *all = (struct currency *)(uintptr_t)c->currency;

	/* [0] is USD itself. */
	for (size_t i = 1; i < c->n_currencies; i++)
		if (strcasecmp(all[i].code, currency) == 0)
			all[i].usd = usd;
}

double currency_rate(const struct currency *from, const struct currency *to)
{
	return from == to ? 1 : from->usd / to->usd;
}

void catalogue_hold(struct catalogue *c)
{
	shared_hold(&c->shared);
}

void catalogue_free(struct catalogue *c)
{
	if (c)
		shared_drop(&c->shared);
}
