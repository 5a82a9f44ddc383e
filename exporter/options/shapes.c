#include "exporter/options/shapes.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/scan.h"
#include "collectors/base/utf8.h"
#include "collectors/runs.h"

#define TEXT_OF(number)  TEXT_OF_(number)
#define TEXT_OF_(number) #number

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

bool listen_address_parse(struct listen_address *ret, const char *text)
{
	const char *colon = strrchr(text, ':');
	struct scan s = SCAN(colon ? colon + 1 : "", colon ? strlen(colon + 1) : 0);
	struct listen_address p = {0};
	uint64_t port;

	if (!colon || scan_end(&s) || *s.at < '0' || *s.at > '9' || !scan_u64(&s, &port) ||
		!scan_end(&s) || port > 65535)
		return false;
	struct slice host = {text, (size_t)(colon - text)};

	if (host.len && host.data[0] == '[') {
		if (host.len < 3 || host.data[host.len - 1] != ']')
			return false;
		host = (struct slice){host.data + 1, host.len - 2};
		p.numeric_v6 = true;
	} else if (memchr(host.data, ':', host.len)) {
		return false;
	}
	if (host.len >= sizeof p.host)
		return false;
	slice_copy(host, p.host, sizeof p.host);
	snprintf(p.port, sizeof p.port, "%u", (unsigned)port);
	*ret = p;
	return true;
}

static bool is_listen_address(const char *text)
{
	struct listen_address a;

	return strcmp(text, NO_LISTEN_ADDRESS) == 0 || listen_address_parse(&a, text);
}

const struct text_shape shape_address = {
	.fits = is_listen_address,
	.accepted =
		"HOST:PORT, [IPV6]:PORT or :PORT, with a port from 0 to 65535, or " NO_LISTEN_ADDRESS,
};

bool currency_rate_parse(struct catalogue_currency_rate *ret, const char *text)
{
	size_t len = strcspn(text, "=");
	struct scan s = SCAN(text + len, strlen(text + len));

	*ret = (struct catalogue_currency_rate){0};
	if (len != CURRENCY_CODE_LEN || strspn(text, LETTERS) != len || !scan_char(&s, '=') ||
		!scan_double(&s, &ret->usd) || !scan_end(&s) || !(ret->usd > 0 && ret->usd < 1e9))
		return false;
	memcpy(ret->currency, text, len);
	return true;
}

static bool is_rate(const char *text)
{
	struct catalogue_currency_rate r;

	return currency_rate_parse(&r, text);
}

const struct text_shape shape_rate = {
	.fits = is_rate,
	.accepted = "a currency and the US dollars for one unit of it, such as EUR=1.16",
};

/* Returns true for a URL without a user name and password. A URL with them is refused, because URLs
 * appear in the log, in the history and in answers. */
static bool is_url(const char *text)
{
	size_t scheme = strncasecmp(text, "http://", 7) == 0  ? 7 :
			strncasecmp(text, "https://", 8) == 0 ? 8 :
								0;

	return scheme && text[scheme] && !strchr("/:", text[scheme]) &&
	       !strpbrk(text, "@?#\\ \t\r\n");
}

#define URL_ACCEPTED                                                                               \
	"http://HOST:PORT or https://HOST:PORT, also with a path, and no user, password or query"

const struct text_shape shape_url = {
	.fits = is_url, .accepted = URL_ACCEPTED, .may_hold_secret = true};
const struct text_shape shape_forward_url = {.fits = is_url,
	.accepted = URL_ACCEPTED "; put a secret into the file of --forward.token-file",
	.may_hold_secret = true};

const struct text_shape shape_store_url = {.fits = is_url,
	.accepted = URL_ACCEPTED "; put a secret into the file of --store.token-file",
	.may_hold_secret = true};

/* Returns true for "NAME: VALUE". The name must consist of letters, digits and "-_.", which are
 * some of the characters that RFC 9110 allows. */
static bool is_header(const char *text)
{
	size_t name = strspn(text, LETTERS "0123456789-_.");

	return name && text[name] == ':' && text[name + 1 + strspn(text + name + 1, " ")] &&
	       !strpbrk(text, "\r\n");
}

const struct text_shape shape_header = {
	.fits = is_header,
	.accepted = "NAME: VALUE on one line",
	.may_hold_secret = true,
};

static bool is_metrics_path(const char *text)
{
	return text[0] == '/' && !strpbrk(text, "?#% \t\r\n");
}

const struct text_shape shape_metrics_path = {
	.fits = is_metrics_path,
	.accepted = "a path such as /metrics that nothing else is at, without ?, #, % and blanks",
};

static bool is_host_name(const char *text)
{
	return !strpbrk(text, "/:@[] \t\r\n") &&
	       (strchr(text, '*') == NULL || strcmp(text, "*") == 0);
}

const struct text_shape shape_host_name = {
	.fits = is_host_name,
	.accepted = "a name without a port, .NAME for all names below it, or *",
};

static bool is_job_name(const char *text)
{
	return strlen(text) < JOB_NAME_MAX && utf8_plain(text);
}

const struct text_shape shape_job_name = {
	.fits = is_job_name,
	.accepted = "UTF-8 text of less than " TEXT_OF(
		JOB_NAME_MAX) " bytes without control characters",
};

static bool is_job_space(const char *text)
{
	return strlen(text) < JOB_SPACE_MAX && utf8_plain(text);
}

const struct text_shape shape_job_space = {
	.fits = is_job_space,
	.accepted = "UTF-8 text of less than " TEXT_OF(
		JOB_SPACE_MAX) " bytes without control characters",
};
