/* The server's thread that follows runs of wrappers with the same history file. It reads the
 * history after another process wrote to it. It makes the sampler follow new runs and conclude
 * ended runs. The record of an ended run is exact, so its values replace the server's readings. */
#ifndef EXPORTER_SAMPLING_FOLLOWER_H
#define EXPORTER_SAMPLING_FOLLOWER_H

#include "exporter/core/app.h"
#include "exporter/core/identity.h"

struct follower;

int follower_start(struct follower **ret, struct app *app, const struct identity *self,
	struct err *e);
void follower_stop(struct follower *f); /* call it before sampler_stop; NULL does nothing */

#endif
