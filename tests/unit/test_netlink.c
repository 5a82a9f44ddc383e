/* collectors/process/netlink.c, taskstats.c, collectors/accounting/proc_connector.c: whole and
 * broken datagrams of the kernel. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/accounting/proc_connector.h"
#include "collectors/process/taskstats.h"

#define FAMILY 30

/* A datagram under construction; close_message() fills in the lengths. */
struct datagram {
	size_t len;
	unsigned char data[4096];
};

static void put(struct datagram *d, const void *data, size_t len)
{
	memcpy(d->data + d->len, data, len);
	d->len += (len + 3) & ~(size_t)3;
}

static size_t open_attribute(struct datagram *d, uint16_t type)
{
	struct nlattr a = {.nla_type = type};
	size_t at = d->len;

	put(d, &a, sizeof a);
	return at;
}

static void close_attribute(struct datagram *d, size_t at)
{
	uint16_t len = (uint16_t)(d->len - at);

	memcpy(d->data + at, &len, sizeof len);
}

static size_t open_message(struct datagram *d, uint16_t type)
{
	struct nlmsghdr h = {.nlmsg_type = type};
	struct genlmsghdr g = {.cmd = TASKSTATS_CMD_NEW, .version = 1};
	size_t at = d->len;

	put(d, &h, sizeof h);
	put(d, &g, sizeof g);
	return at;
}

static void close_message(struct datagram *d, size_t at)
{
	uint32_t len = (uint32_t)(d->len - at);

	memcpy(d->data + at, &len, sizeof len);
}

/* Adds a taskstats record of this version, cut or padded to `size` bytes. */
static void put_aggregate(struct datagram *d, bool whole, uint32_t id, unsigned version,
	size_t size)
{
	unsigned char record[1024] = {0};
	struct taskstats t = {
		.version = (uint16_t)version,
		.cpu_delay_total = 11,
		.blkio_delay_total = 12,
		.swapin_delay_total = 5,
		.cpu_run_virtual_total = 123456789,
		.hiwater_rss = 700,
		.nvcsw = 900,
		.nivcsw = 80,
		.freepages_delay_total = 100,
		.thrashing_delay_total = 30,
		.compact_delay_total = 1000,
		.ac_tgid = 4240,
	};
	size_t aggregate =
		open_attribute(d, whole ? TASKSTATS_TYPE_AGGR_TGID : TASKSTATS_TYPE_AGGR_PID);
	size_t number = open_attribute(d, whole ? TASKSTATS_TYPE_TGID : TASKSTATS_TYPE_PID);

	put(d, &id, sizeof id);
	close_attribute(d, number);
	memcpy(record, &t, sizeof t);

	size_t stats = open_attribute(d, TASKSTATS_TYPE_STATS);

	put(d, record, size);
	close_attribute(d, stats);
	close_attribute(d, aggregate);
}

struct collected {
	size_t n;
	struct task_record record[8];
	struct process_event event[8];
};

static void collect_record(void *context, const struct task_record *r)
{
	struct collected *c = context;

	c->record[c->n++] = *r;
}

static size_t parse(const struct datagram *d, struct collected *c, size_t *refused)
{
	/* Copies the datagram into a heap block of the exact size, so that a sanitizer notices a
	 * read past the end. */
	AUTO(freep) unsigned char *copy = xmalloc(d->len ? d->len : 1);

	memcpy(copy, d->data, d->len);
	*c = (struct collected){0};
	*refused = 0;
	return taskstats_parse((struct bytes){copy, d->len}, FAMILY, collect_record, c, refused);
}

