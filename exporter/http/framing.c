#include "exporter/http/framing.h"

#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

/* Headers that may occur only once in a request. RFC 9112 (6.3 and 3.2) names the first three; the
 * others decide whether the request is allowed. If such a header occurred twice, a proxy might use
 * the first value and this server the second. */
static const char *const single[] = {"Content-Length", "Transfer-Encoding", "Host", "Origin",
	"Authorization", "Content-Type", "Sec-Fetch-Site"};
enum { LENGTH, ENCODING };

_Static_assert(ARRAY_LEN(single) == FRAMING_SINGLE, "one count for each header");

/* Returns true for a name that results from a bug of libmicrohttpd 0.9.75: it appends a
 * continuation line to the name of a header without a value. The lines "Content-Length:" and " 57"
 * become a header "Content-Length57", while a proxy sees the length 57. Returns false for a name
 * such as "Origin-Agent-Cluster", which is a real header. */
static bool is_glued_to(const char *name, const char *known)
{
	size_t n = strlen(known);

	return strncasecmp(name, known, n) == 0 && name[n] && name[n] != '-';
}

void framing_add(struct framing *f, const char *name, const char *value)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < ARRAY_LEN(single); i++) {
		f->times[i] += strcasecmp(name, single[i]) == 0;
		f->odd |= is_glued_to(name, single[i]);
	}
	if (strcasecmp(name, single[ENCODING]) == 0)
		f->odd |= !value || strcasecmp(value, "chunked") != 0;
	/* This program ignores "Content-Length : 5" as an unknown header, but some proxies use the
	 * length. */
	f->odd |= n == 0 || strchr(" \t", name[n - 1]) != NULL;
}

/* Returns true when the request line names a host that differs from the Host header. The host in
 * "GET http://name/ HTTP/1.1" overrides the header (RFC 9112, 3.2.2). */
static bool names_another_host(const char *target, const char *host)
{
	if (!host || strncasecmp(target, "http://", strlen("http://")) != 0)
		return false;
	const char *named = target + strlen("http://");
	size_t n = strcspn(named, "/?");

	return n != strlen(host) || strncasecmp(named, host, n) != 0;
}

bool framing_is_ambiguous(const struct framing *f, const char *target, const char *version,
	const char *host)
{
	/* HTTP/1.0 does not know chunked bodies, so a proxy may treat the chunks as the next
	 * request (RFC 9112, 6.1). */
	bool old_chunks = f->times[ENCODING] && strcmp(version, "HTTP/1.0") == 0, twice = false;

	for (size_t i = 0; i < ARRAY_LEN(single); i++)
		twice |= f->times[i] > 1;
	return f->odd || twice || old_chunks || (f->times[LENGTH] && f->times[ENCODING]) ||
	       names_another_host(target, host);
}

uint64_t framing_length(const char *content_length)
{
	struct scan s = SCAN(content_length ? content_length : "",
		content_length ? strlen(content_length) : 0);
	uint64_t length;

	return scan_u64(&s, &length) ? length : 0;
}
