#include "collectors/process/delays.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/kernel_file.h"
#include "collectors/process/process.h"
#include "collectors/process/taskstats.h"

#define ANSWER_SIZE 4096

struct delay_reader {
	int fd; /* netlink socket of taskstats; -1 = waiting times are read from files */
	uint16_t family;
	bool counts_all;
	unsigned char answer[ANSWER_SIZE];
};

/* Sends a request and reads the answer. The kernel queues the answer before sendto() returns.
 * Therefore a missing answer is an error, and waiting would not help. */
static bool ask_kernel(struct delay_reader *r, const struct netlink_request *request,
	struct bytes *ret)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	if (sendto(r->fd, request->data, request->len, MSG_DONTWAIT,
		    (const struct sockaddr *)&kernel, sizeof kernel) < 0)
		return false;
	ssize_t n = recv(r->fd, r->answer, sizeof r->answer, MSG_DONTWAIT);

	if (n <= 0)
		return false;
	*ret = (struct bytes){r->answer, (size_t)n};
	return true;
}

static void take_record(void *context, const struct task_record *record)
{
	struct task_record *ret = context;

	if (record->whole)
		*ret = *record;
}

static bool ask_process(struct delay_reader *r, pid_t pid, struct task_record *ret)
{
	struct netlink_request request;
	struct bytes answer;
	size_t refused = 0;

	taskstats_ask_process(&request, r->family, pid);
	*ret = (struct task_record){0};
	return ask_kernel(r, &request, &answer) &&
	       taskstats_parse(answer, r->family, take_record, ret, &refused) > 0 && ret->whole;
}

/* Opens the netlink socket r->fd, and tests it with a request about our own process. If the test
 * fails, r->fd becomes -1. */
static void try_netlink(struct delay_reader *r, const struct host *host)
{
	struct netlink_request request;
	struct task_record ourselves;
	struct bytes answer;

	/* A request contains a pid. The kernel looks it up in our own PID namespace, so host->proc
	 * must show the same namespace. */
	if (!host->own_pid_namespace)
		return;
	r->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC);
	taskstats_ask_family(&request);
	if (r->fd >= 0 && ask_kernel(r, &request, &answer))
		r->family = taskstats_family(answer);
	if (r->family && ask_process(r, getpid(), &ourselves))
		return;
	closep(&r->fd);
	r->fd = -1;
}

struct delay_reader *delay_reader_new(const struct host *host)
{
	struct delay_reader *r = xcalloc(1, sizeof *r);

	r->fd = -1;
	try_netlink(r, host);
	r->counts_all = r->fd >= 0 &&
			kernel_file_number(host, host->proc, "sys/kernel/task_delayacct") == 1;
	return r;
}

void delay_reader_free(struct delay_reader *r)
{
	if (!r)
		return;
	closep(&r->fd);
	free(r);
}

bool delay_reader_counts_all(const struct delay_reader *r)
{
	return r->counts_all;
}

bool delay_reader_has_switches(const struct delay_reader *r)
{
	return r->fd >= 0;
}

/* ---- reading files ---- */

/* Reads a text "RUN_NS WAITED_NS TIMES" (Documentation/scheduler/sched-stats.rst of the kernel) and
 * adds WAITED_NS to `*sum`. */
static int add_schedstat(const struct host *host, const char *path, uint64_t *sum)
{
	struct scan s;
	uint64_t ran, waited;
	int code = kernel_file_read_once(host, host->proc, path, &s, NULL);

	if (code < 0)
		return code;
	if (!scan_u64(&s, &ran) || !scan_u64(&s, &waited))
		return -EBADMSG;
	*sum += waited;
	return 0;
}

struct delay_threads {
	const struct host *host;
	pid_t pid;
	struct delays sum;
};

static int add_thread(void *context, const char *tid)
{
	struct delay_threads *t = context;
	struct process_status s;
	char path[96];

	snprintf(path, sizeof path, "%d/task/%.20s/schedstat", (int)t->pid, tid);
	int code = add_schedstat(t->host, path, &t->sum.cpu_ns);

	if (code == 0)
		code = process_read_status(t->host, process_of_name(tid), &s);
	if (code == 0) {
		t->sum.voluntary += s.voluntary_switches;
		t->sum.involuntary += s.involuntary_switches;
	}
	/* A thread that has ended meanwhile is no error. */
	return process_gone(code) ? 0 : code;
}

static int read_files(const struct host *host, pid_t pid, uint64_t threads, struct delays *ret)
{
	struct delay_threads t = {.host = host, .pid = pid};
	char path[PROCESS_PATH_MAX];
	int code;

	if (threads > DELAYS_THREADS_MAX)
		return -E2BIG;
	t.sum.switches_known = threads > 1;
	if (threads == 1)
		code = add_schedstat(host, process_path(path, pid, "schedstat"), &t.sum.cpu_ns);
	else
		code = tree_list(host->proc, process_path(path, pid, "task"), add_thread, &t);
	if (code == 0)
		*ret = t.sum;
	return code;
}

int delays_read(struct delay_reader *r, const struct host *host, pid_t pid, uint64_t threads,
	struct delays *ret)
{
	struct task_record record;

	if (r->fd < 0)
		return read_files(host, pid, threads, ret);
	if (!ask_process(r, pid, &record))
		return -ESRCH;
	*ret = (struct delays){
		.cpu_ns = record.cpu_wait_ns,
		.io_ns = r->counts_all ? record.io_wait_ns : 0,
		.memory_ns = r->counts_all ? record.memory_wait_ns : 0,
		.voluntary = record.voluntary,
		.involuntary = record.involuntary,
		.switches_known = true,
	};
	return 0;
}
