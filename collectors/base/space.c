#include "collectors/base/space.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "collectors/base/mem.h"

int space_at(int top, const char *path, struct tree_space *ret)
{
	/* The directory itself is open already; most machines have one file system to look at, and this is it. */
	AUTO(closep) int below = path[0] ? openat(top, path, O_PATH | O_CLOEXEC) : -1;
	struct statvfs v;

	if ((path[0] && below < 0) || fstatvfs(path[0] ? below : top, &v) < 0)
		return -errno;
	*ret = (struct tree_space){
		.size = (uint64_t)v.f_blocks * v.f_frsize,
		.free = (uint64_t)v.f_bfree * v.f_frsize,
		.available = (uint64_t)v.f_bavail * v.f_frsize,
		.files = v.f_files,
		.files_free = v.f_ffree,
		.read_only = (v.f_flag & ST_RDONLY) != 0,
	};
	return 0;
}
