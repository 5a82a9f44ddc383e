/*
 * io, smaps_rollup, environ, fd and root ask for what ptrace(2) calls access mode PTRACE_MODE_READ: the same user and
 * group, or CAP_SYS_PTRACE. io, environ and fd belong to the process's user, and nobody else may open them but with
 * CAP_DAC_READ_SEARCH.
 */
#include "exporter/sampling/rights.h"

#include "collectors/runs.h"
#include "exporter/core/log.h"

void rights_note(struct rights *r, const struct snapshot *s)
{
	for (size_t i = 0; i < s->n_runs && !r->said; i++) {
		const struct run_reading *run = &s->runs[i];

		if (run->ended || !(run->value[RUN_UNREADABLE_PROCESSES] > 0))
			continue;
		r->said = true;
		log_line(LOG_LEVEL_WARN,
			"processes of another user: their disk I/O, descriptors, PSS, environment, "
			"and the "
			"limits of another container cannot be read",
			"job_name", run->job_name, "needs",
			"the job's own user and group, or root with the capabilities SYS_PTRACE "
			"and DAC_READ_SEARCH",
			NULL);
	}
}
