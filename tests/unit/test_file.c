/* Tests how files named by options are read: regular files, folders, devices and pipes. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/file.h"
#include "collectors/base/mem.h"

static char folder[64], path[96];

static int new_folder(void **state)
{
	snprintf(folder, sizeof folder, "/tmp/rightsize-file-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/file", folder);
	return 0;
}

static int remove_folder(void **state)
{
	unlink(path);
	return rmdir(folder);
}

static void write_text(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void files_are_read_up_to_the_cap(void **state)
{
	struct buf text AUTO(buf_done) = BUF_MAX(8);
	struct err e = {0};

	assert_int_equal(file_read(&text, path, &e), -ENOENT);
	assert_non_null(strstr(e.text, path));
	write_text("12345678");
	assert_int_equal(file_read(&text, path, &e), 0);
	assert_string_equal(buf_text(&text), "12345678");
	buf_reset(&text);
	write_text("123456789");
	assert_int_equal(file_read(&text, path, &e), -EFBIG);
	assert_int_equal(file_read(&text, folder, &e), -EISDIR);
	buf_reset(&text);
	assert_int_equal(file_read(&text, "/dev/zero", &e), -EFBIG);
}

/* Returns true if a read of a pipe ended with the error of a long wait, after this wait. */
static bool gave_up(int code, const struct err *e, struct mono begin)
{
	double took = mono_seconds_between(begin, now_read().mono);

	return code == -ETIMEDOUT && strstr(e->text, "a pipe, and no program wrote into it") &&
	       took >= FILE_PIPE_SECONDS && took < FILE_PIPE_SECONDS + 15;
}

static void *read_pipe(void *pipe)
{
	struct buf text AUTO(buf_done) = BUF_MAX(8);
	struct err e = {0};
	struct mono begin = now_read().mono;
	int code = file_read(&text, pipe, &e);

	return gave_up(code, &e, begin) ? NULL : pipe;
}

static void *open_pipe(void *pipe)
{
	struct err e = {0};
	struct mono begin = now_read().mono;
	int code = file_open(pipe, &e);

	return gave_up(code, &e, begin) ? NULL : pipe;
}

/* The reads run beside each other, because each of them waits for seconds. */
static void nobody_waits_for_ever_for_a_pipe(void **state)
{
	static const struct {
		const char *name;
		void *(*read)(void *pipe);
		const char *
			written; /* by a process that then holds the pipe open, or NULL: no process */
	} table[] = {
		{"no writer", read_pipe, NULL},
		{"no writer, opened", open_pipe, NULL},
		{"silent", read_pipe, ""},
		{"two bytes", read_pipe, "12"},
	};
	pthread_t reader[ARRAY_LEN(table)];
	char name[ARRAY_LEN(table)][128];
	int writer[ARRAY_LEN(table)];

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		snprintf(name[i], sizeof name[i], "%s/%zu", folder, i);
		assert_int_equal(mkfifo(name[i], 0600), 0);
		writer[i] = table[i].written ? open(name[i], O_RDWR | O_CLOEXEC) : -1;
		if (table[i].written)
			assert_int_equal(write(writer[i], table[i].written,
						 strlen(table[i].written)),
				strlen(table[i].written));
		assert_int_equal(pthread_create(&reader[i], NULL, table[i].read, name[i]), 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		void *wrong;

		assert_int_equal(pthread_join(reader[i], &wrong), 0);
		if (wrong)
			fail_msg("%s: it did not wait as long as it may", table[i].name);
		if (writer[i] >= 0)
			close(writer[i]);
		assert_int_equal(unlink(name[i]), 0);
	}
}

static void *write_late(void *context)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	(void)context;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "late", 4), 4);
	close(fd);
	return NULL;
}

static void what_comes_out_of_a_pipe_is_read_once(void **state)
{
	struct buf text AUTO(buf_done) = BUF_MAX(8);
	char same[32];
	struct err e = {0};
	pthread_t writer;
	int ends[2];

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_late, NULL), 0);
	assert_int_equal(file_read(&text, path, &e), 0);
	pthread_join(writer, NULL);
	assert_string_equal(buf_text(&text), "late");
	/* A shell passes <(command) as a path of this form. */
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "once", 4), 4);
	close(ends[1]);
	snprintf(same, sizeof same, "/dev/fd/%d", ends[0]);
	buf_reset(&text);
	assert_int_equal(file_read(&text, same, &e), 0);
	assert_string_equal(buf_text(&text), "once");
	assert_int_equal(file_read(&text, same, &e), -ENODATA);
	close(ends[0]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, new_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_are_read_up_to_the_cap),
		TEST(nobody_waits_for_ever_for_a_pipe),
		TEST(what_comes_out_of_a_pipe_is_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
