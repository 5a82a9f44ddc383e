/* Reads struct taskstats by fixed offsets. The struct in the build machine's header may differ from
 * the struct of the running kernel. */
#include "collectors/process/taskstats.h"

#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <stdio.h>
#include <string.h>

#define VERSION_WITH_FIELDS_MOVED 15

/* Offsets of the fields. Every version of the struct except 15 has these offsets. */
enum {
	AT_VERSION = 0,
	AT_CPU_DELAY = 24,
	AT_IO_DELAY = 40,
	AT_SWAPIN_DELAY = 56,
	AT_CPU_VIRTUAL = 72,
	AT_ELAPSED_US = 144,
	AT_HIWATER_RSS_KIB = 200,
	AT_VOLUNTARY = 272,
	AT_INVOLUNTARY = 280,
	AT_FREEPAGES_DELAY = 320,
	AT_THRASHING_DELAY = 336,
	AT_COMPACT_DELAY = 360,
	AT_PROCESS = 368, /* exists since version 12 */
	LEAST_SIZE = 328, /* size of version 8; the fields of later versions are optional */
};

static bool record_read(struct bytes b, pid_t id, bool whole, struct task_record *ret)
{
	if (b.len < LEAST_SIZE || netlink_u16(b, AT_VERSION) == VERSION_WITH_FIELDS_MOVED)
		return false;
	/* An older kernel sends a shorter record. A field that is missing in the record reads as
	 * 0. */
	uint64_t swapin = netlink_u64(b, AT_SWAPIN_DELAY),
		 thrashing = netlink_u64(b, AT_THRASHING_DELAY);

	*ret = (struct task_record){
		.id = id,
		.whole = whole,
		.process = whole ? id : (pid_t)netlink_u32(b, AT_PROCESS),
		.cpu_ns = netlink_u64(b, AT_CPU_VIRTUAL),
		.elapsed_ns = whole ? 0 : netlink_u64(b, AT_ELAPSED_US) * 1000,
		.peak_bytes = netlink_u64(b, AT_HIWATER_RSS_KIB) * 1024,
		.cpu_wait_ns = netlink_u64(b, AT_CPU_DELAY),
		.io_wait_ns = netlink_u64(b, AT_IO_DELAY),
		/* A page that is swapped in for the second time counts in both delays
		 * (swap_read_folio()). Use only the larger delay. */
		.memory_wait_ns = (swapin > thrashing ? swapin : thrashing) +
				  netlink_u64(b, AT_FREEPAGES_DELAY) +
				  netlink_u64(b, AT_COMPACT_DELAY),
		.voluntary = netlink_u64(b, AT_VOLUNTARY),
		.involuntary = netlink_u64(b, AT_INVOLUNTARY),
	};
	return true;
}

/* Reads the attribute AGGR_PID or AGGR_TGID. It contains an id and the record of this id. */
static bool aggregate_read(struct bytes b, bool whole, struct task_record *ret)
{
	struct netlink_attribute a;
	uint32_t id = 0;

	while (netlink_attribute(&b, &a)) {
		if (a.type == (whole ? TASKSTATS_TYPE_TGID : TASKSTATS_TYPE_PID))
			id = netlink_u32(a.value, 0);
		if (a.type == TASKSTATS_TYPE_STATS)
			return id > 0 && id <= INT32_MAX &&
			       record_read(a.value, (pid_t)id, whole, ret);
	}
	return false;
}

size_t taskstats_parse(struct bytes datagram, uint16_t family,
	void (*each)(void *context, const struct task_record *r), void *context, size_t *refused)
{
	struct netlink_message m;
	size_t n = 0;

	while (netlink_next(&datagram, &m)) {
		struct netlink_attribute a;
		struct task_record r;

		if (m.type != family || !netlink_skip(&m.body, GENL_HDRLEN))
			continue;
		while (netlink_attribute(&m.body, &a)) {
			if (a.type != TASKSTATS_TYPE_AGGR_PID && a.type != TASKSTATS_TYPE_AGGR_TGID)
				continue;
			if (!aggregate_read(a.value, a.type == TASKSTATS_TYPE_AGGR_TGID, &r)) {
				++*refused;
				continue;
			}
			each(context, &r);
			n++;
		}
	}
	return n;
}

void taskstats_ask_family(struct netlink_request *ret)
{
	static const struct netlink_command get = {GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, false};

	netlink_generic(ret, &get, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME,
		sizeof TASKSTATS_GENL_NAME);
}

uint16_t taskstats_family(struct bytes datagram)
{
	struct netlink_message m;
	struct netlink_attribute a;

	while (netlink_next(&datagram, &m)) {
		if (m.type != GENL_ID_CTRL || !netlink_skip(&m.body, GENL_HDRLEN))
			continue;
		while (netlink_attribute(&m.body, &a))
			if (a.type == CTRL_ATTR_FAMILY_ID)
				return netlink_u16(a.value, 0);
	}
	return 0;
}

void taskstats_ask_ends(struct netlink_request *ret, uint16_t family, unsigned n_cpus)
{
	struct netlink_command get = {family, TASKSTATS_CMD_GET, TASKSTATS_GENL_VERSION, true};
	char cpus[32];
	int len = snprintf(cpus, sizeof cpus, "0-%u", n_cpus ? n_cpus - 1 : 0);

	netlink_generic(ret, &get, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus, (size_t)len + 1);
}

void taskstats_ask_process(struct netlink_request *ret, uint16_t family, pid_t pid)
{
	struct netlink_command get = {family, TASKSTATS_CMD_GET, TASKSTATS_GENL_VERSION, false};
	uint32_t id = (uint32_t)pid;

	netlink_generic(ret, &get, TASKSTATS_CMD_ATTR_TGID, &id, sizeof id);
}
