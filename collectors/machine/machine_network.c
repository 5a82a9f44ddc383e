/* Whose network is the machine's. */
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

/*
 * The sysfs that process 1 has: each network namespace has a file system of its own there, wherever it is mounted. By the
 * mount table, since what is below the root of a process is asked for by threads, which others may hold up.
 */
int machine_network_sys(const struct host *h, struct tree **ret)
{
	AUTO(mounts_done) struct mounts mounts = {0};
	struct tree *found = h->proc; /* class/net is not there */
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
