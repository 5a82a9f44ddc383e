/*
 * Bytes, packets, errors and drops of each interface, from /proc/net/dev and /sys/class/net.
 *
 * A packet of a container passes a veth, a bridge and a network card. Only the card is reported, so
 * that a sum over interfaces counts each byte once:
 *
 * - A machine with network cards reports them. A card whose master is one too (the accelerated
 *   interface of a virtual machine below its synthetic one) is part of that one.
 * - A network namespace without a card (a pod, a container) reports what leads out of it: every
 *   interface but lo, those that have a master, and bridges, tunnels and VLANs, whose packets pass
 *   another interface.
 * - A namespace whose only way out ends in a program (a rootless container's tap) reports that.
 *
 * Where sysfs does not show an interface, its name decides.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "collectors/devices.h"
#include "collectors/source.h"

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
  .help = "Interfaces that are not reported because their traffic passes one that is", .type = METRIC_GAUGE)
/* clang-format on */

enum { NETWORK_METRICS(METRIC_ID) };
static const struct metric network_metrics[] = {NETWORK_METRICS(METRIC_ROW)};

/* Columns of /proc/net/dev after the name: eight received, eight sent. */
#define NET_FIELDS 16
/* clang-format off */
static const unsigned char fields[] = {
	[RECEIVED_BYTES] = 0, [RECEIVED_PACKETS] = 1, [RECEIVE_ERRORS] = 2, [RECEIVE_DROPS] = 3,
	[SENT_BYTES] = 8, [SENT_PACKETS] = 9, [SEND_ERRORS] = 10, [SEND_DROPS] = 11,
};
/* clang-format on */
#define NET_COUNTERS ARRAY_LEN(fields)
_Static_assert(NET_COUNTERS <= DEVICE_COUNTERS_MAX, "room for each counter");

/* How often an interface is asked again what it is, when none came or went: a master may change. */
#define CLASSIFY_SECONDS 60

#define SYS_PATH_MAX 512

struct network {
	struct source dev;
	struct devices devices;
	struct ration classify;
};

/* Only interfaces of the first kind that there is are reported, and INNER ones never. */
enum kind {
	CARD,    /* hardware, or what a hypervisor shows as such */
	OUTWARD, /* the way out of a container */
	TUNNEL,  /* ends in a program: the way out of a container without privileges */
	INNER,   /* its packets pass another interface */
};

/* DEVTYPE of /sys/class/net/NAME/uevent. */
/* clang-format off */
static const struct {
	const char *type;
	enum kind kind;
} types[] = {
	{"bond", OUTWARD}, /* its parts have a master */
	{"bridge", INNER}, {"vlan", INNER}, {"vxlan", INNER}, {"geneve", INNER},
	{"gre", INNER}, {"gretap", INNER}, {"ip6gre", INNER}, {"ip6gretap", INNER},
	{"wireguard", INNER},
};
/* clang-format on */

/* Beginnings of names, for want of anything better. */
/* clang-format off */
static const struct {
	const char *prefix;
	enum kind kind;
} names[] = {
	{"tun", TUNNEL}, {"tap", TUNNEL}, {"wg", INNER}, {"veth", INNER}, {"docker", INNER},
	{"podman", INNER}, {"br-", INNER}, {"cni", INNER}, {"flannel", INNER}, {"cali", INNER},
	{"cilium", INNER}, {"lxc", INNER}, {"lxd", INNER}, {"virbr", INNER}, {"vnet", INNER},
	{"vxlan", INNER}, {"geneve", INNER}, {"gre", INNER}, {"sit", INNER}, {"tunl", INNER},
	{"ip6tnl", INNER}, {"bond", INNER}, {"team", INNER}, {"dummy", INNER}, {"ifb", INNER},
	{"kube-", INNER}, {"nodelocaldns", INNER}, {"ovs", INNER}, {"macvtap", INNER},
};
/* clang-format on */

static enum kind kind_by_name(const char *name)
{
	enum kind kind = strchr(name, '.') ? INNER : OUTWARD; /* eth0.100 is a VLAN of eth0 */
	size_t longest = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i].prefix);

		if (len > longest && strncmp(name, names[i].prefix, len) == 0) {
			kind = names[i].kind;
			longest = len;
		}
	}
	return kind;
}

