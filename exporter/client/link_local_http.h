/* Parses one response of HTTP/1.1 as its bytes arrive. The parser is for small responses of
 * link-local metadata services, which do not justify loading libcurl
 * (exporter/client/download.h). */
#ifndef EXPORTER_CLIENT_LINK_LOCAL_HTTP_H
#define EXPORTER_CLIENT_LINK_LOCAL_HTTP_H

#include <stdbool.h>
#include <stddef.h>

struct link_local_answer {
	int status;
	char *body; /* points into `data` */
	size_t len;
};

/* `data` has all bytes received so far. `ended` = the peer closed the connection. Returns 1 when
 * the response is complete. A chunked body is then joined in place, so do not call again. Returns 0
 * when more bytes are needed, and -EBADMSG for a truncated response or for other text. */
int link_local_http_read(char *data, size_t len, bool ended, struct link_local_answer *ret);

#endif
