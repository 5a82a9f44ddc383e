#include "collectors/mounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

/* Kinds of file systems by type. Types that are not in this table:
 * - On a block device: MOUNT_LOCAL.
 * - All others: MOUNT_REMOTE, because they may be network file systems that hang. FUSE ("fuse",
 *   "fuse.sshfs") is one of them, because a program serves it. */
/* clang-format off */
static const struct {
	const char *type;
	enum mount_kind kind;
} kinds[] = {
	/* Local file systems without a block device. */
	{"btrfs", MOUNT_LOCAL}, {"zfs", MOUNT_LOCAL}, {"bcachefs", MOUNT_LOCAL},
	{"ubifs", MOUNT_LOCAL}, {"jffs2", MOUNT_LOCAL}, {"overlay", MOUNT_LAYERED},
	{"aufs", MOUNT_LAYERED}, {"ecryptfs", MOUNT_LAYERED}, {"shiftfs", MOUNT_LAYERED},
	/* These types look local, because they use a block device. But a call may wait for other
	 * machines or for a program. */
	{"fuseblk", MOUNT_REMOTE}, {"gfs2", MOUNT_REMOTE}, {"ocfs2", MOUNT_REMOTE},
	/* Read-only images. */
	{"squashfs", MOUNT_PSEUDO}, {"iso9660", MOUNT_PSEUDO}, {"erofs", MOUNT_PSEUDO},
	{"cramfs", MOUNT_PSEUDO}, {"romfs", MOUNT_PSEUDO}, {"udf", MOUNT_PSEUDO},
	/* File systems that the kernel itself provides. */
	{"proc", MOUNT_PSEUDO}, {"sysfs", MOUNT_PSEUDO}, {"tmpfs", MOUNT_PSEUDO},
	{"devtmpfs", MOUNT_PSEUDO}, {"ramfs", MOUNT_PSEUDO}, {"rootfs", MOUNT_PSEUDO},
	{"devpts", MOUNT_PSEUDO}, {"cgroup", MOUNT_PSEUDO}, {"cgroup2", MOUNT_PSEUDO},
	{"cpuset", MOUNT_PSEUDO}, {"mqueue", MOUNT_PSEUDO}, {"hugetlbfs", MOUNT_PSEUDO},
	{"debugfs", MOUNT_PSEUDO}, {"tracefs", MOUNT_PSEUDO}, {"securityfs", MOUNT_PSEUDO},
	{"selinuxfs", MOUNT_PSEUDO}, {"smackfs", MOUNT_PSEUDO}, {"configfs", MOUNT_PSEUDO},
	{"efivarfs", MOUNT_PSEUDO}, {"fusectl", MOUNT_PSEUDO}, {"binfmt_misc", MOUNT_PSEUDO},
	{"bpf", MOUNT_PSEUDO}, {"pstore", MOUNT_PSEUDO}, {"nsfs", MOUNT_PSEUDO},
	{"rpc_pipefs", MOUNT_PSEUDO}, {"nfsd", MOUNT_PSEUDO}, {"binder", MOUNT_PSEUDO},
	{"resctrl", MOUNT_PSEUDO}, {"pidfs", MOUNT_PSEUDO}, {"guest_memfd", MOUNT_PSEUDO},
	{"none", MOUNT_PSEUDO},
};
/* clang-format on */

#define TEXT_ROOM_FIRST (16u * 1024)

/* Returns the length of the text, or a negative errno. */
static ssize_t read_text(struct mounts *m, struct tree *proc, const char *path, struct err *e)
{
	for (;;) {
		ssize_t n = m->text ? tree_read(proc, path, m->text, m->text_room) : -EFBIG;

		if (n >= 0)
			return n;
		if (n != -EFBIG || m->text_room >= MOUNTS_TEXT_MAX)
			return err_system(e, (int)n, "read proc/%s", path);
		m->text_room = m->text_room ? m->text_room * 2 : TEXT_ROOM_FIRST;
		m->text = xrealloc(m->text, m->text_room);
	}
}

