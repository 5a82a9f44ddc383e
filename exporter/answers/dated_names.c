#include "exporter/answers/dated_names.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/naming/stable_name.h"

/* In sorted order, this many names before and after the name are compared with it. */
#define NAMES_BESIDE 500

/* Smallest number of other jobs for a warning: DATED_LEAST if the names differ in a date,
 * NUMBERED_LEAST if they differ in a number. NUMBERED_LEAST is larger, because numbered names are
 * often different jobs: steps, shards or versions. */
#define NUMBERED_LEAST 5
#define DATED_LEAST    1

int dated_names_find(struct history *h, const char *job_name, struct dated_names *ret,
	struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	char shape[JOB_NAME_MAX];
	const char **name;
	size_t n = 0, others = 0;

	*ret = (struct dated_names){0};
	struct job_parts this = job_key_parts(job_name);
	enum name_shape own = stable_name_shape(this.name, ret->shape);
	int code = own == NAME_STEADY ?
			   0 :
			   history_names_near(h, job_name, NAMES_BESIDE, &arena, &name, &n, e);

	for (size_t i = 0; i < n; i++) {
		struct job_parts other = job_key_parts(name[i]);

		if (strcmp(job_key_place(name[i]), job_key_place(job_name)) != 0)
			continue;
		stable_name_shape(other.name, shape);
		others += strcmp(shape, ret->shape) == 0;
	}
	if (others >= (own == NAME_DATED ? DATED_LEAST : NUMBERED_LEAST))
		ret->others = others;
	return code;
}

void dated_names_warn(const struct dated_names *d, struct sizing *s, struct arena *arena)
{
	if (d->others)
		warnings_add(&s->warnings, arena, WARNING_DATED_NAMES, 0,
			"At least %zu other job%s named like this one, \"%s\", with another date, "
			"number or hash. None of them learns from the others. Give all runs one name: "
			"--job-name, RIGHTSIZE_JOB_NAME, or job_name in a rule of --jobs.rules.",
			d->others, d->others == 1 ? " is" : "s are", d->shape);
}
