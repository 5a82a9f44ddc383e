/* Headers that must not be read in two ways. */
#include "exporter/http/framing.h"

#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

/*
 * What may be there once at most, RFC 9112, 6.3 and 3.2, and what decides who may: of two of them we would take one, and
 * who is before us perhaps the other.
 */
static const char *const single[] = {"Content-Length", "Transfer-Encoding", "Host", "Origin",
	"Authorization", "Content-Type", "Sec-Fetch-Site"};
enum { LENGTH, ENCODING };

_Static_assert(ARRAY_LEN(single) == FRAMING_SINGLE, "a count for each");

/*
 * A value that goes on in the next line is glued to the name by libmicrohttpd (0.9.75): "Content-Length:", " 57" is a header
 * called "Content-Length57", and the length to some. No header that is known begins like one of these without a "-" in between.
 */
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
	/* "Content-Length : 5" is another header to us, and the length to some. */
	f->odd |= n == 0 || strchr(" \t", name[n - 1]) != NULL;
}

/* "GET http://name/ HTTP/1.1", as to a proxy: it is for that name, RFC 9112, 3.2.2. */
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
	/* HTTP/1.0 has no chunks: who is before us may take them for the next request (RFC 9112, 6.1). */
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