static bool octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Decodes the escapes \ooo in place. The kernel writes blank, tab, newline, backslash and # in this
 * way. A NUL ends the text, even an escaped NUL. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && octal(s[1]) && octal(s[2]) && octal(s[3])) {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/* Reads the next word and ends it with a NUL inside the table's text. The NUL replaces the blank
 * after the word, and the cursor moves past that blank. */
static bool next_word(struct mounts *m, struct scan *line, const char **ret)
{
	struct slice w;

	if (!scan_word(line, &w))
		return false;
	char *text = m->text + (w.data - m->text);

	if (line->at < line->end)
		line->at++;
	text[w.len] = '\0';
	unescape(text);
	*ret = text;
	return true;
}

/* Parses "36 35 98:0 /folder /mnt rw,noatime master:1 - ext3 /dev/root rw". The number of fields
 * before "-" varies. */
static bool parse_line(struct mounts *m, struct scan *line, struct mount *ret)
{
	uint64_t major, minor;
	const char *skip;

	if (!scan_u64(line, &ret->id) || !scan_u64(line, &ret->parent) || !scan_u64(line, &major) ||
		!scan_char(line, ':') || !scan_u64(line, &minor) ||
		!next_word(m, line, &ret->root) || !next_word(m, line, &ret->point) ||
		!next_word(m, line, &skip))
		return false;
	do {
		if (!next_word(m, line, &skip))
			return false;
	} while (strcmp(skip, "-") != 0);
	if (!next_word(m, line, &ret->type) || !next_word(m, line, &ret->source))
		return false;
	if (!next_word(m, line, &ret->options))
		ret->options = "";
	ret->device = makedev((unsigned)major, (unsigned)minor);
	return true;
}

int mounts_read(struct mounts *m, struct tree *proc, const char *path, struct err *e)
{
	m->n = 0;
	ssize_t len = read_text(m, proc, path, e);

	if (len < 0)
		return (int)len;
	m->hash = hash_bytes(m->text, (size_t)len);

	struct scan text = SCAN(m->text, (size_t)len), line;

	while (m->n < MOUNTS_MAX && scan_line(&text, &line)) {
		struct mount mount;

		if (!parse_line(m, &line, &mount))
			continue;
		GROW(m->mount, m->n, m->room);
		m->mount[m->n++] = mount;
	}
	return 0;
}

void mounts_done(struct mounts *m)
{
	free(m->text);
	free(m->mount);
	*m = (struct mounts){0};
}

/* Returns true if `path` is `directory` or is below it. */
static bool path_within(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	if (len && directory[len - 1] == '/')
		len--;
	return strncmp(path, directory, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

bool mount_holds(const struct mount *m, const char *path)
{
	return path_within(path, m->point);
}

const struct mount *mounts_find(const struct mounts *all, const char *path)
{
	const struct mount *ret = NULL;

	for (size_t i = 0; i < all->n; i++)
		if (mount_holds(&all->mount[i], path) &&
			(!ret || strlen(all->mount[i].point) >= strlen(ret->point)))
			ret = &all->mount[i];
	return ret;
}

/* Returns true if a mount other than `child` is mounted on `parent` and covers `path`. */
static bool is_covered(const struct mounts *all, const struct mount *parent,
	const struct mount *child, const char *path)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct mount *m = &all->mount[i];

		if (m->parent == parent->id && m != child && m != parent &&
			path_within(path, m->point))
			return true;
	}
	return false;
}

static const struct mount *by_id(const struct mounts *all, uint64_t id)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->mount[i].id == id)
			return &all->mount[i];
	return NULL;
}

bool mounts_reach(const struct mounts *all, const struct mount *m)
{
	const struct mount *child = NULL;

	/* A forged table may have loops, so the walk ends after as many steps as the table has
	 * mounts. */
	for (size_t i = 0; m && i < all->n; i++) {
		if (mount_kind_of(m) == MOUNT_REMOTE ||
			is_covered(all, m, child, child ? child->point : m->point))
			return false;
		child = m;
		m = by_id(all, m->parent);
		if (m == child)
			break;
	}
	return true;
}

enum mount_kind mount_kind_of(const struct mount *m)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(m->type, kinds[i].type) == 0)
			return kinds[i].kind;
	if (strncmp(m->type, "fuse", 4) == 0)
		return MOUNT_REMOTE;
	return major(m->device) ? MOUNT_LOCAL : MOUNT_REMOTE;
}

struct mount_watch *mount_watch_new(struct tree *proc)
{
	struct mount_watch *w = xcalloc(1, sizeof *w);

	*w = (struct mount_watch){tree_keep(proc, "self/mountinfo"), 1};
	return w;
}

void mount_watch_free(struct mount_watch *w)
{
	if (w)
		kept_done(&w->table);
	free(w);
}

uint64_t mount_watch_changes(struct mount_watch *w)
{
	int change = w ? kept_changed(&w->table) : -EOPNOTSUPP;

	if (change < 0)
		return 0;
	w->changes += (uint64_t)change;
	return w->changes;
}
