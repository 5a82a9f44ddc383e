/* Sends an answer with libmicrohttpd. Only http.c uses this file. */
#ifndef EXPORTER_HTTP_SEND_H
#define EXPORTER_HTTP_SEND_H

#include <microhttpd.h>

#include "exporter/site/site.h"
#include "exporter/http/web_access.h"

/* Sends the answer `a` with the headers that `config` lists (NULL = none). Takes over the body and
 * the stream of `a`. The caller must close the connection when the result is MHD_NO. */
enum MHD_Result http_send(struct MHD_Connection *connection, const struct http_answer *a,
	const struct web_config *config);

#endif
