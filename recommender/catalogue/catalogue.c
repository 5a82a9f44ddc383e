#include "recommender/catalogue/catalogue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "recommender/catalogue/reference_rates.h"

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
	for (size_t i = 0; code && i < c->n_currencies; i++)
		if (strcmp(c->currency[i].code, code) == 0)
			return &c->currency[i];
	return code ? reference_rate(code) : NULL;
}

size_t catalogue_vendors_of_unknown_compliance(const struct catalogue *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_vendors; i++)
		n += !c->vendor[i].compliance_known;
	return n;
}

int catalogue_currency_check(const char *code, size_t n, struct err *e)
{
	if (strlen(code) != 3 || strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
		return err_set(e, -EINVAL,
			"currency: \"%.40s\" is not a code of three capitals, as USD or EUR", code);
	if (n > UINT8_MAX)
		return err_set(e, -E2BIG, "currency: more than %d of them", UINT8_MAX);
	return 0;
}

/* Adds a currency without prices, so that answers can use it. */
static int add_currency(struct catalogue *c, const struct currency *added, struct err *e)
{
	int refused = catalogue_currency_check(added->code, c->n_currencies, e);

	if (refused)
		return refused;

	struct currency *all = arena_alloc(&c->memory, (c->n_currencies + 1) * sizeof *all);

	memcpy(all, c->currency, c->n_currencies * sizeof *all);
	all[c->n_currencies] = *added;
	all[c->n_currencies].code = arena_text(&c->memory, added->code, strlen(added->code));
	c->currency = all;
	c->n_currencies++;
	return 0;
}

int catalogue_set_usd(struct catalogue *c, const char *code, double usd, const char *source,
	struct err *e)
{
	struct currency *all = (struct currency *)(uintptr_t)c->currency;
	const char *kept_source = arena_text(&c->memory, source, strlen(source));

	for (size_t i = 0; i < c->n_currencies; i++)
		if (strcasecmp(all[i].code, code) == 0) {
			if (i > 0) /* currency 0 is USD, whose rate stays 1 */
				all[i] = (struct currency){all[i].code, usd, "", kept_source};
			return 0;
		}
	return add_currency(c, &(struct currency){code, usd, "", kept_source}, e);
}

double catalogue_currency_rate(const struct currency *from, const struct currency *to)
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
