/* Sends an answer by libmicrohttpd. For http.c alone. */
#ifndef EXPORTER_HTTP_SEND_H
#define EXPORTER_HTTP_SEND_H

#include <microhttpd.h>

#include "exporter/site/site.h"
#include "exporter/http/web_access.h"

/*
 * Queues the answer with the headers of config (NULL: none). Takes the body and the stream. MHD_NO: libmicrohttpd must close
 * the connection.
 */
enum MHD_Result http_send(struct MHD_Connection *connection, const struct http_answer *a,
	const struct web_config *config);

#endif
