/*
 * One row says everything about a question that can be asked: over HTTP (GET path?parameters) and
 * from the command line (the same parameters as flags). Routes are listed in
 * exporter/CMakeLists.txt; each is exporter/routes/get_NAME.c, which ends in
 *
 *	const struct route route_NAME = { .path = "/name", ... };
 *
 * A route answers on a thread of HTTP, or of a desk (takes_long), or in the command-line process; it reads only what
 * struct app gives it, and fills a reply. Parameters are checked before it is called: what it gets is complete and in
 * range.
 */
#ifndef EXPORTER_API_ROUTE_H
#define EXPORTER_API_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/scan.h"

struct app; /* exporter/core/app.h */

enum parameter_kind {
	PARAMETER_TEXT,   /* valid UTF-8 without control characters, least..most bytes */
	PARAMETER_COUNT,  /* whole number, least..most */
	PARAMETER_NUMBER, /* finite decimal number, least..most */
	PARAMETER_CHOICE, /* one of what choice gives, in any case; kept as choice spells it */
	PARAMETER_FLAG,   /* true, false, 1, 0; empty means true */
};

struct parameter {
	const char *name;    /* query key; the flag is --name with - for _ */
	const char *also[2]; /* other names for the same; NULL = none */
	enum parameter_kind kind;
	bool required, repeats; /* repeats: name=a&name=b, or name[]=a */
	const char *fallback;   /* value when absent; NULL = absent */
	double least, most;
	const char *unit;                /* of a number, in the plural; NULL = it has none */
	const char *(*choice)(size_t i); /* the i-th accepted word; NULL past the last */
	const char *help;                /* one sentence without a full stop */
};

#define PARAMETERS_MAX       64 /* rows of one route */
#define PARAMETER_VALUES_MAX 64 /* values of one repeated parameter */
#define PARAMETER_TEXT_MAX   1024

/* Who asks: known of those that come by a Unix socket only. */
struct peer {
	bool local;
	uid_t uid;
	pid_t pid; /* in our PID namespace; 0 = not in it */
};

/* Checked values of one request. Texts live as long as the request. */
struct arguments {
	const struct parameter *parameters; /* name NULL ends */
	bool flags;        /* sentences call the parameters --job-name, not job_name */
	struct slice body; /* of a change; valid until it is answered */
	struct peer peer;
	struct {
		size_t n;
		const char *text[PARAMETER_VALUES_MAX];
		double number;
		bool flag;
	} value[PARAMETERS_MAX];
};

/* name must be a parameter of the route. */
const char *argument_text(const struct arguments *a, const char *name); /* NULL when absent */
size_t argument_texts(const struct arguments *a, const char *name, const char *const **ret);
double argument_number(const struct arguments *a, const char *name); /* NaN when absent */
size_t argument_count(const struct arguments *a, const char *name);  /* 0 when absent */
bool argument_flag(const struct arguments *a, const char *name);     /* false when absent */

/*
 * Checks one name and value and stores it in a; both must live as long as a. Unknown name, value
 * out of range, a second value for what does not repeat, a missing required one (arguments_finish):
 * -EINVAL, and the sentence names the parameter, the value and what is accepted.
 */
void arguments_begin(struct arguments *a, const struct parameter *parameters);
int arguments_add(struct arguments *a, const char *name, const char *value, struct err *e);
int arguments_finish(struct arguments *a, struct err *e); /* fallbacks, required ones */

/*
 * The parameter that a query key (also with [] when it repeats) or a flag without its -- stands
 * for, or NULL.
 */
const struct parameter *route_parameter_find(const struct parameter *parameters, const char *name);

/* "a whole number from 1 to 1000", "a number of MiB from 0 to 1000000000": what is accepted, in words. */
void route_parameter_accepts(const struct parameter *p, struct buf *out);

#define REPLY_BODY_MAX (64u << 20)

struct reply {
	int status; /* 200 unless set */
	const char *content_type;
	struct buf body;
};

/*
 * A JSON error: {"error":{"code":"bad_parameter","message":"..."}}. code is snake_case and part of the interface.
 * Returns 0, so that a route can end with it.
 */
int reply_error(struct reply *r, int status, const char *code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same with names (NULL ends; NULL = none) in an array below the key list, such as "did_you_mean". */
int reply_error_list(struct reply *r, int status, const char *code, const char *list,
	const char *const *names, const char *format, ...) __attribute__((format(printf, 6, 7)));

struct route {
	const char *path;
	const char *command; /* command-line word, or NULL when there is none */
	const char *help;    /* one sentence without a full stop */
	const struct parameter *parameters;
	/*
	 * 0 when the reply is filled (an error reply, too); negative errno = 500 with e's sentence.
	 */
	int (*answer)(struct app *app, const struct arguments *a, struct reply *r, struct err *e);
	/* What --help says after the parameters; NULL = nothing. */
	void (*explain)(struct buf *out);
	/*
	 * Reads the history, which takes seconds when it is long, locked, or on a disk that hangs: over HTTP it is answered at
	 * the desk (exporter/http/slow_queue.h), as nothing that serves scrapes waits for it.
	 */
	bool takes_long;
	bool of_samples; /* of whole runs, which takes longest: others do not wait for these */
};

/* Answers a question of our own: pairs of parameter and value, which live as long as the call; name NULL ends. */
int route_ask(struct app *app, const struct route *route, const char *const pairs[][2],
	struct reply *r, struct err *e);

extern const struct route *const all_routes[]; /* NULL-terminated; made by CMake */

/*
 * What changes something: exporter/routes/post_NAME.c, ending in route_post_NAME, asked by POST with a JSON body of at
 * most CHANGE_BODY_MAX bytes, and only by who may (exporter/site/change.h). Its path may hold {name} between
 * slashes, which fills the parameter of that name; command is NULL. answer may come from several threads.
 */
extern const struct route *const all_changes[];

#define CHANGE_BODY_MAX ((size_t)256 * 1024)

#endif
