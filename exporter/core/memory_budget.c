#include "exporter/core/memory_budget.h"

#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/number.h"
#include "collectors/base/units.h"
#include "collectors/cgroup/find.h"
#include "collectors/host.h"
#include "collectors/kernel_file.h"
#include "exporter/core/log.h"

/* Memory that the program needs even without clients: code and libraries (7 MiB), threads, the
 * latest snapshot and kernel memory. If the memory limit is above twice OWN_BYTES, malloc may use
 * 5/8 of (limit - OWN_BYTES); the other 3/8 are for fragmentation and sockets. If the limit is
 * lower, malloc may use a quarter of it. */
#define OWN_BYTES ((uint64_t)(16 * MIB))

/* Bytes of address space for the stacks of threads that start later (room_below). */
#define STACKS_BYTES ((uint64_t)(24 * MIB))

/* Below this memory limit, there is not enough memory for most answers from the history. */
#define ENOUGH_BYTES ((uint64_t)(32 * MIB))

/* Each connection has two socket buffers, one for each direction. Their size is chosen so that the
 * buffers of SOCKETS_USUAL connections take at most 1/SOCKETS_PART of the memory limit. The kernel
 * doubles each size for its bookkeeping (socket(7)). No buffer is smaller than SOCKET_LEAST. */
#define SOCKETS_PART 4
#define SOCKET_LEAST ((size_t)16 << 10)
/* from this size on, the kernel's default is used instead */
#define SOCKET_USUAL  ((size_t)2 << 20)
#define SOCKETS_USUAL 512 /* default of --web.max-connections */

/* The soft limit of open files is raised to this number, or to the hard limit if that is lower. */
#define DESCRIPTORS_ENOUGH 65536

/* Free heap is given back to the kernel when it exceeds IDLE_MOST or 1/IDLE_PARTS of the heap,
 * whichever is smaller. */
#define IDLE_MOST  ((size_t)16 << 20)
#define IDLE_PARTS 8

#define MEMORY_BUDGET_MOST(field, most, parts, unit, log_name) .field = (most),
static struct memory_budget current = {.heap = SIZE_MAX, MEMORY_BUDGETS(MEMORY_BUDGET_MOST)};

/* true = RLIMIT_AS or RLIMIT_DATA is the lowest of all limits. These two limits count all allocated
 * memory; the limit of a control group counts only memory that was written. */
static bool of_addresses;

static size_t share_of_heap(size_t heap, size_t most, size_t parts, size_t unit)
{
	size_t n = heap / parts / unit;

	return n < 1 ? 1 : n < most ? n : most;
}

static size_t socket_of(uint64_t limit, size_t connections)
{
	uint64_t each = limit / SOCKETS_PART / 4 /
			(connections < SOCKETS_USUAL ? connections : SOCKETS_USUAL);

	return each < SOCKET_LEAST ? SOCKET_LEAST : each < SOCKET_USUAL ? (size_t)each : 0;
}

struct memory_budget memory_budget_of(uint64_t limit)
{
	struct memory_budget a = {.limit = limit, .heap = SIZE_MAX};

	if (limit) {
		uint64_t heap = limit > 2 * OWN_BYTES ? (limit - OWN_BYTES) / 8 * 5 : limit / 4;

		a.heap = heap < SIZE_MAX ? (size_t)heap : SIZE_MAX;
	}
#define MEMORY_BUDGET_SHARE(field, most, parts, unit, log_name)                                    \
	a.field = share_of_heap(a.heap, most, parts, unit);
	MEMORY_BUDGETS(MEMORY_BUDGET_SHARE)
	if (limit)
		a.socket = socket_of(limit, a.connections);
	return a;
}

const struct memory_budget *memory_budget(void)
{
	return &current;
}

void memory_budget_set(uint64_t limit)
{
	current = memory_budget_of(limit);
}

/* ---- the limit ---- */

/* Returns the memory limit of the program's control group in bytes; NaN = no limit. */
static double group_limit(const struct options *o)
{
	struct host_paths paths = {o->procfs, o->sysfs, o->rootfs};
	struct host host = {0};
	struct cgroup group;
	double ret = NAN;

	if (host_open(&host, &paths, NULL) == 0 && cgroup_find(&group, &host, "self", NULL) == 0)
		ret = cgroup_limits_read(&group, &host).memory_bytes;
	host_close(&host);
	return ret;
}

/* Converts a resource limit (RLIMIT_AS, RLIMIT_DATA) to a memory limit for memory_budget_of, in
 * bytes; NaN = no limit. A resource limit counts address space, used or not. Subtracts the current
 * address space (`pages`) and the stacks of threads that start later. Adds OWN_BYTES, because
 * memory_budget_of subtracts it again. */
