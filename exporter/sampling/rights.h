/*
 * Says once which right is missing, when there are processes of jobs that may not be read whole. How many there are at
 * any time is rightsize_job_unreadable_processes.
 */
#ifndef EXPORTER_RIGHTS_H
#define EXPORTER_RIGHTS_H

#include <stdbool.h>

#include "collectors/snapshot.h"

struct rights {
	bool said;
};

void rights_note(struct rights *r, const struct snapshot *s);

#endif
