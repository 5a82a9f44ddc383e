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
	PARAMETER_CHOICE, /* one of choice's words, in any case; stored in choice's spelling */
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

/* The client of a Unix socket; unknown for TCP. */
struct peer {
	bool local;
	uid_t uid;
	pid_t pid; /* in our PID namespace; 0 = not in it */
};

/* Checked values of one request. Texts live as long as the request. */
struct arguments {
	const struct parameter *parameters; /* name NULL ends */
	bool flags;        /* sentences call the parameters --job-name, not job_name */
	struct slice body; /* body of a change; valid until the reply */
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
 * Finds the parameter of a query key (with [] when it repeats) or of a flag without its --; NULL:
 * none.
 */
const struct parameter *route_parameter_find(const struct parameter *parameters, const char *name);

/*
 * Appends the accepted values in words: "a whole number from 1 to 1000", "a number of MiB from 0 to
 * 1000000000".
 */
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

/*
 * The same, with an array of names under the key `list`, as "did_you_mean". names: NULL ends; may
 * be NULL.
 */
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
	/* Appends the text of --help after the parameters; NULL = none. */
	void (*explain)(struct buf *out);
	/*
	 * Reads the history, which takes seconds when it is long, locked, or on a disk that hangs.
	 * Over HTTP the slow queue answers it (exporter/http/slow_queue.h), so that no scrape
	 * waits.
	 */
	bool takes_long;
	bool of_samples; /* reads all samples of a run, which takes longest: has a slow queue of its own */
};

/*
 * Answers a query of the program itself. pairs: parameter and value, valid during the call; name
 * NULL ends.
 */
int route_ask(struct app *app, const struct route *route, const char *const pairs[][2],
	struct reply *r, struct err *e);

extern const struct route *const all_routes[]; /* NULL-terminated; made by CMake */

/*
 * Changes, requested by POST: exporter/routes/post_NAME.c, ending in route_post_NAME. The body is
 * JSON of at most CHANGE_BODY_MAX bytes. exporter/site/change.h says who may make changes. {name}
 * between slashes of the path fills the parameter of that name. command is NULL. answer is called
 * by several threads.
 */
extern const struct route *const all_changes[];

#define CHANGE_BODY_MAX ((size_t)256 * 1024)

#endif