static void record_is_read_whatever_the_kernels_version_and_size(void **state)
{
	static const struct {
		unsigned version;
		size_t size;
		uint64_t memory_wait_ns;
		pid_t process;
		bool refused;
	} cases[] = {
		{8, 328, 105, 0,
			false}, /* version 8 lacks the waits for thrashing and compaction */
		{10, 352, 130, 0, false},
		{11, 368, 1130, 0, false},    /* version 11 lacks the process of a thread */
		{13, 416, 1130, 4240, false}, /* Linux 6.1 */
		{16, 560, 1130, 4240, false}, /* Linux 6.18 */
		{40, 900, 1130, 4240, false}, /* a future version adds its fields at the end */
		{15, 544, 0, 0, true},        /* version 15 has its fields at other places */
		{7, 320, 0, 0, true},
		{13, 0, 0, 0, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct datagram d = {0};
		struct collected c;
		size_t refused, at = open_message(&d, FAMILY);

		put_aggregate(&d, false, 4242, cases[i].version, cases[i].size);
		close_message(&d, at);
		assert_int_equal(parse(&d, &c, &refused), !cases[i].refused);
		assert_int_equal(refused, cases[i].refused);
		if (cases[i].refused)
			continue;
		assert_int_equal(c.record[0].id, 4242);
		assert_false(c.record[0].whole);
		assert_int_equal(c.record[0].cpu_ns, 123456789);
		assert_int_equal(c.record[0].peak_bytes, 700 * 1024);
		assert_int_equal(c.record[0].cpu_wait_ns, 11);
		assert_int_equal(c.record[0].io_wait_ns, 12);
		assert_int_equal(c.record[0].memory_wait_ns, cases[i].memory_wait_ns);
		assert_int_equal(c.record[0].voluntary, 900);
		assert_int_equal(c.record[0].involuntary, 80);
		assert_int_equal(c.record[0].process, cases[i].process);
	}
}

static void last_thread_brings_the_sum_of_its_process(void **state)
{
	struct datagram d = {0};
	struct collected c;
	size_t refused, at = open_message(&d, FAMILY);

	put_aggregate(&d, false, 4243, 13, 416);
	put_aggregate(&d, true, 4242, 13, 416);
	close_message(&d, at);
	at = open_message(&d, FAMILY + 1); /* a message of another netlink family */
	put_aggregate(&d, false, 1, 13, 416);
	close_message(&d, at);
	at = open_message(&d, FAMILY);
	put_aggregate(&d, false, 4244, 13, 416);
	close_message(&d, at);
	assert_int_equal(parse(&d, &c, &refused), 3);
	assert_false(c.record[0].whole);
	assert_true(c.record[1].whole);
	assert_int_equal(c.record[1].id, 4242);
	assert_int_equal(c.record[1].process, 4242);
	assert_int_equal(c.record[2].id, 4244);
}

static void cut_datagram_gives_what_is_whole(void **state)
{
	struct datagram d = {0};
	struct collected c;
	size_t refused, at = open_message(&d, FAMILY);

	put_aggregate(&d, false, 1, 13, 416);
	close_message(&d, at);
	size_t first = d.len;

	at = open_message(&d, FAMILY);
	put_aggregate(&d, false, 2, 13, 416);
	close_message(&d, at);
	for (size_t all = d.len, len = 0; len <= all; len++) {
		d.len = len;
		assert_int_equal(parse(&d, &c, &refused), (len >= first) + (len == all));
	}
}

static void hostile_lengths_harm_nothing(void **state)
{
	struct datagram d = {0};
	struct collected c;
	size_t refused, at = open_message(&d, FAMILY);

	put_aggregate(&d, false, 1, 13, 416);
	close_message(&d, at);
	for (size_t i = 0; i + 2 <= d.len; i++) {
		static const uint16_t lengths[] = {0, 1, 3, 4, 5, 0x7fff, 0xffff};

		for (size_t k = 0; k < ARRAY_LEN(lengths); k++) {
			struct datagram bad = d;

			memcpy(bad.data + i, &lengths[k], 2);
			assert_in_range(parse(&bad, &c, &refused), 0, 1);
		}
	}
}

static void family_is_found_in_the_controllers_answer(void **state)
{
	struct datagram d = {0};
	uint16_t family = FAMILY;
	size_t at = open_message(&d, GENL_ID_CTRL), a = open_attribute(&d, CTRL_ATTR_FAMILY_NAME);

	put(&d, TASKSTATS_GENL_NAME, sizeof TASKSTATS_GENL_NAME);
	close_attribute(&d, a);
	a = open_attribute(&d, CTRL_ATTR_FAMILY_ID);
	put(&d, &family, sizeof family);
	close_attribute(&d, a);
	close_message(&d, at);
	assert_int_equal(taskstats_family((struct bytes){d.data, d.len}), FAMILY);
	assert_int_equal(taskstats_family((struct bytes){d.data, 20}), 0);
}

static void request_is_a_message_of_its_own_length(void **state)
{
	struct netlink_request r;
	struct netlink_message m;
	struct netlink_attribute a;

	taskstats_ask_ends(&r, FAMILY, 128);
	struct bytes b = {r.data, r.len};

	assert_true(netlink_next(&b, &m));
	assert_int_equal(b.len, 0);
	assert_int_equal(m.type, FAMILY);
	assert_true(netlink_skip(&m.body, GENL_HDRLEN));
	assert_true(netlink_attribute(&m.body, &a));
	assert_int_equal(a.type, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK);
	assert_string_equal((const char *)a.value.data, "0-127");
}

static void refusal_is_told_from_an_acknowledgement(void **state)
{
	static const int codes[] = {-EPERM, 0};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		struct nlmsghdr h = {
			.nlmsg_len = sizeof h + sizeof(int), .nlmsg_type = NLMSG_ERROR};
		struct datagram d = {0};
		struct netlink_message m;
		int code = 77;

		put(&d, &h, sizeof h);
		put(&d, &codes[i], sizeof codes[i]);
		struct bytes b = {d.data, d.len};

		assert_true(netlink_next(&b, &m));
		assert_true(netlink_error(&m, &code));
		assert_int_equal(code, codes[i]);
	}
}

