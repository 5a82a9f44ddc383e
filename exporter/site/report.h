/* A report is one HTML file about a run. People can mail it, keep it or attach it. It contains the
 * recommendation, the used part of the request and the charts. These are HTML and SVG, which need
 * no JavaScript. It also contains the JSON answers of the routes, with a script that adds sortable
 * tables and converts times to the reader's time zone. It loads no other files. Its
 * Content-Security-Policy contains the hashes of its own script and style, and allows nothing
 * else. */
#ifndef EXPORTER_SITE_REPORT_H
#define EXPORTER_SITE_REPORT_H

#include "collectors/base/buf.h"

struct report {
	const char *title; /* text, not markup */
	double as_of;      /* time at which the routes were called, seconds since 1970 UTC */
	/* JSON answers of the routes /series, /runs and /recommend. An empty one becomes null. */
	const struct buf *series, *runs, *recommend;
};

/* Writes a report. The samples of `series` become charts, and are not in the JSON. */
void report_write(struct buf *out, const struct report *r);

#endif
