/*
 * A catalogue of six servers, a history of runs of which nobody knows where they ran, and questions as the command
 * line asks them. For tests that link fake_history and fake_machine.
 */
#ifndef TESTS_SUPPORT_SERVERS_WORLD_H
#define TESTS_SUPPORT_SERVERS_WORLD_H

#include <jansson.h>

#include "exporter/core/app.h"
#include "recommender/run.h"

extern struct servers_world {
	struct options options;
	struct app app;
	char path[64]; /* of the catalogue */
	struct run
		run[8]; /* of the history, newest first: the first is running, the second failed */
} servers_world;

/* Before and after each test. */
int servers_world_fresh(void **state);
int servers_world_done(void **state);

/* The answer to "cpu=2;memory=1000", which has to have that status. The caller's. */
json_t *servers_ask(const char *command, const char *words, int status);

const char *text_of(const json_t *o, const char *key); /* "" when it is no text */
double number_of(const json_t *o, const char *key);    /* NaN when it is no number */

#endif
