/* Checks names and passwords of users. bcrypt takes 70 ms and more by design, so a separate thread
 * computes one hash at a time while the request is suspended. The results of the checks are cached.
 * A scraper always sends the same password from the same address, so it waits only once.
 *
 * Limits slow down guessing:
 * - One password is checked at a time.
 * - For each client address, only one password may wait for its check. In total,
 *   WEB_USERS_WAITING_MAX requests may wait.
 * - struct failure_limit limits the wrong passwords of an address.
 *
 * If a password was right only for other client addresses so far, the limits still apply. Otherwise
 * a quick answer would tell a guesser that the password is right. If a password was right for the
 * same address before, the request is allowed at once, even if wrong passwords come from this
 * address, too.
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

/* Starts the thread at once, because no thread may be available when the first password arrives. */
int web_users_start(struct web_users **ret, struct err *e);
/* Frees `u`. If a check is running, the checking thread frees `u` when the check ends. Call it
 * after web_users_stop. NULL does nothing. */
void web_users_free(struct web_users *u);

/* Resumes all waiting requests. Later requests whose password has no cached result get
 * WEB_OVERLOADED. */
void web_users_stop(struct web_users *u);

struct web_question {
	const struct web_config *config;
	const char *name, *password; /* NULL = the request has none, and gets WEB_UNAUTHORIZED */
	uint64_t address;            /* identifies the client's address (peer_number) */
	/* true = the request has a token, so it is allowed without a user */
	bool trusted;
	/* Called once when the wait is over, from another thread, perhaps before WEB_WAIT is
	 * returned. If `resume` is NULL, only cached results are used. WEB_WAIT then means that
	 * there is none, so the password must be checked. */
	void (*resume)(void *context);
	void *context;
};
enum web_entry web_users_ask(struct web_users *u, const struct web_question *q);

/* Limits wrong passwords by a token bucket for each address. A bucket has at most FAILURE_BURST
 * tokens and gains one token every FAILURE_SECONDS. A full bucket is not stored. When
 * FAILURE_ADDRESSES buckets are stored, all further addresses share one bucket. The caller
 * locks. */
#define FAILURE_BURST     10
#define FAILURE_SECONDS   1
#define FAILURE_ADDRESSES 512

/* All zero = no wrong passwords yet. */
struct failure_limit {
	struct failure_bucket {
		uint64_t address;
		struct mono full_at;
	} of_one[FAILURE_ADDRESSES], of_others;
};

/* Returns true when the bucket of the address is empty. */
bool failure_limit_reached(const struct failure_limit *l, uint64_t address, struct mono now);
void failure_limit_count(struct failure_limit *l, uint64_t address, struct mono now);

#endif
