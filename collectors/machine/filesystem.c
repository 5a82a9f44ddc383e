/* Space of the file systems, from the mount table and statvfs(3).
 *
 * Each device counts once, even if its folders are bind-mounted elsewhere. An overlay counts only
 * if the file system that it writes to is not visible. Network file systems and FUSE are never
 * touched: if the server is dead, a call on such a file system or on a path through it does not
 * return. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "collectors/collector.h"
#include "collectors/mounts.h"
#include "collectors/kernel_file.h"

/* clang-format off */
#define FS_LABELS .labels = {"device", "fstype", "mountpoint"}
#define FILESYSTEM_METRICS(X) \
X(FS_SIZE, .name = "rightsize_filesystem_size_bytes", .unit = "bytes", FS_LABELS, \
  .help = "Size of a local file system") \
X(FS_FREE, .name = "rightsize_filesystem_free_bytes", .unit = "bytes", FS_LABELS, \
  .help = "Space that is not in use, what is reserved for the superuser included") \
X(FS_AVAILABLE, .name = "rightsize_filesystem_available_bytes", .unit = "bytes", FS_LABELS, \
  .help = "Space that ordinary users can still write to") \
X(FS_FILES, .name = "rightsize_filesystem_files", FS_LABELS, \
  .help = "Most files that the file system can hold, absent where it sets no limit") \
X(FS_FILES_FREE, .name = "rightsize_filesystem_files_free", FS_LABELS, \
  .help = "Files that can still be made") \
X(FS_SKIPPED, .name = "rightsize_filesystem_skipped", .labels = {"reason"}, \
  .help = "Mounts not measured: network or FUSE might never answer, covered by another mount, unreadable, or too many") \
X(SPACE_TOTAL, .name = "rightsize_disk_space_size_bytes", .unit = "bytes", \
  .help = "Size of all local file systems, each counted once", \
  .fold = FOLD_VALUE, .column = "system_disk_space_total_bytes") \
X(SPACE_USED, .name = "rightsize_disk_space_used_bytes", .unit = "bytes", \
  .help = "Space in use on all local file systems, each counted once", \
  .fold = FOLD_VALUE, .column = "system_disk_space_used_bytes") \
X(SPACE_AVAILABLE, .name = "rightsize_disk_space_available_bytes", .unit = "bytes", \
  .help = "Space that ordinary users can still write to on all local file systems, each counted once", \
  .fold = FOLD_VALUE, .column = "system_disk_space_free_bytes")
/* clang-format on */

enum { FILESYSTEM_METRICS(METRIC_ID) };
static const struct metric filesystem_metrics[] = {FILESYSTEM_METRICS(METRIC_ROW)};

enum skip { SKIP_REMOTE, SKIP_COVERED, SKIP_UNREADABLE, SKIP_LIMIT, SKIPS };
static const char *const skip_names[SKIPS] = {"network", "covered", "unreadable", "limit"};

/* Maximum number of file systems that are measured. */
#define FILESYSTEMS_MAX 256

/* The space of each file system is read at every tick. The mount table is read again when the
 * kernel reports a change. A long table is expensive to read, so the pause between two readings is
 * at least one second for every MOUNTS_PER_PAUSE_SECOND mounts.
 *
 * Without a report, the table is read again in two cases: the kernel cannot report changes, or a
 * file system could not be read. The pause is then LOOK_SECONDS longer. */
#define LOOK_SECONDS            5
#define MOUNTS_PER_PAUSE_SECOND 100

struct filesystem {
	const struct mount *mount; /* in `mounts`; valid until the table is read again */
	enum mount_kind kind;
	uint64_t device; /* st_dev of the mount point at the last reading */
	struct tree_space space;
	bool readable;
};

struct filesystem_state {
	struct mono looked; /* when the table was last read */
	const char *table;  /* path of the table below host->proc; NULL = not chosen yet */
	struct kept watch;  /* reports changes of `table` */
	bool changed;       /* the table changed after the time `looked` */
	struct mounts mounts;
	uint64_t hash; /* hash of the table that `list` was made from */
	bool stale;    /* `list` must be made again, even if the table did not change */
	size_t n, n_candidates, candidates_room;
	struct filesystem list[FILESYSTEMS_MAX], *candidates;
	unsigned skipped[SKIPS];
};

/* Returns true if the mount point is a poor name for its disk. Container runtimes bind-mount single
 * files from the machine's disk to paths below /etc and /dev. */
static bool poor_name(const char *point)
{
	return strncmp(point, "/etc/", 5) == 0 || strncmp(point, "/dev/", 5) == 0;
}

/* Orders the mounts of a device, the best name first: poor names come last, and a shorter path
 * comes before a longer one. */
static int compare_candidates(const void *left, const void *right)
{
	const char *a = ((const struct filesystem *)left)->mount->point;
	const char *b = ((const struct filesystem *)right)->mount->point;
	size_t a_len = strlen(a), b_len = strlen(b);

	if (poor_name(a) != poor_name(b))
		return poor_name(a) ? 1 : -1;
	if (a_len != b_len)
		return a_len < b_len ? -1 : 1;
	return strcmp(a, b);
}

