/* The input is used as Accept and as Accept-Encoding. It is also used as the headers of a request,
 * whose first line is the target. Headers that are not ambiguous must give exactly one body
 * length. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"
#include "exporter/site/exposition.h"
#include "exporter/http/framing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Splits headers like libmicrohttpd: blanks around the value are removed, and a line without a
 * colon has no value. */
static void check_framing(const char *text)
{
	AUTO(freep) char *copy = xstrdup(text);
	char *rest = copy, *target = strsep(&rest, "\n"), *name;
	const char *host = NULL, *length = NULL;
	struct framing f = {0};
	unsigned lengths = 0, encodings = 0;
	bool glued = false;

	while ((name = strsep(&rest, "\n"))) {
		char *value = strchr(name, ':');

		if (value) {
			*value++ = '\0';
			value += strspn(value, " \t");
		}
		if (strcasecmp(name, "host") == 0)
			host = value;
		if (strcasecmp(name, "content-length") == 0) {
			length = value;
			lengths++;
		}
		/* libmicrohttpd accepts "Content-Length5" as a header with the value 5. */
		glued |= strncasecmp(name, "content-length", strlen("content-length")) == 0 &&
			 name[strlen("content-length")] >= '0' &&
			 name[strlen("content-length")] <= '9';
		encodings += strcasecmp(name, "transfer-encoding") == 0;
		framing_add(&f, name, value);
	}
	bool ambiguous = framing_is_ambiguous(&f, target, "HTTP/1.1", host);

	assert(ambiguous || (lengths + encodings <= 1 && !glued));
	/* In HTTP/1.0 there is no chunked encoding, so any Transfer-Encoding is ambiguous. */
	assert(framing_is_ambiguous(&f, target, "HTTP/1.0", host) == (ambiguous || encodings > 0));
	assert(length || framing_length(length) == 0);
	framing_length(length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *header = xmalloc(size + 1);

	if (size)
		memcpy(header, data, size);
	header[size] = '\0';
	struct negotiated n = negotiate(header);

	/* None of the client's bytes may get into our header. */
	assert(n.format < EXPOSITION_FORMATS);
	assert(strlen(n.content_type) < sizeof n.content_type - 1);
	assert(strcspn(n.content_type, "\r\n") == strlen(n.content_type));
	negotiate_gzip(header);
	check_framing(header);
	return 0;
}
