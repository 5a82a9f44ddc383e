/* Finds the machine's network namespace and the sysfs that shows its interfaces. */
#include "collectors/machine/machine_network.h"

#include <errno.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/mounts.h"

int machine_network_space(const struct host *h, char ret[NAMESPACE_NAME_MAX])
{
	char first[NAMESPACE_NAME_MAX], ours[NAMESPACE_NAME_MAX];
	ssize_t n = tree_link(h->proc, "1/ns/net", first, sizeof first);

	if (n == -ETIMEDOUT)
		return -ETIMEDOUT;
	if (n < 0 || tree_link(h->proc, "self/ns/net", ours, sizeof ours) < 0 ||
		strcmp(first, ours) == 0)
		return -ENOENT;
	memcpy(ret, first, sizeof first);
	return 0;
}

static bool is_on(struct tree *t, uint64_t device)
{
	uint64_t its;

	return t && tree_device(t, "", &its) == 0 && its == device;
}

/* Finds the sysfs that shows the machine's network namespace. Each network namespace has its own
 * sysfs. The mount table of process 1 gives the device number of the sysfs at /sys. The first of
 * our own trees with this device number is used.
 *
 * /proc/1/root/sys would show the same files. It is not used: only a guard thread may read such a
 * path (collectors/base/tree_guard.h), and processes of other users can block guard threads. */
int machine_network_sys(const struct host *h, struct tree **ret)
{
	AUTO(mounts_done) struct mounts mounts = {0};
	/* If no sysfs matches, return /proc: it has no class/net, so the caller finds no
	 * interface. */
	struct tree *found = h->proc;
	int code = mounts_read(&mounts, h->proc, "1/mountinfo", NULL);

	for (size_t i = 0; i < mounts.n && code == 0; i++) {
		const struct mount *m = &mounts.mount[i];

		if (strcmp(m->point, "/sys") == 0 && strcmp(m->type, "sysfs") == 0)
			found = is_on(h->sys, m->device)      ? h->sys :
				is_on(h->root_sys, m->device) ? h->root_sys :
								h->proc;
	}
	if (code == 0)
		*ret = found;
	return code;
}
