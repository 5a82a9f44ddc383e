/* Locks one byte of the history file. Its position depends on the machine and the PID namespace. It
 * is far behind the end of the file and behind the bytes that SQLite locks. */
#include "exporter/history/server_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "collectors/base/mem.h"

/* The locked byte is one of the BYTES bytes from FIRST_BYTE on. No database is as long as
 * FIRST_BYTE (https://www.sqlite.org/limits.html), and SQLite locks bytes only near 2^30. */
#define FIRST_BYTE ((off_t)1 << 48)
#define BYTES      ((uint64_t)1 << 32)

static off_t byte_of(const struct run_root *here)
{
	uint64_t machine = hash_text(here->boot_id);
	uint64_t both[] = {machine, here->pid_namespace};

	return FIRST_BYTE + (off_t)(hash_bytes(both, sizeof both) % BYTES);
}

int server_lock(int *ret, const char *path, const struct run_root *here, struct err *e)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte_of(here), .l_len = 1};

	if (strcmp(path, ":memory:") == 0)
		return 0;
	if (*ret < 0)
		*ret = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*ret < 0)
		return err_system(e, -errno, "history %s", path);
	if (fcntl(*ret, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES))
		return 0;
	return err_set(e, -EBUSY,
		"history %s: another server of this machine records into it; stop that one, or set another file with --history.path",
		path);
}
