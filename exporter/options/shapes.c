/* Texts that are addresses, URLs, paths, names of hosts, and exchange rates. */
#include "exporter/options/shapes.h"

#include <string.h>
#include <strings.h>

#include "exporter/catalogue/rates.h"
#include "exporter/http/listen.h"
#include "exporter/site/site.h"

const struct text_shape shape_address = {.fits = listen_fits, .accepted = LISTEN_ACCEPTED};
const struct text_shape shape_rate = {.fits = rate_fits, .accepted = RATE_ACCEPTED};

/* A user in it would be in the log, in the history, and in answers. */
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
	.accepted = URL_ACCEPTED "; a secret belongs into the file of --forward.token-file",
	.may_hold_secret = true};

static bool is_metrics_path(const char *text)
{
	return text[0] == '/' && !strpbrk(text, "?#% \t\r\n") && !site_needs(text);
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
