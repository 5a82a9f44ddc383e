/*
 * What the files of the lineage share: lineage.c enters what happened, lineage_group.c adds up who shares a group,
 * lineage_inner.c knows which run is inside another.
 */
#ifndef COLLECTORS_LINEAGE_PRIVATE_H
#define COLLECTORS_LINEAGE_PRIVATE_H

#include "collectors/accounting/lineage.h"

#define LINEAGE_NONE SIZE_MAX
/* A run whose control group is nobody's business. */
#define LINEAGE_NO_OTHERS UINT32_MAX
/* Around a run that is in none. */
#define LINEAGE_NO_RUN UINT32_MAX

struct entry {
	pid_t pid;
	unsigned run;
	uint64_t clock_ns; /* last reading */
	struct task_record record;
	uint64_t born_ns, ended_ns; /* when; 0 = not told */
	uint64_t end_ns,
		took_ns; /* of its end, when priced: CPU time, and from the record to the event */
	bool recorded, priced;
	bool final;   /* its clock was read when it had ended: that is all of it */
	bool seen;    /* born before our eyes, or its clock was read: so a record must come */
	bool gone;    /* its clock could not be read */
	bool outside; /* the group that it is taken for in was listed without it */
};

struct run_book {
	bool taken;
	pid_t root;      /* 0 = none; or once the pid belongs to somebody else */
	unsigned others; /* in its control group, as a run: its own number if that is what it is */
	uint64_t base_ns;
	unsigned outer; /* the run around it, whose processes its own are, too; or LINEAGE_NO_RUN */
	struct lineage_tally before; /* part of past that is not for outer */
	uint64_t breaks; /* of others: times that what is told of their group was told no more */
	/* Of the processes that left the book, and what is of the run itself; with those in the book, when last settled. */
	struct lineage_tally past, all;
};

struct lineage {
	size_t n, room;
	struct entry *entry;
	size_t n_slots;
	uint32_t *slot; /* hash of pid -> index + 1 */
	size_t n_recorded;
	size_t n_runs, runs_room;
	struct run_book *run;
	bool any_inner; /* some run ever was inside another */
	double usual; /* what half of the ends took of late at most, of what END_NS and END_PAGE_NS say */
};

/* Index of an entry, or LINEAGE_NONE. */
size_t lineage_find(const struct lineage *l, pid_t pid);
void lineage_remove_where(struct lineage *l, bool (*goes)(const struct entry *e, unsigned run),
	unsigned run);
/* A free number; not taken yet. */
unsigned lineage_number(struct lineage *l);
/* What was told of the group that this run is in is not to be compared with what will be told. */
void lineage_break(struct lineage *l, unsigned run);

/* ---- lineage_inner.c ---- */

/* Is it that run, or inside it? */
bool lineage_is_within(const struct lineage *l, unsigned run, unsigned outer);
void lineage_put_into(struct lineage *l, unsigned run, unsigned outer);
/* Before it is forgotten: what it has goes to the run around it, and so do those inside. */
void lineage_leave(struct lineage *l, unsigned run);
/* Is a run inside one that shares the group of these others in another group? */
bool lineage_reaches_out(const struct lineage *l, unsigned others);

#endif
