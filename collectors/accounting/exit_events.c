#include "collectors/accounting/exit_events.h"

#include <errno.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/thread.h"

/* Size of the receive buffer of each socket; the kernel doubles it. This is enough for the short
 * processes that end while this thread does not run for 1 or 2 s: 14,000 records of 2.3 KiB each
 * (about 600 bytes of data and the kernel's overhead). The buffer uses memory only while messages
 * wait. */
#define QUEUE_BYTES (16 << 20)
#define READ_SIZE   16384 /* bytes of one datagram; a record has about 600 */
#define PAUSE_MS    10    /* pause of the thread after each wake-up */
#define CLOCKS_MS   20    /* pause without records; longer, because each wake-up reads clocks */
#define ANSWER_MS   200   /* longest wait for an answer of the kernel */
/* If the lineage has more ended processes than this, the thread removes them with
 * exit_events_settle, without waiting for the next tick. */
#define ENDED_MANY 4096
/* Without records, the clocks of at most this many processes are read at each wake-up. */
#define CLOCKS_MOST 64
#define RECORDS_MAX 20000 /* maximum number of received records that wait for earlier events */

struct exit_events {
	int events, records; /* sockets of the proc connector and of taskstats; -1 = none */
	int stop;            /* eventfd that ends the thread */
	uint16_t family;
	pthread_t thread;
	pthread_mutex_t lock; /* guards all members below */
	struct lineage *lineage;
	struct exit_events_health health;
	size_t n_held, held_room;
	struct task_record *held;
	unsigned char buffer[READ_SIZE];
};

static bool cpu_clock(void *context, pid_t pid, uint64_t *ret)
{
	(void)context;
	return clock_read(clock_of_process(pid), ret);
}

/* ---- reading; the caller holds the lock ---- */

static void hold_record(void *context, const struct task_record *r)
{
	struct exit_events *x = context;

	GROW(x->held, x->n_held, x->held_room);
	x->held[x->n_held++] = *r;
	x->health.records++;
}

/* Call this when a fork event says that a new process has the pid `pid`, before the lineage learns
 * of that process. A waiting record of `pid` belongs to the earlier process with this pid: adds the
 * record to the lineage. */
static void enter_record_of(struct exit_events *x, pid_t pid)
{
	for (size_t i = 0; i < x->n_held; i++)
		if (x->held[i].id == pid) {
			lineage_record(x->lineage, &x->held[i]);
			x->held[i].id = 0;
			return;
		}
}

static void enter_event(void *context, const struct process_event *event)
{
	struct exit_events *x = context;

	if (event->kind == PROCESS_FORKED && x->n_held && lineage_awaits(x->lineage, event->pid))
		enter_record_of(x, event->pid);
	lineage_event(x->lineage, event);
	x->health.events++;
}

/* Receives one datagram without blocking. Returns false if the queue is empty. */
static bool receive_datagram(struct exit_events *x, int fd, struct bytes *ret)
{
	for (;;) {
		ssize_t n = recv(fd, x->buffer, sizeof x->buffer, MSG_DONTWAIT);

		if (n > 0) {
			*ret = (struct bytes){x->buffer, (size_t)n};
			return true;
		}
		if (n < 0 && errno == ENOBUFS) {
			x->health.lost++;
			lineage_lost(x->lineage);
		} else if (n == 0 || errno != EINTR) {
			return false;
		}
	}
}

static void read_records(struct exit_events *x)
{
	struct bytes datagram;
	size_t refused = 0;

	while (x->n_held < RECORDS_MAX && receive_datagram(x, x->records, &datagram))
		taskstats_parse(datagram, x->family, hold_record, x, &refused);
	if (refused) {
		x->health.refused += refused;
		lineage_lost(x->lineage);
	}
}

/* Enters all waiting events and records. The kernel sends a process's fork event before its exit
 * record, but to another socket. Three steps enter them in the same order:
 * - Read all waiting records. The fork events of their processes are then in the event socket.
 * - Read and enter all events.
 * - Enter the records. */
