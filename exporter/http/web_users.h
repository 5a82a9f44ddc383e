/*
 * Are this name and password one of the users? bcrypt takes 70 ms and more by design, so it is never computed where
 * requests are served: a thread of its own does it, one at a time, while the request waits aside, and what came out is
 * kept. Scrapers, who send the same every time from the same address, wait once.
 *
 * Guessing is slow for everybody: one password at a time in all, one waiting for each address, few in all, and of each
 * address no more wrong ones than struct failure_limit has left. That holds for what others sent as well: were a password
 * that is known let in from any address at once, how soon the answer comes would tell it, however many are tried. An address
 * that had it right before has it right at once, whatever else comes from there.
 */
#ifndef EXPORTER_HTTP_WEB_USERS_H
#define EXPORTER_HTTP_WEB_USERS_H

#include "collectors/base/clock.h"
#include "exporter/http/web_config.h"

struct web_users;

enum web_verdict {
	WEB_ALLOWED,
	WEB_DENIED,
	WEB_LATER, /* is being computed: resume will be called, then ask again */
	WEB_BUSY,  /* too many are waiting */
	WEB_SPENT, /* the address has no failure left, and the password is not known of it */
};

/* Most requests that wait for a verdict. */
#define WEB_USERS_WAITING_MAX 32

/* Starts the thread: a password that comes when there is none to be had is checked as any other. */
int web_users_start(struct web_users **ret, struct err *e);
/* Nobody may be waiting (web_users_stop). A password that is being computed ends in its own time. */
void web_users_free(struct web_users *u);

/* Resumes all who wait; from then on the verdict is WEB_BUSY. */
void web_users_stop(struct web_users *u);

struct web_question {
	const struct web_config *config;
	const char *name, *password; /* NULL = none was sent: denied */
	uint64_t address; /* of the asker, any number that is the same for the same one */
	bool trusted;     /* by something better than a password: web_enter asks for no user */
	/*
	 * Called once, from another thread, perhaps before the answer WEB_LATER is there. NULL only looks: WEB_LATER
	 * then means that it would have to be computed.
	 */
	void (*resume)(void *context);
	void *context;
};
enum web_verdict web_users_ask(struct web_users *u, const struct web_question *q);

/*
 * Wrong passwords that an address may still try: a token bucket for each address, which holds FAILURE_BURST and gets one
 * back each FAILURE_SECONDS. A full bucket takes no place; addresses that find no place share one. The caller locks.
 */
#define FAILURE_BURST     10
#define FAILURE_SECONDS   1
#define FAILURE_ADDRESSES 512

/* All zero: no address failed. */
struct failure_limit {
	struct failure_bucket {
		uint64_t address;
		struct mono full_at;
	} of_one[FAILURE_ADDRESSES], of_others;
};

/* Has the address none left? */
bool failure_limit_reached(const struct failure_limit *l, uint64_t address, struct mono now);
void failure_limit_count(struct failure_limit *l, uint64_t address, struct mono now);

#endif
