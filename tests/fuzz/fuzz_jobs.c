/*
 * Any bytes as the files of processes that are followed: what a run used, what recognises it, its GPU's fdinfo. A
 * machine of fuzz_machine.h, with these further lines:
 *
 *	@@ follow 10 2		process 10 is a run, whose reaper is 2; the reaper may be absent
 *	@@ adopt 11		process 11 belongs to the first run, too
 *	@@ over			the first run has ended, as its parent says
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "collectors/base/utf8.h"
#include "collectors/gpu.h"
#include "collectors/jobs.h"
#include "collectors/process_book.h"
#include "collectors/process_facts.h"
#include "collectors/recognise.h"
#include "tests/fuzz/fuzz_machine.h"

static const struct collector *const list[] = {&collector_jobs, &collector_gpu, NULL};

struct machine {
	struct fuzz_machine m;
	struct snapshot_pool *pool;
	void *gpu;
	bool looked;
	unsigned runs;
	struct process_book *book;
	struct facts_reader *reader;
	double seconds; /* of CPU of the first run at the last look */
};

static void other(struct fuzz_machine *machine, struct slice word, struct scan line)
{
	struct machine *m = (struct machine *)machine;
	struct host *h = &m->m.t.host;
	uint64_t pid = 0, reaper = 0;
	char id[32];

	if (slice_is(word, "over")) {
		double final[RUN_N_METRICS];

		for (size_t i = 0; i < RUN_N_METRICS; i++)
			final[i] = NAN;
		jobs_conclude(h->jobs, "r0", final, (enum final_kind)0);
		return;
	}
	if (!scan_u64(&line, &pid) || pid == 0 || pid > INT32_MAX)
		return;
	if (slice_is(word, "adopt"))
		jobs_adopt(h->jobs, h, "r0", (pid_t)pid);
	if (!slice_is(word, "follow") || m->runs > 8)
		return;
	if (!scan_u64(&line, &reaper) || reaper > INT32_MAX)
		reaper = 0;
	snprintf(id, sizeof id, "r%u", m->runs);
	struct run_spec spec = {.run_id = id,
		.job_name = m->runs % 2 ? "odd" : "even",
		.pid = (pid_t)pid,
		.reaper_pid = (pid_t)reaper,
		.started_at = h->now.wall,
		.awaits_conclusion = reaper != 0,
		.grace_seconds = m->runs == 1 ? 2 : 0};
	struct err e = {0};

	if (jobs_follow(h->jobs, h, &spec, &e) == 0)
		m->runs++;
	else
		assert(e.text[0]);
}

static void look(void *context, struct booked *p)
{
	struct machine *m = context;
	struct process_facts facts;
	struct recognised r;

	if (!facts_begin(m->reader, &m->m.t.host, p->pid, &facts))
		return;
	facts_complete(m->reader, &m->m.t.host,
		FACT_EXECUTABLE | FACT_WORKING_DIRECTORY | FACT_CGROUP | FACT_USER, &facts);
	assert(facts.user[sizeof facts.user - 1] == '\0' ||
		strnlen(facts.user, sizeof facts.user) < sizeof facts.user);
	if (recognise(&facts.text, &r))
		assert(utf8_plain(r.job_name));
	p->note = m;
}

static void forget(void *context, struct booked *p)
{
	(void)context;
	p->note = NULL;
}

static void tick(struct fuzz_machine *machine)
{
	struct machine *m = (struct machine *)machine;
	struct host *h = &m->m.t.host;
	struct err e = {0};

	if (!m->looked && collector_gpu.start(&m->gpu, h, &e))
		m->gpu = NULL;
	m->looked = true;
	struct snapshot *s = snapshot_take(m->pool);

	s->at = h->now;
	process_book_look(m->book, h, look, forget, m);
	jobs_read(h->jobs, h, s);
	for (size_t i = 0; i < s->n_runs; i++) {
		const struct run_reading *r = &s->runs[i];

		for (size_t k = 0; k < RUN_N_METRICS; k++)
			assert(!(r->value[k] < 0) && !isinf(r->value[k]));
		if (strcmp(r->run_id, "r0") == 0) {
			assert(!(r->value[RUN_CPU_SECONDS] < m->seconds));
			m->seconds = r->value[RUN_CPU_SECONDS];
		}
	}
	collector_jobs.collect(NULL, h, &s->blocks[0], &e);
	assert(!block_fault(&s->blocks[0]));
	if (m->gpu && collector_gpu.collect(m->gpu, h, &s->blocks[1], &e) == 0)
		assert(!block_fault(&s->blocks[1]));
	jobs_drop_ended(h->jobs);
	shared_drop(&s->shared);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine m = {.m = {.tick = tick, .other = other},
		.pool = snapshot_pool_new(list),
		.book = process_book_new(),
		.reader = facts_reader_new()};

	test_host_init(&m.m.t);
	m.m.t.host.jobs = jobs_new();
	fuzz_play(&m.m, data, size);
	if (m.gpu)
		collector_gpu.stop(m.gpu);
	snapshot_pool_free(m.pool);
	jobs_free(m.m.t.host.jobs);
	process_book_free(m.book);
	facts_reader_free(m.reader);
	test_host_done(&m.m.t);
	return 0;
}
