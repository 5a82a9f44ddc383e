/* Tests exporter/catalogue/file.c: the format of a file is recognised by its first bytes. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>
#include <zlib.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "exporter/catalogue/file.h"

FREEP(catalogue)

static char folder[64], path[128], scratch[128];

static const char csv[] =
	"# as_of: 2026-01-01\nvendor_id,server_id,vcpus,memory_amount,price\nv,s,2,1024,0.5\n";
static const char json[] = " \n[{\"vendor_id\":\"v\",\"server_id\":\"s\",\"vcpus\":2,\"memory_"
			   "amount\":1024,\"price\":0.5}]";
static const char dump[] =
	"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n"
	"CREATE TABLE server (\n  vendor_id VARCHAR, server_id VARCHAR, vcpus INTEGER, "
	"memory_amount INTEGER,\n"
	"  description, status,\n  CONSTRAINT pk PRIMARY KEY (vendor_id, server_id));\n"
	"CREATE TABLE server_description (a);\n"
	"INSERT INTO server_description VALUES('a;\nb');\n"
	"INSERT INTO \"server\" VALUES('v','s',2,1024,'it''s; a\nline;\n',  'ACTIVE');\n"
	"CREATE TABLE server_price (vendor_id, region_id, server_id, allocation, unit, price, "
	"operating_system, status);\n"
	"CREATE INDEX i ON server_price (vendor_id);\n"
	"INSERT INTO server_price VALUES('v','r','s','ONDEMAND','HOUR',0.5,'Linux','ACTIVE');\n"
	"COMMIT;\n";

static int new_folder(void **state)
{
	snprintf(folder, sizeof folder, "/tmp/test_file_XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/catalogue", folder);
	snprintf(scratch, sizeof scratch, "%s/scratch", folder);
	return 0;
}

/* The folder must contain only this file: loading leaves nothing behind. */
static int remove_folder(void **state)
{
	unlink(path);
	assert_int_equal(rmdir(folder), 0);
	return 0;
}

static void write_file(const void *data, size_t n, bool gzip)
{
	if (gzip) {
		gzFile f = gzopen(path, "wb");

		assert_int_equal(gzwrite(f, data, (unsigned)n), (int)n);
		gzclose(f);
		return;
	}
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	fclose(f);
}

/* Returns the bytes of an SQLite database made from `dump`. */
static char *database(size_t *n)
{
	sqlite3 *db;
	sqlite3_int64 size = 0;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, dump, NULL, NULL, NULL), SQLITE_OK);
	unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
	char *copy = xmalloc((size_t)size);

	memcpy(copy, bytes, (size_t)size);
	sqlite3_free(bytes);
	sqlite3_close(db);
	*n = (size_t)size;
	return copy;
}

static void assert_loads(const char *from)
{
	struct catalogue_file_options o = {.scratch = scratch};
	AUTO(catalogue_freep) struct catalogue *c = NULL;
	struct err e = {0};

	if (catalogue_from_file(&c, from, &o, &e))
		fail_msg("%s", e.text);
	assert_int_equal(c->n, 1);
	assert_string_equal(c->server[0].server_id, "s");
	assert_true(c->server[0].vcpus == 2 && c->server[0].min_price_ondemand == 0.5);
	assert_string_equal(c->source, strcmp(from, "-") == 0 ? "standard input" : from);
}

/* Connects the file to standard input, and loads "-". */
static void assert_loads_from_stdin(void)
{
	int kept = dup(STDIN_FILENO), fd = open(path, O_RDONLY);

	assert_true(kept >= 0 && fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	close(fd);
	assert_loads("-");
	assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
	close(kept);
}

static void each_kind_is_read_plain_and_packed(void **state)
{
	size_t n_database;
	AUTO(freep) char *bytes = database(&n_database);
	const struct {
		const void *data;
		size_t n;
	} kinds[] = {{csv, strlen(csv)}, {json, strlen(json)}, {dump, strlen(dump)},
		{bytes, n_database}};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		for (int gzip = 0; gzip <= 1; gzip++) {
			write_file(kinds[i].data, kinds[i].n, gzip);
			assert_loads(path);
			assert_loads_from_stdin();
		}
	}
}

