/* Log lines are whole and clean, and each is one write. */
#include "tests/unit/test_main.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "exporter/core/log.h"

/* stderr becomes one end of a socket that keeps writes separate. */
struct fixture {
	int ours, saved;
};

static int set_up(void **state)
{
	static struct fixture f;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	f.ours = ends[0];
	f.saved = dup(STDERR_FILENO);
	assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[1]);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	dup2(f->saved, STDERR_FILENO);
	close(f->saved);
	close(f->ours);
	log_setup("info", "logfmt");
	return 0;
}

/* Returns the text of one write; "" = there was none. */
static const char *said(struct fixture *f)
{
	static char text[16384];
	ssize_t n = recv(f->ours, text, sizeof text - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* Returns the line after its time, and checks the format of the time. */
static const char *after_time(const char *line, const char *before, size_t skip)
{
	assert_int_equal(strncmp(line, before, strlen(before)), 0);
	assert_int_equal(line[strlen(before) + 10], 'T');
	return line + strlen(before) + 24 + skip;
}

static void logfmt_quotes_what_needs_it(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *value, *expected;
	} table[] = {
		{"plain", "plain"},
		{"caf\xc3\xa9", "caf\xc3\xa9"},
		{"", "\"\""},
		{"two words", "\"two words\""},
		{"a=b", "\"a=b\""},
		{"say \"x\"", "\"say \\\"x\\\"\""},
		{"back\\slash", "\"back\\\\slash\""},
		{"line\nbreak", "\"line\\nbreak\""},
		{"\x1b[31m\x7f", "\"\\u001b[31m\\u007f\""},
		{"bad \xff", "\"bad \xef\xbf\xbd\""},
	};

	log_setup("info", "logfmt");
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char expected[256];

		log_line(LOG_LEVEL_WARN, "it happened", "left_out", NULL, "key", table[i].value,
			NULL);
		snprintf(expected, sizeof expected, " level=warn msg=\"it happened\" key=%s\n",
			table[i].expected);
		assert_string_equal(after_time(said(f), "ts=", 0), expected);
		assert_string_equal(said(f), "");
	}
}

static void json_is_json(void **state)
{
	struct fixture *f = *state;

	log_setup("debug", "json");
	log_line(LOG_LEVEL_DEBUG, "a \"b\"\n", "path", "C:\\x\ty", NULL);
	assert_string_equal(after_time(said(f), "{\"ts\":\"", 1),
		",\"level\":\"debug\",\"msg\":\"a \\\"b\\\"\\n\",\"path\":\"C:\\\\x\\u0009y\"}\n");
	assert_string_equal(said(f), "");
}

static void levels_below_the_least_are_silent(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"debug", "info", "warn", "error"};

	for (unsigned least = 0; least < ARRAY_LEN(names); least++)
		for (unsigned level = 0; level < ARRAY_LEN(names); level++) {
			log_setup(names[least], "logfmt");
			log_line((enum log_level)level, "x", NULL);
			assert_int_equal(*said(f) != '\0', level >= least);
		}
}

static void long_values_are_cut_and_lines_stay_whole(void **state)
{
	struct fixture *f = *state;
	char value[5000];
	static const char *const formats[] = {"logfmt", "json"};

	memset(value, '\x01', sizeof value - 1);
	value[sizeof value - 1] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		log_setup("info", formats[i]);
		log_line(LOG_LEVEL_ERROR, value, "a", value, "b", value, "c", value, NULL);
		const char *line = said(f);
		size_t n = strlen(line);

		assert_in_range(n, 1000, 8192);
		assert_true(utf8_valid(line, n));
		assert_int_equal(line[n - 1], '\n');
		assert_int_equal(line[n - 2], i ? '}' : '"');
		assert_null(memchr(line, '\n', n - 1));
	}
}

