/* A route answers one kind of query. The query comes from an HTTP client (GET path?parameters), or
 * from the command line, with the same parameters as flags. exporter/CMakeLists.txt lists the
 * routes. Each route is a file exporter/routes/get_NAME.c that ends in
 *
 * const struct route route_NAME = { .path = "/name", ... };
 *
 * Three kinds of threads call route.answer: a thread of the HTTP server, the thread of a slow queue
 * (if `takes_long`), and the main thread of a command. The function reads only data that struct app
 * provides, and fills a reply. The arguments are complete and in range, because they were checked
 * before. */
#ifndef EXPORTER_API_ROUTE_H
#define EXPORTER_API_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/job_key.h"
#include "collectors/base/scan.h"

struct app; /* exporter/core/app.h */

enum parameter_kind {
	PARAMETER_TEXT,   /* UTF-8 without control characters, from `least` to `most` bytes */
	PARAMETER_COUNT,  /* whole number from `least` to `most` */
	PARAMETER_NUMBER, /* finite decimal number from `least` to `most` */
	PARAMETER_CORES,  /* number of CPUs: 1.5, or 500m for 0.5 (collectors/base/quantity.h) */
	/* a number in the unit `unit`, or a size such as 4Gi or 8GB; the value is converted to
	 * `unit` */
	PARAMETER_SIZE,
	PARAMETER_CHOICE, /* a word of `choice` in any case; stored as spelled in `choice` */
	PARAMETER_FLAG,   /* true, false, 1, 0; empty means true */
};

struct parameter {
	const char *name;    /* query key; in the flag --name, "-" replaces "_" */
	const char *also[2]; /* alternative names; NULL = none */
	enum parameter_kind kind;
	/* `repeats`: the parameter may be given several times, as name= or name[]= */
	bool required, repeats;
	const char *fallback; /* value if the parameter is absent; NULL = none */
	double least, most;
	/* For a number: its unit, in the plural. For a text: a description of the accepted words,
	 * such as "two letters of ISO 3166". NULL = none. */
	const char *unit;
	double unit_bytes;               /* PARAMETER_SIZE: number of bytes in one `unit` */
	const char *(*choice)(size_t i); /* returns the i-th accepted word; NULL past the last */
	const char *help;                /* one sentence without a full stop */
};

/* The parameters that name a job; most tables of parameters begin with them. JOB_NAME_PARAMETERS
 * requires job_name. OF_JOB_PARAMETERS does not, for a route that also answers without a job; its
 * argument `what` is the help text of job_name. */
/* clang-format off */
#define JOB_PLACE_PARAMETERS \
	{.name = "namespace", .kind = PARAMETER_TEXT, .least = 1, .most = JOB_SPACE_MAX - 1, \
		.help = "Namespace of the job, if it has one"}, \
	{.name = "cluster", .kind = PARAMETER_TEXT, .least = 1, .most = JOB_SPACE_MAX - 1, \
		.help = "Cluster of the job, if it has one"}
#define JOB_NAME_PARAMETERS \
	{.name = "job_name", .kind = PARAMETER_TEXT, .required = true, .least = 1, .most = JOB_NAME_MAX - 1, \
		.help = "Name of the job"}, \
	JOB_PLACE_PARAMETERS
#define OF_JOB_PARAMETERS(what) \
	{.name = "job_name", .kind = PARAMETER_TEXT, .least = 1, .most = JOB_NAME_MAX - 1, .help = what}, \
	JOB_PLACE_PARAMETERS
/* clang-format on */

#define PARAMETERS_MAX       64 /* maximum number of parameters of a route */
#define PARAMETER_VALUES_MAX 64 /* maximum number of values of a repeated parameter */
#define PARAMETER_TEXT_MAX   1024

/* The client at the other end of a Unix socket. For TCP, all members are 0. */
struct peer {
	bool local;
	uid_t uid;
	pid_t pid; /* PID in the PID namespace of this program; 0 = the client is outside of it */
};

/* The arguments of one request, after the check. Texts live as long as the request. */
struct arguments {
	const struct parameter *parameters; /* ends with name NULL */
	/* true = error messages name parameters as flags: --job-name */
	bool flags;
	struct slice body;     /* body of a POST request; valid until the reply */
	char job[JOB_KEY_MAX]; /* see argument_job */
	/* Namespace to which the client is restricted: it may see and post only jobs of this
	 * namespace. "" = no restriction. */
	char only_space[JOB_SPACE_MAX];
	struct peer peer;
	struct {
		size_t n;
		const char
			/* The name of the parameter in the request: its own name, or one of
			 * parameter.also. If the request used several, the last. NULL = not
			 * given. */
			*key;
		const char *text[PARAMETER_VALUES_MAX];
		double number;
		bool flag;
	} value[PARAMETERS_MAX];
};

/* These functions return the value of a parameter. `name` must be a parameter of the route. */
const char *argument_text(const struct arguments *a, const char *name); /* NULL when absent */
size_t argument_texts(const struct arguments *a, const char *name, const char *const **ret);
double argument_number(const struct arguments *a, const char *name); /* NaN when absent */
size_t argument_count(const struct arguments *a, const char *name);  /* 0 when absent */
bool argument_flag(const struct arguments *a, const char *name);     /* false when absent */
/* Returns the key of the job that the parameters job_name, namespace and cluster describe. NULL =
 * job_name was not given. The route must have JOB_NAME_PARAMETERS or OF_JOB_PARAMETERS. */
const char *argument_job(const struct arguments *a);

#define ARGUMENT_CALLED_MAX 64
/* Writes the name of a parameter for an error message, as the client wrote it: "region" for the
 * parameter regions, or "--max-cost" on the command line for max_cost. `name` must be a parameter
 * of the route. */
