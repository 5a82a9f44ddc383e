/*
 * One polite call of the Keeper: the cache first, then pace, ask, and try again. Used by keeper.c only.
 */
#ifndef EXPORTER_KEEPER_CALL_H
#define EXPORTER_KEEPER_CALL_H

#include "exporter/catalogue/keeper.h"

struct keeper {
	const struct keeper_options *options;
	const struct keeper_transport *transport;
	struct catalogue_cache *cache;
	struct keeper_report *report;
	struct keeper_progress progress;
	struct answer answer;  /* of the last call */
	struct buf body;       /* of the last page, from the network or the cache */
	struct wall next_call; /* not before */
};

void keeper_begin(struct keeper *k, const struct keeper_options *o,
	const struct keeper_transport *t, struct catalogue_cache *cache, struct keeper_report *r);
void keeper_end(struct keeper *k);

/*
 * The body of a path ("/servers?...") into k->body. credits: what the call costs of the 60 a minute. check, when
 * not NULL, says whether the body is what it should be: one that is not is not kept, and asked for again.
 */
int keeper_page(struct keeper *k, const char *path, double credits,
	int (*check)(void *context, const struct buf *body, struct err *e), void *context,
	struct err *e);

#endif
