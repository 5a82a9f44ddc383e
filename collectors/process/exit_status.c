/* pidfds. The headers of older systems lack the request, so it is declared here (linux/pidfd.h, 6.15). */
#include "collectors/process/exit_status.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first 64 bytes of struct pidfd_info: the kernel takes any size from that on. */
struct info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t exit_code;
};

_Static_assert(sizeof(struct info) == 64, "layout of the kernel's first version");

#define GET_INFO  _IOWR(0xff, 11, struct info)
#define INFO_EXIT (UINT64_C(1) << 3)

int exit_status_open(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : (int)fd;
}

/* POLLIN: it ended. POLLHUP, since 6.9: it was also waited for. */
static short state_of(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

bool exit_status_ended(int pidfd)
{
	return state_of(pidfd) & (POLLIN | POLLHUP);
}

enum exit_status exit_status_read(int pidfd, int *ret)
{
	struct info info = {.mask = INFO_EXIT};

	/* ENOTTY, EINVAL: no such request; ESRCH: 6.13 and 6.14 answer for the living only. */
	if (ioctl(pidfd, GET_INFO, &info) < 0)
		return EXIT_STATUS_UNKNOWN;
	if (info.mask & INFO_EXIT) {
		*ret = info.exit_code;
		return EXIT_STATUS_KNOWN;
	}
	/* Waited for, and still no status: this kernel keeps none. */
	return state_of(pidfd) & POLLHUP ? EXIT_STATUS_UNKNOWN : EXIT_STATUS_LATER;
}
