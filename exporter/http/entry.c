#include "exporter/http/entry.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <gnutls/gnutls.h>

#include "collectors/base/mem.h"
#include "exporter/http/peer.h"

static uint64_t address_number(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return peer_number(info ? info->client_addr : NULL);
}

static void resume(void *context)
{
	MHD_resume_connection(context);
}

/* Returns NAME:PASSWORD from "Authorization: Basic BASE64" (RFC 7617), or NULL. The caller frees
 * the text. libmicrohttpd's own parser is not used, because it accepts only the spelling "Basic".
 * "basic" must be accepted, too (RFC 9110, 11.1). */
static char *credentials(const struct exchange *x)
{
	const char *header = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND,
		MHD_HTTP_HEADER_AUTHORIZATION);
	static const char scheme[] = "Basic ";

	if (!header || strncasecmp(header, scheme, strlen(scheme)) != 0)
		return NULL;
	AUTO(freep) char *text = xstrdup(header + strlen(scheme));
	char *begin = text + strspn(text, " ");
	gnutls_datum_t in = {(unsigned char *)begin, (unsigned)strcspn(begin, " \t")}, out;
	char *ret = NULL;

	if (gnutls_base64_decode2(&in, &out) == 0) {
		/* Refuse a text with a NUL, because the password check would ignore the bytes after
		 * it. */
		if (!memchr(out.data, '\0', out.size)) {
			ret = xmalloc((size_t)out.size + 1);
			memcpy(ret, out.data, out.size);
			ret[out.size] = '\0';
		}
		explicit_bzero(out.data, out.size);
		gnutls_free(out.data);
	}
	explicit_bzero(text, strlen(text));
	return ret;
}

static enum web_entry check(struct web_access *web, struct web_version *v, struct exchange *x,
	bool wait)
{
	char *name = v && web_access_config(v)->n_users ? credentials(x) : NULL;
	size_t len = name ? strlen(name) : 0;
	char *password = name ? strchr(name, ':') : NULL;

	if (password)
		*password++ = '\0';
	struct web_question q = {.name = password ? name : NULL,
		.password = password,
		.address = address_number(x->connection),
		.trusted = x->by_token,
		.resume = wait ? resume : NULL,
		.context = x->connection};
	enum web_entry ret = web_access_check(web, v, &q, x->entry_requested);

	x->entry_requested = true;
	if (name)
		explicit_bzero(name, len);
	free(name);
	return ret;
}

enum web_entry http_entry(struct web_access *web, struct web_version *v, struct exchange *x)
{
	/* The mode of the Unix socket restricts access, so no password is needed. */
	if (exchange_visit(x->connection)->peer.local)
		return WEB_ENTER;
	return x->decided ? x->entry : check(web, v, x, false);
}

void http_entry_wait(struct web_access *web, struct web_version *v, struct exchange *x)
{
	/* Suspend the connection before the check starts, because the check may finish at once. */
	MHD_suspend_connection(x->connection);
	enum web_entry entry = check(web, v, x, true);

	if (entry == WEB_WAIT)
		return;
	x->decided = true;
	x->entry = entry;
	MHD_resume_connection(x->connection);
}

static const struct refusal {
	int status;
	const char *code, *message;
} refusals[] = {
	[WEB_NO_CONFIG] = {500, "bad_web_config",
		"the web configuration file is invalid; the log names the line"},
	[WEB_TOO_MANY] = {429, "too_many_requests", "more requests than rate_limit allows"},
	[WEB_UNAUTHORIZED] = {401, "unauthorized",
		"send the name and the password of a user in basic_auth_users"},
	[WEB_OVERLOADED] = {503, "overloaded",
		"too many passwords are being checked; try again in a second"},
	[WEB_TOO_MANY_FAILURES] = {503, "too_many_failures",
		"too many wrong passwords came from this address; try again in a second"},
};

void http_entry_refusal(struct http_answer *ret, enum web_entry entry)
{
	site_refusal(ret, refusals[entry].status, refusals[entry].code, refusals[entry].message);
}
