/* Checks names and passwords of users. A bcrypt hash takes 70 ms or more to compute, by design. A
 * separate thread computes one hash at a time, and the request is suspended. The results are
 * cached: a scraper, which always sends the same password from the same address, waits only once.
 *
 * Limits slow down guessing:
 * - One password is checked at a time.
 * - Only one password of each client address may wait for its check, and at most
 *   WEB_USERS_WAITING_MAX requests in total.
 * - struct failure_limit limits how many wrong passwords an address may send.
 *
 * If the same address has sent this right password before, the request is allowed at once, even if
 * wrong passwords come from the address, too. If only other addresses have sent it, the limits
 * apply. Otherwise a quick answer would tell a guesser that the password is right.
 *
 * Any thread may call these functions. */
#ifndef EXPORTER_HTTP_WEB_USERS_H
#define EXPORTER_HTTP_WEB_USERS_H

#include "collectors/base/clock.h"
#include "exporter/http/web_config.h"

struct web_users;

/* The decision about a request, with the status of its answer. */
enum web_entry {
	WEB_ENTER,
	WEB_WAIT,              /* the password is being checked: call again after `resume` */
	WEB_NO_CONFIG,         /* 500: the configuration is invalid now */
	WEB_TOO_MANY,          /* 429: above rate_limit */
	WEB_UNAUTHORIZED,      /* 401: no user name, or a wrong name or password */
	WEB_OVERLOADED,        /* 503: too many passwords wait */
	WEB_TOO_MANY_FAILURES, /* 503: too many wrong passwords from this address */
};

/* Maximum number of requests that wait for the check of a password. */
#define WEB_USERS_WAITING_MAX 32

/* Starts the thread that checks passwords. It is not started later, when the first password
 * arrives, because starting a thread may fail then. */
int web_users_start(struct web_users **ret, struct err *e);
/* Call it after web_users_stop. Frees `u`. If a password is being checked, the checking thread
 * frees `u` after the check. NULL does nothing. */
void web_users_free(struct web_users *u);

/* Resumes all waiting requests. Later requests whose password has no cached result get
 * WEB_OVERLOADED. */
void web_users_stop(struct web_users *u);

struct web_question {
	const struct web_config *config;
	/* NULL = the request has none and is refused with WEB_UNAUTHORIZED */
	const char *name, *password;
	uint64_t address; /* identifies the client's address (peer_number) */
	/* true = the request has a token, so it is allowed without a user */
	bool trusted;
	/* Called once at the end of the check if the result is WEB_WAIT. The call comes from
	 * another thread, perhaps even before web_users_ask returns. If `resume` is NULL, no check
	 * is started: WEB_WAIT then means that there is no cached result. */
	void (*resume)(void *context);
	void *context;
};
enum web_entry web_users_ask(struct web_users *u, const struct web_question *q);

/* Limits wrong passwords with one token bucket for each client address. Each wrong password takes a
 * token. A bucket has at most FAILURE_BURST tokens and gains one token every FAILURE_SECONDS. Full
 * buckets are not stored. When FAILURE_ADDRESSES buckets are stored, all further addresses share
 * one bucket. The functions do not lock; the caller does. */
#define FAILURE_BURST     10
#define FAILURE_SECONDS   1
#define FAILURE_ADDRESSES 512

/* Begin with all members 0: no wrong passwords. */
struct failure_limit {
	struct failure_bucket {
		uint64_t address;
		struct mono full_at;
	} of_one[FAILURE_ADDRESSES], of_others;
};

/* Returns true when the bucket of the address is empty, so that its next password must be
 * refused. */
bool failure_limit_reached(const struct failure_limit *l, uint64_t address, struct mono now);
void failure_limit_count(struct failure_limit *l, uint64_t address, struct mono now);

#endif
