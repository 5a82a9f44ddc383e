/* exporter/core/paths.c: the default places of files, and the owner of new folders. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/core/paths.h"
#include "tests/support/test_history.h"

#define NOBODY 65534

static void set(const char *variable, const char *value)
{
	assert_int_equal(value ? setenv(variable, value, 1) : unsetenv(variable), 0);
}

static void the_first_place_that_is_known_is_taken(void **state)
{
	static const struct {
		const char *given, *systemd, *xdg, *home;
		bool root;
		const char *path; /* NULL = no place */
	} table[] = {
		{"x/y.db", "/s", "/x", "/h", false, "x/y.db"},
		{NULL, "/s", "/x", "/h", false, "/s/history.db"},
		{NULL, "/s:/t", "/x", "/h", true, "/s/history.db"},
		{NULL, NULL, "/x", "/h", true, "/var/lib/rightsize-exporter/history.db"},
		{NULL, NULL, "/x", "/h", false, "/x/rightsize-exporter/history.db"},
		/* The XDG specification says that a relative path is ignored. */
		{NULL, "s", "x", "/h", false, "/h/.local/state/rightsize-exporter/history.db"},
		{NULL, "", "", "/h", false, "/h/.local/state/rightsize-exporter/history.db"},
		{NULL, NULL, NULL, "h", false, NULL},
		{NULL, NULL, NULL, NULL, false, NULL},
	};
	bool root = geteuid() == 0;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char *path = NULL;
		struct err e = {0};

		if (table[i].root && !root)
			continue;
		set("STATE_DIRECTORY", table[i].systemd);
		set("XDG_STATE_HOME", table[i].xdg);
		set("HOME", table[i].home);
		if (root && !table[i].root)
			assert_int_equal(seteuid(NOBODY), 0);
		int code = path_default_history(&path, table[i].given, &e);

		if (root && !table[i].root)
			assert_int_equal(seteuid(0), 0);
		assert_int_equal(code, table[i].path ? 0 : -ENOENT);
		if (table[i].path)
			assert_string_equal(path, table[i].path);
		else
			assert_string_equal(e.text,
				"no place for the history: none of STATE_DIRECTORY, XDG_STATE_HOME "
				"and HOME is set; set --history.path");
		free(path);
	}
}

static void the_cache_has_places_of_its_own(void **state)
{
	char *path = NULL;

	set("STATE_DIRECTORY", "/s");
	set("CACHE_DIRECTORY", "/c");
	assert_int_equal(path_default_cache(&path, NULL, NULL), 0);
	assert_string_equal(path, "/c/catalogue.db");
	free(path);
}

static void folders_are_made_for_whose_folder_they_are_in(void **state)
{
	struct test_folder f;
	struct stat st;
	struct err e = {0};
	char path[400], folder[400];

	test_folder_make(&f);
	bool root = geteuid() == 0;

	if (root)
		assert_int_equal(chown(f.path, NOBODY, NOBODY), 0);
	snprintf(path, sizeof path, "%s/a/b/history.db", f.path);
	snprintf(folder, sizeof folder, "%s/a/b", f.path);
	assert_int_equal(path_make_folder(":memory:", NULL), 0);
	assert_int_equal(path_make_folder(path, NULL), 0);
	assert_int_equal(path_make_folder(path, NULL), 0);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(st.st_uid, root ? NOBODY : geteuid());
	path_give_to_owner(path);
	assert_int_equal(stat(path, &st), root ? 0 : -1);
	if (root)
		assert_int_equal(st.st_uid, NOBODY);
	/* A file exists where a folder is needed. */
	test_write_file(path, "", 0);
	snprintf(path, sizeof path, "%s/a/b/history.db/c/d", f.path);
	assert_int_equal(path_make_folder(path, &e), -ENOTDIR);
	assert_non_null(strstr(e.text, "/a/b/history.db/c: "));
	test_folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_place_that_is_known_is_taken),
		cmocka_unit_test(the_cache_has_places_of_its_own),
		cmocka_unit_test(folders_are_made_for_whose_folder_they_are_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
