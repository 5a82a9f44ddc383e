/*
 * Hands an answer to libmicrohttpd. For http.c alone.
 */
#ifndef EXPORTER_HTTP_SEND_H
#define EXPORTER_HTTP_SEND_H

#include <microhttpd.h>

#include "exporter/site/site.h"
#include "exporter/http/web_version.h"

/*
 * Queues the answer, whose body or stream is taken, with the headers that config adds (NULL = none). MHD_NO: the
 * connection is to be closed.
 */
enum MHD_Result http_send(struct MHD_Connection *connection, const struct http_answer *a,
	const struct web_config *config);

#endif
