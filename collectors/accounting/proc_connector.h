/* Fork and exit events of every process on the machine, from the kernel's proc connector
 * (linux/cn_proc.h). Needs the initial namespaces, and CAP_NET_ADMIN before Linux 6.6. The
 * functions only build requests and parse datagrams, without I/O. */
#ifndef COLLECTORS_ACCOUNTING_PROC_CONNECTOR_H
#define COLLECTORS_ACCOUNTING_PROC_CONNECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/process/netlink.h"

enum process_event_kind {
	PROCESS_FORKED, /* `pid` is a new child of `parent` */
	THREAD_STARTED, /* process `pid` has one more thread */
	THREAD_ENDED,   /* a thread of process `pid` ended */
};

struct process_event {
	enum process_event_kind kind;
	pid_t pid, parent; /* process IDs, never thread IDs */
	/* Exit status of the thread in the format of wait(2). The status of the last thread is the
	 * status of the process. */
	int status;
	uint64_t at_ns; /* time of the event on CLOCK_MONOTONIC */
};

/* Calls `each` for every event in a datagram. */
void proc_connector_parse(struct bytes datagram,
	void (*each)(void *context, const struct process_event *event), void *context);

/* proc_connector_request builds the request to subscribe. proc_connector_answer returns true if the
 * datagram has the kernel's answer, and sets `ret` to 0 or a negative errno. Events may arrive
 * before the answer. */
void proc_connector_request(struct netlink_request *ret);
bool proc_connector_answer(struct bytes datagram, int *ret);

#endif