static const char *below_root(const struct mount *m)
{
	return m->point + strspn(m->point, "/");
}

static int read_space(struct filesystem *f, const struct host *host)
{
	/* The root directory is held open. Nothing can be mounted over it, so its device number is
	 * read only once. */
	bool known = f->readable && !*below_root(f->mount);
	int code = known ? 0 : tree_device(host->root, below_root(f->mount), &f->device);

	if (code == 0)
		code = tree_space(host->root, below_root(f->mount), &f->space);
	if (code == 0 && f->space.free > f->space.size)
		code = -EBADMSG;
	f->readable = code == 0;
	return code;
}

/* Returns true if one of the two is an overlay and both seem to have the same space. An overlay
 * reports the space of the file system that it writes to, but no file names that file system.
 * Therefore equal sizes and nearly equal free space decide. */
static bool same_space(const struct filesystem *a, const struct filesystem *b)
{
	uint64_t difference = a->space.free > b->space.free ? a->space.free - b->space.free :
							      b->space.free - a->space.free;

	return (a->kind == MOUNT_LAYERED || b->kind == MOUNT_LAYERED) &&
	       a->space.size == b->space.size && difference <= a->space.size / 1024;
}

static bool same_label(const struct filesystem *a, const struct filesystem *b)
{
	char x[LABEL_VALUE_MAX + 1], y[LABEL_VALUE_MAX + 1];

	utf8_clean(a->mount->point, strlen(a->mount->point), x, sizeof x);
	utf8_clean(b->mount->point, strlen(b->mount->point), y, sizeof y);
	return strcmp(x, y) == 0;
}

static bool in_list(const struct filesystem_state *s, const struct filesystem *f)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct filesystem *other = &s->list[i];

		if (other->mount->device == f->mount->device)
			return true;
		if (f->readable && (same_space(other, f) || same_label(other, f)))
			return true;
	}
	return false;
}

static void add_candidate(struct filesystem_state *s, struct filesystem f, const struct host *host)
{
	if (in_list(s, &f))
		return;
	if (!mounts_reach(&s->mounts, f.mount)) {
		s->skipped[SKIP_COVERED]++;
		return;
	}
	if (s->n == FILESYSTEMS_MAX) {
		s->skipped[SKIP_LIMIT]++;
		return;
	}
	if (read_space(&f, host) < 0)
		s->skipped[SKIP_UNREADABLE]++;
	else if (f.space.size > 0 && !in_list(s, &f))
		s->list[s->n++] = f;
}

static void make_list(struct filesystem_state *s, const struct host *host)
{
	s->n = s->n_candidates = 0;
	for (size_t i = 0; i < SKIPS; i++)
		s->skipped[i] = 0;
	for (size_t i = 0; i < s->mounts.n; i++) {
		struct filesystem f = {.mount = &s->mounts.mount[i]};

		f.kind = mount_kind_of(f.mount);
		if (f.kind == MOUNT_REMOTE)
			s->skipped[SKIP_REMOTE]++;
		if (f.kind != MOUNT_LOCAL && f.kind != MOUNT_LAYERED)
			continue;
		GROW(s->candidates, s->n_candidates, s->candidates_room);
		s->candidates[s->n_candidates++] = f;
	}
	if (s->n_candidates)
		qsort(s->candidates, s->n_candidates, sizeof *s->candidates, compare_candidates);
	for (size_t i = 0; i < s->n_candidates; i++)
		add_candidate(s, s->candidates[i], host);
}

static bool shows_root(const struct mounts *m, const struct host *host)
{
	uint64_t device;

	if (tree_device(host->root, "", &device) < 0)
		return false;
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->mount[i].point, "/") == 0 && m->mount[i].device == device)
			return true;
	return false;
}

/* Opens the watch first and reads the table second, so that no change between the two is missed. An
 * open watch keeps the mount namespace alive. This does no harm: process 1 or the exporter keeps it
 * alive anyway. */
static int read_from(struct filesystem_state *s, const struct host *host, const char *table,
	struct err *e)
{
	kept_done(&s->watch);
	s->watch = tree_keep(host->proc, table);
	s->table = table;
	return mounts_read(&s->mounts, host->proc, table, e);
}

/* Chooses the mount table whose mount points exist below host->root: usually the exporter's own. An
 * exporter in a container that measures the machine (--path.rootfs) needs the table of process
 * 1. */
static int find_table(struct filesystem_state *s, const struct host *host, struct err *e)
{
	static const char own[] = "self/mountinfo", first[] = "1/mountinfo";

	if (read_from(s, host, own, NULL) == 0 && shows_root(&s->mounts, host))
		return 0;
	if (read_from(s, host, first, NULL) == 0 && shows_root(&s->mounts, host))
		return 0;
	return read_from(s, host, own, e);
}