static bool kind_by_type(const struct host *host, const char *name, enum kind *ret)
{
	char path[SYS_PATH_MAX];
	struct scan text, line;

	snprintf(path, sizeof path, "class/net/%s/uevent", name);
	if (host_read(host, host->sys, path, &text, NULL) < 0)
		return false;
	while (scan_line(&text, &line)) {
		struct slice type;

		if (!scan_literal(&line, "DEVTYPE=") || !scan_word(&line, &type))
			continue;
		for (size_t i = 0; i < ARRAY_LEN(types); i++)
			if (slice_is(type, types[i].type)) {
				*ret = types[i].kind;
				return true;
			}
	}
	return false;
}

/* Hardware lives anywhere in /sys/devices but in its folder virtual. */
static int is_card(const struct host *host, const char *name)
{
	char path[SYS_PATH_MAX], target[SYS_PATH_MAX];

	snprintf(path, sizeof path, "class/net/%s", name);
	if (strchr(name, '/') || tree_link(host->sys, path, target, sizeof target) < 0)
		return -ENOENT;
	return !strstr(target, "devices/virtual/");
}

/* The name of the interface that this one is part of, such as a bridge or bond; false = none. */
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

static enum kind kind_of(const struct host *host, const char *name)
{
	char master[DEVICE_NAME_MAX], path[SYS_PATH_MAX];
	enum kind kind;
	int card = is_card(host, name);

	if (strcmp(name, "lo") == 0)
		return INNER;
	if (card < 0)
		return kind_by_name(name);
	if (card)
		return master_of(host, name, master) && is_card(host, master) > 0 ? INNER : CARD;
	if (master_of(host, name, master))
		return INNER;
	if (kind_by_type(host, name, &kind))
		return kind;
	snprintf(path, sizeof path, "class/net/%s/tun_flags", name);
	return tree_size(host->sys, path) >= 0 ? TUNNEL : kind_by_name(name);
}

static void classify(struct devices *all, const struct host *host)
{
	unsigned char kind[DEVICES_MAX];
	unsigned char best = INNER;

	for (size_t i = 0; i < all->n; i++) {
		kind[i] = (unsigned char)kind_of(host, all->device[i].name);
		if (kind[i] < best)
			best = kind[i];
	}
	for (size_t i = 0; i < all->n; i++)
		all->device[i].counted = kind[i] == best && best != INNER;
}

/* "  eth0: 1 2 ...": the name may hold a colon, the numbers cannot. */
static bool parse_line(struct scan line, struct slice *name, uint64_t field[NET_FIELDS])
{
	const char *colon = memrchr(line.at, ':', (size_t)(line.end - line.at));

	if (!colon)
		return false;
	scan_blanks(&line);
	if (line.at >= colon)
		return false;
	*name = (struct slice){line.at, (size_t)(colon - line.at)};
	line.at = colon + 1;
	for (size_t i = 0; i < NET_FIELDS; i++)
		if (!scan_u64(&line, &field[i]))
			return false;
	return true;
}

static void parse_net_dev(struct devices *all, struct scan text)
{
	struct scan line;

	while (scan_line(&text, &line)) {
		uint64_t field[NET_FIELDS];
		struct slice name;
		struct device *device;

		if (!parse_line(line, &name, field) || !(device = devices_see(all, name)))
			continue;
		for (size_t i = 0; i < NET_COUNTERS; i++)
			counter_follow(&device->counter[i], field[fields[i]]);
	}
	devices_sweep(all);
}

static int network_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct network *n = state;
	struct devices *all = &n->devices;
	struct scan text;
	size_t left_out = 0;
	int code = source_read(&n->dev, host, &text, e);

	if (code < 0)
		return code;
	parse_net_dev(all, text);
	if (ration_due(&n->classify, host->now.mono, CLASSIFY_SECONDS) || all->changed) {
		classify(all, host);
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

static int network_start(void **ret, const struct host *host, struct err *e)
{
	struct network *n = xcalloc(1, sizeof *n);

	(void)e;
	source_open(&n->dev, host->proc, "net/dev");
	*ret = n;
	return 0;
}

static void network_stop(void *state)
{
	struct network *n = state;

	source_close(&n->dev);
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
