#include "exporter/client/failure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "collectors/base/mem.h"

/* Values of CURLcode that some versions of curl.h do not define. OLD_PEER_FAILED: the code that
 * libcurl before 7.62 returns for a certificate that is not trusted. */
#define OLD_PEER_FAILED 51
#define PROXY_FAILED    97

#define PROXY_UNAUTHORISED 407

/* For each CURLcode: the errno, the reason, and what the user can do. The first matching row is
 * used. `remedy` may contain one %s, for the option that names the trusted certificates. */
static const struct row {
	int curl, code;
	const char *what, *remedy;
} rows[] = {
	{CURLE_PEER_FAILED_VERIFICATION, -EKEYREJECTED, "its certificate is not trusted",
		"If a proxy of your network signs in its place, name its certificates with %s"},
	{OLD_PEER_FAILED, -EKEYREJECTED, "its certificate is not trusted",
		"If a proxy of your network signs in its place, name its certificates with %s"},
	{CURLE_SSL_CACERT_BADFILE, -EINVAL, "the trusted certificates cannot be read",
		"Name a PEM file with %s, or install the package ca-certificates"},
	{CURLE_SSL_CONNECT_ERROR, -EIO, "no encrypted connection could be made",
		"Check that the URL is right and that it begins with https:// only if the server "
		"speaks TLS"},
	{CURLE_COULDNT_RESOLVE_HOST, -EHOSTUNREACH, "this name has no address",
		"Check the URL and the name server; without a direct way out, set https_proxy"},
	{CURLE_COULDNT_RESOLVE_PROXY, -EHOSTDOWN, "the proxy's name has no address",
		"Correct the variable https_proxy, http_proxy or all_proxy"},
	{PROXY_FAILED, -EHOSTDOWN, "the proxy does not let the connection through",
		"Correct the variable https_proxy, http_proxy or all_proxy"},
	{CURLE_COULDNT_CONNECT, -ECONNREFUSED, "no connection",
		"Check the URL and the firewall; without a direct way out, set https_proxy"},
	{CURLE_OPERATION_TIMEDOUT, -ETIMEDOUT, "no whole answer in time",
		"Try again later; without a direct way out, set https_proxy"},
	{CURLE_URL_MALFORMAT, -EINVAL, "the URL is not valid", "Correct it"},
	{CURLE_UNSUPPORTED_PROTOCOL, -EINVAL, "the URL or a redirect is not of http:// or https://",
		"Correct the URL"},
	{CURLE_TOO_MANY_REDIRECTS, -EIO, "it redirects without end", "Check the URL"},
	{CURLE_PARTIAL_FILE, -EIO, "the connection ended within the answer", "Try again later"},
	{CURLE_GOT_NOTHING, -EIO, "the connection ended before an answer", "Try again later"},
	{CURLE_RECV_ERROR, -EIO, "the connection broke", "Try again later"},
	{CURLE_SEND_ERROR, -EIO, "the connection broke", "Try again later"},
	{CURLE_BAD_CONTENT_ENCODING, -EIO, "the answer's compression is damaged",
		"Try again later"},
};
static const struct row other = {0, -EIO, "no whole answer", "Try again later"};
static const struct row no_http = {0, -EIO, "it does not answer as a web server", "Check the URL"};
static const struct row proxy_unreachable = {0, -EHOSTDOWN, "the proxy cannot be reached",
	"Correct the variable https_proxy, http_proxy or all_proxy"};
static const struct row proxy_refuses = {0, -EHOSTDOWN, "the proxy refuses the connection",
	"Ask its owner to allow this host, or set no_proxy if there is a direct way"};
static const struct row proxy_login = {0, -EHOSTDOWN, "the proxy asks for a user",
	"Write the variable as https_proxy=http://USER:PASSWORD@HOST:PORT"};

void url_host(const char *url, char ret[HOST_MAX])
{
	const char *scheme = strstr(url, "://");
	const char *from = scheme ? scheme + 3 : url;
	size_t n = strcspn(from, "/?#");

	for (size_t i = n; i > 0; i--)
		if (from[i - 1] == '@') {
			from += i;
			n -= i;
			break;
		}
	snprintf(ret, HOST_MAX, "%.*s", (int)(n < HOST_MAX ? n : HOST_MAX - 1), from);
}

/* Returns true when the environment names a proxy for the URL. Like libcurl, does not read
 * HTTP_PROXY, which a web server may set from a header of a request (CGI). */
static bool has_proxy(const char *url)
{
	static const char *const names[] = {"all_proxy", "ALL_PROXY", "https_proxy", "HTTPS_PROXY"};
	const char *http = getenv("http_proxy");

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value && (i < 2 || strncmp(url, "https:", 6) == 0))
			return true;
	}
	return http && *http && strncmp(url, "http:", 5) == 0;
}

static const struct row *row_of(const struct failure *f, const char *host)
{
	char name[HOST_MAX];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(host, ":"), host);
	if (f->proxy_status == PROXY_UNAUTHORISED)
		return &proxy_login;
	if (f->proxy_status && f->proxy_status / 100 != 2)
		return &proxy_refuses;
	/* libcurl's text contains the name of the host that refused the connection. If that is not
	 * the host of the URL, it is the proxy. */
	if (f->curl == CURLE_COULDNT_CONNECT && has_proxy(f->url) && !strstr(f->reason, name))
		return &proxy_unreachable;
	/* libcurl's text is "Received HTTP/0.9 when not allowed" when the server's answer does not
	 * begin with an HTTP header. */
	if (f->curl == CURLE_UNSUPPORTED_PROTOCOL && strstr(f->reason, "HTTP/"))
		return &no_http;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].curl == f->curl)
			return &rows[i];
	return &other;
}

int failure_set(const struct failure *f, struct err *e)
{
	char host[HOST_MAX], remedy[HOST_MAX];

	url_host(f->url, host);
	const struct row *row = row_of(f, host);
	const char *option = strstr(row->remedy, "%s");

	if (option)
		snprintf(remedy, sizeof remedy, "%.*s%s%s", (int)(option - row->remedy),
			row->remedy, f->ca_option, option + 2);
	else
		snprintf(remedy, sizeof remedy, "%s", row->remedy);
	return err_set(e, row->code, "%s: %s%s%s%s. %s", host, row->what, *f->reason ? " (" : "",
		f->reason, *f->reason ? ")" : "", remedy);
}

bool failure_passes(int code, const char **why)
{
	static const struct {
		int code;
		const char *why;
	} passing[] = {
		{-ECONNREFUSED, "no connection"},
		{-ETIMEDOUT, "no answer in time"},
		{-EIO, "the connection broke"},
	};

	for (size_t i = 0; i < ARRAY_LEN(passing); i++)
		if (passing[i].code == code) {
			if (why)
				*why = passing[i].why;
			return true;
		}
	return false;
}