void exit_events_update(struct exit_events *x)
{
	struct bytes datagram;

	do {
		x->n_held = 0;
		read_records(x);
		while (receive_datagram(x, x->events, &datagram))
			proc_connector_parse(datagram, enter_event, x);
		for (size_t i = 0; i < x->n_held; i++)
			lineage_record(x->lineage, &x->held[i]);
	} while (x->n_held >= RECORDS_MAX);
}

/* Reads the clock that also gives the times of events. */
static uint64_t monotonic_ns(void)
{
	return (uint64_t)clock_read_ns(CLOCK_MONOTONIC);
}

/* Reads the clocks of all processes between two updates. The first update adds new processes, so
 * that their clocks are read, too. The second update enters the records of processes that ended
 * before their clocks could be read. */
void exit_events_settle(struct exit_events *x)
{
	exit_events_update(x);
	lineage_read_clocks(x->lineage, monotonic_ns(), cpu_clock, NULL);
	exit_events_update(x);
	lineage_settle(x->lineage, monotonic_ns());
}

/* Returns true if exit_events_settle must be called before the next tick:
 * - Many ended processes have accumulated.
 * - Or no exit records arrive. The CPU time that a process uses after the last reading of its clock
 *   is then unknown, so the clocks must be read often. */
static bool is_urgent(const struct exit_events *x)
{
	size_t n = lineage_size(x->lineage);

	return lineage_ended(x->lineage) > ENDED_MANY || (x->records < 0 && n && n <= CLOCKS_MOST);
}

static void *exit_events_loop(void *context)
{
	struct exit_events *x = context;
	struct pollfd fds[] = {
		{.fd = x->stop, .events = POLLIN},
		{.fd = x->records, .events = POLLIN},
		{.fd = x->events, .events = POLLIN},
	};

	while (!(fds[0].revents & POLLIN)) {
		if (poll(fds, ARRAY_LEN(fds), -1) < 0)
			continue;
		pthread_mutex_lock(&x->lock);
		exit_events_update(x);
		if (is_urgent(x))
			exit_events_settle(x);
		pthread_mutex_unlock(&x->lock);
		/* Pause, so that many messages collect and one wake-up handles them all. */
		poll(fds, 1, x->records < 0 ? CLOCKS_MS : PAUSE_MS);
	}
	return NULL;
}

/* ---- start and stop ---- */

static int open_socket(int protocol, uint32_t groups, int *ret, struct err *e)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
	int size = QUEUE_BYTES;
	AUTO(closep)
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

	if (fd < 0)
		return err_system(e, -errno, "netlink socket");
	if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0)
		return err_system(e, -errno, "bind netlink socket");
	/* SO_RCVBUFFORCE may set a size above net.core.rmem_max, but needs CAP_NET_ADMIN. Without
	 * that capability, SO_RCVBUF sets at most net.core.rmem_max. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
	*ret = fd;
	fd = -1; /* NOLINT(clang-analyzer-deadcode.DeadStores): closep reads it */
	return 0;
}

static int send_request(int fd, const struct netlink_request *r, const char *purpose, struct err *e)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	if (sendto(fd, r->data, r->len, 0, (const struct sockaddr *)&kernel, sizeof kernel) < 0)
		return err_system(e, -errno, "%s", purpose);
	return 0;
}

/* Waits up to ANSWER_MS for the next datagram. */
static int await_answer(struct exit_events *x, int fd, struct bytes *ret, const char *purpose,
	struct err *e)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	if (poll(&ready, 1, ANSWER_MS) != 1 || !receive_datagram(x, fd, ret))
		return err_set(e, -ETIMEDOUT, "%s: no answer from the kernel within 200 ms",
			purpose);
	return 0;
}

static int ask_taskstats(struct exit_events *x, const struct netlink_request *r, struct bytes *ret,
	const char *purpose, struct err *e)
{
	int code = send_request(x->records, r, purpose, e);

	if (code == 0)
		code = await_answer(x, x->records, ret, purpose, e);
	if (code)
		return code;

	struct bytes rest = *ret;
	struct netlink_message m;

	if (netlink_next(&rest, &m) && netlink_error(&m, &code) && code)
		return err_system(e, code, "%s", purpose);
	return 0;
}

