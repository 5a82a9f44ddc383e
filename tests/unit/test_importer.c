/* Runs that import adds to a history, and runs that export reads from it. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "exporter/import/importer.h"
#include "tests/support/test_history.h"

#define RUN(id, more)                                                                              \
	"{\"run_id\":\"" id "\",\"job_name\":\"load\",\"started_at\":1000,\"ended_at\":1010,"      \
	"\"duration_seconds\":10,\"outcome\":\"succeeded\",\"columns\":{}" more "}\n"

static void tell(void *context, uint64_t line, const char *why)
{
	struct buf *told = context;

	buf_addf(told, "%d ", (int)line);
	assert_true(strlen(why) > 0);
}

static void read_text(struct importer *i, const char *text, int expected)
{
	FILE *in = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
	const struct import_input input = {.path = "", .in = in, .sink = importer_sink(i)};

	assert_int_equal(importer_end(i, import_run_lines(&input, NULL), NULL), expected);
	fclose(in);
}

static struct importer *importer_of(struct history *h, struct buf *told)
{
	struct importer *i = xcalloc(1, sizeof *i);

	i->history = h;
	i->now = 2000;
	i->tell = tell;
	i->context = told;
	return i;
}

static void a_wrong_line_refuses_no_other(void **state)
{
	struct test_place *p = *state;
	struct buf told AUTO(buf_done) = BUF_MAX(1000);
	AUTO(freep) struct importer *i = importer_of(p->h, &told);

	read_text(i,
		RUN("a", "") "not JSON\n" RUN("b", ",\"exit_code\":1e9") "\n" RUN("c", "")
			RUN("d", ",\"attempt\":\"x\"") RUN("e", ""),
		0);
	assert_string_equal(buf_text(&told), "2 3 6 ");
	assert_int_equal(i->added, 3);
	assert_int_equal(i->wrong, 3);
}

static void a_second_import_adds_nothing(void **state)
{
	struct test_place *p = *state;
	struct buf told AUTO(buf_done) = BUF_MAX(1000);
	AUTO(freep) struct importer *first = importer_of(p->h, &told);
	AUTO(freep) struct importer *second = importer_of(p->h, &told);

	read_text(first, RUN("a", "") RUN("b", ""), 0);
	read_text(second, RUN("a", "") RUN("b", "") RUN("c", ""), 0);
	assert_int_equal(second->added, 1);
	assert_int_equal(second->known, 2);
}

static void a_run_of_the_future_is_wrong(void **state)
{
	struct test_place *p = *state;
	struct buf told AUTO(buf_done) = BUF_MAX(1000);
	AUTO(freep) struct importer *i = importer_of(p->h, &told);

	i->now = 500;
	read_text(i, RUN("a", ""), 0);
	assert_int_equal(i->wrong, 1);
}

static void wrong_runs_take_no_memory(void **state)
{
	struct test_place *p = *state;
	struct buf told AUTO(buf_done) = BUF_MAX(1000);
	AUTO(freep) struct importer *i = importer_of(p->h, &told);
	struct import_sink sink = importer_sink(i);
	size_t before = mallinfo2().uordblks;

	i->now = 500;
	for (unsigned k = 0; k < 100 * IMPORTER_BATCH; k++)
		assert_int_equal(sink.run(i, k, RUN("a", ""), strlen(RUN("a", "")), NULL), 0);
	assert_int_equal(i->wrong, 100 * IMPORTER_BATCH);
	assert_true(mallinfo2().uordblks < before + (1u << 20));
	assert_int_equal(importer_end(i, 0, NULL), 0);
}

static void many_runs_and_pages(void **state)
{
	struct test_place *p = *state;
	struct buf text AUTO(buf_done) = BUF_MAX(1u << 22), told AUTO(buf_done) = BUF_MAX(1000);
	AUTO(freep) struct importer *i = importer_of(p->h, &told);
	struct runs page = {.n = 1};
	int64_t position = 0;
	char id[32];
	int n = 0;

	for (int k = 0; k < 3 * IMPORTER_BATCH + 7; k++)
		buf_addf(&text,
			"{\"run_id\":\"r%d\",\"job_name\":\"j%d\",\"started_at\":%d,\"ended_at\":%d,"
			"\"duration_seconds\":1,\"outcome\":\"failed\",\"columns\":{}}\n",
			k, k % 3, 1000 - k, 1001 - k);
	i->key.space = "etl";
	read_text(i, buf_text(&text), 0);
	assert_int_equal(i->added, 3 * IMPORTER_BATCH + 7);
	/* An open run is in no page. */
	assert_int_equal(history_transaction(p->h, NULL), 0);
	struct run_begin open = test_begin("open", "j0", 10);

	assert_int_equal(history_run_begin(p->h, &open, NULL), 0);
	assert_int_equal(history_commit(p->h, NULL), 0);
	while (page.n) {
		assert_int_equal(history_runs_after(p->h, &position, 100, &p->arena, &page, NULL),
			0);
		assert_true(page.n <= 100);
		for (size_t k = 0; k < page.n; k++) {
			snprintf(id, sizeof id, "r%d", n);
			assert_string_equal(page.run[k].run_id, id);
			snprintf(id, sizeof id,
				"j%d\x1f"
				"etl",
				n++ % 3);
			assert_string_equal(page.run[k].job_name, id);
		}
	}
	assert_int_equal(n, 3 * IMPORTER_BATCH + 7);
}

static void a_read_only_history_ends_the_import(void **state)
{
	struct test_place *p = *state;
	struct buf told AUTO(buf_done) = BUF_MAX(1000);
	struct history *reader = NULL;

	assert_int_equal(history_open(&reader, p->folder.file, HISTORY_READ, &test_columns, NULL,
				 NULL),
		0);
	AUTO(freep) struct importer *i = importer_of(reader, &told);
	FILE *in = fmemopen((char *)(uintptr_t)RUN("a", ""), strlen(RUN("a", "")), "r");
	const struct import_input input = {.path = "", .in = in, .sink = importer_sink(i)};

	assert_true(importer_end(i, import_run_lines(&input, NULL), NULL) < 0);
	assert_int_equal(i->added, 0);
	fclose(in);
	history_close(reader);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_place_make, test_place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_wrong_line_refuses_no_other),
		TEST(a_second_import_adds_nothing),
		TEST(a_run_of_the_future_is_wrong),
		TEST(wrong_runs_take_no_memory),
		TEST(many_runs_and_pages),
		TEST(a_read_only_history_ends_the_import),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
