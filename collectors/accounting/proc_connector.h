/*
 * Fork and exit events of every process on the machine, from the kernel's proc connector
 * (linux/cn_proc.h). Needs CAP_NET_ADMIN in the initial namespaces.
 * Pure: builds requests and parses datagrams.
 */
#ifndef COLLECTORS_ACCOUNTING_PROC_CONNECTOR_H
#define COLLECTORS_ACCOUNTING_PROC_CONNECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/process/netlink.h"

enum process_event_kind {
	PROCESS_FORKED, /* pid is a child of parent; new threads are left out */
	THREAD_ENDED,   /* a thread of process pid */
};

struct process_event {
	enum process_event_kind kind;
	pid_t pid, parent; /* process IDs */
	/* As wait(2) returns it. The last thread's status is the process's. */
	int status;
	uint64_t at_ns; /* CLOCK_MONOTONIC */
};

/* Calls each for every event in a datagram. */
void proc_connector_parse(struct bytes datagram,
	void (*each)(void *context, const struct process_event *event), void *context);

/* Builds the request to subscribe. Events may precede the answer: 0 or a negative errno. */
void proc_connector_request(struct netlink_request *ret);
bool proc_connector_answer(struct bytes datagram, int *ret);

#endif
