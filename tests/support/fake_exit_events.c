#include "tests/support/fake_exit_events.h"

#include <stdlib.h>

#include "collectors/base/mem.h"

#define LIFE_NS 10000000

struct exit_events {
	struct lineage *lineage;
	uint64_t born_ns[FAKE_PIDS];
	struct fake_processes processes;
	bool unrecorded;
	uint64_t now_ns; /* time of the last event */
};

static bool clock_of(void *context, pid_t pid, uint64_t *ret)
{
	const struct fake_processes *p = context;

	*ret = p->clock_ns[pid % FAKE_PIDS];
	return p->alive[pid % FAKE_PIDS];
}

struct fake_processes *fake_processes(struct exit_events *x)
{
	return &x->processes;
}

void fake_fork(struct exit_events *x, pid_t parent, pid_t pid, uint64_t at_ns)
{
	x->processes.alive[pid % FAKE_PIDS] = true;
	x->processes.clock_ns[pid % FAKE_PIDS] = 0;
	x->born_ns[pid % FAKE_PIDS] = x->now_ns = at_ns;
	lineage_event(x->lineage,
		&(struct process_event){
			.kind = PROCESS_FORKED, .pid = pid, .parent = parent, .at_ns = at_ns});
}

void fake_end(struct exit_events *x, pid_t pid, uint64_t cpu_ns, uint64_t took_ns)
{
	x->processes.alive[pid % FAKE_PIDS] = false;
	lineage_record(x->lineage,
		&(struct task_record){.id = pid, .cpu_ns = cpu_ns, .elapsed_ns = LIFE_NS});
	lineage_event(x->lineage,
		&(struct process_event){.kind = THREAD_ENDED,
			.pid = pid,
			.at_ns = x->born_ns[pid % FAKE_PIDS] + LIFE_NS + took_ns});
}

void fake_without_records(struct exit_events *x, unsigned cpus)
{
	x->unrecorded = true;
	lineage_without_records(x->lineage, cpus);
}

void fake_end_event(struct exit_events *x, pid_t pid, uint64_t at_ns)
{
	x->processes.alive[pid % FAKE_PIDS] = false;
	x->now_ns = at_ns;
	lineage_event(x->lineage,
		&(struct process_event){.kind = THREAD_ENDED, .pid = pid, .at_ns = at_ns});
}

void fake_loss(struct exit_events *x)
{
	lineage_lost(x->lineage);
}

static struct exit_events *first;

struct exit_events *fake_exit_events_first(void)
{
	first = xcalloc(1, sizeof *first);
	first->lineage = lineage_new();
	return first;
}

int exit_events_start(struct exit_events **ret, bool events_suffice, struct err *e)
{
	(void)events_suffice;
	(void)e;
	*ret = first ? first : fake_exit_events_first();
	first = NULL;
	return 0;
}

void exit_events_stop(struct exit_events *x)
{
	if (!x)
		return;
	lineage_free(x->lineage);
	free(x);
}

bool exit_events_recorded(const struct exit_events *x)
{
	return !x->unrecorded;
}

void exit_events_lock(struct exit_events *x)
{
	(void)x;
}

void exit_events_unlock(struct exit_events *x)
{
	(void)x;
}

struct lineage *exit_events_book(struct exit_events *x)
{
	return x->lineage;
}

void exit_events_update(struct exit_events *x)
{
	(void)x;
}

void exit_events_settle(struct exit_events *x)
{
	lineage_read_clocks(x->lineage, x->now_ns, clock_of, &x->processes);
	lineage_settle(x->lineage, x->now_ns);
}

enum lineage_change exit_events_compare(struct exit_events *x, unsigned others,
	struct lineage_listing *listing)
{
	return lineage_compare(x->lineage, others, listing, clock_of, &x->processes);
}
