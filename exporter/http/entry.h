/* Applies the web configuration (web_access.h) to a request. For http.c alone. */
#ifndef EXPORTER_HTTP_ENTRY_H
#define EXPORTER_HTTP_ENTRY_H

#include "exporter/http/exchange.h"

/*
 * The decision of http_entry_wait if there is one, else that of the current configuration.
 * WEB_WAIT: the password must be checked first; call http_entry_wait.
 */
enum web_entry http_entry(struct web_access *web, struct web_version *v, struct exchange *x);

/* Suspends the connection for the password check; then http_entry must be called again. */
void http_entry_wait(struct web_access *web, struct web_version *v, struct exchange *x);

/* The answer for every entry except WEB_ENTER and WEB_WAIT. */
void http_entry_refusal(struct http_answer *ret, enum web_entry entry);

#endif
