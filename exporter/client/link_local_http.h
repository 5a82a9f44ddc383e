/* Parses one response of HTTP/1.1 as its bytes arrive. The parser is for small responses of
 * link-local metadata services, which do not justify loading libcurl
 * (exporter/client/download.h). */
#ifndef EXPORTER_CLIENT_LINK_LOCAL_HTTP_H
#define EXPORTER_CLIENT_LINK_LOCAL_HTTP_H

#include <stdbool.h>
#include <stddef.h>

struct link_local_answer {
	int status;
	char *body; /* the body of the answer, a part of `data` */
	size_t len;
};

/* `data` has all bytes received so far. `ended` is true when the peer has closed the connection.
 * Returns 1 when the response is complete. The call then changes a chunked body in `data`, so do
 * not call it again with the same bytes. Returns 0 when more bytes are needed. Returns -EBADMSG for
 * a truncated response, and for a text that is not HTTP. */
int link_local_http_read(char *data, size_t len, bool ended, struct link_local_answer *ret);

#endif
