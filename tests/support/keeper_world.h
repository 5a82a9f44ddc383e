/*
 * A Keeper that exists only here, with a clock that moves when the client waits, and one fault at any call. For
 * the unit test of the Keeper client.
 */
#ifndef TESTS_SUPPORT_KEEPER_WORLD_H
#define TESTS_SUPPORT_KEEPER_WORLD_H

#include "exporter/catalogue/keeper.h"

#define WORLD_URL "http://keeper.test"

enum fault {
	FAULT_NONE,
	FAULT_NO_ANSWER,
	FAULT_TIMEOUT,
	FAULT_TOO_MANY,      /* 429 */
	FAULT_TOO_MANY_TOLD, /* 429 with Retry-After */
	FAULT_BUSY,          /* 503 */
	FAULT_BROKEN,        /* 500 with a page of HTML */
	FAULT_HTML,          /* 200 with a page of HTML */
	FAULT_CUT,           /* 200, half of the body */
	FAULT_OTHER_JSON,    /* 200, JSON of another shape */
	FAULT_UNPROCESSABLE, /* 422: for good */
	FAULT_UNAUTHORIZED,  /* 401: for good */
	FAULT_TOO_LONG,      /* for good */
	FAULTS,
};

struct world {
	double seconds; /* since the beginning */
	unsigned calls, servers_calls, not_modified;
	double call_at[4096];
	double call_credits[4096];
	unsigned fail_call; /* number of the call that fails, from 1; 0 = none */
	unsigned fail_times;
	enum fault fault;
	int stop_after_waits; /* < 0 = never */
	const char *hash, *extra_url;
	bool no_header, changed; /* no X-Total-Count; other ETags */
	unsigned aws_servers, hcloud_servers;
	double rate_limit; /* told with each answer; 0 = untold */
	double claimed;    /* more servers than there are */
};

struct world new_world(void);
struct world small_world(void); /* two pages and one, so that every call can fail in turn */

/* The calls of struct keeper_transport; context is a struct world. */
int world_get(void *context, const char *url, const char *etag, struct http_response *ret,
	struct err *e);
bool world_wait(void *context, double seconds);
struct wall world_now(void *context);
double world_random(void *context);

#endif
