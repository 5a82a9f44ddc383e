/* A catalogue of six servers, a history of runs on unknown servers, and a function that asks for
 * servers like the command line. Tests must link fake_history and fake_machine. */
#ifndef TESTS_SUPPORT_SERVERS_WORLD_H
#define TESTS_SUPPORT_SERVERS_WORLD_H

#include <jansson.h>

#include "exporter/core/app.h"
#include "recommender/run.h"

extern struct servers_world {
	struct options options;
	struct app app;
	char path[64];     /* path of the catalogue */
	struct run run[8]; /* newest first: 1 running, 1 failed, and 2 successful runs */
} servers_world;

/* Called before and after each test. */
int servers_world_fresh(void **state);
int servers_world_done(void **state);

/* Replaces the catalogue. Call it before the first question of a test. */
void servers_world_catalogue(const char *csv);

/* Returns the answer of `command` to a query such as "cpu=2;memory=1000". Fails the test if the
 * HTTP status is not `status`. The caller owns the answer. */
json_t *servers_ask(const char *command, const char *words, int status);

const char *text_of(const json_t *o, const char *key); /* "" = not a text */
double number_of(const json_t *o, const char *key);    /* NaN = not a number */

#endif
