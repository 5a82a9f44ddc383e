#include "exporter/lifecycle/switch_user.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/core/paths.h"

struct user_account {
	const char *name; /* NULL = no account has this number */
	uid_t uid;
	gid_t gid;
};

static int find_user(struct user_account *ret, const char *user, struct err *e)
{
	struct scan s = SCAN(user, strlen(user));
	uint64_t number;
	bool is_number = scan_u64(&s, &number) && scan_end(&s);
	const struct passwd *p = NULL;

	if (is_number && (number == 0 || number >= UINT32_MAX))
		return err_set(e, -EINVAL,
			"--security.user: %s is not accepted: give a user other than root", user);
	p = is_number ? getpwuid((uid_t)number) : getpwnam(user);
	if (!p && !is_number)
		return err_set(e, -EINVAL,
			"--security.user: there is no user %s; give a user name of this system or a "
			"number",
			user);
	*ret = p ? (struct user_account){p->pw_name, p->pw_uid, p->pw_gid} :
		   (struct user_account){NULL, (uid_t)number, (gid_t)number};
	if (ret->uid == 0)
		return err_set(e, -EINVAL, "--security.user: %s is root: give another user", user);
	return 0;
}

/* Makes the user the owner of a regular file of root. Skips a file with several hard links: an
 * earlier owner of the folder may have made the name a link to another file of root. */
static int give_file(int folder, const char *name, const struct user_account *a)
{
	AUTO(closep) int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
		return 0;
	return fchownat(fd, "", a->uid, a->gid, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

/* Returns true when the folder contains files whose names do not begin with `file`, or when the
 * folder cannot be read. Such a folder must not be given away, because it may be shared, as /tmp
 * and /var/lib are. */
static bool has_others(int folder, const char *file)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool ret = !d;

	while (d && !ret && (entry = readdir(d))) {
		const char *name = entry->d_name;

		ret = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
		      strcmp(name, "lost+found") != 0 && strncmp(name, file, strlen(file)) != 0;
	}
	if (d)
		closedir(d);
	else
		closep(&fd);
	return ret;
}

/* Makes the user the owner of the folder and of SQLite's files in it, if their owner is root. The
 * user needs the folder, too, because SQLite creates files in it. */
static int give_folder(int folder, const char *file, const struct user_account *a, struct err *e)
{
	static const char *const beside[] = {"", "-wal", "-shm", "-journal"};
	char name[NAME_MAX + 16];
	struct stat st;
	int code = fstat(folder, &st) < 0 ? -errno : 0;

	if (code == 0 && st.st_uid == 0 && has_others(folder, file))
		return err_set(e, -EINVAL,
			"its folder holds other files: give a path in a folder of its own");
	if (code == 0 && st.st_uid == 0 && fchown(folder, a->uid, a->gid) < 0)
		code = -errno;
	for (size_t i = 0; i < ARRAY_LEN(beside) && code == 0; i++) {
		snprintf(name, sizeof name, "%s%s", file, beside[i]);
		code = give_file(folder, name, a);
	}
	return code ? err_system(e, code, "change its owner (needs the capability CHOWN)") : 0;
}

static int give_place(const char *path, const struct user_account *a, struct err *e)
{
	AUTO(freep) char *folder = xstrdup(path);
	char *slash = strrchr(folder, '/');
	struct err why = {0};

	if (strcmp(path, ":memory:") == 0)
		return 0;
	if (!slash || slash == folder || !slash[1] || strcmp(slash + 1, ".") == 0 ||
		strcmp(slash + 1, "..") == 0)
		return err_set(e, -EINVAL,
			"--security.user: %s: give the absolute path of a file in a folder of its "
			"own",
			path);
	int code = path_make_folder(path, &why);

	if (code == 0) {
		*slash = '\0';
		AUTO(closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		code = fd < 0 ? err_system(&why, -errno, "open %s", folder) :
				give_folder(fd, slash + 1, a, &why);
	}
	return code ? err_set(e, code, "--security.user: %s: %s", path, why.text) : 0;
}

/* Changes the groups before the user, because only root may change the groups. */
static int leave_root(const struct user_account *a, struct err *e)
{
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 &&
		(a->name ? initgroups(a->name, a->gid) : setgroups(1, &a->gid)) == 0 &&
		setresgid(a->gid, a->gid, a->gid) == 0 && setresuid(a->uid, a->uid, a->uid) == 0)
		return 0;
	return err_system(e, -errno,
		"--security.user: become user %u (needs root and the capabilities SETUID and "
		"SETGID)",
		(unsigned)a->uid);
}

int switch_user(const char *user, const char *history, const char *cache, struct err *e)
{
	struct user_account a = {0};
	int code = find_user(&a, user, e);

	if (code || geteuid() == a.uid)
		return code;
	code = give_place(history, &a, e);
	if (code == 0 && cache)
		give_place(cache, &a, NULL);
	return code ? code : leave_root(&a, e);
}
