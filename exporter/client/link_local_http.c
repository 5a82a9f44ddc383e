#include "exporter/client/link_local_http.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/scan.h"

#define BODY_MAX (1u << 20)

struct headers {
	int status;
	bool chunked, has_length;
	uint64_t length;
};

static bool is_header(struct scan *line, const char *name)
{
	size_t len = strlen(name);

	if ((size_t)(line->end - line->at) <= len || strncasecmp(line->at, name, len) != 0 ||
		line->at[len] != ':')
		return false;
	line->at += len + 1;
	scan_blanks(line);
	return true;
}

static bool read_headers(struct scan text, struct headers *ret)
{
	struct headers h = {0};
	struct scan line;
	struct slice version;
	uint64_t status;

	if (!scan_line(&text, &line) || !scan_word(&line, &version) ||
		!slice_starts(version, "HTTP/1.") || !scan_u64(&line, &status) || status < 100 ||
		status > 999)
		return false;
	h.status = (int)status;
	while (scan_line(&text, &line)) {
		if (is_header(&line, "content-length")) {
			if (!scan_u64(&line, &h.length) || h.length > BODY_MAX)
				return false;
			h.has_length = true;
		} else if (is_header(&line, "transfer-encoding")) {
			h.chunked =
				line.end - line.at >= 7 && strncasecmp(line.at, "chunked", 7) == 0;
			if (!h.chunked)
				return false;
		}
	}
	*ret = h;
	return true;
}

static bool scan_hex(struct scan *s, size_t *ret)
{
	const char *start = s->at;
	size_t v = 0;

	for (; s->at < s->end && v <= BODY_MAX; s->at++) {
		const char *digit = memchr("0123456789abcdef", *s->at | 0x20, 16);

		if (!digit || (*s->at < '0'))
			break;
		v = v * 16 + (size_t)(strchr("0123456789abcdef", *digit) - "0123456789abcdef");
	}
	*ret = v;
	return s->at > start && v <= BODY_MAX;
}

/* Decodes a chunked body in place: moves the data of all chunks to the start of `body`, and sets
 * `*ret` to their length. Returns 1 when all chunks have arrived, 0 when more bytes are needed, and
 * -EBADMSG for an invalid chunk. */
static int join_chunks(char *body, size_t len, size_t *ret)
{
	struct scan s = SCAN(body, len), line;
	size_t joined = 0, chunk;

	/* The first pass only checks the chunks, because no data may be moved before the body is
	 * complete. */
	for (int pass = 0; pass < 2; pass++) {
		s = SCAN(body, len);
		joined = 0;
		for (;;) {
			if (!memchr(s.at, '\n', (size_t)(s.end - s.at)))
				return 0;
			scan_line(&s, &line);
			if (!scan_hex(&line, &chunk))
				return -EBADMSG;
			if (chunk == 0)
				break;
			if ((size_t)(s.end - s.at) < chunk + 2)
				return 0;
			if (s.at[chunk] != '\r' || s.at[chunk + 1] != '\n')
				return -EBADMSG;
			if (pass)
				memmove(body + joined, s.at, chunk);
			joined += chunk;
			s.at += chunk + 2;
		}
	}
	*ret = joined;
	return 1;
}

static int unfinished(bool ended)
{
	return ended ? -EBADMSG : 0;
}

int link_local_http_read(char *data, size_t len, bool ended, struct link_local_answer *ret)
{
	char *end = memmem(data, len, "\r\n\r\n", 4);
	struct headers h;

	if (!end)
		return unfinished(ended);
	if (!read_headers(SCAN(data, end + 2 - data), &h))
		return -EBADMSG;
	struct link_local_answer a = {.status = h.status, .body = end + 4};
	size_t there = len - (size_t)(a.body - data);

	if (h.chunked) {
		int code = join_chunks(a.body, there, &a.len);

		if (code <= 0)
			return code ? code : unfinished(ended);
	} else if (h.has_length) {
		if (there < h.length)
			return unfinished(ended);
		a.len = (size_t)h.length;
	} else {
		if (!ended)
			return 0;
		a.len = there;
	}
	*ret = a;
	return 1;
}
