/*
 * An ended run with its statistics as one exporter tells another: the body of POST /runs. Keys are those of
 * struct run; times are seconds since 1970; unknown is null or absent; keys that the reader does not know mean
 * nothing to it, so that either side may be the newer one.
 */
#ifndef EXPORTER_FORWARD_RUN_MESSAGE_H
#define EXPORTER_FORWARD_RUN_MESSAGE_H

#include <jansson.h>
#include <stddef.h>

#include "collectors/base/err.h"
#include "recommender/run.h"

/* Longest message, and most columns in one. */
#define RUN_MESSAGE_MAX         (256u << 10)
#define RUN_MESSAGE_COLUMNS_MAX 512

json_t *run_message(const struct run *r);

/*
 * -EINVAL: it is none, and the sentence names what is wrong and what is accepted. What *ret points to lies in
 * the arena.
 */
int run_message_read(struct run *ret, const char *text, size_t len, struct arena *arena,
	struct err *e);

#endif