static double room_below(__rlimit_resource_t which, double pages)
{
	struct rlimit l;

	if (getrlimit(which, &l) < 0 || l.rlim_cur == RLIM_INFINITY)
		return NAN;
	return fmax(0, (double)l.rlim_cur - pages * (double)sysconf(_SC_PAGESIZE) - STACKS_BYTES) +
	       OWN_BYTES;
}

/* Returns the memory limit that RLIMIT_AS and RLIMIT_DATA set, in bytes; NaN = no limit. Reads the
 * current use in pages from /proc/self/statm: field 1 is the address space, field 6 is data and
 * stacks. */
static double process_limit(void)
{
	uint64_t number[6] = {0};
	struct tree *proc = NULL;
	char text[256];

	if (tree_open(&proc, "/proc", NULL) < 0)
		return NAN;
	ssize_t n = tree_read(proc, "self/statm", text, sizeof text);

	numbers_read(SCAN(text, n > 0 ? n : 0), number, ARRAY_LEN(number));
	tree_free(proc);
	return fmin(room_below(RLIMIT_AS, (double)number[0]),
		room_below(RLIMIT_DATA, (double)number[5]));
}

void memory_budget_words(struct buf *out, uint64_t bytes)
{
	buf_add_double(out, round((double)bytes / MIB * 10) / 10);
	buf_adds(out, " MiB");
}

static void add_bound(struct buf *out, const char *log_name, size_t unit, size_t bound)
{
	buf_addf(out, out->len ? ", %s " : "%s ", log_name);
	if (unit == 1)
		memory_budget_words(out, bound);
	else
		buf_add_u64(out, bound);
}

static void log_budget(const struct memory_budget *a)
{
	struct buf limit AUTO(buf_done) = BUF_MAX(64), bounds AUTO(buf_done) = BUF_MAX(512);

	memory_budget_words(&limit, a->limit);
#define MEMORY_BUDGET_SAY(field, most, parts, unit, log_name)                                      \
	add_bound(&bounds, log_name, unit, a->field);
	MEMORY_BUDGETS(MEMORY_BUDGET_SAY)
	log_line(LOG_LEVEL_INFO, "memory", "limit", buf_text(&limit), "held", buf_text(&bounds),
		NULL);
	if (a->limit < ENOUGH_BYTES)
		log_line(LOG_LEVEL_WARN,
			"the memory limit is too small: running takes 16 MiB, answers from the history "
			"take 32 MiB",
			"limit", buf_text(&limit), NULL);
}

void memory_budget_begin(const struct options *o)
{
	double addresses = process_limit(), limit = fmin(group_limit(o), addresses);

	if (isnan(limit) || limit >= 0x1p62)
		return;
	of_addresses = limit == addresses;
	memory_budget_set(limit < 1 ? 1 : (uint64_t)limit);
	log_budget(&current);
}

void memory_budget_descriptors(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= DESCRIPTORS_ENOUGH)
		return;
	l.rlim_cur = l.rlim_max < DESCRIPTORS_ENOUGH ? l.rlim_max : DESCRIPTORS_ENOUGH;
	setrlimit(RLIMIT_NOFILE, &l);
}

/* ---- the use of memory ---- */

/* Returns the number of bytes that malloc has allocated. The call takes a few microseconds. */
static size_t given_out(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Returns the anonymous memory of this process in bytes. The memory limit of a control group counts
 * this memory. The call takes 0.5 ms. Reading /proc/self/statm would be faster, but its numbers may
 * be wrong by megabytes on machines with many processors (since Linux 6.2). */
static size_t written_to(void)
{
	char text[2048];
	AUTO(closep) int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
	uint64_t kib;
	bool known = n > 0 && number_find(SCAN(text, n), "Anonymous", &kib);

	return known && kib < SIZE_MAX / 1024 ? (size_t)kib * 1024 : SIZE_MAX;
}

bool memory_budget_is_short(size_t more)
{
	size_t heap = current.heap;

	if (heap == SIZE_MAX)
		return false;
	return more > heap ||
	       (given_out() >= heap - more && (of_addresses || written_to() >= heap - more));
}

void memory_budget_tidy(void)
{
	size_t most = current.heap / IDLE_PARTS < IDLE_MOST ? current.heap / IDLE_PARTS : IDLE_MOST;

	if (mallinfo2().fordblks > most)
		malloc_trim(0);
}

/* ---- one answer ---- */

static _Thread_local struct {
	bool making, over;
} answer;

void memory_budget_begin_answer(void)
{
	answer.making = true;
	answer.over = false;
}

bool memory_budget_is_over(void)
{
	if (answer.making && !answer.over)
		answer.over = memory_budget_is_short(0);
	return answer.over;
}

void memory_budget_give_up(void)
{
	answer.over = answer.making;
}

bool memory_budget_gave_up(void)
{
	return answer.over;
}

bool memory_budget_end_answer(void)
{
	bool over = answer.over;

	answer.making = answer.over = false;
	return over;
}
