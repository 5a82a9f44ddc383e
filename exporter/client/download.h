/* Sends GET and POST requests over HTTP and HTTPS. download_open loads libcurl, which takes 5 MB of
 * memory. A handle belongs to one thread. TLS certificates are always verified. Only download_get
 * follows redirects: at most three, and only to http and https. */
#ifndef EXPORTER_CLIENT_DOWNLOAD_H
#define EXPORTER_CLIENT_DOWNLOAD_H

#include <stdatomic.h>
#include <stddef.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

struct download;

struct download_options {
	const char *user_agent;
	const char *ca_file; /* path of all trusted certificates; NULL = the system's */
	/* name of the option that sets ca_file, for error messages: "--x.ca-file" */
	const char *ca_option;
	double connect_seconds, total_seconds;
	/* a transfer is aborted when no byte arrives for this many seconds; 0 = no such limit */
	double idle_seconds;
	size_t max_bytes; /* largest size of a decompressed body */
	/* Any thread may set *stop to true: a running transfer is then aborted within 1 s. `stop`
	 * may be NULL. */
	const atomic_bool *stop;
};

/* Loads libcurl and opens a handle. Returns -ENOSYS when libcurl is missing or older than 7.61
 * (2018). `o` and its texts must outlive the handle. */
int download_open(struct download **ret, const struct download_options *o, struct err *e);
void download_close(struct download *d);

/* One response. A number is NaN when its header is missing. */
struct http_response {
	int status;
	char etag[256];                               /* ETag; "" = none */
	double max_age_seconds;                       /* max-age; 0 = do not cache */
	double retry_after_seconds;                   /* Retry-After, at most one day */
	double rate_limit, rate_cost, rate_remaining; /* X-RateLimit-Limit, -Cost and -Remaining */
	double total_count;                           /* value of X-Total-Count */
	struct buf body; /* owned by the caller, who calls buf_done; reused by each transfer */
};
void response_headers_clear(struct http_response *a); /* empties the body, keeps its buffer */

/* Stores one header line ("Name: value") in `a`. Ignores headers that have no member in `a`. */
void response_headers_read(struct http_response *a, const char *line, size_t len);

/* Sends a GET request, with `etag` as If-None-Match unless it is NULL or "". Returns 0 when a
 * complete response was received, whatever its status. Returns -ECANCELED when the transfer was
 * aborted by *stop, and -E2BIG when the body is longer than max_bytes. For any other failure,
 * returns a code of failure_set (exporter/client/failure.h). */
int download_get(struct download *d, const char *url, const char *etag, struct http_response *ret,
	struct err *e);

/* Like download_get, for a server that requires a token. `bearer` is the token for the header
 * Authorization, `accept` the value of the header Accept. Redirects are not followed, because
 * another host must not get the token. */
int download_get_as(struct download *d, const char *url, const char *bearer, const char *accept,
	struct http_response *ret, struct err *e);

/* A POST request. */
struct download_post {
	const char *url, *content_type;
	const char *body;
	size_t len;
	const char *bearer;        /* token for the header Authorization; NULL = none */
	const char *user_password; /* "USER:PASSWORD" for the header Authorization; NULL = none */
	const char *const *header; /* further headers, "NAME: VALUE"; ends with NULL; NULL = none */
};

/* Sends a POST request. Redirects are not followed. The result is as in download_get. */
int download_post(struct download *d, const struct download_post *p, struct http_response *ret,
	struct err *e);

#endif
