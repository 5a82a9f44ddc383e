#include "collectors/process/member.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/process/delays.h"

/* ---- files ---- */

/* Opens the member's files and keeps them open. Does nothing when processes_kept_max processes,
 * counted over all runs, already have open files. */
static void keep_files(struct member *m, const struct host *h)
{
	if (m->files || !h->processes_kept || *h->processes_kept >= h->processes_kept_max)
		return;
	++*h->processes_kept;
	m->files = xmalloc(sizeof *m->files);
	*m->files = (struct member_files){
		.stat = process_keep(h, m->pid, "stat"),
		.io = process_keep(h, m->pid, "io"),
		.children = process_keep_children(h, m->pid),
		.count = h->processes_kept,
	};
}

void member_done(struct member *m)
{
	if (!m->files)
		return;
	--*m->files->count;
	kept_done(&m->files->stat);
	kept_done(&m->files->io);
	kept_done(&m->files->children);
	free(m->files);
	m->files = NULL;
}

/* ---- reading ---- */

static uint64_t ticks_ns(const struct host *h, uint64_t ticks)
{
	uint64_t ns_per_tick = (uint64_t)NS_PER_S / (uint64_t)h->ticks_per_second;

	return ticks > UINT64_MAX / ns_per_tick ? 0 : ticks * ns_per_tick;
}

/* Takes the CPU time from the CPU clock. If the clock is unreadable, takes it from USER_HZ ticks.
 * The share of system time always comes from ticks, because the clock does not separate user time
 * from system time. */
static void take_cpu(struct member *m, const struct host *h, const struct process_stat *s)
{
	uint64_t user = ticks_ns(h, s->user_ticks), system = ticks_ns(h, s->system_ticks);
	uint64_t own = m->clock_ns ? m->clock_ns : user + system;
	uint64_t waited_system = ticks_ns(h, s->waited_system_ticks);
	uint64_t waited = ticks_ns(h, s->waited_user_ticks) + waited_system;
	double share = user + system ? (double)system / (double)(user + system) : 0;

	m->waited_ns = waited;
	if (m->reaper)
		own = 0;
	raise_to(&m->counter[TREE_CPU_NS], own + waited);
	raise_to(&m->counter[TREE_SYSTEM_NS], (uint64_t)((double)own * share) + waited_system);
}

static void take_stat(struct member *m, const struct host *h, const struct process_stat *s)
{
	uint64_t rss = s->rss_pages > UINT64_MAX / h->page_size ? 0 : s->rss_pages * h->page_size;

	m->ppid = s->ppid;
	m->thread = s->thread;
	m->threads = s->threads;
	m->ignored_children = m->ignored_children || s->ignores_children;
	m->zombie = s->state == 'Z' || s->state == 'X';
	/* VmHWM cannot rise without a page fault or a change of RSS. Read the status file only
	 * after one of them. */
	if (s->minor_faults + s->waited_minor_faults != m->counter[TREE_MINOR_FAULTS] ||
		s->major_faults + s->waited_major_faults != m->counter[TREE_MAJOR_FAULTS] ||
		rss != m->rss_bytes)
		m->status_due = true;
	m->rss_bytes = m->zombie ? 0 : rss;
	m->own_faults = s->minor_faults;
	/* A new stack address means that the process has executed a program. Its old memory is
	 * gone. */
	if (s->stack_start != m->stack_start) {
		m->inherited_bytes = m->pss_bytes = 0;
		m->program_due = true;
	}
	m->stack_start = s->stack_start;
	m->waited_faults = s->waited_minor_faults;
	take_cpu(m, h, s);
	raise_to(&m->counter[TREE_MINOR_FAULTS],
		(m->reaper ? 0 : s->minor_faults) + s->waited_minor_faults);
	raise_to(&m->counter[TREE_MAJOR_FAULTS],
		(m->reaper ? 0 : s->major_faults) + s->waited_major_faults);
}

/* Stores the context switches of all living threads. All calls for a member must use numbers of the
 * same source. If the sum is smaller than before, threads have ended. Their switches are kept in
 * `ended_switches`. */
static void take_switches(struct member *m, uint64_t voluntary, uint64_t involuntary)
{
	static const enum tree_counter counters[] = {
		TREE_VOLUNTARY_SWITCHES, TREE_INVOLUNTARY_SWITCHES};
	const uint64_t now[] = {voluntary, involuntary};

	for (size_t i = 0; i < ARRAY_LEN(now); i++) {
		uint64_t *living = &m->living_switches[i], *ended = &m->ended_switches[i];

		if (now[i] < *living)
			*ended += *living - now[i];
		*living = now[i];
		raise_to(&m->counter[counters[i]], *ended + now[i]);
	}
}