static void nobody_waits_for_who_does_not_read(void **state)
{
	struct fixture *f = *state;
	struct mono begin;
	size_t n = 0;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	while (log_write("x", 1, 0))
		n++;
	begin = now_read().mono;
	/* The program waits only once for all 30 lost lines together. */
	for (int i = 0; i < 30; i++)
		log_line(LOG_LEVEL_ERROR, "lost", NULL);
	assert_true(mono_seconds_between(begin, now_read().mono) < 3);
	for (char text[4096]; n > 0;) {
		ssize_t got = read(ends[0], text, sizeof text);

		assert_true(got > 0 && (size_t)got <= n);
		n -= (size_t)got;
	}
	assert_int_equal(dup2(f->saved, STDERR_FILENO), STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
}

static void what_was_lost_is_counted(void **state)
{
	struct fixture *f = *state;
	int none = open("/dev/full", O_WRONLY | O_CLOEXEC), to = dup(STDERR_FILENO);

	/* The test before lost 30 lines. The next line that is written is followed by their
	 * number. */
	log_line(LOG_LEVEL_INFO, "taken", NULL);
	said(f);
	assert_non_null(strstr(said(f),
		"msg=\"log lines were dropped: the reader of stderr was too slow\" "
		"dropped_lines=30\n"));
	assert_true(none >= 0 && to >= 0);
	assert_int_equal(dup2(none, STDERR_FILENO), STDERR_FILENO);
	log_line(LOG_LEVEL_INFO, "lost", NULL);
	log_line(LOG_LEVEL_INFO, "lost", NULL);
	assert_int_equal(dup2(to, STDERR_FILENO), STDERR_FILENO);
	log_line(LOG_LEVEL_INFO, "taken", NULL);
	assert_non_null(strstr(said(f), "msg=taken\n"));
	assert_non_null(strstr(said(f), "dropped_lines=2\n"));
	log_line(LOG_LEVEL_INFO, "taken", NULL);
	said(f);
	assert_string_equal(said(f), "");
	close(none);
	close(to);
}

static void held_lines_come_after_the_first(void **state)
{
	struct fixture *f = *state;

	log_hold();
	log_line(LOG_LEVEL_INFO, "one", NULL);
	log_line(LOG_LEVEL_WARN, "two", NULL);
	assert_string_equal(said(f), "");
	log_first("listening", "url", "http://127.0.0.1:9877/", NULL);
	assert_non_null(strstr(said(f), "msg=listening url=http://127.0.0.1:9877/\n"));
	log_release();
	assert_non_null(strstr(said(f), "msg=one\n"));
	assert_non_null(strstr(said(f), "msg=two\n"));
	log_line(LOG_LEVEL_INFO, "three", NULL);
	assert_non_null(strstr(said(f), "msg=three\n"));
	assert_string_equal(said(f), "");
}

static void an_error_ends_the_hold_and_debug_begins_none(void **state)
{
	struct fixture *f = *state;

	log_hold();
	log_line(LOG_LEVEL_INFO, "before", NULL);
	log_line(LOG_LEVEL_ERROR, "cannot serve", NULL);
	assert_non_null(strstr(said(f), "msg=before\n"));
	assert_non_null(strstr(said(f), "msg=\"cannot serve\"\n"));
	log_setup("debug", "logfmt");
	log_hold();
	log_line(LOG_LEVEL_INFO, "at once", NULL);
	assert_non_null(strstr(said(f), "msg=\"at once\"\n"));
}

/* The lines go to a file here, because a socket does not take so many lines that nobody reads. */
static void a_full_hold_loses_no_line(void **state)
{
	char value[900];
	FILE *file = tmpfile();
	size_t n = 0, written = 0;

	(void)state;
	assert_non_null(file);
	assert_int_equal(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
	memset(value, 'x', sizeof value - 1);
	value[sizeof value - 1] = '\0';
	log_hold();
	for (; n < 100 && lseek(fileno(file), 0, SEEK_END) == 0; n++)
		log_line(LOG_LEVEL_INFO, "line", "a", value, "b", value, NULL);
	assert_in_range(n, 20, 40);
	rewind(file);
	for (int c; (c = getc(file)) != EOF;)
		written += c == '\n';
	assert_int_equal(written, n);
	fclose(file);
}

static void complaints_back_off_and_end(void **state)
{
	struct complaint c = {0};
	size_t said_times = 0;

	assert_false(log_complaint_over(&c));
	for (int i = 1; i <= 1000; i++) {
		bool due = log_complaint_due(&c);

		assert_int_equal(due, i == 1 || i == 10 || i == 100 || i == 1000);
		said_times += due;
	}
	assert_int_equal(said_times, 4);
	assert_true(log_complaint_over(&c));
	assert_false(log_complaint_over(&c));
	assert_true(log_complaint_due(&c));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(logfmt_quotes_what_needs_it),
		TEST(json_is_json),
		TEST(levels_below_the_least_are_silent),
		TEST(long_values_are_cut_and_lines_stay_whole),
		TEST(nobody_waits_for_who_does_not_read),
		TEST(what_was_lost_is_counted),
		TEST(held_lines_come_after_the_first),
		TEST(an_error_ends_the_hold_and_debug_begins_none),
		TEST(a_full_hold_loses_no_line),
		cmocka_unit_test(complaints_back_off_and_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
