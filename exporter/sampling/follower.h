/* A thread of the server. It lets the server show the runs that wrappers record into the same
 * history file. Whenever another process has written to the history, the thread reads the history,
 * and makes the sampler follow new runs and conclude ended runs. The wrapper's record of an ended
 * run is exact, so its values replace the server's own readings. */
#ifndef EXPORTER_SAMPLING_FOLLOWER_H
#define EXPORTER_SAMPLING_FOLLOWER_H

#include "exporter/core/app.h"
#include "exporter/core/identity.h"

struct follower;

int follower_start(struct follower **ret, struct app *app, const struct identity *self,
	struct err *e);
void follower_stop(struct follower *f); /* call it before sampler_stop; NULL does nothing */

#endif
