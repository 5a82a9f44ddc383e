/* Notes, which are sentences about the servers of an answer: what is doubtful, what is missing, and
 * which server is far away. Pure functions; the texts that they return are constants or belong to
 * the catalogue of the answer. */
#ifndef EXPORTER_ANSWERS_SERVER_NOTES_H
#define EXPORTER_ANSWERS_SERVER_NOTES_H

#include "exporter/answers/server_answer.h"

#define SERVER_NOTE_MAX  1024 /* bytes of the longest note */
#define SERVER_COST_GAPS 4
/* The parts that a cost may not include, because their price or rule is unknown. */
extern const struct server_cost_gap {
	unsigned bit; /* of enum cost_gap */
	const char *name;
	/* Words for the part in the note about unknown prices, such as "storage". NULL = the part
	 * has no price of its own, so this note does not name it. */
	const char *priced;
} server_cost_gaps[SERVER_COST_GAPS];

/* Returns words for a sentence: why a price is not reliable. NULL = the price is reliable. */
const char *server_price_note(const struct pick *p);

/* Returns the continent on which the job runs today. "" = unknown. */
const char *server_todays_continent(const struct server_answer *s);

/* Returns true if the server of the pick is on another continent than the server on which the job
 * runs: the job's data would move across an ocean, or to a place with other laws. Returns false if
 * one of the continents is unknown. */
bool server_is_far(const struct server_answer *s, const struct pick *p);

/* Returns the number of servers that fit. NaN = unknown: no server with a known price fits, and the
 * prices of a requested region were not fetched. */
double server_fitting(const struct server_answer *s);

/* Returns an array of notes about the servers, or about why no server fits. The caller owns it. */
json_t *server_notes_json(const struct server_answer *s);

#endif
