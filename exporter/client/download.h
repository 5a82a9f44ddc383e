/*
 * GET and POST over HTTP and HTTPS by libcurl, which is loaded when it is first needed: it costs five megabytes. The only
 * file that knows curl.h is download.c.
 *
 * A handle belongs to one thread. TLS is always verified; redirects stay within http(s) and are at most three.
 */
#ifndef EXPORTER_CLIENT_DOWNLOAD_H
#define EXPORTER_CLIENT_DOWNLOAD_H

#include <stdatomic.h>
#include <stddef.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

struct download;

struct download_options {
	const char *user_agent;
	/* Certificates to trust instead of the system's; NULL = the system's. */
	const char *ca_file;
	double connect_seconds, total_seconds;
	size_t max_bytes;        /* of a body, unpacked */
	const atomic_bool *stop; /* set by anyone: ends a transfer within a second; may be NULL */
};

/* -ENOSYS: there is no libcurl on this machine. The options' texts must outlive the handle. */
int download_open(struct download **ret, const struct download_options *o, struct err *e);
void download_close(struct download *d);

/* What came back. Numbers that the answer does not tell are NaN. */
struct http_response {
	int status;
	char etag[256];             /* "" = none */
	double max_age_seconds;     /* Cache-Control; 0 when it must not be kept */
	double retry_after_seconds; /* a day at most, whatever it says */
	double rate_limit, rate_cost, rate_remaining; /* X-RateLimit-*: credits */
	double total_count;                           /* X-Total-Count */
	struct buf body; /* the caller's: reused from answer to answer, in the end buf_done */
};
void response_headers_clear(struct http_response *a); /* body emptied, its room kept */

/* Reads one header line ("Name: value") into a; others are ignored. */
void response_headers_read(struct http_response *a, const char *line, size_t len);

/*
 * 0 when an answer came, whatever its status. etag NULL or "": without If-None-Match. -ECANCELED: stop was set;
 * -E2BIG: longer than max_bytes; -ETIMEDOUT, -EIO, ...: none, or not whole; the sentence says why.
 */
int download_get(struct download *d, const char *url, const char *etag, struct http_response *ret,
	struct err *e);

/* The same for a JSON document; bearer: a token for the header Authorization, or NULL. Follows no redirect. */
int download_post(struct download *d, const char *url, const char *bearer, const char *body,
	size_t len, struct http_response *ret, struct err *e);

#endif
