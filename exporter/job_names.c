/* Names that had runs lately. */
#include "exporter/job_names.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

bool job_names_admit(struct job_names *j, const char *name, struct mono now)
{
	size_t at = 0, oldest = 0;

	while (at < j->n && strcmp(j->name[at].name, name) != 0) {
		if (j->name[at].used.ns < j->name[oldest].used.ns)
			oldest = at;
		at++;
	}
	if (at == j->n && j->n >= j->max) {
		if (j->n == 0 ||
			mono_seconds_between(j->name[oldest].used, now) < JOB_NAME_REST_SECONDS)
			return false;
		at = oldest;
	} else if (at == j->n) {
		GROW(j->name, j->n, j->room);
		j->n++;
	}
	text_copy(name, j->name[at].name, JOB_NAME_MAX);
	j->name[at].used = now;
	return true;
}

void job_names_done(struct job_names *j)
{
	free(j->name);
	*j = (struct job_names){0};
}
