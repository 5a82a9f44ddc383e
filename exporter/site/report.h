/*
 * A run as one file to mail, to keep or to attach to a card: the page's own script and style, and the answers
 * that it would have asked for. It loads nothing, and its Content-Security-Policy names the hashes of what may
 * run.
 */
#ifndef EXPORTER_SITE_REPORT_H
#define EXPORTER_SITE_REPORT_H

#include <stddef.h>

#include "collectors/base/buf.h"

/* What stands in a report: an answer of one of our routes, as JSON. */
struct report_part {
	const char *name;
	const struct buf *json;
};

/* title is text, not markup; parts: name NULL ends. */
void report_write(struct buf *out, const char *title, const struct report_part *parts);

#endif
