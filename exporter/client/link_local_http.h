/* Parses one HTTP/1.1 response while its bytes arrive. It is only for the small responses of a
 * cloud's metadata service (at a link-local address). To load libcurl for them would take too much
 * memory (exporter/client/download.h). */
#ifndef EXPORTER_CLIENT_LINK_LOCAL_HTTP_H
#define EXPORTER_CLIENT_LINK_LOCAL_HTTP_H

#include <stdbool.h>
#include <stddef.h>

struct link_local_answer {
	int status;
	char *body; /* the body of the answer, a part of `data` */
	size_t len;
};

/* `data` contains all bytes that were received so far. `ended` is true when the peer has closed the
 * connection. Returns 0 when more bytes are needed: call it again with all bytes. Returns 1 when
 * the response is complete; a chunked body was then decoded within `data`, so do not call it again
 * with these bytes. Returns -EBADMSG for a truncated response, and for bytes that are not HTTP. */
int link_local_http_read(char *data, size_t len, bool ended, struct link_local_answer *ret);

#endif
