/*
 * The thread by which a server follows runs that other processes record (wrappers on the same history
 * file): it looks into the history when somebody else wrote to it, and tells the sampler which runs to follow
 * and which have ended. What the record says of an ended run is exact, so it wins over what was seen.
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
