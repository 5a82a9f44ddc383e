/* For all catalogue fuzz targets: a catalogue that was read must be complete and answer queries. */
#ifndef TESTS_FUZZ_FUZZ_CATALOGUE_H
#define TESTS_FUZZ_FUZZ_CATALOGUE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/servers/pick.h"
#include "recommender/catalogue/fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool true_always)
{
	if (!true_always)
		abort();
}

static int fuzz_catalogue(const uint8_t *data, size_t size,
	int (*read)(struct catalogue **ret, const char *text, size_t len, struct err *e))
{
	struct demand d = {.cpu_cores = 1};
	struct arena arena = {0};
	struct catalogue *c = NULL;
	struct err e = {0};
	struct picks p;

	if (read(&c, (const char *)data, size, &e)) {
		check(!c && e.code < 0 && e.text[0]);
		return 0;
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct server *s = &c->server[i];

		check(*s->vendor_id && *s->server_id &&
			s->first_price + s->n_prices <= c->n_prices);
		for (const struct field *f = fields; f->name && f->part == PART_SERVER; f++)
			check(!(field_number(f, s) < 0) &&
				strlen(field_text(f, s)) < FIELD_TEXT_MAX);
		check(i == 0 || catalogue_find(c, s->vendor_id, s->server_id) != NULL);
	}
	pick_servers(c, &d, &(struct pick_options){.limit = 3}, &arena, &p);
	check(p.n <= 3 && p.fitting <= c->n);
	arena_done(&arena);
	catalogue_free(c);
	return 0;
}

#endif
