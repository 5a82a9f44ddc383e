/* Fault sweep of the followed runs and their collector: the first, second, third, ... read of the
 * kernel's file trees fails once. Nothing may crash or leak, no unknown value may be 0, no counter
 * may fall, and the next tick must be as if nothing had failed. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/process/delays.h"
#include "tests/support/jobs_world.h"
#include "tests/support/test_host.h"

/* The simulated life of a run makes fewer calls. */
#define CALLS_MAX 5000

/* The life has LOOKS ticks, numbered from 0. One call may fail in the ticks 0 to LAST_FAULT. Limits
 * are read every LIMIT_LOOKS ticks (collectors/accounting/accounts.c). */
#define LOOKS       12
#define LAST_FAULT  4
#define LIMIT_LOOKS 10

/* ---- the run ---- */

enum kind {
	FAMILY,  /* several processes in a control group that only they use */
	LOOSE,   /* several processes in a shared control group */
	SCANNED, /* like LOOSE, on a kernel without "children" files */
	ALONE,   /* one process in a shared control group */
	KINDS
};

struct life {
	struct world *w;
	struct tree *proc, *sys, *root; /* kernel file trees in which one call fails */
	int countdown;
	struct snapshot_pool *pool;
	enum kind kind;
};

static void text_of(struct tree *t, int pid, const char *file, const char *text)
{
	char path[64];

	snprintf(path, sizeof path, "%d/%s", pid, file);
	memory_tree_text(t, path, text);
}

/* A process's own CPU time up to a tick, without that of waited-for children. */
static unsigned long user_ticks(unsigned long look)
{
	return 100 + 10 * look;
}

/* Writes the process's I/O counts at a tick. If `waited` is true, they include the counts of one
 * child that has ended. */
static void put_io(struct life *l, int pid, unsigned long look, bool waited)
{
	unsigned long read = 7000 + look, written = 6000000 + 1000000 * look;
	char text[200];

	if (waited) {
		read += 7000;
		written += 6000000;
	}
	snprintf(text, sizeof text,
		"rchar: %lu\nwchar: %lu\nsyscr: 1\nsyscw: 1\nread_bytes: %lu\nwrite_bytes: %lu\n",
		read * 2, written * 2, read, written);
	text_of(l->w->proc, pid, "io", text);
}

/* Returns the memory of a process at a tick. It grows so much that the sum of all processes grows
 * although some of them end, and that PSS is read at each tick. */
static unsigned long memory_kib(unsigned long look)
{
	unsigned long kib = 4000;

	for (unsigned long i = 0; i < look; i++)
		kib += i < 3 ? kib / 2 : kib / 4;
	return kib / 4 * 4;
}

static void put_memory(struct life *l, int pid, unsigned long look, unsigned long pss_less_kib)
{
	unsigned long kib = memory_kib(look);
	char text[400];

	snprintf(text, sizeof text,
		"Pid:\t%d\nVmHWM:\t%lu kB\nRssAnon:\t%lu kB\nRssFile:\t500 kB\nRssShmem:\t300 kB\n"
		"VmSwap:\t%lu kB\nHugetlbPages:\t64 kB\nvoluntary_ctxt_switches:\t%lu\n"
		"nonvoluntary_ctxt_switches:\t%lu\n",
		pid, kib, kib - 800, 40 + look, 70 + look, 30 + look);
	text_of(l->w->proc, pid, "status", text);
	snprintf(text, sizeof text,
		"Rss: %lu kB\nPss: %lu kB\nPss_Shmem: 200 kB\nAnonHugePages: 128 kB\n", kib,
		kib - pss_less_kib);
	text_of(l->w->proc, pid, "smaps_rollup", text);
}

