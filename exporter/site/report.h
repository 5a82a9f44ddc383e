/* A report is one HTML file about a run. People can mail it, keep it or attach it. It contains the
 * script and style of the web page, and the JSON answers that the page would request. It loads
 * nothing. Its Content-Security-Policy contains the hashes of its own script and style, and allows
 * nothing else. */
#ifndef EXPORTER_SITE_REPORT_H
#define EXPORTER_SITE_REPORT_H

#include <stddef.h>

#include "collectors/base/buf.h"

/* The JSON answer of one route. */
struct report_part {
	const char *name;
	const struct buf *json;
};

/* Writes a report. `title` is text, not markup; `parts` ends with name NULL. */
void report_write(struct buf *out, const char *title, const struct report_part *parts);

#endif