static void assert_refused(const void *data, size_t n, const char *says)
{
	struct catalogue_file_options o = {.scratch = scratch};
	struct catalogue *c = NULL;
	struct err e = {0};

	write_file(data, n, false);
	assert_true(catalogue_from_file(&c, path, &o, &e) < 0);
	if (!strstr(e.text, says))
		fail_msg("%s", e.text);
	assert_null(c);
}

static void what_it_is_not_is_said(void **state)
{
	assert_refused("", 0, "no table: the first line must name the columns");
	assert_refused("\xfd"
		       "7zXZ\0\0\0",
		8, "xz -dc");
	assert_refused("BZh91AY", 7, "bzip2 -dc");
	assert_refused("\x28\xb5\x2f\xfd____", 8, "zstd -dc");
	assert_refused("PK\x03\x04____", 8, "unzip -p");
	assert_refused("SQLite format 3\0 and then nothing", 33, "file is not a database");
	assert_refused("{\"a\":1}", 7, "the first line must name vendor_id");
	assert_refused("\x1f\x8b\x08\x00 not really gzip", 19, "read ");

	struct catalogue *c = NULL;
	struct err e = {0};

	assert_int_equal(catalogue_from_file(&c, "/nonexistent/x.csv", NULL, &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent/x.csv"));
	assert_true(catalogue_from_file(&c, "/tmp", NULL, &e) < 0);
}

/* Only the whole file is a catalogue: the rows before the cut must not pass for all rows. */
static void a_packed_file_that_ends_early_is_refused(void **state)
{
	size_t n_database;
	AUTO(freep) char *bytes = database(&n_database);
	const struct {
		const void *data;
		size_t n;
	} kinds[] = {{csv, strlen(csv)}, {json, strlen(json)}, {dump, strlen(dump)},
		{bytes, n_database}};
	static const off_t cut[] = {1, 8, 9, 20};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		for (size_t k = 0; k < ARRAY_LEN(cut); k++) {
			struct catalogue_file_options o = {.scratch = scratch};
			struct catalogue *c = NULL;
			struct err e = {0};
			struct stat st;

			write_file(kinds[i].data, kinds[i].n, true);
			assert_int_equal(stat(path, &st), 0);
			assert_int_equal(truncate(path, st.st_size - cut[k]), 0);
			assert_int_equal(catalogue_from_file(&c, path, &o, &e), -EINVAL);
			if (!strstr(e.text, "the compressed file ends early"))
				fail_msg("%s", e.text);
			assert_null(c);
		}
}

static void assert_not_regular(const char *from)
{
	struct catalogue *c = NULL;
	struct err e = {0};

	assert_int_equal(catalogue_from_file(&c, from, NULL, &e), -EINVAL);
	if (!strstr(e.text, "not a regular file") || !strstr(e.text, from))
		fail_msg("%s", e.text);
	assert_null(c);
}

/* A FIFO whose writer writes nothing would block for ever, and /dev/zero has no end. A link to a file
 * is a file. */
static void only_a_file_is_opened(void **state)
{
	char link[160];

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_not_regular(path);
	int writer = open(path, O_RDWR | O_CLOEXEC);

	assert_true(writer >= 0 && write(writer, csv, strlen(csv)) == (ssize_t)strlen(csv));
	assert_not_regular(path);
	close(writer);
	unlink(path);
	assert_not_regular("/dev/zero");

	write_file(csv, strlen(csv), false);
	snprintf(link, sizeof link, "%s/link", folder);
	assert_int_equal(symlink(path, link), 0);
	assert_loads(link);
	unlink(link);
}

/* A dump must not execute any of these statements. The dump is refused, and gives no catalogue. */
static void a_dump_makes_tables_and_nothing_else(void **state)
{
	static const char *const hostile[] = {
		"BEGIN;\nATTACH '/tmp/test_file_attached' AS other;\nCREATE TABLE other.x (a);\n",
		"BEGIN;\nINSERT INTO sqlite_master VALUES ('table','x','x',2,'CREATE TABLE "
		"x(a)');\n",
		"BEGIN;\nCREATE VIRTUAL TABLE server USING fts5(a);\n",
		"BEGIN;\nCREATE TABLE server AS SELECT load_extension('x');\n",
		"BEGIN;\nCREATE TABLE server (a);\nINSERT INTO server SELECT "
		"readfile('/etc/passwd');\n",
		"BEGIN;\nCREATE TABLE server (a);\nINSERT INTO server WITH RECURSIVE c(x) AS "
		"(VALUES(1) UNION ALL SELECT x+1 FROM c) SELECT x FROM c;\n",
		"BEGIN;\nINSERT INTO server VALUES (1",
		"BEGIN;\nCREATE TABLE server (;\n",
		"BEGIN;\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(hostile); i++)
		assert_refused(hostile[i], strlen(hostile[i]), "");
	assert_int_equal(access("/tmp/test_file_attached", F_OK), -1);
}

/* A short statement joins a list of eight rows 14 times with itself. It must be refused before it
 * makes 8^14 rows. */
static void a_dump_does_no_work_beyond_its_size(void **state)
{
	static const char join[] =
		"BEGIN;\nCREATE TABLE server (a);\n"
		"INSERT INTO server WITH t(x) AS (VALUES(1),(2),(3),(4),(5),(6),(7),(8)) SELECT 1 "
		"FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t n;\n";

	assert_refused(join, strlen(join), "line 3: a statement that does more than fill a table");
}

/* Multi-line descriptions and comments are read only once. The input has 8 MiB of lines that look
 * like the end of a statement. */
static void a_dump_of_many_lines_is_read_once(void **state)
{
	static const char before[] =
		"-- PostgreSQL\n--\nCREATE TABLE server (vendor_id, server_id, vcpus, "
		"memory_amount, description, status); -- servers\n"
		"CREATE TRIGGER t AFTER INSERT ON server BEGIN\n"
		"INSERT INTO server VALUES('v','u',1,1,'','ACTIVE');\nEND;\n"
		"INSERT INTO server VALUES('v','r',2,1024,'";
	static const char after[] = "','INACTIVE');\nINSERT INTO server VALUES('v','s',2,1024,"
				    "'a;\nb -- it''s;\n','ACTIVE'); -- it's the last;\n"
				    "CREATE TABLE server_price (vendor_id, region_id, server_id, "
				    "allocation, unit, price, operating_system, status);\n"
				    "INSERT INTO server_price VALUES('v','r','s','ONDEMAND','HOUR',"
				    "0.5,'Linux','ACTIVE');\n-- done";
	struct buf text AUTO(buf_done) = BUF_MAX(16u << 20);
	struct catalogue_file_options o = {.scratch = scratch};
	AUTO(catalogue_freep) struct catalogue *c = NULL;
	struct err e = {0};

	buf_adds(&text, before);
	for (size_t i = 0; i < 4u << 20; i++)
		buf_adds(&text, ";\n");
	buf_adds(&text, after);
	write_file(buf_text(&text), text.len, false);
	if (catalogue_from_file(&c, path, &o, &e))
		fail_msg("%s", e.text);
	assert_int_equal(c->n, 2);
	assert_string_equal(c->server[0].server_id, "r");
	assert_string_equal(c->server[1].server_id, "s");
	assert_true(c->server[1].min_price_ondemand == 0.5);
}

static void count_progress(void *context, size_t bytes)
{
	*(size_t *)context = bytes;
}

static void progress_is_told(void **state)
{
	size_t bytes = 0;
	struct catalogue_file_options o = {.progress = count_progress, .progress_context = &bytes};
	AUTO(catalogue_freep) struct catalogue *c = NULL;
	struct err e = {0};

	write_file(csv, strlen(csv), true);
	assert_int_equal(catalogue_from_file(&c, path, &o, &e), 0);
	assert_int_equal(bytes, strlen(csv));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_kind_is_read_plain_and_packed, new_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(what_it_is_not_is_said, new_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_packed_file_that_ends_early_is_refused,
			new_folder, remove_folder),
		cmocka_unit_test_setup_teardown(only_a_file_is_opened, new_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_dump_makes_tables_and_nothing_else, new_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(a_dump_does_no_work_beyond_its_size, new_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(a_dump_of_many_lines_is_read_once, new_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(progress_is_told, new_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
