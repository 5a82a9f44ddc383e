/* A lineage that a test fills. */
#include "tests/support/fake_exit_events.h"

#include <stdlib.h>

#include "collectors/base/mem.h"

#define LIFE_NS 10000000

struct exit_events {
	struct lineage *lineage;
	uint64_t born_ns[FAKE_PIDS];
	struct fake_processes processes;
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
	x->born_ns[pid % FAKE_PIDS] = at_ns;
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

int exit_events_start(struct exit_events **ret, struct err *e)
{
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

unsigned exit_events_begin(struct exit_events *x, pid_t root, uint64_t base_ns)
{
	return lineage_begin(x->lineage, root, base_ns);
}

void exit_events_add(struct exit_events *x, unsigned run, const pid_t *pid, size_t n)
{
	for (size_t i = 0; i < n; i++)
		lineage_add(x->lineage, run, pid[i]);
}

void exit_events_forget(struct exit_events *x, unsigned run)
{
	lineage_forget(x->lineage, run);
}

void exit_events_settle(struct exit_events *x)
{
	lineage_read_clocks(x->lineage, clock_of, &x->processes);
	lineage_settle(x->lineage);
}

void exit_events_tally(struct exit_events *x, unsigned run, struct lineage_tally *ret)
{
	lineage_tally(x->lineage, run, ret);
}

void exit_events_living(struct exit_events *x, unsigned run, void (*each)(void *context, pid_t pid),
	void *context)
{
	lineage_living(x->lineage, run, each, context);
}

unsigned exit_events_begin_others(struct exit_events *x)
{
	return lineage_begin_others(x->lineage);
}

void exit_events_share(struct exit_events *x, unsigned run, unsigned others)
{
	lineage_share(x->lineage, run, others);
}

enum lineage_change exit_events_compare(struct exit_events *x, unsigned others,
	const struct lineage_listing *listing)
{
	return lineage_compare(x->lineage, others, listing, clock_of, &x->processes);
}

void exit_events_group(struct exit_events *x, unsigned others, struct lineage_group *ret)
{
	lineage_group(x->lineage, others, ret);
}
