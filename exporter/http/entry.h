/* Decides by the web configuration (web_access.h) whether a request is answered. Only http.c uses
 * this file. */
#ifndef EXPORTER_HTTP_ENTRY_H
#define EXPORTER_HTTP_ENTRY_H

#include "exporter/http/exchange.h"

/* Returns whether the request is allowed. WEB_WAIT = the password must be checked first: call
 * http_entry_wait, and http_entry again after the check. */
enum web_entry http_entry(struct web_access *web, struct web_version *v, struct exchange *x);

/* Suspends the connection while another thread checks the password. The connection is resumed after
 * the check. */
void http_entry_wait(struct web_access *web, struct web_version *v, struct exchange *x);

/* Fills the answer for a refused request, that is, for every `entry` except WEB_ENTER and
 * WEB_WAIT. */
void http_entry_refusal(struct http_answer *ret, enum web_entry entry);

#endif