const char *argument_called(const struct arguments *a, const char *name,
	char out[ARGUMENT_CALLED_MAX]);

struct parameter_name {
	char text[ARGUMENT_CALLED_MAX];
};

/* Returns the flag of a parameter or an option: "--job-name" for job_name. */
struct parameter_name route_parameter_flag(const char *name);

/* These functions fill and check the arguments of a request. Call arguments_begin, then
 * arguments_add for each name and value, then arguments_finish. Names and values must live as long
 * as `a`. The functions return -EINVAL for an unknown name, a value out of range, a second value of
 * a parameter that does not repeat, and a missing required parameter. The error message names the
 * parameter and the value, and describes the accepted values. */
void arguments_begin(struct arguments *a, const struct parameter *parameters);
int arguments_add(struct arguments *a, const char *name, const char *value, struct err *e);
int arguments_finish(struct arguments *a, struct err *e); /* sets defaults, finds missing values */
/* Restricts the client to jobs of the namespace `space`. Call it after arguments_finish. If the
 * request names a job without a namespace, the job of this name in `space` is used. Returns -EACCES
 * if the request names another namespace. */
int arguments_limit(struct arguments *a, const char *space, struct err *e);
/* Returns true if the client may see this job. */
bool argument_may_see(const struct arguments *a, const char *job);

/* Finds a parameter. `name` is its key in a query, or its flag without the leading "--". If the
 * parameter repeats, "[]" may follow the key. Returns NULL when there is no such parameter. */
const struct parameter *route_parameter_find(const struct parameter *parameters, const char *name);

/* Appends a description of the accepted values: "a whole number from 1 to 1000", "a number of MiB
 * from 0 to 1000000000". */
void route_parameter_accepts(const struct parameter *p, struct buf *out);

#define REPLY_BODY_MAX (64u << 20)

struct reply {
	int status; /* HTTP status; 200 unless set */
	const char *content_type;
	struct buf body;
};

/* Fills the reply with a JSON error: {"error":{"code":"bad_parameter","message":"..."}}. `code` is
 * in snake_case. Clients rely on it, so do not change a code. Always returns 0, so that a route can
 * end with `return reply_error(...)`. */
int reply_error(struct reply *r, int status, const char *code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Like reply_error, but also adds the array `names` under the key `list`, such as "did_you_mean".
 * `names` ends with NULL. If `names` is NULL, no array is added. */
int reply_error_list(struct reply *r, int status, const char *code, const char *list,
	const char *const *names, const char *format, ...) __attribute__((format(printf, 6, 7)));

struct json_key; /* exporter/core/json_key.h */

/* a route_error.code for errors that are plain text and not JSON */
#define ROUTE_ERROR_TEXT "text/plain"
/* An error with which a route may reply (reply_error). An array of errors ends with a NULL
 * `code`. */
struct route_error {
	int status;
	const char *code;
};

struct route {
	const char *path;
	const char *command; /* word on the command line; NULL = no command */
	const char *help;    /* one sentence without a full stop */
	const struct parameter *parameters;
	/* Makes the answer. Returns 0 when it has filled the reply, even if the reply is an error.
	 * If it returns a negative errno, the caller replies with status 500 and the message in
	 * `e`. */
	int (*answer)(struct app *app, const struct arguments *a, struct reply *r, struct err *e);
	/* Appends text to --help after the parameters; may be NULL. */
	void (*explain)(struct buf *out);
	/* true = the route reads the history. This may take seconds, because the history may be
	 * long, locked, or on a slow disk. A thread of its own answers such requests over HTTP
	 * (exporter/http/slow_queue.h), so that no scrape waits for them. */
	bool takes_long;
	/* true = the route reads all samples of a run; such routes have their own slow queue */
	bool of_samples;

	/* The members below describe the route in the manual and in /openapi.json. */
	const struct json_key *body;  /* keys of the body of a POST; NULL = no body */
	bool bodies;                  /* true = an array of such bodies is accepted, too */
	const struct json_key *gives; /* keys of the answer; NULL = the answer is not JSON */
	const char *content_type;     /* content type of an answer that is not JSON */
	/* Returns the i-th content type of a route with several; NULL past the last. */
	const char *(*content_types)(size_t i);
	/* true = for some value of the parameter "format", the answer is JSON with other keys */
	bool other_json;
	/* errors of this route besides the errors of every route; NULL = none */
	const struct route_error *errors;
	/* true = the status of the reply is 201 instead of 200 if the route has created
	 * something */
	bool creates;
	/* true = a client with the token of a namespace may use this route for changes. The route
	 * must then refuse changes to other namespaces than arguments.only_space. */
	bool of_space;
};

/* Calls a route for the program itself, without a client. `pairs` contains names and values of
 * parameters, and ends with a NULL name. A parameter whose value is "" counts as absent. The pairs
 * and their texts may be freed after the call. */
int route_ask(struct app *app, const struct route *route, const char *const pairs[][2],
	struct reply *r, struct err *e);

extern const struct route *const all_routes[]; /* NULL-terminated; generated by CMake */

/* Routes for POST requests, which change data. Each route is a file exporter/routes/post_NAME.c
 * that ends in the definition of route_post_NAME. The body of the request is JSON of at most
 * CHANGE_BODY_MAX bytes. exporter/site/change.h describes who may make changes. If route.path
 * contains {name}, the text at this place of a request's path is the value of the parameter `name`.
 * route.command is NULL. Several threads may call route.answer at the same time. */
extern const struct route *const all_changes[];

#define CHANGE_BODY_MAX ((size_t)256 * 1024)

#endif
