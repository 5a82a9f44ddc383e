/* The servers in an answer of /recommend or /servers: picks, reasons, and the current cost. */
#ifndef EXPORTER_ANSWERS_SERVER_ANSWER_H
#define EXPORTER_ANSWERS_SERVER_ANSWER_H

#include "exporter/catalogue/in_use.h"
#include "exporter/core/json.h"
#include "exporter/api/route.h"
#include "exporter/answers/current_cost.h"
#include "recommender/servers/related_benchmarks.h"
#include "recommender/servers/saving.h"

struct server_answer {
	struct catalogue_use use;
	struct demand demand;
	struct job_profile profile;
	struct pick_options options;
	struct picks picks;
	struct best_server best;
	struct alternative alternative[CONDITIONS];
	size_t n_alternatives;
	bool of_job; /* true: the answer is for a job. false: the members below are zero. */
	const struct runs *runs;
	struct current_cost current_cost;
	struct related_benchmark related[RELATED_MAX];
	size_t n_related;
};

struct server_question {
	const struct demand *demand;
	const struct sizing *sizing; /* sizing of the job; NULL = no job */
	const struct runs *runs;     /* the job's runs, newest first; NULL = no job */
	/* Duration of a run in seconds, given in the request. It replaces the job's own duration.
	 * NaN = not given. */
	double seconds_said;
};

/* The error of an answer whose catalogue cannot be read. */
#define CATALOGUE_ERRORS                                                                           \
	{                                                                                          \
		503, "catalogue"                                                                   \
	}

/* Takes a reference to the catalogue (catalogue_use_begin). Returns 1, or 0 with one of
 * CATALOGUE_ERRORS in `r`. */
int server_answer_catalogue(struct app *app, struct catalogue_use *ret, struct reply *r);

/* Selects servers by the SERVER_PARAMETERS in `a`. Returns 1 and fills `ret`. Returns 0 with an
 * error in `r` when an argument is invalid or the catalogue cannot be read. `ret` points into
 * `arena`, and has a reference to the catalogue, which server_answer_done drops. */
int server_answer(struct app *app, const struct arguments *a, const struct server_question *q,
	struct arena *arena, struct server_answer *ret, struct reply *r);
void server_answer_done(struct server_answer *s); /* cleanup for AUTO; ignores a zeroed struct */

/* Adds the keys of the answer to the object `o`. `details`: also the keys that few clients read. */
void server_answer_put(json_t *o, const struct server_answer *s, bool details);

/* clang-format off */
#define DETAILS_PARAMETER(keys) \
	{.name = "details", .kind = PARAMETER_FLAG, .fallback = "false", \
		.help = "Adds the keys that few programs read: " keys}
/* clang-format on */

/* The keys that server_answer_put adds, for the description of routes. */
/* clang-format off */
#define SERVER_ANSWER_KEYS \
	{"objective", KEY_TEXT, .required = true, .help = "What the best server is best at"}, \
	{"benchmark_config", KEY_TEXT, .help = "With a benchmark: whether its score is that of one core or of all"}, \
	{"best", KEY_OBJECT, .help = "The best server"}, \
	{"servers", KEY_LIST, .required = true, .help = "Servers, best first"}, \
	{"alternatives", KEY_LIST, .required = true, .help = "What is cheaper under another condition"}, \
	{"servers_fitting", KEY_NUMBER, .required = true, .help = "Number of servers that fit; null = prices of a requested region were not fetched"}, \
	{"filtered", KEY_OBJECT, .help = "With details: how many servers each filter left out"}, \
	{"notes", KEY_LIST, .required = true, .help = "What to know about the servers"}, \
	{"today", KEY_OBJECT, .help = "Of a job: what it costs on its server"}, \
	{"benchmarks", KEY_LIST, .help = "Of a job, with details: benchmarks that are like it"}, \
	{"rates", KEY_LIST, .required = true, .help = "The exchange rates that were used"}, \
	{"catalogue", KEY_OBJECT, .required = true, .help = "Where the data of servers is from, and how old it is"}
/* clang-format on */

/* Parts that other answers contain, too. server_answer_put_region adds three keys: region_id,
 * region (the name in the vendor's tools) and region_name. null = unknown. */
void server_answer_put_region(json_t *o, const struct region *r);
json_t *server_answer_catalogue_json(const struct catalogue_use *use, bool details);
json_t *server_answer_related_json(const struct related_benchmark *related, size_t n);

#endif
