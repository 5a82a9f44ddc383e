/* The input is kernel files that no collector of the machine reads: the machine's CPU time as an
 * upper bound, the waiting times of processes, the exporter's own files, its status and list of
 * children, and the CPU time of a control group made for a run (/sys/usage). The machine is
 * described in fuzz_machine.h. */
#include <assert.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collectors/process/delays.h"
#include "collectors/base/mem.h"
#include "collectors/machine/machine_cpu.h"
#include "collectors/accounting/own_group.h"
#include "exporter/wrapper/inherited.h"
#include "exporter/sampling/self_metrics.h"
#include "tests/fuzz/fuzz_machine.h"

static const struct collector *const list[] = {&collector_self, NULL};

struct machine {
	struct fuzz_machine m;
	struct snapshot_pool *pool;
	struct delay_reader *delays;
	void *self;
	struct machine_cpu last;
	struct machine_steal steal;
	bool started, known;
};

static void look_at_cpu(struct machine *m)
{
	struct host *h = &m->m.t.host;
	ssize_t n = tree_read(h->proc, "stat", h->scratch, h->scratch_size);
	struct scan text = SCAN(h->scratch, n > 0 ? n : 0);
	struct machine_cpu now;

	machine_steal_look(&m->steal, text, h->now.mono, h->ticks_per_second);
	assert(m->steal.ran_seconds >= 0 && m->steal.stolen_seconds >= 0);
	if (!machine_cpu_parse(text, h->now.mono, h->ticks_per_second, &now))
		return;
	now.ran_seconds = m->steal.ran_seconds;
	now.stolen_seconds = m->steal.stolen_seconds;
	if (m->known) {
		double spent = machine_cpu_spent(&m->last, &now),
		       stolen = machine_cpu_stolen(&m->last, &now);

		assert(spent >= 0 && isfinite(spent));
		assert(isnan(stolen) || (stolen >= 0 && stolen <= 1));
	}
	m->last = now;
	m->known = true;
}

static void look_at_delays(const struct machine *m)
{
	static const uint64_t threads[] = {1, 2, DELAYS_THREADS_MAX + 1};
	struct delays d;

	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		int code = delays_read(m->delays, &m->m.t.host, 10, threads[i], &d);

		assert(code <= 0);
		assert(code || (d.io_ns == 0 && d.memory_ns == 0));
	}
}

/* Reads the file /sys/usage like the wrapper, which keeps it open, as a file of cgroup v1 and of
 * v2. */
static void look_at_group(const struct machine *m)
{
	const struct host *h = &m->m.t.host;
	ssize_t n = tree_read(h->sys, "usage", h->scratch, h->scratch_size);
	AUTO(closep) int fd = n > 0 ? memfd_create("usage", MFD_CLOEXEC) : -1;
	uint64_t used;

	if (fd < 0 || write(fd, h->scratch, (size_t)n) != n)
		return;
	for (int version = 1; version <= 2; version++) {
		struct own_group g = OWN_GROUP_NONE;

		g.usage = fd;
		g.version = version;
		assert(own_group_cpu_ns(&g, &used) <= 0);
	}
}

static void look_at_numbers(const struct machine *m)
{
	const struct host *h = &m->m.t.host;
	ssize_t n = tree_read(h->proc, "self/status", h->scratch, h->scratch_size);
	AUTO(freep) pid_t *child = NULL;

	host_status_is_of(SCAN(h->scratch, n > 0 ? n : 0), 10);
	n = tree_read(h->proc, "self/children", h->scratch, h->scratch_size);
	size_t n_children = inherited_parse_children(SCAN(h->scratch, n > 0 ? n : 0), &child);

	for (size_t i = 0; i < n_children; i++)
		assert(child[i] >= 0);
}

static void tick(struct fuzz_machine *machine)
{
	struct machine *m = (struct machine *)machine;
	struct host *h = &m->m.t.host;
	struct err e = {0};

	if (!m->started) {
		m->delays = delay_reader_new(h);
		collector_self.start(&m->self, h, &e);
		m->started = true;
	}
	struct snapshot *s = snapshot_take(m->pool);

	look_at_cpu(m);
	look_at_delays(m);
	look_at_group(m);
	look_at_numbers(m);
	assert(collector_self.collect(m->self, h, &s->blocks[0], &e) == 0);
	assert(!block_fault(&s->blocks[0]));
	shared_drop(&s->shared);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine m = {.m = {.tick = tick}, .pool = snapshot_pool_new(list)};

	test_host_init(&m.m.t);
	fuzz_play(&m.m, data, size);
	delay_reader_free(m.delays);
	machine_steal_done(&m.steal);
	collector_self.stop(m.self);
	snapshot_pool_free(m.pool);
	test_host_done(&m.m.t);
	return 0;
}
