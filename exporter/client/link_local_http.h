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

/* Reads the response in `data`, which contains all bytes that were received so far. `ended`: true =
 * the peer has closed the connection. Returns:
 * - 0: more bytes are needed. Call it again with all bytes.
 * - 1: the response is complete. A chunked body was decoded within `data`, so do not call it again
 *   with these bytes.
 * - -EBADMSG: the response is truncated, or is not HTTP. */
int link_local_http_read(char *data, size_t len, bool ended, struct link_local_answer *ret);

#endif
