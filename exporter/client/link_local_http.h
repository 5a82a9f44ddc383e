/*
 * Parses one response of HTTP/1.1 as its bytes arrive. Meant for small responses of link-local
 * metadata services, which do not justify loading libcurl (exporter/client/download.h).
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
 * data: all bytes so far; ended: the peer closed the connection. 1: the response is complete; a
 * chunked body was joined in place, so do not call again. 0: more bytes are needed. -EBADMSG: not a
 * response, or truncated.
 */
int link_local_http_read(char *data, size_t len, bool ended, struct link_local_answer *ret);

#endif
