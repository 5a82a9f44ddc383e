/* The servers of an answer of /recommend or /servers: picks, reasons, and the current cost. */
#ifndef EXPORTER_ANSWERS_SERVER_ANSWER_H
#define EXPORTER_ANSWERS_SERVER_ANSWER_H

#include "exporter/catalogue/in_use.h"
#include "exporter/core/json.h"
#include "exporter/api/route.h"
#include "exporter/answers/current_cost.h"
#include "recommender/servers/related_benchmarks.h"

struct server_answer {
	struct catalogue_use use;
	struct demand demand;
	struct job_profile profile;
	struct pick_options options;
	struct picks picks;
	bool of_job; /* else the rest is zero */
	struct current_cost current_cost;
	struct related_benchmark related[RELATED_MAX];
	size_t n_related;
};

struct server_question {
	const struct demand *demand;
	const struct runs *runs; /* the job's, newest first; NULL = there is no job */
	double seconds_said;     /* requested duration, which replaces that of runs; NaN = none */
};

/*
 * Answers the question with the SERVER_PARAMETERS in a. 1: ret is filled, and points into arena and
 * into its catalogue, which is held until server_answer_done. 0: r has the error. Negative: the
 * catalogue cannot be read.
 */
int server_answer(struct app *app, const struct arguments *a, const struct server_question *q,
	struct arena *arena, struct server_answer *ret, struct reply *r, struct err *e);
void server_answer_done(struct server_answer *s); /* for AUTO; zeroed memory does nothing */

/* Adds its keys to the document. */
void server_answer_put(json_t *o, const struct server_answer *s);

/* Parts that other answers contain, too. */
json_t *server_answer_catalogue_json(const struct catalogue_use *use);
json_t *server_answer_related_json(const struct related_benchmark *related, size_t n);

#endif
