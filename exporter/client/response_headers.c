/* Parses the headers of a response. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/client/download.h"

#define LONGEST_RETRY_AFTER 86400.0 /* seconds; a server must not delay this client for longer */

void response_headers_clear(struct http_response *a)
{
	struct buf body = a->body;

	buf_reset(&body);
	*a = (struct http_response){.max_age_seconds = NAN,
		.retry_after_seconds = NAN,
		.rate_limit = NAN,
		.rate_cost = NAN,
		.rate_remaining = NAN,
		.total_count = NAN,
		.body = body};
}

static void read_number(struct scan value, double most, double *ret)
{
	double v;

	if (scan_double(&value, &v) && v >= 0)
		*ret = fmin(v, most);
}

/* Reads the value of Cache-Control. Sets `*ret` to max-age in seconds, or to 0 for no-store or
 * no-cache. */
static void read_cache_control(struct scan value, double *ret)
{
	double age = NAN;
	bool keep = true;

	while (!scan_end(&value)) {
		struct scan word;
		struct slice part;
		struct scan rest = value;

		scan_blanks(&rest);
		if (!scan_until(&rest, ',', &part)) {
			part = (struct slice){rest.at, (size_t)(rest.end - rest.at)};
			rest.at = rest.end;
		}
		word = scan_slice(part);
		if (scan_literal(&word, "no-store") || scan_literal(&word, "no-cache"))
			keep = false;
		else if (scan_literal(&word, "max-age="))
			read_number(word, INFINITY, &age);
		value = rest;
	}
	*ret = keep ? age : 0;
}

static const struct {
	const char *name;
	size_t offset; /* offset of a double in struct http_response */
	double most;
} numbers[] = {
	{"retry-after", offsetof(struct http_response, retry_after_seconds), LONGEST_RETRY_AFTER},
	{"x-ratelimit-limit", offsetof(struct http_response, rate_limit), INFINITY},
	{"x-ratelimit-cost", offsetof(struct http_response, rate_cost), INFINITY},
	{"x-ratelimit-remaining", offsetof(struct http_response, rate_remaining), INFINITY},
	{"x-total-count", offsetof(struct http_response, total_count), INFINITY},
};

static bool name_is(struct slice name, const char *wanted)
{
	return name.len == strlen(wanted) && strncasecmp(name.data, wanted, name.len) == 0;
}

/* Stores an ETag, which the next request sends in If-None-Match. A long ETag is ignored. An ETag
 * with control characters is ignored, too, because they could add another header to the request. */
static void read_etag(struct slice value, char *ret, size_t size)
{
	for (size_t i = 0; i < value.len; i++)
		if (iscntrl((unsigned char)value.data[i]))
			return;
	if (value.len < size)
		slice_copy(value, ret, size);
}

void response_headers_read(struct http_response *a, const char *line, size_t len)
{
	struct scan value = SCAN(line, len);
	struct slice name;

	if (!scan_until(&value, ':', &name))
		return;
	value = scan_slice(slice_trim(scan_rest(&value)));
	if (name_is(name, "etag")) {
		read_etag(scan_rest(&value), a->etag, sizeof a->etag);
	} else if (name_is(name, "cache-control")) {
		read_cache_control(value, &a->max_age_seconds);
	} else {
		for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
			if (name_is(name, numbers[i].name))
				read_number(value, numbers[i].most,
					(double *)(void *)((char *)a + numbers[i].offset));
	}
}
