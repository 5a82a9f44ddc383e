/* The catalogue itself: looking things up, and letting go. */
#include "recommender/catalogue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct server *catalogue_find(
	const struct catalogue *c, const char *vendor_id, const char *name)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct server *s = &c->server[i];

		if (strcmp(s->vendor_id, vendor_id) == 0 &&
			(strcmp(s->server_id, name) == 0 || strcmp(s->api_reference, name) == 0))
			return s;
	}
	return NULL;
}

double price_usd(const struct catalogue *c, const struct price *p)
{
	return p->price * c->currency[p->currency].usd;
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
