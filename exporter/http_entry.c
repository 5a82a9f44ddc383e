/* Asking the web configuration about a request. */
#include "exporter/http_entry.h"

#include <string.h>

#include "exporter/peer.h"

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

static enum web_entry ask(struct web *web, struct web_version *v, struct exchange *x, bool wait)
{
	char *password = NULL, *name = NULL;

	if (v && web_config_of(v)->n_users)
		name = MHD_basic_auth_get_username_password(x->connection, &password);
	struct web_question q = {.name = name,
		.password = password,
		.address = address_number(x->connection),
		.trusted = x->by_token,
		.resume = wait ? resume : NULL,
		.context = x->connection};
	enum web_entry ret = web_enter(web, v, &q, x->asked);

	x->asked = true;
	if (password)
		explicit_bzero(password, strlen(password));
	MHD_free(password);
	MHD_free(name);
	return ret;
}

enum web_entry http_entry(struct web *web, struct web_version *v, struct exchange *x)
{
	/* Who may connect to the Unix socket needs no password. */
	if (visit_of(x->connection)->peer.local)
		return WEB_ENTER;
	return x->decided ? x->entry : ask(web, v, x, false);
}

void http_entry_wait(struct web *web, struct web_version *v, struct exchange *x)
{
	MHD_suspend_connection(x->connection);
	enum web_entry entry = ask(web, v, x, true);

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
		"the web configuration is bad; the log says where"},
	[WEB_TOO_MANY] = {429, "too_many_requests", "more requests than rate_limit allows"},
	[WEB_UNAUTHORIZED] = {401, "unauthorized",
		"a user of basic_auth_users and the right password are needed"},
	[WEB_OVERLOADED] = {503, "overloaded",
		"other passwords are being checked; try again in a second"},
	[WEB_TOO_MANY_FAILURES] = {503, "too_many_failures",
		"too many wrong passwords came from this address; try again in a second"},
};

void http_entry_refusal(struct answer *ret, enum web_entry entry)
{
	site_refusal(ret, refusals[entry].status, refusals[entry].code, refusals[entry].message);
}
