#include "collectors/accounting/proc_connector.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>

#define ERRNO_MAX 4095 /* largest errno (MAX_ERRNO of the kernel's linux/err.h) */

/* Copies an event from a message. Older kernels send shorter events; the missing members are set to
 * 0. */
static bool event_read(const struct netlink_message *m, struct proc_event *ret)
{
	struct bytes body = m->body;
	struct cn_msg head;

	if ((m->type != NLMSG_DONE && m->type < NLMSG_MIN_TYPE) || body.len < sizeof head)
		return false;
	memcpy(&head, body.data, sizeof head);
	netlink_skip(&body, sizeof head);
	if (head.id.idx != CN_IDX_PROC || head.id.val != CN_VAL_PROC)
		return false;
	/* The event is not aligned (20 bytes of cn_msg follow 16 bytes of nlmsghdr), so copy it. */
	*ret = (struct proc_event){0};
	memcpy(ret, body.data, body.len < sizeof *ret ? body.len : sizeof *ret);
	return true;
}

static bool translate(const struct proc_event *e, struct process_event *ret)
{
	switch ((unsigned)e->what) {
	case PROC_EVENT_FORK:
		*ret = (struct process_event){
			.kind = e->event_data.fork.child_pid == e->event_data.fork.child_tgid ?
					PROCESS_FORKED :
					THREAD_STARTED,
			.pid = e->event_data.fork.child_tgid,
			.parent = e->event_data.fork.parent_tgid,
			.at_ns = e->timestamp_ns,
		};
		return true;
	case PROC_EVENT_EXIT:
		*ret = (struct process_event){
			.kind = THREAD_ENDED,
			.pid = e->event_data.exit.process_tgid,
			.status = (int)e->event_data.exit.exit_code,
			.at_ns = e->timestamp_ns,
		};
		return true;
	default:
		return false;
	}
}

void proc_connector_parse(struct bytes datagram,
	void (*each)(void *context, const struct process_event *event), void *context)
{
	struct netlink_message m;
	struct process_event event;
	struct proc_event e;

	while (netlink_next(&datagram, &m))
		if (event_read(&m, &e) && translate(&e, &event))
			each(context, &event);
}

bool proc_connector_answer(struct bytes datagram, int *ret)
{
	struct netlink_message m;
	struct proc_event e;

	while (netlink_next(&datagram, &m))
		if (event_read(&m, &e) && (unsigned)e.what == PROC_EVENT_NONE) {
			/* `err` is an errno. A value above ERRNO_MAX is invalid. */
			*ret = e.event_data.ack.err <= ERRNO_MAX ? -(int)e.event_data.ack.err :
								   -EPROTO;
			return true;
		}
	return false;
}

void proc_connector_request(struct netlink_request *ret)
{
	enum proc_cn_mcast_op op = PROC_CN_MCAST_LISTEN;
	struct cn_msg head = {.id = {CN_IDX_PROC, CN_VAL_PROC}, .len = sizeof op};
	struct nlmsghdr header = {.nlmsg_type = NLMSG_DONE};

	*ret = (struct netlink_request){.len = NLMSG_HDRLEN + sizeof head + sizeof op};
	header.nlmsg_len = (uint32_t)ret->len;
	memcpy(ret->data, &header, sizeof header);
	memcpy(ret->data + NLMSG_HDRLEN, &head, sizeof head);
	memcpy(ret->data + NLMSG_HDRLEN + sizeof head, &op, sizeof op);
}
