/* Kinds of network interfaces, and lines of /proc/net/dev. */
#include "collectors/machine/interfaces.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"

/* Name prefixes, used when sysfs does not show the kind. The longest match decides. */
/* clang-format off */
static const struct {
	const char *prefix;
	enum interface_kind kind;
} names[] = {
	{"tun", INTERFACE_TUNNEL}, {"tap", INTERFACE_TUNNEL}, {"wg", INTERFACE_INNER},
	{"veth", INTERFACE_INNER}, {"docker", INTERFACE_INNER}, {"podman", INTERFACE_INNER},
	{"br-", INTERFACE_INNER}, {"cni", INTERFACE_INNER}, {"flannel", INTERFACE_INNER},
	{"cali", INTERFACE_INNER}, {"cilium", INTERFACE_INNER}, {"lxc", INTERFACE_INNER},
	{"lxd", INTERFACE_INNER}, {"virbr", INTERFACE_INNER}, {"vnet", INTERFACE_INNER},
	{"vxlan", INTERFACE_INNER}, {"geneve", INTERFACE_INNER}, {"gre", INTERFACE_INNER},
	{"sit", INTERFACE_INNER}, {"tunl", INTERFACE_INNER}, {"ip6tnl", INTERFACE_INNER},
	{"bond", INTERFACE_INNER}, {"team", INTERFACE_INNER}, {"dummy", INTERFACE_INNER},
	{"ifb", INTERFACE_INNER}, {"kube-", INTERFACE_INNER}, {"nodelocaldns", INTERFACE_INNER},
	{"ovs", INTERFACE_INNER}, {"macvtap", INTERFACE_INNER},
};
/* clang-format on */

enum interface_kind interface_kind_by_name(const char *name)
{
	enum interface_kind kind = strchr(name, '.') ?
					   INTERFACE_INNER :
					   INTERFACE_OUTWARD; /* eth0.100 is a VLAN of eth0 */
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

/* Decides by the path in sysfs: hardware is anywhere in /sys/devices except below
 * /sys/devices/virtual. */
int interface_is_card(const struct host *host, const char *name)
{
	char path[INTERFACE_PATH_MAX], target[INTERFACE_PATH_MAX];

	snprintf(path, sizeof path, "class/net/%s", name);
	if (strchr(name, '/') || tree_link(host->sys, path, target, sizeof target) < 0)
		return -ENOENT;
	return !strstr(target, "devices/virtual/");
}

/* Splits at the last colon, because a name may contain a colon but the numbers cannot. */
bool interface_parse(struct scan line, struct slice *name, uint64_t field[INTERFACE_FIELDS])
{
	const char *colon = memrchr(line.at, ':', (size_t)(line.end - line.at));

	if (!colon)
		return false;
	scan_blanks(&line);
	if (line.at >= colon)
		return false;
	*name = (struct slice){line.at, (size_t)(colon - line.at)};
	line.at = colon + 1;
	for (size_t i = 0; i < INTERFACE_FIELDS; i++)
		if (!scan_u64(&line, &field[i]))
			return false;
	return true;
}
