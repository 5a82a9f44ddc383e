#include "exporter/core/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/host.h"
#include "collectors/process/process.h"

#define STAT_MAX 4096

static size_t read_small(const char *path, char *buf, size_t size)
{
	AUTO(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, buf, size - 1);

	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Returns true if /proc shows the PID namespace of this program. After "unshare --pid" without
 * --mount-proc, /proc shows the outer PID namespace. */
static bool proc_is_ours(void)
{
	char text[STAT_MAX];
	size_t n = read_small("/proc/self/status", text, sizeof text);

	return host_status_is_of(SCAN(text, n), getpid());
}

uint64_t identity_start_ticks(pid_t pid)
{
	char path[64], text[STAT_MAX];
	struct process_stat s;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (pid != getpid() && !proc_is_ours())
		return 0;
	size_t n = read_small(pid == getpid() ? "/proc/self/stat" : path, text, sizeof text);

	return process_stat_parse(SCAN(text, n), &s) ? s.start_ticks : 0;
}

bool identity_is_alive(void *context, pid_t pid, uint64_t start_ticks)
{
	uint64_t ticks = identity_start_ticks(pid);

	(void)context;
	/* If /proc shows another PID namespace, the start time cannot be read. Then return true if
	 * any process with this PID lives, so that the run stays open. */
	if (!ticks && start_ticks)
		return !proc_is_ours() && (kill(pid, 0) == 0 || errno == EPERM);
	return start_ticks && ticks == start_ticks;
}

void identity_read(struct identity *ret)
{
	struct stat st;
	struct utsname u;

	*ret = (struct identity){.pid = getpid()};
	ret->start_ticks = identity_start_ticks(ret->pid);
	if (stat("/proc/self/ns/pid", &st) == 0)
		ret->here.pid_namespace = st.st_ino;
	read_small("/proc/sys/kernel/random/boot_id", ret->here.boot_id, sizeof ret->here.boot_id);
	ret->here.boot_id[strcspn(ret->here.boot_id, "\n")] = '\0';
	if (uname(&u) == 0)
		snprintf(ret->host, sizeof ret->host, "%s", u.nodename);
}

void identity_make_run_id(char out[RUN_ID_MAX], struct wall started_at)
{
	char text[WALL_TEXT_MAX];
	uint32_t random = 0;
	size_t n = 0;

	if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
		random = (uint32_t)getpid() * 2654435761U ^ (uint32_t)started_at.ns;
	wall_text(text, started_at);
	for (size_t i = 0; text[i] && text[i] != '.' && n < 16; i++)
		if (text[i] != '-' && text[i] != ':')
			out[n++] = text[i];
	snprintf(out + n, RUN_ID_MAX - n, "Z-%08x", random);
}
