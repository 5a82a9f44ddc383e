/*
 * The thread by which a server follows runs that wrappers record in the same history file. It reads
 * the history after another process wrote to it, and makes the sampler follow new runs and conclude
 * ended ones. The record of an ended run is exact, so it replaces the server's own readings.
 */
#ifndef EXPORTER_SAMPLING_FOLLOWER_H
#define EXPORTER_SAMPLING_FOLLOWER_H

#include "exporter/core/app.h"
#include "exporter/core/identity.h"

struct follower;

int follower_start(struct follower **ret, struct app *app, const struct identity *self,
	struct err *e);
void follower_stop(struct follower *f); /* before the sampler stops; NULL does nothing */

#endif