static void read_status(struct member *m, const struct host *h)
{
	struct process_status s;

	if (process_read_status(h, member_shown_by(m), &s) < 0)
		return;
	m->status_due = false;
	m->swap_bytes = s.swap_bytes;
	m->kinds_known = s.kinds_known;
	memcpy(m->kind_bytes, s.kind_bytes, sizeof m->kind_bytes);
	/* The status file has the context switches of one thread only, so use them only for a
	 * process with one thread. */
	if (m->threads == 1 && !m->thread && !(h->delays && delay_reader_has_switches(h->delays)))
		take_switches(m, s.voluntary_switches, s.involuntary_switches);
	uint64_t peak = m->old_mark_bytes && s.peak_bytes <= m->old_mark_bytes ? m->rss_bytes :
										 s.peak_bytes;

	if (peak > m->peak_bytes) {
		m->peak_bytes = peak;
		m->peak_rose = true;
	}
}

/* Returns true while the process is ending. An exiting process first frees its memory. After that,
 * root owns the process's files in /proc (task_dump_owner() in fs/proc/base.c of the kernel).
 * Reading such a file may then be refused, although the process does not belong to another user. */
static bool is_ending(const struct member *m, const struct host *h)
{
	struct process_stat s;

	return process_read_stat(h, m->pid, &s) < 0 || s.state == 'Z' || s.state == 'X' ||
	       s.rss_pages == 0;
}

/* Notes that a read was refused, so that the file is not tried at every tick. The next full reading
 * tries it again: after exec, the process may have another user. */
static void note_refusal(struct member *m, const struct host *h, int code, bool *refused)
{
	if (!*refused)
		*refused = process_refused(code) && !is_ending(m, h);
}

static void read_io(struct member *m, const struct host *h)
{
	struct process_io io;
	struct kept *kept = m->files && !m->thread ? &m->files->io : NULL;
	int code = m->io_refused ? -EACCES : process_read_io(h, member_shown_by(m), kept, &io);

	note_refusal(m, h, code, &m->io_refused);
	if (code < 0)
		return;
	m->io_known = true;
	raise_to(&m->counter[TREE_READ_CHARS], io.read_chars);
	raise_to(&m->counter[TREE_WRITTEN_CHARS], io.written_chars);
	raise_to(&m->counter[TREE_READ_BYTES], io.read_bytes);
	raise_to(&m->counter[TREE_WRITTEN_BYTES], io.written_bytes);
	raise_to(&m->counter[TREE_CANCELLED_BYTES], io.cancelled_bytes);
}

static void read_fds(struct member *m, const struct host *h)
{
	int code = m->fds_refused ? -EACCES :
				    process_read_open_fds(h, member_shown_by(m), &m->open_fds);

	note_refusal(m, h, code, &m->fds_refused);
	/* An exiting process refuses the read too. In that case the last count stays valid. */
	m->fds_known = code == 0 || (m->fds_known && !m->fds_refused);
}

/* Reads the waiting times and context switches at ticks 1, 2, 4, 8, and then at every 8th tick. The
 * kernel's counters only rise, so a later reading includes the ticks between. The growth after a
 * process's last reading is lost if there is no exit record. */
static void read_waits(struct member *m, const struct host *h)
{
	struct delays d;

	m->waits_due = h->delays && !m->zombie && m->wait_looks && --m->wait_looks;
	if (m->waits_due || !h->delays)
		return;
	m->wait_pause = m->wait_pause < WAIT_LOOKS_MAX ? m->wait_pause * 2 + !m->wait_pause :
							 WAIT_LOOKS_MAX;
	m->wait_looks = m->wait_pause;
	if (delays_read(h->delays, h, m->pid, m->threads, &d) < 0)
		return;
	raise_to(&m->counter[TREE_CPU_WAIT_NS], d.cpu_ns);
	raise_to(&m->counter[TREE_IO_WAIT_NS], d.io_ns);
	raise_to(&m->counter[TREE_MEMORY_WAIT_NS], d.memory_ns);
	if (d.switches_known)
		take_switches(m, d.voluntary, d.involuntary);
}

/* Reads the stat file and updates the member's values. Returns 0 on success, and -ESRCH when the
 * process is gone. Returns another code when the file is unreadable for now. In this case, the old
 * values stay. */
static int read_stat(struct member *m, const struct host *h)
{
	struct process_stat s;
	int code = process_read_stat_kept(h, m->pid, m->files ? &m->files->stat : NULL, &s);

	if (process_gone(code) || (code == 0 && s.start_ticks != m->start_ticks))
		return -ESRCH;
	if (code == 0)
		take_stat(m, h, &s);
	return code;
}

bool member_read(struct member *m, const struct host *h, bool full)
{
	int code = read_stat(m, h);

	if (code < 0 || m->reaper)
		return code != -ESRCH;
	if (full)
		m->io_refused = m->fds_refused = m->pss_refused = false;
	/* A zombie has no memory, but its status file has the final counters. */
	if (full || m->status_due || m->zombie)
		read_status(m, h);
	read_io(m, h);
	read_waits(m, h);
	if (!m->zombie)
		read_fds(m, h);
	return true;
}

