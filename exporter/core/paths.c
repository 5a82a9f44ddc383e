#include "exporter/core/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/tree.h"
#include "collectors/mounts.h"

#define PATH_TEXT_MAX 4096

/* The default place of a file. Its folder is the first of these that applies:
 * 1. the value of the environment variable `systemd`
 * 2. `system`/rightsize-exporter, if root runs the program
 * 3. rightsize-exporter below the value of the environment variable `xdg`
 * 4. $HOME/`home`/rightsize-exporter */
struct default_place {
	const char *systemd, *system, *xdg, *home, *name, *subject, *option;
};

static const struct default_place history_place = {"STATE_DIRECTORY", "/var/lib", "XDG_STATE_HOME",
	".local/state", "history.db", "history", "--history.path"};
static const struct default_place cache_place = {"CACHE_DIRECTORY", "/var/cache", "XDG_CACHE_HOME",
	".cache", "catalogue.db", "cache of the catalogue", "--catalogue.cache"};

static int default_path(char **ret, const struct default_place *p, const char *given, struct err *e)
{
	const char *systemd = getenv(p->systemd), *xdg = getenv(p->xdg), *home = getenv("HOME");
	struct buf b = BUF_MAX(PATH_TEXT_MAX);

	if (given) {
		*ret = xstrdup(given);
		return 0;
	}
	if (systemd && systemd[0] == '/')
		buf_addf(&b, "%.*s/%s", (int)strcspn(systemd, ":"), systemd, p->name);
	else if (geteuid() == 0)
		buf_addf(&b, "%s/rightsize-exporter/%s", p->system, p->name);
	else if (xdg && xdg[0] == '/')
		buf_addf(&b, "%s/rightsize-exporter/%s", xdg, p->name);
	else if (home && home[0] == '/')
		buf_addf(&b, "%s/%s/rightsize-exporter/%s", home, p->home, p->name);
	else
		return err_set(e, -ENOENT,
			"no place for the %s: none of %s, %s and HOME is set; set %s", p->subject,
			p->systemd, p->xdg, p->option);
	*ret = buf_take(&b);
	return 0;
}

int path_default_history(char **ret, const char *given, struct err *e)
{
	return default_path(ret, &history_place, given, e);
}

int path_default_cache(char **ret, const char *given, struct err *e)
{
	return default_path(ret, &cache_place, given, e);
}

/* If root runs this program, gives the new folder `folder` to the owner of its parent folder.
 * Otherwise a user could not use a folder that root created below the user's own folder. */
static void give_to_parents_owner(const char *folder)
{
	AUTO(closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (geteuid() == 0 && fd >= 0 && fstatat(fd, "..", &st, 0) == 0 && st.st_uid &&
		fchown(fd, st.st_uid, st.st_gid) < 0)
		return; /* root stays the owner; the user gets an error when using the folder */
}

int path_make_folder(const char *path, struct err *e)
{
	AUTO(freep) char *folder = xstrdup(path);

	if (strcmp(path, ":memory:") == 0)
		return 0;
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0700) == 0)
			give_to_parents_owner(folder);
		else if (errno != EEXIST)
			return err_system(e, -errno, "make folder %s", folder);
		*slash = '/';
	}
	return 0;
}

void path_give_to_owner(const char *path)
{
	char folder[PATH_TEXT_MAX];
	struct stat st;
	const char *slash = strrchr(path, '/');

	if (geteuid() != 0 || !slash || slash == path || (size_t)(slash - path) >= sizeof folder)
		return;
	slice_copy((struct slice){path, (size_t)(slash - path)}, folder, sizeof folder);
	if (stat(folder, &st) < 0 || st.st_uid == 0)
		return;
	AUTO(closep) int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);

	/* Here the file is empty. SQLite later makes a database of it, and gives its -wal and -shm
	 * files the same owner. */
	if (fd >= 0 && fchown(fd, st.st_uid, st.st_gid) < 0)
		unlink(path);
}

bool path_is_remote(const char *path)
{
	struct tree *proc = NULL;
	struct mounts all = {0};
	const struct mount *found = NULL;

	if (path[0] != '/' || tree_open(&proc, "/proc", NULL) < 0)
		return false;
	if (mounts_read(&all, proc, "self/mountinfo", NULL) == 0)
		found = mounts_find(&all, path);
	bool ret = found && mount_kind_of(found) == MOUNT_REMOTE;

	mounts_done(&all);
	tree_free(proc);
	return ret;
}
