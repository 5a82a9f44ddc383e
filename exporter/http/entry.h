/*
 * Whether a request may come in: what the web configuration (exporter/http/web_version.h) says of it. For http.c alone.
 */
#ifndef EXPORTER_HTTP_ENTRY_H
#define EXPORTER_HTTP_ENTRY_H

#include "exporter/http/exchange.h"

/*
 * As the configuration says now, or as was decided already. WEB_WAIT: its password is to be computed, which
 * http_entry_wait has done.
 */
enum web_entry http_entry(struct web *web, struct web_version *v, struct exchange *x);

/*
 * Sets the connection aside until the password is known, before the question is put: the answer may come at once. Then
 * libmicrohttpd goes on with the request, and http_entry is to be asked again.
 */
void http_entry_wait(struct web *web, struct web_version *v, struct exchange *x);

/* The answer to who may not: all but WEB_ENTER and WEB_WAIT. */
void http_entry_refusal(struct http_answer *ret, enum web_entry entry);

#endif
