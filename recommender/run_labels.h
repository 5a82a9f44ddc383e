/* The labels of a run (struct run.labels): a JSON object of texts. */
#ifndef RECOMMENDER_RUN_LABELS_H
#define RECOMMENDER_RUN_LABELS_H

#include "collectors/base/scan.h"

struct run_label {
	struct slice name, value; /* as in the JSON, with its escapes */
};

/* Returns a cursor for run_labels_next. `labels` may be NULL. */
struct scan run_labels_scan(const char *labels);

/* Reads the next label. Returns false after the last label. Also returns false at a value that is
 * not a text, such as a number: a client that posts runs can send such labels. */
bool run_labels_next(struct scan *s, struct run_label *ret);

/* Returns the value of a label. If the run does not have the label, the `data` of the result is
 * NULL. */
struct slice run_labels_find(const char *labels, struct slice name);

#endif
