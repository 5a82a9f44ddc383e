/*
 * Reading one answer of HTTP/1.1 from bytes as they come: for small answers of services on this machine's own link,
 * which are asked before it is worth loading libcurl (exporter/client/download.h) for anything.
 */
#ifndef EXPORTER_CLIENT_LINK_LOCAL_HTTP_H
#define EXPORTER_CLIENT_LINK_LOCAL_HTTP_H

#include <stdbool.h>
#include <stddef.h>

struct link_local_answer {
	int status;
	char *body; /* in data */
	size_t len;
};

/*
 * data: all that came so far; ended: nothing more will. 1: the answer is whole (a chunked body was joined in place, so
 * do not call again). 0: more is needed. -EBADMSG: it is no answer, or ended too early.
 */
int link_local_http_read(char *data, size_t len, bool ended, struct link_local_answer *ret);

#endif
