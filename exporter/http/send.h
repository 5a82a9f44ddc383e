/* Sends an answer by libmicrohttpd. For http.c alone. */
#ifndef EXPORTER_HTTP_SEND_H
#define EXPORTER_HTTP_SEND_H

#include <microhttpd.h>

#include "exporter/site/site.h"
#include "exporter/http/web_access.h"

/* Takes body and stream of a. config: more headers, or NULL. MHD_NO: close the connection. */
enum MHD_Result http_send(struct MHD_Connection *connection, const struct http_answer *a,
	const struct web_config *config);

#endif
