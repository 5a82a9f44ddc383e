/* The input is datagrams of the kernel, separated by "@@": exit accounting, the answer with the
 * netlink family's number, and process events. */
#include <assert.h>
#include <string.h>

#include "collectors/process/netlink.h"
#include "collectors/accounting/proc_connector.h"
#include "collectors/process/taskstats.h"
#include "tests/fuzz/fuzz.h"

#define FAMILY 0x1b

static void take_record(void *context, const struct task_record *r)
{
	assert(r->id > 0);
	assert(!r->whole || r->elapsed_ns == 0);
	++*(size_t *)context;
}

static void take_event(void *context, const struct process_event *event)
{
	assert(event->kind <= THREAD_ENDED);
	++*(size_t *)context;
}

static void read_all(struct bytes datagram)
{
	size_t records = 0, events = 0, refused = 0;
	struct netlink_message m;
	struct bytes rest = datagram;
	int code = 0;

	assert(taskstats_parse(datagram, FAMILY, take_record, &records, &refused) == records);
	taskstats_family(datagram);
	proc_connector_parse(datagram, take_event, &events);
	proc_connector_answer(datagram, &code);
	while (netlink_next(&rest, &m)) {
		assert(m.body.data >= datagram.data &&
			m.body.data + m.body.len <= datagram.data + datagram.len);
		netlink_error(&m, &code);
	}
	/* The counts must not exceed what fits into the datagram: a record has at least 4 bytes, an
	 * event at least 16. */
	assert(4 * (records + refused) <= datagram.len && 16 * events <= datagram.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *end = memmem(data, size, "@@", 2);
		size_t n = end ? (size_t)(end - data) : size;

		read_all((struct bytes){data, n});
		n += end ? 2 : 0;
		data += n;
		size -= n;
	}
	return 0;
}