static int look_at_mounts(struct filesystem_state *s, const struct host *host, struct err *e)
{
	int code = s->table ? mounts_read(&s->mounts, host->proc, s->table, e) :
			      find_table(s, host, e);

	s->looked = host->now.mono;
	s->changed = false;
	if (code < 0) {
		s->n = 0;
		s->table = NULL;
		s->stale = true; /* try again at the next tick */
		return code;
	}
	/* An unchanged table is parsed into the same memory, so `list` still points to its
	 * mounts. */
	if (s->stale || s->hash != s->mounts.hash || s->skipped[SKIP_UNREADABLE])
		make_list(s, host);
	s->stale = false;
	s->hash = s->mounts.hash;
	return 0;
}

static bool look_due(struct filesystem_state *s, struct mono now)
{
	int64_t pause = (int64_t)(s->mounts.n / MOUNTS_PER_PAUSE_SECOND) * NS_PER_S;
	int change = kept_changed(&s->watch);

	if (change > 0)
		s->changed = true;
	if (s->stale)
		return true;
	if (!s->changed && change == 0 && !s->skipped[SKIP_UNREADABLE])
		return false;
	if (!s->changed)
		pause += LOOK_SECONDS * NS_PER_S;
	return now.ns - s->looked.ns >= pause;
}

static void add_points(struct block *out, const struct filesystem *f)
{
	const struct tree_space *space = &f->space;
	const char *labels[] = {f->mount->source, f->mount->type, f->mount->point};

	block_add(out, FS_SIZE, (double)space->size, labels);
	block_add(out, FS_FREE, (double)space->free, labels);
	block_add(out, FS_AVAILABLE, (double)space->available, labels);
	if (space->files) {
		block_add(out, FS_FILES, (double)space->files, labels);
		block_add(out, FS_FILES_FREE, (double)space->files_free, labels);
	}
}

/* Returns true if both are datasets of one zfs pool ("tank/a", "tank/b"). Each dataset reports the
 * free space of the whole pool. */
static bool same_pool(const struct filesystem *a, const struct filesystem *b)
{
	size_t len = strcspn(a->mount->source, "/");

	return strcmp(a->mount->type, "zfs") == 0 && strcmp(b->mount->type, "zfs") == 0 &&
	       strcspn(b->mount->source, "/") == len &&
	       strncmp(a->mount->source, b->mount->source, len) == 0;
}

static void add_totals(struct block *out, const struct filesystem *list, size_t n)
{
	double size = NAN, used = NAN, available = NAN;

	for (size_t i = 0; i < n; i++) {
		const struct tree_space *space = &list[i].space;
		double free = (double)space->free, in_use = (double)space->size - free;
		bool pool_seen = false;

		if (!list[i].readable)
			continue;
		for (size_t j = 0; j < i && !pool_seen; j++)
			pool_seen = list[j].readable && same_pool(&list[j], &list[i]);
		if (isnan(size))
			size = used = available = 0;
		used += in_use;
		size += in_use + (pool_seen ? 0 : free);
		available += pool_seen ? 0 : (double)space->available;
	}
	POINT(out, SPACE_TOTAL, size, NULL);
	POINT(out, SPACE_USED, used, NULL);
	POINT(out, SPACE_AVAILABLE, available, NULL);
}

static int filesystem_collect(void *state, const struct host *host, struct block *out,
	struct err *e)
{
	struct filesystem_state *s = state;

	if (look_due(s, host->now.mono)) {
		int code = look_at_mounts(s, host, e);

		if (code < 0)
			return code;
	}
	for (size_t i = 0; i < s->n; i++) {
		struct filesystem *f = &s->list[i];
		uint64_t device = f->device;

		if (read_space(f, host) == 0 && f->device == device) {
			add_points(out, f);
			continue;
		}
		f->readable = false; /* unmounted, covered or unreadable: make the list again */
		s->stale = true;
	}
	add_totals(out, s->list, s->n);
	for (unsigned i = 0; i < SKIPS; i++)
		POINT(out, FS_SKIPPED, s->skipped[i], skip_names[i]);
	return 0;
}

static int filesystem_start(void **ret, struct host *host, struct err *e)
{
	struct filesystem_state *s = xcalloc(1, sizeof *s);

	(void)host;
	(void)e;
	s->watch = KEPT_NONE;
	s->stale = true;
	*ret = s;
	return 0;
}

static void filesystem_stop(void *state)
{
	struct filesystem_state *s = state;

	kept_done(&s->watch);
	mounts_done(&s->mounts);
	free(s->candidates);
	free(s);
}

const struct collector collector_filesystem = {
	.name = "filesystem",
	.help = "Space of the local file systems",
	.metrics = filesystem_metrics,
	.n_metrics = ARRAY_LEN(filesystem_metrics),
	.start = filesystem_start,
	.collect = filesystem_collect,
	.stop = filesystem_stop,
};
