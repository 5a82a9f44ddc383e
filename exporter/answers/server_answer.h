/*
 * The servers' half of an answer, of /recommend and of /servers: which servers, why, and what it costs today.
 */
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
	bool of_job; /* else the rest is empty */
	struct current_cost current_cost;
	struct related_benchmark related[RELATED_MAX];
	size_t n_related;
};

struct server_question {
	const struct demand *demand;
	const struct runs *runs; /* of the job, newest first; NULL = no job is asked about */
	double seconds_said;     /* that a run takes, whatever the runs took; NaN = nobody says */
};

/*
 * Answers the question with the SERVER_PARAMETERS in a. 1: ret is filled; what it points to lives in arena and in its
 * catalogue, held until server_answer_done. 0: r is filled with what is wrong. Negative: the catalogue cannot be read.
 */
int server_answer(struct app *app, const struct arguments *a, const struct server_question *q,
	struct arena *arena, struct server_answer *ret, struct reply *r, struct err *e);
void server_answer_done(struct server_answer *s); /* for AUTO; of zeroed memory nothing */

/* Adds its keys to the document. */
void server_answer_put(json_t *o, const struct server_answer *s);

/* Parts of it, which other answers have, too. */
json_t *server_answer_catalogue_json(const struct catalogue_use *use);
json_t *server_answer_related_json(const struct related_benchmark *related, size_t n);

#endif
