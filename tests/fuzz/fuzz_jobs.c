/* The input is the files of followed processes: their resource use, their job names, their GPU's
 * fdinfo. The machine is described in fuzz_machine.h, and there are these additional lines:
 *
 * 	@@ follow 10 2		process 10 is a run with reaper 2; the reaper is optional
 * 	@@ adopt 11		process 11 belongs to the first run, too
 * 	@@ over			the first run's parent reports its end
 * 	@@ own			/proc is that of our own PID namespace
 * 	@@ again		the rules have changed: all processes are read again
 * 	@@ large 10 environ	repeats this file, until it is longer than one read
 *
 * jobs.c calls every reader only for a run that looks like a real one, so each reader is also called
 * without a run. */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "collectors/base/utf8.h"
#include "collectors/cgroup/files.h"
#include "collectors/cgroup/task_limit.h"
#include "collectors/accounting/group_owner.h"
#include "collectors/gpu/gpu.h"
#include "collectors/gpu/nvml_pid.h"
#include "collectors/followed/jobs.h"
#include "collectors/process/process_book.h"
#include "collectors/process/facts.h"
#include "collectors/cgroup/cpu_quota.h"
#include "collectors/naming/recognise.h"
#include "collectors/followed/run_disk.h"
#include "collectors/followed/run_network.h"
#include "tests/fuzz/fuzz_machine.h"

static const struct collector *const list[] = {&collector_jobs, &collector_gpu, NULL};

struct machine {
	struct fuzz_machine m;
	struct snapshot_pool *pool;
	void *gpu;
	bool looked, own_pid_namespace;
	unsigned runs, alone; /* number of runs; processes read by look_alone() in this tick */
	struct gpu_pids pids;
	struct run_disk disk;
	struct run_network network;
	struct process_book *book;
	struct facts_reader *reader;
	double seconds; /* CPU time of the first run at the last tick */
};

/* Makes a file larger than the facts reader's buffer, at most four times as large. */
static void enlarge(struct machine *m, uint64_t pid, struct scan line)
{
	struct host *h = &m->m.t.host;
	struct buf text = BUF_MAX(5 * HOST_SCRATCH_SIZE);
	char path[64], name[16] = "";
	struct slice file;

	if (scan_word(&line, &file))
		slice_copy(file, name, sizeof name);
	snprintf(path, sizeof path, "/proc/%u/%s", (unsigned)pid, name);
	ssize_t n = tree_read(h->proc, path + strlen("/proc/"), h->scratch, h->scratch_size);

	while (n > 0 && text.len <= HOST_SCRATCH_SIZE + pid % 4 * HOST_SCRATCH_SIZE)
		buf_add(&text, h->scratch, (size_t)n);
	if (n > 0)
		test_host_bytes(&m->m.t, path, buf_text(&text), text.len);
	buf_done(&text);
}

static bool wants(const void *context, struct slice variable)
{
	(void)context;
	return slice_starts(variable, "W");
}

static void other(struct fuzz_machine *machine, struct slice word, struct scan line)
{
	struct machine *m = (struct machine *)machine;
	struct host *h = &m->m.t.host;
	uint64_t pid = 0, reaper = 0;
	char id[32];

	if (slice_is(word, "own"))
		m->own_pid_namespace = true;
	if (slice_is(word, "again"))
		process_book_again(m->book);
	if (slice_is(word, "over")) {
		double final[RUN_N_METRICS];

		for (size_t i = 0; i < RUN_N_METRICS; i++)
			final[i] = NAN;
		jobs_conclude(h->jobs, "r0", final, (enum final_kind)0);
		return;
	}
	if (!scan_u64(&line, &pid) || pid == 0 || pid > INT32_MAX)
		return;
	if (slice_is(word, "large"))
		enlarge(m, pid, line);
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

/* Calls each reader of a control group, mount table or network namespace with one process. */
static void look_alone(struct machine *m, pid_t pid)
{
	struct host *h = &m->m.t.host;
	struct cgroup_files files;
	struct cgroup group;
	double values[CGROUP_VALUES], received = NAN, sent = NAN;
	struct err e = {0};

	if (cgroup_of_process(&group, h, pid, &e) == 0) {
		cgroup_files_open(&files, &group, CGROUP_WANT_ALL);
		cgroup_files_read(&files, h, values, NULL);
		for (size_t i = 0; i < CGROUP_VALUES; i++)
			assert(!(values[i] < 0) && !isinf(values[i]));
		cgroup_files_close(&files);
		cpu_quota_find(&group, h);
		task_limit_find(&group, &group.place[CGROUP_PIDS], h);
	}
	assert(!(run_disk_look(&m->disk, h, pid, 1, (struct run_disk_writes){1e6, 0}) < 0));
	run_network_look(&m->network, h, pid, &received, &sent);
	assert(!(received < 0) && !(sent < 0));
}

static void look(void *context, struct booked_process *p)
{
	struct machine *m = context;
	struct process_facts facts;
	struct recognised r;

	if (m->alone++ < 3)
		look_alone(m, p->pid);
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

static void forget(void *context, struct booked_process *p)
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
	m->alone = 0;
	struct host own = *h;

	own.own_pid_namespace = m->own_pid_namespace;
	process_book_look(m->book, &own, look, forget, m);
	gpu_pids_update(&m->pids, &own, (const uint32_t[]){10, 12, 7, 4000000000}, 4);
	assert(gpu_pid_of(&m->pids, 7) >= 0);
	gpu_pids_are_same(&m->pids, &own);
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
	jobs_drop_ended(h->jobs, h, UINT64_MAX, 0);
	shared_drop(&s->shared);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine m = {.m = {.tick = tick, .other = other},
		.pool = snapshot_pool_new(list),
		.book = process_book_new(),
		.reader = facts_reader_new()};

	test_host_init(&m.m.t);
	facts_reader_wants(m.reader, wants, NULL);
	m.m.t.host.jobs = jobs_new(NULL);
	fuzz_play(&m.m, data, size);
	if (m.gpu)
		collector_gpu.stop(m.gpu);
	snapshot_pool_free(m.pool);
	jobs_free(m.m.t.host.jobs);
	gpu_pids_done(&m.pids);
	run_disk_done(&m.disk);
	process_book_free(m.book);
	facts_reader_free(m.reader);
	test_host_done(&m.m.t);
	return 0;
}
