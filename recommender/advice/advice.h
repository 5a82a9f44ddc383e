/* Writes a sizing in the format of another system, such as Kubernetes or Slurm. */
#ifndef RECOMMENDER_ADVICE_ADVICE_H
#define RECOMMENDER_ADVICE_ADVICE_H

#include "collectors/base/buf.h"
#include "recommender/sizing/sizing.h"

/* One row per format. */
struct advice_layout;
struct advice_format {
	const char *name, *content_type, *help;
	const struct advice_layout *layout; /* NULL = JSON, which advice_write cannot write */
};
extern const struct advice_format advice_formats[]; /* ends with name NULL; json is the default */
const struct advice_format *advice_format_find(const char *name); /* NULL = unknown name */
void advice_write(struct buf *out, const struct advice_format *f, const struct sizing *s);

#endif
