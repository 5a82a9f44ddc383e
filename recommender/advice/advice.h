/*
 * A demand as other systems want it written: a Kubernetes patch, a line of Slurm, a Python decorator.
 */
#ifndef RECOMMENDER_ADVICE_ADVICE_H
#define RECOMMENDER_ADVICE_ADVICE_H

#include "collectors/base/buf.h"
#include "recommender/sizing/sizing.h"

/* ---- the answer in the language of the target: one row each ---- */
struct advice_layout;
struct advice_format {
	const char *name, *content_type, *help;
	const struct advice_layout
		*layout; /* NULL = the whole JSON answer, which advice_write does not write */
};
extern const struct advice_format
	advice_formats[]; /* name NULL ends; the first is the default, json */
const struct advice_format *advice_format_find(const char *name); /* NULL = no such format */
void advice_write(struct buf *out, const struct advice_format *f, const struct sizing *s);

#endif
