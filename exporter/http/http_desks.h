/*
 * The desks of a server (exporter/http/slow_queue.h): one for each kind of question that takes long, so that who asks for little does
 * not wait until a day of samples was written for somebody else. For http.c alone.
 */
#ifndef EXPORTER_HTTP_DESKS_H
#define EXPORTER_HTTP_DESKS_H

#include "exporter/http/slow_queue.h"
#include "exporter/site/site.h"

struct http_desks {
	struct desk *at[SITE_WAYS]; /* NULL: of SITE_AT_ONCE */
};

int http_desks_open(struct http_desks *d, struct err *e);

/* As desk_stop, of all of them together. */
int http_desks_stop(struct http_desks *d, double seconds);
void http_desks_free(struct http_desks *d);

#endif
