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
	bool of_job; /* the answer is for a job; if false, the members below are zero */
	struct current_cost current_cost;
	struct related_benchmark related[RELATED_MAX];
	size_t n_related;
};

struct server_question {
	const struct demand *demand;
	const struct sizing *sizing; /* of the job; NULL = no job */
	const struct runs *runs;     /* the job's runs, newest first; NULL = no job */
	/* Duration of a run that the request gives. It replaces the job's own duration. NaN = not
	 * given. */
	double seconds_said;
};

/* Selects servers by the SERVER_PARAMETERS in `a`. Returns 1 and fills `ret`. Returns 0 with an
 * error in `r`. Returns a negative errno when the catalogue cannot be read. `ret` points into
 * `arena` and into the catalogue. It owns a reference to the catalogue, which server_answer_done
 * drops. */
int server_answer(struct app *app, const struct arguments *a, const struct server_question *q,
	struct arena *arena, struct server_answer *ret, struct reply *r, struct err *e);
void server_answer_done(struct server_answer *s); /* for AUTO; zeroed memory does nothing */

/* Adds the keys of the answer to the object `o`. */
void server_answer_put(json_t *o, const struct server_answer *s);

/* Parts of the answer that other answers contain, too. server_answer_put_region adds the keys
 * region_id, region (as a person types it) and region_name; null = unknown. */
void server_answer_put_region(json_t *o, const struct region *r);
json_t *server_answer_catalogue_json(const struct catalogue_use *use);
json_t *server_answer_related_json(const struct related_benchmark *related, size_t n);

#endif