/* Reads a process that has not run since the last tick. Only its memory and its parent are read,
 * because other processes can change them. */
static bool read_sleeper(struct member *m, const struct host *h)
{
	int code = read_stat(m, h);

	if (code == 0 && m->status_due && !m->reaper)
		read_status(m, h);
	return code != -ESRCH;
}

bool member_look(struct member *m, const struct host *h)
{
	uint64_t clock = process_cpu_clock(h, m->pid);
	bool asleep = clock != 0 && clock == m->clock_ns, ran_before = m->ran;
	bool stale = ++m->looks % STALE_LOOKS == 0, full = m->looks >= STALE_LOOKS;

	m->last_rss_bytes = m->rss_bytes;
	m->was_zombie = m->zombie;
	m->peak_rose = false;
	m->ran = !asleep;
	m->children_due = m->children_due || m->ran || stale;
	if (asleep && m->waits_due)
		read_waits(m, h);
	if (asleep && !stale)
		return true;
	if (asleep) {
		member_done(m);
		return read_sleeper(m, h);
	}
	if (full)
		m->looks = 0;
	/* Usually a new stack address shows that the process has executed a program. If the address
	 * is unreadable, as for processes of other users, check the program at every full
	 * reading. */
	m->program_due = m->program_due || (full && !m->stack_start);
	if (ran_before)
		keep_files(m, h);
	m->clock_ns = clock;
	return member_read(m, h, full);
}

bool member_begin(struct member *m, const struct host *h)
{
	m->clock_ns = process_cpu_clock(h, m->pid);
	m->ran = m->children_due = true;
	/* Start with a count that depends on the pid, so that not all processes have their full
	 * reading at the same tick. */
	m->looks = (unsigned)m->pid % STALE_LOOKS;
	return member_read(m, h, true);
}

bool member_exists(const struct member *m, const struct host *h)
{
	uint64_t clock = process_cpu_clock(h, m->pid);
	struct process_stat s;

	/* CPU time never falls. If the clock is lower than at the last reading, the pid now belongs
	 * to another process. */
	if (clock)
		return clock >= m->clock_ns;
	/* The clock is 0 when the process is gone, has never run, or has no readable clock. */
	int code = process_read_stat(h, m->pid, &s);

	return !process_gone(code) && (code < 0 || s.start_ticks == m->start_ticks);
}

static uint64_t share_of(uint64_t all, uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((double)all * ((double)part / (double)whole)) : 0;
}

uint64_t member_memory(const struct member *m, const struct host *h, uint64_t rss)
{
	/* Count all memory that was added since the last PSS reading as unshared. If a part of it
	 * were assumed to be shared, a peak could be missed. */
	if (m->pss_bytes && rss > m->pss_rss_bytes)
		return m->pss_bytes + (rss - m->pss_rss_bytes);
	if (m->pss_bytes && m->pss_rss_bytes)
		return share_of(rss, m->pss_bytes, m->pss_rss_bytes);
	if (m->inherited_bytes == 0)
		return rss;
	uint64_t grown = rss > m->inherited_bytes ? rss - m->inherited_bytes : 0;
	uint64_t touched =
		m->own_faults > UINT64_MAX / h->page_size / 2 ? rss : m->own_faults * h->page_size;

	return grown + touched < rss ? grown + touched : rss;
}

uint64_t member_shmem(const struct member *m, const struct host *h)
{
	uint64_t rss = m->kind_bytes[MEMORY_SHMEM], then = m->pss_shmem_rss_bytes;

	if (!m->pss_bytes || !m->pss_shmem_known)
		return share_of(rss, member_memory(m, h, m->rss_bytes), m->rss_bytes);
	return rss > then ? m->pss_shmem_bytes + (rss - then) :
			    share_of(rss, m->pss_shmem_bytes, then);
}

static uint64_t reading_clock(const struct host *h)
{
	return process_thread_clock() + tree_waits(h->proc).worked_ns;
}

bool member_read_pss(struct member *m, const struct host *h, uint64_t *cost_ns)
{
	uint64_t before = reading_clock(h);
	struct process_pss p;
	int code = process_read_pss(h, member_shown_by(m), &p);
	uint64_t spent = reading_clock(h) - before;

	m->pss_refused = process_refused(code);
	if (code == 0) {
		m->pss_bytes = p.pss_bytes;
		m->pss_rss_bytes = p.rss_bytes;
		m->pss_stat_bytes = m->rss_bytes;
		m->huge_bytes = p.huge_bytes;
		m->pss_shmem_bytes = p.shmem_bytes;
		m->pss_shmem_rss_bytes = m->kind_bytes[MEMORY_SHMEM];
		m->pss_shmem_known = p.shmem_known;
		m->pss_cost_ns = spent;
		m->pss_at = h->now.mono;
	}
	*cost_ns = spent;
	return code == 0;
}
