#include "collectors/process/member_limit.h"

bool run_members_enter(struct run_members *m, pid_t pid)
{
	if (m->n >= m->most)
		return false;

	uint32_t *runs = pid_map_add(&m->runs, pid);

	if (*runs >= RUN_MEMBERS_NESTED_MAX)
		return false;
	++*runs;
	m->n++;
	return true;
}

void run_members_leave(struct run_members *m, pid_t pid)
{
	m->n--;
	if (--*pid_map_find(&m->runs, pid) == 0)
		pid_map_remove(&m->runs, pid);
}

void run_members_done(struct run_members *m)
{
	pid_map_done(&m->runs);
	*m = (struct run_members){.most = m->most};
}
