/* Walking /proc/PID/fd. */
#include "collectors/process/descriptors.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "collectors/process/process.h"

/* Longer targets belong to files, and no device has such a name. */
#define TARGET_MAX 256

struct walk {
	const struct host *host;
	pid_t pid;
	unsigned *left;
	int (*each)(void *context, int fd, const char *target);
	void *context;
};

static int look_at(void *context, const char *name)
{
	const struct walk *w = context;
	struct scan s = SCAN(name, strlen(name));
	char path[PROCESS_PATH_MAX], target[TARGET_MAX];
	uint64_t fd;

	if (!scan_u64(&s, &fd) || !scan_end(&s) || fd > INT32_MAX)
		return 0;
	if (*w->left == 0)
		return -EAGAIN;
	--*w->left;
	snprintf(path, sizeof path, "%d/fd/%d", (int)w->pid, (int)fd);
	ssize_t n = tree_link(w->host->proc, path, target, sizeof target);

	/* Closed meanwhile, or too long. */
	if (n == -ENOENT || n == -EFBIG)
		return 0;
	return n < 0 ? (int)n : w->each(w->context, (int)fd, target);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): counted down through struct walk */
int process_fds(const struct host *h, pid_t pid, unsigned *left,
	int (*each)(void *context, int fd, const char *target), void *context)
{
	struct walk w = {h, pid, left, each, context};
	char path[PROCESS_PATH_MAX];

	return tree_list(h->proc, process_path(path, pid, "fd"), look_at, &w);
}