static int listen_to_records(struct exit_events *x, struct err *e)
{
	struct netlink_request r;
	struct bytes datagram = {0};
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int code = open_socket(NETLINK_GENERIC, 0, &x->records, e);

	taskstats_ask_family(&r);
	if (code == 0)
		code = ask_taskstats(x, &r, &datagram, "find taskstats", e);
	if (code)
		return code;
	x->family = taskstats_family(datagram);
	taskstats_ask_ends(&r, x->family, cpus > 0 ? (unsigned)cpus : 1);
	return ask_taskstats(x, &r, &datagram, "exit accounting", e);
}

/* Subscribes to process events. Ignores events that arrive before the kernel's answer, because no
 * run needs them yet. */
static int listen_to_events(struct exit_events *x, struct err *e)
{
	static const char purpose[] = "process events";
	struct netlink_request r;
	struct bytes datagram = {0};
	int code = open_socket(NETLINK_CONNECTOR, CN_IDX_PROC, &x->events, e), refusal = 0;

	proc_connector_request(&r);
	if (code == 0)
		code = send_request(x->events, &r, purpose, e);
	while (code == 0 && !proc_connector_answer(datagram, &refusal))
		code = await_answer(x, x->events, &datagram, purpose, e);
	return code == 0 && refusal ? err_system(e, refusal, "%s", purpose) : code;
}

static void exit_events_free(struct exit_events *x)
{
	closep(&x->events);
	closep(&x->records);
	closep(&x->stop);
	lineage_free(x->lineage);
	pthread_mutex_destroy(&x->lock);
	free(x->held);
	free(x);
}

static void go_without_records(struct exit_events *x)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	closep(&x->records);
	x->records = -1;
	lineage_without_records(x->lineage, cpus > 0 ? (unsigned)cpus : 1);
}

int exit_events_start(struct exit_events **ret, bool events_suffice, struct err *e)
{
	struct exit_events *x = xcalloc(1, sizeof *x);

	x->events = x->records = -1;
	x->lineage = lineage_new();
	pthread_mutex_init(&x->lock, NULL);
	x->stop = eventfd(0, EFD_CLOEXEC);
	int code = x->stop < 0 ? err_system(e, -errno, "eventfd") : 0;

	/* Start taskstats first, because it returns an error outside the initial namespaces. The
	 * connector would only stay silent there. */
	if (code == 0 && (code = listen_to_records(x, e)) && events_suffice) {
		go_without_records(x);
		code = 0;
	}
	if (code == 0)
		code = listen_to_events(x, e);
	if (code == 0)
		code = thread_start(&x->thread, "exit events", exit_events_loop, x, e);
	if (code) {
		exit_events_free(x);
		return code;
	}
	*ret = x;
	return 0;
}

void exit_events_stop(struct exit_events *x)
{
	uint64_t one = 1;

	if (!x)
		return;
	/* Nothing else writes to this eventfd, so its counter cannot overflow and the write cannot
	 * block. */
	while (write(x->stop, &one, sizeof one) < 0 && errno == EINTR)
		;
	pthread_join(x->thread, NULL);
	exit_events_free(x);
}

/* ---- functions for other threads ---- */

void exit_events_lock(struct exit_events *x)
{
	pthread_mutex_lock(&x->lock);
}

void exit_events_unlock(struct exit_events *x)
{
	pthread_mutex_unlock(&x->lock);
}

bool exit_events_recorded(const struct exit_events *x)
{
	return x->records >= 0;
}

struct lineage *exit_events_book(struct exit_events *x)
{
	return x->lineage;
}

enum lineage_change exit_events_compare(struct exit_events *x, unsigned others,
	struct lineage_listing *listing)
{
	exit_events_update(x);
	return lineage_compare(x->lineage, others, listing, cpu_clock, NULL);
}

struct exit_events_health exit_events_health(struct exit_events *x)
{
	pthread_mutex_lock(&x->lock);
	struct exit_events_health health = x->health;

	pthread_mutex_unlock(&x->lock);
	return health;
}
