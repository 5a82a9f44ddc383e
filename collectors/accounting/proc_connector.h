/*
 * Process events: who forked whom and who ended how, for every process of the machine (the proc connector,
 * CAP_NET_ADMIN in the initial namespaces; linux/cn_proc.h). Pure: requests and datagrams only.
 */
#ifndef COLLECTORS_ACCOUNTING_PROC_CONNECTOR_H
#define COLLECTORS_ACCOUNTING_PROC_CONNECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/process/netlink.h"

enum process_event_kind {
	PROCESS_FORKED, /* pid by parent; new threads are left out */
	THREAD_ENDED,   /* one of pid's */
};

struct process_event {
	enum process_event_kind kind;
	pid_t pid, parent; /* of processes */
	/* As wait(2) gives it. That of the thread that ends last is the process's. */
	int status;
	uint64_t at_ns; /* when it happened, by the monotonic clock */
};

/* Calls each with the events of a datagram. */
void proc_connector_parse(struct bytes datagram,
	void (*each)(void *context, const struct process_event *event), void *context);

/* Asks for the events; the answer, among events that may come before it, is 0 or a negative errno. */
void proc_connector_request(struct netlink_request *ret);
bool proc_connector_answer(struct bytes datagram, int *ret);

#endif
