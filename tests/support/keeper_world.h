/* A simulated Keeper for the tests of the Keeper client. Its clock moves when the client waits, and
 * any call can have a fault. */
#ifndef TESTS_SUPPORT_KEEPER_WORLD_H
#define TESTS_SUPPORT_KEEPER_WORLD_H

#include "exporter/catalogue/keeper.h"

#define WORLD_URL "http://keeper.test"

enum fault {
	FAULT_NONE,
	FAULT_NO_ANSWER,
	FAULT_TIMEOUT,
	FAULT_TOO_MANY,      /* status 429 */
	FAULT_TOO_MANY_TOLD, /* status 429 with Retry-After */
	FAULT_BUSY,          /* status 503 */
	FAULT_BROKEN,        /* status 500 with a page of HTML */
	FAULT_HTML,          /* status 200 with a page of HTML */
	FAULT_CUT,           /* status 200 with half of the body */
	FAULT_OTHER_JSON,    /* status 200 with JSON of another shape */
	FAULT_UNPROCESSABLE, /* status 422; a retry does not help */
	FAULT_UNAUTHORIZED,  /* status 401; a retry does not help */
	FAULT_TOO_LONG,      /* the body is too long; a retry does not help */
	FAULT_CERTIFICATE,   /* the certificate is not trusted; a retry does not help */
	FAULTS,
};

struct world {
	double seconds; /* seconds since the start of the test */
	unsigned calls, servers_calls, not_modified;
	double call_at[4096];
	double call_credits[4096];
	unsigned fail_call; /* number of the call that fails, from 1; 0 = none */
	unsigned fail_times;
	enum fault fault;
	int stop_after_waits; /* number of waits after which the fetch is stopped; < 0 = never */
	const char *hash, *extra_url;
	bool endless;            /* every page is the first page again */
	bool no_header, changed; /* `no_header`: no X-Total-Count. `changed`: new ETags */
	unsigned aws_servers, hcloud_servers;
	double rate_limit; /* rate limit in each answer's header; 0 = no such header */
	double claimed;    /* X-Total-Count minus the real number of servers */
};

struct world new_world(void);
struct world small_world(void); /* three pages, few enough for a test that lets each call fail */

/* The functions of a struct keeper_transport whose `context` is a struct world. */
int world_get(void *context, const char *url, const char *etag, struct http_response *ret,
	struct err *e);
bool world_wait(void *context, double seconds);
struct wall world_now(void *context);
double world_random(void *context);

#endif
