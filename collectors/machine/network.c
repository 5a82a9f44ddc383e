/* Bytes, packets, errors and drops of each interface, from /proc/net/dev and /sys/class/net. Reads
 * the machine's network namespace, even if the exporter is in another namespace
 * (collectors/machine/machine_network.h).
 *
 * A packet of a container passes a veth, a bridge and a network card. Only the card is reported, so
 * that a sum over interfaces counts each byte once:
 *
 * - A machine with network cards reports its cards. A card whose master is also a card is left out,
 *   because the master counts its traffic. An example is the accelerated interface of a virtual
 *   machine, whose master is the synthetic interface.
 * - A network namespace without a card (a pod, a container) reports the interfaces that lead out of
 *   it. It does not report lo, interfaces with a master, bridges, tunnels and VLANs, because their
 *   packets pass another interface.
 * - Some namespaces, such as a rootless container, have only an interface that ends in a program (a
 *   tap). They report that interface.
 *
 * If sysfs does not show an interface, its kind is guessed from its name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "collectors/machine/devices.h"
#include "collectors/machine/interfaces.h"
#include "collectors/machine/machine_network.h"
#include "collectors/kernel_file.h"

/* clang-format off */
#define NETWORK_METRICS(X) \
X(RECEIVED_BYTES, .name = "rightsize_network_received_bytes", .unit = "bytes", .labels = {"interface"}, \
  .help = "Bytes received by a network card, or in a container by the interface that leads out of it", \
  .type = METRIC_COUNTER, .fold = FOLD_DELTA, .column = "system_network_received_bytes") \
X(SENT_BYTES, .name = "rightsize_network_sent_bytes", .unit = "bytes", .labels = {"interface"}, \
  .help = "Bytes sent by a network card, or in a container by the interface that leads out of it", \
  .type = METRIC_COUNTER, .fold = FOLD_DELTA, .column = "system_network_sent_bytes") \
X(RECEIVED_PACKETS, .name = "rightsize_network_received_packets", .labels = {"interface"}, \
  .help = "Packets received", .type = METRIC_COUNTER) \
X(SENT_PACKETS, .name = "rightsize_network_sent_packets", .labels = {"interface"}, \
  .help = "Packets sent", .type = METRIC_COUNTER) \
X(RECEIVE_ERRORS, .name = "rightsize_network_receive_errors", .labels = {"interface"}, \
  .help = "Packets received with an error", .type = METRIC_COUNTER) \
X(SEND_ERRORS, .name = "rightsize_network_send_errors", .labels = {"interface"}, \
  .help = "Packets that could not be sent because of an error", .type = METRIC_COUNTER) \
X(RECEIVE_DROPS, .name = "rightsize_network_receive_drops", .labels = {"interface"}, \
  .help = "Packets dropped after they were received", .type = METRIC_COUNTER) \
X(SEND_DROPS, .name = "rightsize_network_send_drops", .labels = {"interface"}, \
  .help = "Packets dropped before they were sent", .type = METRIC_COUNTER) \
X(LEFT_OUT, .name = "rightsize_network_left_out_interfaces", \
  .help = "Interfaces that are not reported because their traffic passes one that is")
/* clang-format on */

enum { NETWORK_METRICS(METRIC_ID) };
static const struct metric network_metrics[] = {NETWORK_METRICS(METRIC_ROW)};

/* clang-format off */
static const unsigned char fields[] = {
	[RECEIVED_BYTES] = 0, [RECEIVED_PACKETS] = 1, [RECEIVE_ERRORS] = 2, [RECEIVE_DROPS] = 3,
	[SENT_BYTES] = 8, [SENT_PACKETS] = 9, [SEND_ERRORS] = 10, [SEND_DROPS] = 11,
};
/* clang-format on */
#define NET_COUNTERS ARRAY_LEN(fields)
_Static_assert(NET_COUNTERS <= DEVICE_COUNTERS_MAX, "room for each counter");

/* Seconds after which interfaces are classified again, even when no interface came or went: a
 * master may change. */
#define CLASSIFY_SECONDS 60

#define SYS_PATH_MAX INTERFACE_PATH_MAX

struct network_state {
	struct kernel_file dev;
	bool elsewhere;   /* the exporter is not in the machine's namespace */
	struct tree *sys; /* shows the machine's interfaces; NULL = not known yet */
	struct devices devices;
	struct ration classify_devices;
};

/* Kind of an interface by the value of DEVTYPE in /sys/class/net/NAME/uevent. */
/* clang-format off */
static const struct {
	const char *type;
	enum interface_kind kind;
} types[] = {
	{"bond", INTERFACE_OUTWARD}, /* reported, because its members have a master */
	{"bridge", INTERFACE_INNER}, {"vlan", INTERFACE_INNER}, {"vxlan", INTERFACE_INNER},
	{"geneve", INTERFACE_INNER}, {"gre", INTERFACE_INNER}, {"gretap", INTERFACE_INNER},
	{"ip6gre", INTERFACE_INNER}, {"ip6gretap", INTERFACE_INNER}, {"wireguard", INTERFACE_INNER},
};
/* clang-format on */

