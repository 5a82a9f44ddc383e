/* Makes an error message of one sentence: why a transfer failed, and what the user can do. */
#ifndef EXPORTER_CLIENT_FAILURE_H
#define EXPORTER_CLIENT_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/err.h"

/* The facts about a transfer that ended without a complete answer. */
struct failure {
	const char *url;
	int curl;           /* CURLcode of the transfer */
	int proxy_status;   /* status of the proxy's answer to CONNECT; 0 = none, or no proxy */
	const char *reason; /* error text of libcurl; "" = none */
	const char
		*ca_option; /* option that names the file of trusted certificates, "--x.ca-file" */
};

#define HOST_MAX 300

/* Writes the host and the port of a URL, without user and password. */
void url_host(const char *url, char ret[HOST_MAX]);

/* Sets `e` and returns its code:
 * -EKEYREJECTED  the server's certificate is not trusted, or is of another host
 * -EHOSTUNREACH  the host has no address
 * -EHOSTDOWN     the proxy cannot be reached, or refuses
 * -ECONNREFUSED  nothing accepts the connection
 * -ETIMEDOUT     no answer in time
 * -EINVAL        the URL, a redirect or the file of certificates is not valid
 * -EIO           anything else, such as a connection that ended within the answer */
int failure_set(const struct failure *f, struct err *e);

/* Returns true if the same transfer may succeed later: for -ECONNREFUSED, -ETIMEDOUT and -EIO.
 * `*why` then receives the reason in at most four words; `why` may be NULL. */
bool failure_passes(int code, const char **why);

#endif
