#include "exporter/history/quarantine.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"

#define PATH_BUF_MAX    8192
#define SAME_SECOND_MAX 100

/* Chooses a new name for the file `path`. No file has this name. The caller holds a lock, so no
 * other exporter creates a file of this name before the renaming. */
static void name_aside(const char *path, struct buf *out)
{
	char ts[WALL_TEXT_MAX];
	struct stat st;

	wall_text(ts, now_read().wall);
	for (int n = 1; n <= SAME_SECOND_MAX; n++) {
		buf_reset(out);
		buf_addf(out, "%s.corrupt-%.4s%.2s%.5s%.2s%.2sZ", path, ts, ts + 5, ts + 8, ts + 14,
			ts + 17);
		if (n > 1)
			buf_addf(out, "-%d", n);
		if (stat(buf_text(out), &st) < 0)
			return;
	}
}

/* Renames `path` + `suffix` to `aside` + `suffix`. A missing file is no error. */
static int move_file(const char *path, const char *aside, const char *suffix, struct err *e)
{
	struct buf from AUTO(buf_done) = BUF_MAX(PATH_BUF_MAX);
	struct buf to AUTO(buf_done) = BUF_MAX(PATH_BUF_MAX);

	buf_addf(&from, "%s%s", path, suffix);
	buf_addf(&to, "%s%s", aside, suffix);
	if (from.full || to.full)
		return err_system(e, -ENAMETOOLONG, "set %s aside", path);
	if (rename(buf_text(&from), buf_text(&to)) < 0 && errno != ENOENT)
		return err_system(e, -errno, "set %s aside as %s", path, buf_text(&to));
	return 0;
}

/* Renames the database last, after its -shm and -wal files. An exporter that opens the path between
 * two renames then finds the corrupt database. In the reverse order, it could create a fresh
 * database beside the old -wal file. */
int quarantine_file(struct buf *ret, const char *path, struct err *e)
{
	static const char *const suffixes[] = {"-shm", "-wal", "-journal", ""};
	int code = 0;

	name_aside(path, ret);
	for (size_t i = 0; code == 0 && i < ARRAY_LEN(suffixes); i++)
		code = move_file(path, buf_text(ret), suffixes[i], e);
	return code;
}
