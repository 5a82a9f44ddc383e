#include "collectors/process/member_limit.h"

bool member_limit_enter(struct member_limit *m, pid_t pid)
{
	if (m->n >= m->most)
		return false;

	uint32_t *runs = pid_map_add(&m->runs, pid);

	if (*runs >= MEMBER_LIMIT_NESTED_MAX)
		return false;
	++*runs;
	m->n++;
	return true;
}

void member_limit_leave(struct member_limit *m, pid_t pid)
{
	m->n--;
	if (--*pid_map_find(&m->runs, pid) == 0)
		pid_map_remove(&m->runs, pid);
}

void member_limit_done(struct member_limit *m)
{
	pid_map_done(&m->runs);
	*m = (struct member_limit){.most = m->most};
}
