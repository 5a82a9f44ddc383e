/* Chooses the format and the encoding from Accept and Accept-Encoding (RFC 9110, 12.5). */
#include "exporter/site/exposition.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

/* An element of Accept or Accept-Encoding: `token` is a media type or a coding. The other members
 * are its parameters that this file reads. */
struct element {
	struct slice token, version, escaping;
	double q; /* weight; 0 = not acceptable or malformed */
};

/* Escaping schemes for metric names. This program has only ASCII names, which need no escaping. The
 * Content-Type of the answer therefore repeats the scheme that the client requested. */
static const char *const escapings[] = {"allow-utf-8", "underscores", "dots", "values"};

static bool slice_is_any_case(struct slice s, const char *text)
{
	return s.len == strlen(text) && strncasecmp(s.data, text, s.len) == 0;
}

/* Reads the text up to the next character `stop`, and skips `stop`. A `stop` within a quoted string
 * does not end the piece. */
static bool next_piece(struct scan *s, char stop, struct slice *ret)
{
	const char *first = s->at;
	bool quoted = false;

	if (scan_end(s))
		return false;
	for (; !scan_end(s) && (quoted || *s->at != stop); s->at++) {
		if (quoted && *s->at == '\\' && s->at + 1 < s->end)
			s->at++;
		else if (*s->at == '"')
			quoted = !quoted;
	}
	*ret = slice_trim((struct slice){first, (size_t)(s->at - first)});
	scan_char(s, stop);
	return true;
}

/* Reads a weight, a number from 0 to 1 with at most three decimals. Any other text counts as 0,
 * that is, the client does not accept the element. */
static double weight(struct slice s)
{
	struct scan t = scan_slice(s);
	double q;

	for (size_t i = 0; i < s.len; i++)
		if ((s.data[i] < '0' || s.data[i] > '9') && s.data[i] != '.')
			return 0;
	return s.len <= 5 && scan_double(&t, &q) && scan_end(&t) && q <= 1 ? q : 0;
}

static struct slice unquoted(struct slice s)
{
	if (s.len >= 2 && s.data[0] == '"' && s.data[s.len - 1] == '"')
		return (struct slice){s.data + 1, s.len - 2};
	return s;
}

static bool next_element(struct scan *header, struct element *ret)
{
	struct slice whole, piece, name;

	if (!next_piece(header, ',', &whole))
		return false;
	struct scan s = scan_slice(whole);

	*ret = (struct element){.q = 1};
	next_piece(&s, ';', &ret->token);
	while (next_piece(&s, ';', &piece)) {
		struct scan p = scan_slice(piece);

		if (!scan_until(&p, '=', &name))
			continue;
		struct slice value =
			unquoted(slice_trim((struct slice){p.at, (size_t)(p.end - p.at)}));

		name = slice_trim(name);
		if (slice_is_any_case(name, "q"))
			ret->q = weight(value);
		else if (slice_is_any_case(name, "version"))
			ret->version = value;
		else if (slice_is_any_case(name, "escaping"))
			ret->escaping = value;
	}
	return true;
}

/* Returns false when this exporter has no format for the element of Accept. */
static bool element_format(const struct element *e, enum exposition_format *ret)
{
	/* `version` NULL stands for an element without a version. OpenMetrics without a version is
	 * 0.0.1. */
	static const struct {
		const char *type, *version;
		enum exposition_format format;
	} rows[] = {
		{"application/openmetrics-text", "1.0.0", EXPOSITION_OPENMETRICS_1_0_0},
		{"application/openmetrics-text", "0.0.1", EXPOSITION_OPENMETRICS_0_0_1},
		{"application/openmetrics-text", NULL, EXPOSITION_OPENMETRICS_0_0_1},
		{"text/plain", "1.0.0", EXPOSITION_TEXT_1_0_0},
		{"text/plain", "0.0.4", EXPOSITION_TEXT_0_0_4},
		{"text/plain", NULL, EXPOSITION_TEXT_0_0_4},
		{"text/*", NULL, EXPOSITION_TEXT_0_0_4},
		{"*/*", NULL, EXPOSITION_TEXT_0_0_4},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool version = rows[i].version ? slice_is(e->version, rows[i].version) :
						 e->version.len == 0;

		if (version && slice_is_any_case(e->token, rows[i].type)) {
			*ret = rows[i].format;
			return true;
		}
	}
	return false;
}

static void content_type(struct negotiated *n, struct slice escaping)
{
	/* `escaping`: the escaping scheme in the Content-Type if the client requests none; "" = no
	 * scheme. NULL = the Content-Type never contains a scheme, even if the client requests
	 * one. */
	static const struct {
		const char *type, *escaping;
	} rows[EXPOSITION_FORMATS] = {
		[EXPOSITION_TEXT_0_0_4] = {"text/plain; version=0.0.4; charset=utf-8", NULL},
		[EXPOSITION_TEXT_1_0_0] = {"text/plain; version=1.0.0; charset=utf-8",
			"allow-utf-8"},
		[EXPOSITION_OPENMETRICS_1_0_0] =
			{"application/openmetrics-text; version=1.0.0; charset=utf-8", ""},
		[EXPOSITION_OPENMETRICS_0_0_1] =
			{"application/openmetrics-text; version=0.0.1; charset=utf-8", ""},
	};
	const char *said = rows[n->format].escaping;

	for (size_t i = 0; said && i < ARRAY_LEN(escapings); i++)
		if (slice_is(escaping, escapings[i]))
			said = escapings[i];
	snprintf(n->content_type, sizeof n->content_type, "%s%s%s", rows[n->format].type,
		said && *said ? "; escaping=" : "", said ? said : "");
}

struct negotiated negotiate(const char *accept)
{
	struct negotiated n = {.format = EXPOSITION_TEXT_0_0_4};
	struct scan s = SCAN(accept ? accept : "", accept ? strlen(accept) : 0);
	struct element e;
	struct slice escaping = {"", 0};
	double best = 0;

	while (next_element(&s, &e)) {
		enum exposition_format f;

		if (e.q > best && element_format(&e, &f)) {
			best = e.q;
			n.format = f;
			escaping = e.escaping;
		}
	}
	content_type(&n, escaping);
	return n;
}

bool negotiate_gzip(const char *accept_encoding)
{
	struct scan s = SCAN(accept_encoding ? accept_encoding : "",
		accept_encoding ? strlen(accept_encoding) : 0);
	struct element e;
	bool any = false;

	while (next_element(&s, &e)) {
		if (slice_is_any_case(e.token, "gzip") || slice_is_any_case(e.token, "x-gzip"))
			return e.q > 0;
		if (slice_is(e.token, "*"))
			any = e.q > 0;
	}
	return any;
}