static void put_place(struct life *l, int pid, unsigned long look)
{
	struct tree *proc = l->w->proc;
	char text[200], path[64];

	text_of(proc, pid, "fd/0", "");
	text_of(proc, pid, "fd/1", "");
	text_of(proc, pid, "cgroup", l->kind == FAMILY ? "0::/run\n" : "0::/\n");
	snprintf(text, sizeof text,
		"Inter-|   Receive |  Transmit\n face |bytes packets\n"
		"  eth0: %lu 1 0 0 0 0 0 0 %lu 1 0 0 0 0 0 0\n",
		5000 + 100 * look, 3000 + 100 * look);
	text_of(proc, pid, "net/dev", text);
	text_of(proc, pid, "exe", "\177ELF");
	snprintf(path, sizeof path, "%d/ns/net", pid);
	memory_tree_link(proc, path, "net:[2]");
	snprintf(path, sizeof path, "%d/ns/mnt", pid);
	memory_tree_link(proc, path, "mnt:[1]");
}

/* Every counter of the process grows at each tick. */
static void put_process(struct life *l, int pid, int ppid, unsigned long look, bool waited)
{
	char text[100];

	PUT(l->w, .pid = pid, .ppid = ppid, .user = user_ticks(look), .system = 50 + 5 * look,
		.faults = 500 + look, .waited_user = waited ? user_ticks(0) + 50 : 0,
		.waited_faults = waited ? 500 : 0, .rss_pages = memory_kib(look) / 4,
		.stack = (unsigned long)pid * 4096, .start = (unsigned long)pid);
	put_memory(l, pid, look, 300);
	put_io(l, pid, look, waited);
	snprintf(text, sizeof text, "%lu %lu 7\n", 1000000 * (look + 1), 500000 * (look + 1));
	text_of(l->w->proc, pid, "schedstat", text);
	put_place(l, pid, look);
	if (l->kind != SCANNED)
		children(l->w, pid, "");
}

static void put_group(struct life *l, unsigned long look, const char *processes)
{
	struct tree *sys = l->w->sys;
	char text[300];

	memory_tree_text(sys, "fs/cgroup/run/cgroup.controllers", "cpu memory io\n");
	memory_tree_text(sys, "fs/cgroup/run/cgroup.procs", processes);
	snprintf(text, sizeof text,
		"usage_usec %lu\nuser_usec %lu\nsystem_usec %lu\nnr_periods %lu\nnr_throttled %lu\n"
		"throttled_usec %lu\n",
		20000000 + 900000 * look, 14000000 + 600000 * look, 6000000 + 300000 * look,
		100 + look, 10 + look, 5000 + look);
	memory_tree_text(sys, "fs/cgroup/run/cpu.stat", text);
	memory_tree_text(sys, "fs/cgroup/run/cpu.max", "200000 100000\n");
	snprintf(text, sizeof text, "%lu\n", 90000000 + 1000000 * look);
	memory_tree_text(sys, "fs/cgroup/run/memory.current", text);
	memory_tree_text(sys, "fs/cgroup/run/memory.peak", text);
	memory_tree_text(sys, "fs/cgroup/run/memory.max", "536870912\n");
	snprintf(text, sizeof text, "anon 1\nfile %lu\nshmem %lu\nanon_thp 2097152\n",
		3000000 + look, 2000000 + look);
	memory_tree_text(sys, "fs/cgroup/run/memory.stat", text);
	snprintf(text, sizeof text, "low 0\nhigh %lu\nmax %lu\noom %lu\noom_kill %lu\n", 9 + look,
		8 + look, 7 + look, 1 + look / 3);
	memory_tree_text(sys, "fs/cgroup/run/memory.events", text);
	for (size_t i = 0; i < 3; i++) {
		static const char *const files[] = {"cpu", "memory", "io"};
		char path[64];

		snprintf(path, sizeof path, "fs/cgroup/run/%s.pressure", files[i]);
		snprintf(text, sizeof text, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%lu\n",
			400000 + 1000 * look);
		memory_tree_text(sys, path, text);
	}
}