/* ---- process events ---- */

static void put_event(struct datagram *d, const struct proc_event *e, uint32_t idx)
{
	struct nlmsghdr h = {.nlmsg_len = sizeof h + sizeof(struct cn_msg) + sizeof *e,
		.nlmsg_type = NLMSG_DONE};
	struct cn_msg head = {.id = {idx, CN_VAL_PROC}, .len = sizeof *e};

	put(d, &h, sizeof h);
	put(d, &head, sizeof head);
	put(d, e, sizeof *e);
}

static void collect_event(void *context, const struct process_event *e)
{
	struct collected *c = context;

	c->event[c->n++] = *e;
}

static void events_are_about_processes(void **state)
{
	struct proc_event e = {.what = PROC_EVENT_FORK};
	struct datagram d = {0};
	struct collected c = {0};

	e.event_data.fork = (struct fork_proc_event){10, 9, 11, 11};
	put_event(&d, &e, CN_IDX_PROC);
	e.event_data.fork = (struct fork_proc_event){10, 9, 12, 9}; /* a new thread */
	put_event(&d, &e, CN_IDX_PROC);
	e.what = PROC_EVENT_EXEC;
	put_event(&d, &e, CN_IDX_PROC);
	e = (struct proc_event){.what = (enum what)PROC_EVENT_EXIT};
	e.event_data.exit = (struct exit_proc_event){12, 9, 256, 17, 1, 1};
	put_event(&d, &e, CN_IDX_PROC);
	put_event(&d, &e, CN_IDX_CIFS); /* a message of another connector */
	proc_connector_parse((struct bytes){d.data, d.len}, collect_event, &c);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.event[0].kind, PROCESS_FORKED);
	assert_int_equal(c.event[0].pid, 11);
	assert_int_equal(c.event[0].parent, 9);
	assert_int_equal(c.event[1].kind, THREAD_STARTED);
	assert_int_equal(c.event[1].pid, 9);
	assert_int_equal(c.event[2].kind, THREAD_ENDED);
	assert_int_equal(c.event[2].pid, 9);
	assert_int_equal(c.event[2].status, 256);
}

static void answer_to_the_request_for_events_is_found(void **state)
{
	struct proc_event e = {.what = PROC_EVENT_FORK};
	struct datagram d = {0};
	int code = 77;

	put_event(&d, &e, CN_IDX_PROC);
	assert_false(proc_connector_answer((struct bytes){d.data, d.len}, &code));
	e.what = PROC_EVENT_NONE;
	e.event_data.ack.err = EPERM;
	put_event(&d, &e, CN_IDX_PROC);
	assert_true(proc_connector_answer((struct bytes){d.data, d.len}, &code));
	assert_int_equal(code, -EPERM);
	d = (struct datagram){0};
	e.event_data.ack.err = 0x80000000; /* not an errno, and its negation overflows */
	put_event(&d, &e, CN_IDX_PROC);
	assert_true(proc_connector_answer((struct bytes){d.data, d.len}, &code));
	assert_int_equal(code, -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_is_read_whatever_the_kernels_version_and_size),
		cmocka_unit_test(last_thread_brings_the_sum_of_its_process),
		cmocka_unit_test(cut_datagram_gives_what_is_whole),
		cmocka_unit_test(hostile_lengths_harm_nothing),
		cmocka_unit_test(family_is_found_in_the_controllers_answer),
		cmocka_unit_test(request_is_a_message_of_its_own_length),
		cmocka_unit_test(refusal_is_told_from_an_acknowledgement),
		cmocka_unit_test(events_are_about_processes),
		cmocka_unit_test(answer_to_the_request_for_events_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