static bool kind_by_type(const struct host *host, const char *name, enum interface_kind *ret)
{
	char path[SYS_PATH_MAX];
	struct scan text, line;
	struct slice type;

	snprintf(path, sizeof path, "class/net/%s/uevent", name);
	if (kernel_file_read_once(host, host->sys, path, &text, NULL) < 0)
		return false;
	if (!scan_line_of(&text, "DEVTYPE=", &line) || !scan_word(&line, &type))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (slice_is(type, types[i].type)) {
			*ret = types[i].kind;
			return true;
		}
	return false;
}

/* Finds the master of an interface, such as the bridge or bond that it belongs to. Returns false if
 * it has no master. */
static bool master_of(const struct host *host, const char *name, char ret[DEVICE_NAME_MAX])
{
	char path[SYS_PATH_MAX], target[SYS_PATH_MAX];

	snprintf(path, sizeof path, "class/net/%s/master", name);
	if (tree_link(host->sys, path, target, sizeof target) < 0)
		return false;
	const char *slash = strrchr(target, '/'), *last = slash ? slash + 1 : target;

	slice_copy((struct slice){last, strlen(last)}, ret, DEVICE_NAME_MAX);
	return true;
}

static enum interface_kind kind_of(const struct host *host, const char *name)
{
	char master[DEVICE_NAME_MAX], path[SYS_PATH_MAX];
	enum interface_kind kind;
	int card = interface_is_card(host, name);

	if (strcmp(name, "lo") == 0)
		return INTERFACE_INNER;
	if (card < 0)
		return interface_kind_by_name(name);
	if (card)
		return master_of(host, name, master) && interface_is_card(host, master) > 0 ?
			       INTERFACE_INNER :
			       INTERFACE_CARD;
	if (master_of(host, name, master))
		return INTERFACE_INNER;
	if (kind_by_type(host, name, &kind))
		return kind;
	snprintf(path, sizeof path, "class/net/%s/tun_flags", name);
	return tree_size(host->sys, path) >= 0 ? INTERFACE_TUNNEL : interface_kind_by_name(name);
}

static void classify_devices(struct devices *all, const struct host *host)
{
	unsigned char kind[DEVICES_MAX];
	unsigned char best = INTERFACE_INNER;

	for (size_t i = 0; i < all->n; i++) {
		kind[i] = (unsigned char)kind_of(host, all->device[i].name);
		if (kind[i] < best)
			best = kind[i];
	}
	for (size_t i = 0; i < all->n; i++)
		all->device[i].counted = kind[i] == best && best != INTERFACE_INNER;
}

static void parse_net_dev(struct devices *all, struct scan text)
{
	struct scan line;

	while (scan_line(&text, &line)) {
		uint64_t field[INTERFACE_FIELDS];
		struct slice name;
		struct device *device;

		if (!interface_parse(line, &name, field) || !(device = devices_see(all, name)))
			continue;
		for (size_t i = 0; i < NET_COUNTERS; i++)
			counter_follow(&device->counter[i], field[fields[i]]);
	}
	devices_sweep(all);
}

/* Opens the machine's /proc/net/dev at the first call. Later calls do nothing, because process 1
 * never moves to another network namespace. */
static int find_machine(struct network_state *n, const struct host *host, struct err *e)
{
	char space[NAMESPACE_NAME_MAX];

	if (n->dev.path)
		return 0;
	int code = machine_network_space(host, space);

	if (code == -ETIMEDOUT)
		return err_system(e, code, "find the machine's network");
	n->elsewhere = code == 0;
	kernel_file_open(&n->dev, host->proc, n->elsewhere ? "1/net/dev" : "net/dev");
	return 0;
}

static int classify_machine(struct network_state *n, const struct host *host, struct err *e)
{
	struct host seen = *host;

	if (n->elsewhere) {
		int code = machine_network_sys(host, &n->sys);

		if (!n->sys)
			return err_system(e, code, "find what the machine's interfaces are");
		seen.sys = n->sys;
	}
	classify_devices(&n->devices, &seen);
	return 0;
}

static int network_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct network_state *n = state;
	struct devices *all = &n->devices;
	struct scan text;
	size_t left_out = 0;
	int code = find_machine(n, host, e);

	if (code == 0)
		code = kernel_file_read(&n->dev, host, &text, e);
	if (code < 0)
		return code;
	parse_net_dev(all, text);
	if (ration_due(&n->classify_devices, host->now.mono, CLASSIFY_SECONDS) || all->changed) {
		code = classify_machine(n, host, e);
		if (code < 0)
			return code;
		all->changed = false;
	}
	for (size_t i = 0; i < all->n; i++) {
		const struct device *device = &all->device[i];

		left_out += !device->counted && strcmp(device->name, "lo") != 0;
		for (unsigned id = 0; device->counted && id < NET_COUNTERS; id++)
			POINT(out, id, device->counter[id].value, device->name);
	}
	POINT(out, LEFT_OUT, (double)left_out, NULL);
	return 0;
}

static int network_start(void **ret, struct host *host, struct err *e)
{
	struct network_state *n = xcalloc(1, sizeof *n);

	(void)host;
	(void)e;
	*ret = n;
	return 0;
}

static void network_stop(void *state)
{
	struct network_state *n = state;

	kernel_file_close(&n->dev);
	devices_done(&n->devices);
	free(n);
}

const struct collector collector_network = {
	.name = "network",
	.help = "Bytes, packets, errors and drops of each network interface",
	.metrics = network_metrics,
	.n_metrics = ARRAY_LEN(network_metrics),
	.start = network_start,
	.collect = network_collect,
	.stop = network_stop,
};