static void put_machine(struct life *l, unsigned long look, unsigned births)
{
	struct tree_space space = {.size = 1000000000000,
		.free = 500000000000 - 1000000 * look,
		.available = 400000000000 - 1000000 * look};
	char text[200];

	memory_tree_text(l->w->proc, "self/mountinfo",
		"20 1 0:18 / /sys rw - sysfs sysfs rw\n"
		"25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		"30 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
	memory_tree_text(l->w->proc, "self/cgroup", "0::/exporter\n");
	memory_tree_text(l->w->proc, "1/cgroup", "0::/init\n");
	memory_tree_link(l->w->proc, "self/ns/net", "net:[1]");
	memory_tree_link(l->w->proc, "self/ns/mnt", "mnt:[1]");
	memory_tree_space(l->w->proc, "self/root/", space, 801);
	snprintf(text, sizeof text, "cpu  %lu 0 10 %lu 0 0 0 0 0 0\ncpu0 1\ncpu1 1\nprocesses %u\n",
		1000 + 100 * look, 100000 + 100 * look, births);
	memory_tree_text(l->w->proc, "stat", text);
}

static void put_quiet(struct life *l, int pid, int ppid, bool lives)
{
	if (lives)
		put_process(l, pid, ppid, 0, false);
	else
		gone(l->w, pid);
}

/* Process 10 has three children: 11, 12 and 14. Process 11 gets the child 13 at the second tick. 12
 * ends at the third tick and 13 at the fourth, and their parents wait for them. 14 does not change,
 * but fewer processes share its memory later. No other process is created, so a process that was
 * missed is not found by chance. */
static void live(struct life *l, unsigned long look)
{
	put_machine(l, look, look ? 101 : 100);
	put_process(l, 10, 1, look, l->kind != ALONE && look > 1);
	if (l->kind == ALONE)
		return;
	put_process(l, 11, 10, look, look > 2);
	put_quiet(l, 12, 10, look < 2);
	put_quiet(l, 13, 11, look == 1 || look == 2);
	put_quiet(l, 14, 10, true);
	put_memory(l, 14, 0, look > 2 ? 100 : 300);
	if (l->kind != SCANNED) {
		children(l->w, 10, look < 2 ? "11 12 14 " : "11 14 ");
		children(l->w, 11, look == 1 || look == 2 ? "13 " : "");
	}
	if (l->kind == FAMILY)
		put_group(l, look,
			look == 0 ? "10\n11\n12\n14\n" :
			look == 1 ? "10\n11\n12\n13\n14\n" :
			look == 2 ? "10\n11\n13\n14\n" :
				    "10\n11\n14\n");
}

static void life_begin(struct life *l, enum kind kind, int code)
{
	static const struct collector *const collectors[] = {&collector_jobs, NULL};

	*l = (struct life){.w = world_new(), .kind = kind, .countdown = -1};
	l->w->host.affinity_cpus = 2;
	l->w->host.now.mono.ns = 1000 * NS_PER_S;
	l->pool = snapshot_pool_new(collectors);
	l->w->host.proc = l->proc = failing_tree(l->w->proc, &l->countdown, code);
	l->w->host.sys = l->sys = failing_tree(l->w->sys, &l->countdown, code);
	l->w->host.root = l->root = failing_tree(l->w->root, &l->countdown, code);
	live(l, 0);
	l->w->host.delays = delay_reader_new(&l->w->host);
}

static void life_end(struct life *l)
{
	delay_reader_free(l->w->host.delays);
	world_freep(&l->w);
	tree_free(l->proc);
	tree_free(l->sys);
	tree_free(l->root);
	snapshot_pool_free(l->pool);
}

/* Reads the values of one tick, and checks them as /metrics does. */
static void look_into(struct life *l, double value[RUN_N_METRICS])
{
	const struct run_reading *r = look(l->w);
	struct snapshot *s = snapshot_take(l->pool);
	const char *fault;

	assert_int_equal(l->w->snapshot.n_runs, 1);
	memcpy(value, r->value, sizeof r->value);
	assert_int_equal(collector_jobs.collect(NULL, &l->w->host, &s->blocks[0], NULL), 0);
	fault = block_fault(&s->blocks[0]);
	if (fault)
		fail_msg("%s", fault);
	shared_drop(&s->shared);
}

struct told {
	double value[LOOKS][RUN_N_METRICS];
};

static void untroubled(enum kind kind, struct told *ret)
{
	struct life l;

	life_begin(&l, kind, -EIO);
	follow(l.w, 10, 0);
	for (unsigned long i = 0; i < LOOKS; i++) {
		live(&l, i);
		look_into(&l, ret->value[i]);
	}
	life_end(&l);
}

/* ---- the sweep ---- */

struct fault {
	enum kind kind;
	int code, nth;
	/* Meaning of the failed call's code. After GONE or REFUSED, the next tick may be
	 * incomplete. */
	enum { NOTHING, GONE, REFUSED } says;
	long at; /* tick of the failed call; BEFORE_ANY = in jobs_follow(); NOT_MET = none failed */
};

#define BEFORE_ANY (-1)
#define NOT_MET    (-2)

static const char *const names[KINDS] = {"family", "loose", "scanned", "alone"};

static _Noreturn void wrong(const struct fault *f, long look, size_t i, const char *what,
	double told, double truth)
{
	fail_msg("%s, code %d, call %d in look %ld, look %ld: %s %s: %g of %g", names[f->kind],
		f->code, f->nth, f->at, look, run_metrics[i].name, what, told, truth);
	abort();
}

/* The first successful reading is the start value of these counters. */
static bool begins_when_read(size_t i)
{
	return i == RUN_NETWORK_RECEIVED_BYTES || i == RUN_NETWORK_SENT_BYTES ||
	       i == RUN_DISK_GROWN_BYTES || i == RUN_CPU_PERIODS ||
	       i == RUN_CPU_THROTTLED_PERIODS || i == RUN_CPU_THROTTLED_SECONDS;
}

/* User and system time add up to the total. The size of each part may become known late or
 * never. */
static bool is_part_of_cpu(size_t i)
{
	return i == RUN_CPU_USER_SECONDS || i == RUN_CPU_SYSTEM_SECONDS;
}

/* CPU wait is not read at each tick. After a fault it may be read later than without the fault, and
 * may then be higher. */
static bool lags(size_t i)
{
	return i == RUN_CPU_WAIT_SECONDS;
}

/* Checks every tick: no value is above the truth, no counter falls, and no unknown value is 0. */
static void check_any(const struct fault *f, long look, const double *truth, const double *before,
	const double *told)
{
	for (size_t i = 0; i < RUN_N_METRICS; i++) {
		bool counts = run_metrics[i].type == METRIC_COUNTER;
		double last = before ? before[i] : (double)NAN;

		if (isnan(told[i])) {
			if (counts && !isnan(last))
				wrong(f, look, i, "is not known any more", told[i], last);
			continue;
		}
		if (isnan(truth[i]))
			wrong(f, look, i, "is made up", told[i], truth[i]);
		if (counts && told[i] < last)
			wrong(f, look, i, "falls", told[i], last);
		/* A process that was reported as gone and comes back is a new process. */
		if (f->says == GONE)
			continue;
		if (counts && !is_part_of_cpu(i) && !lags(i) && told[i] > truth[i] * (1 + 1e-9))
			wrong(f, look, i, "is more than there was", told[i], truth[i]);
		if (told[i] == 0 && truth[i] != 0 && last != 0 && !begins_when_read(i) &&
			i != RUN_MEMORY_PSS_AGE_SECONDS)
			wrong(f, look, i, "is 0, and not unknown", told[i], truth[i]);
	}
}

/* Returns true for values that may differ after a fault. */
static bool is_excused(const struct fault *f, const struct told *truth, long look, size_t i,
	double told)
{
	/* Limits are read at every tenth tick. After a failed reading they stay unknown until
	 * then. */
	if (i == RUN_CPU_LIMIT_CORES || i == RUN_MEMORY_LIMIT_BYTES)
		return look < LIMIT_LOOKS && isnan(told);
	if (is_part_of_cpu(i))
		return true;
	/* After a fault PSS may be read again, and its age is then lower. */
	if (i == RUN_MEMORY_PSS_AGE_SECONDS)
		return told < truth->value[look][i];
	/* At the last tick, the value is at least the true value at tick LAST_FAULT. */
	if (lags(i))
		return look < LOOKS - 1 || told >= truth->value[LAST_FAULT][i];
	/* If the first reading of a file system failed, its used space at the start is unknown. */
	if (i == RUN_DISK_GROWN_BYTES && isnan(told))
		return f->at == 0;
	/* Growth between the failed reading and the next is not counted. */
	return begins_when_read(i) && f->at == 0 &&
	       told >= truth->value[look][i] - truth->value[1][i];
}

static bool equal(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fabs(b);
}

static void check_whole(const struct fault *f, const struct told *truth, long look,
	const double *told)
{
	for (size_t i = 0; i < RUN_N_METRICS; i++)
		if (!equal(told[i], truth->value[look][i]) &&
			!is_excused(f, truth, look, i, told[i]))
			wrong(f, look, i, "is not what it would be without the fault", told[i],
				truth->value[look][i]);
}

/* Follows the run again if the first attempt failed, like a real caller. */
static void follow_at_last(struct life *l)
{
	struct run_spec spec = {.run_id = "r1", .job_name = "etl", .pid = 10};
	int code = jobs_follow(l->w->host.jobs, &l->w->host, &spec, NULL);

	assert_true(code <= 0);
	if (code)
		follow(l->w, 10, 0);
}

/* Lets call number `nth` of following or sampling fail. Returns false when there were fewer calls.
 * Facts that are read only once, such as the group, stay unknown when their reading failed. */
static bool sweep_once(struct fault *f, const struct told *truth)
{
	struct life l;
	struct told told;

	life_begin(&l, f->kind, f->code);
	l.countdown = f->nth;
	f->at = NOT_MET;
	follow_at_last(&l);
	if (l.countdown < 0)
		f->at = BEFORE_ANY;
	for (long i = 0; i < LOOKS; i++) {
		bool before = f->at != NOT_MET;

		live(&l, (unsigned long)i);
		if (i > LAST_FAULT)
			l.countdown = -1;
		look_into(&l, told.value[i]);
		if (!before && l.countdown < 0 && i <= LAST_FAULT)
			f->at = i;
		assert_double_equal(told.value[i][RUN_CPU_USER_SECONDS] +
					    told.value[i][RUN_CPU_SYSTEM_SECONDS],
			told.value[i][RUN_CPU_SECONDS], 1e-9);
		check_any(f, i, truth->value[i], i ? told.value[i - 1] : NULL, told.value[i]);
		if (f->says == NOTHING && f->at != BEFORE_ANY && f->at != i)
			check_whole(f, truth, i, told.value[i]);
	}
	life_end(&l);
	return f->at != NOT_MET;
}

static void sweep(enum kind kind, int code)
{
	struct fault f = {.kind = kind, .code = code};
	struct told truth;

	if (code == -ENOENT || code == -ESRCH)
		f.says = GONE;
	else if (code == -EACCES || code == -EPERM)
		f.says = REFUSED;

	untroubled(kind, &truth);
	while (sweep_once(&f, &truth))
		if (++f.nth == CALLS_MAX)
			fail_msg("a life never ends");
	print_message("%s, code %d: %d calls\n", names[kind], code, f.nth);
	assert_true(f.nth > 50);
}

static void every_read_may_fail_once_and_the_next_look_is_whole(void **state)
{
	static const int codes[] = {-EIO, -ETIMEDOUT};

	for (enum kind kind = 0; kind < KINDS; kind++)
		for (size_t i = 0; i < ARRAY_LEN(codes); i++)
			sweep(kind, codes[i]);
}

/* -ENOENT: the process leaves the run. -EACCES: the refused file is read again much later. */
static void a_process_may_seem_gone_or_refuse_at_any_read(void **state)
{
	static const int codes[] = {-ENOENT, -EACCES};

	for (enum kind kind = 0; kind < KINDS; kind++)
		for (size_t i = 0; i < ARRAY_LEN(codes); i++)
			sweep(kind, codes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_read_may_fail_once_and_the_next_look_is_whole),
		cmocka_unit_test(a_process_may_seem_gone_or_refuse_at_any_read),
	};

	return cmocka_run_group_tests_name("jobs_faults", tests, NULL, NULL);
}
