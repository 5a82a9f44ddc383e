/* Tests collectors/base/tree_foreign.c on real files. A process can put any kind of file at a path
 * that this program reads. Only plain files of that process may be read there. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/tree.h"

#define TEXT "### name: 'ALIGN (s 1)'\n"

struct mounts_seen {
	size_t n, allowed; /* the first `allowed` mounts are permitted */
	uint64_t id[8];
};

static bool allows(void *context, uint64_t mount)
{
	struct mounts_seen *seen = context;

	if (seen->n < ARRAY_LEN(seen->id))
		seen->id[seen->n] = mount;
	return seen->n++ < seen->allowed;
}

struct world {
	char path[64];
	int top;
	struct tree *tree;
};

/* Makes a folder where "7/cwd" is a link, like in /proc. */
static struct world *world_new(void)
{
	struct world *w = xcalloc(1, sizeof *w);

	snprintf(w->path, sizeof w->path, "/tmp/rightsize-test-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->top = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(w->top, "7", 0700), 0);
	assert_int_equal(mkdirat(w->top, "work", 0755), 0);
	assert_int_equal(symlinkat("../work", w->top, "7/cwd"), 0);
	assert_int_equal(tree_open(&w->tree, w->path, NULL), 0);
	return w;
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static void world_freep(struct world **owner)
{
	struct world *w = *owner;

	tree_free(w->tree);
	close(w->top);
	assert_int_equal(nftw(w->path, drop, 8, FTW_DEPTH | FTW_PHYS), 0);
	free(w);
}

static void put(const struct world *w, const char *path, mode_t mode)
{
	AUTO(closep) int fd = openat(w->top, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, TEXT, strlen(TEXT)), strlen(TEXT));
	assert_int_equal(fchmod(fd, mode), 0);
}

static void folder(const struct world *w, const char *path, mode_t mode)
{
	assert_int_equal(mkdirat(w->top, path, mode), 0);
	assert_int_equal(fchmodat(w->top, path, mode, 0), 0);
}

static ssize_t get_as(const struct world *w, uint64_t uid, const char *path)
{
	char buf[128];
	struct mounts_seen seen = {.allowed = 1};
	struct foreign f = {"7/cwd", path, uid, allows, &seen};
	ssize_t n = tree_foreign(w->tree, &f, buf, sizeof buf);

	if (n >= 0)
		assert_memory_equal(buf, TEXT, strlen(TEXT));
	return n;
}

static ssize_t get(const struct world *w, const char *path)
{
	return get_as(w, geteuid(), path);
}

static void a_plain_file_of_its_own_is_read(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	char few[4];
	struct mounts_seen seen = {.allowed = 1};
	struct foreign f = {"7/cwd", ".command.run", geteuid(), allows, &seen};

	folder(w, "work/a", 0700);
	put(w, "work/.command.run", 0600);
	put(w, "work/a/.command.run", 0400);
	assert_int_equal(get(w, ".command.run"), strlen(TEXT));
	assert_int_equal(get(w, "./a//./.command.run"), strlen(TEXT));
	assert_int_equal(get(w, "a/b/.command.run"), -ENOENT);
	assert_int_equal(tree_foreign(w->tree, &f, few, sizeof few), sizeof few);
	assert_memory_equal(few, TEXT, sizeof few);
}

static void what_only_looks_like_one_is_not_even_opened(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	folder(w, "work/a", 0755);
	folder(w, "work/template", 0755);
	put(w, "outside", 0644);
	put(w, "work/a/f", 0644);
	assert_int_equal(symlinkat("../outside", w->top, "work/link"), 0);
	assert_int_equal(symlinkat("/dev/zero", w->top, "work/device"), 0);
	assert_int_equal(symlinkat("a", w->top, "work/b"), 0);
	assert_int_equal(mkfifoat(w->top, "work/fifo", 0644), 0);
	assert_int_equal(get(w, "a/f"), strlen(TEXT));
	assert_int_equal(get(w, "link"), -ENOENT);
	assert_int_equal(get(w, "device"), -ENOENT);
	assert_int_equal(get(w, "b/f"), -ENOENT);
	assert_int_equal(get(w, "fifo"), -ENOENT);
	assert_int_equal(get(w, "template"), -ENOENT);
	assert_int_equal(get(w, "../outside"), -ENOENT);
	assert_int_equal(get(w, "a/../a/f"), -ENOENT);
	assert_int_equal(get(w, "a/f/f"), -ENOENT);
	/* The device has the number of /dev/zero, whose driver has no side effects. */
	if (mknodat(w->top, "work/zero", S_IFCHR | 0644, makedev(1, 5)) == 0)
		assert_int_equal(get(w, "zero"), -ENOENT);
}

static void secrets_of_others_are_not_read_for_it(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	uint64_t us = geteuid(), them = us + 1;

	folder(w, "work/shut", 0700);
	folder(w, "work/open", 0711);
	put(w, "work/secret", 0600);
	put(w, "work/group", 0640);
	put(w, "work/blind", 0200);
	put(w, "work/template", 0444);
	put(w, "work/shut/template", 0444);
	put(w, "work/open/template", 0444);
	assert_int_equal(get_as(w, them, "template"), strlen(TEXT));
	assert_int_equal(get_as(w, them, "open/template"), strlen(TEXT));
	assert_int_equal(get_as(w, them, "secret"), -ENOENT);
	assert_int_equal(get_as(w, them, "group"), -ENOENT);
	assert_int_equal(get_as(w, them, "shut/template"), -ENOENT);
	assert_int_equal(get_as(w, us, "blind"), -ENOENT);
	assert_int_equal(get_as(w, us, "secret"), strlen(TEXT));
	assert_int_equal(get_as(w, us, "shut/template"), strlen(TEXT));
	assert_int_equal(fchmodat(w->top, "work", 0700, 0), 0);
	assert_int_equal(get_as(w, them, "template"), -ENOENT);
}

static void each_mount_on_the_way_is_asked_about_first(void **state)
{
	struct tree *root;
	char buf[64];

	assert_int_equal(tree_open(&root, "/", NULL), 0);
	for (size_t allowed = 0; allowed <= 2; allowed++) {
		struct mounts_seen seen = {.allowed = allowed};
		struct foreign f = {".", "proc/sys/kernel/ostype", 0, allows, &seen};
		ssize_t n = tree_foreign(root, &f, buf, sizeof buf);

		if (allowed < 2)
			assert_int_equal(n, -ENOENT);
		else
			assert_true(n > 0);
		assert_int_equal(seen.n, allowed < 2 ? allowed + 1 : 2);
		assert_true(seen.n < 2 || seen.id[0] != seen.id[1]);
	}
	tree_free(root);
}

static void nobody_walks_for_ever(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	char path[256] = "work";

	for (size_t i = 0; i < 80; i++) {
		memcpy(path + 4 + 2 * i, "/d", 3);
		folder(w, path, 0755);
		memcpy(path + 6 + 2 * i, "/f", 3);
		put(w, path, 0644);
		assert_int_equal(get(w, path + 5), i < 63 ? (ssize_t)strlen(TEXT) : -ENOENT);
	}
}

/* Another descriptor has a lease on the file. A normal open() would wait up to 45 s for its
 * release. */
static void a_lease_is_not_waited_for(void **state)
{
	struct world *w = world_new();

	signal(SIGIO, SIG_IGN);
	put(w, "work/f", 0644);
	AUTO(closep) int fd = openat(w->top, "work/f", O_RDWR | O_CLOEXEC);

	if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0) {
		world_freep(&w);
		skip();
	}
	assert_int_equal(get(w, "f"), -EAGAIN);
	world_freep(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_file_of_its_own_is_read),
		cmocka_unit_test(what_only_looks_like_one_is_not_even_opened),
		cmocka_unit_test(secrets_of_others_are_not_read_for_it),
		cmocka_unit_test(each_mount_on_the_way_is_asked_about_first),
		cmocka_unit_test(nobody_walks_for_ever),
		cmocka_unit_test(a_lease_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
