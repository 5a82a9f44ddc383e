/* Damages a catalogue cache with the input. Then reads it in every way, opens it, and writes it.
 *
 * An input that begins like a database replaces the file. An input that begins with "=" changes
 * values in the columns of a good cache (fuzz_values.h). Any other input is SQL that is run on a
 * good cache. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/catalogue/cache.h"
#include "recommender/catalogue/build.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_values.h"
#include "tests/support/test_history.h"

#define FILE_MAX (1u << 20)
#define URL      "http://k/servers"

static struct {
	struct test_folder folder;
	char file[FILE_MAX];
	size_t size;
	struct fuzz_columns columns;
} world;

static void remove_folder(void)
{
	test_folder_remove(&world.folder);
}

static struct catalogue *small_catalogue(void)
{
	static const char csv[] = "vendor_id,server_id,vcpus,memory_amount,min_price_ondemand\n"
				  "aws,t.small,2,512,0.36\n";
	struct catalogue *c = NULL;
	struct err e = {0};

	if (catalogue_from_csv(&c, csv, sizeof csv - 1, "fuzz", &e))
		abort();
	return c;
}

static void save(struct catalogue_cache *k)
{
	struct cached_page page = {.etag = "\"1\"", .fetched_at = {1000}, .max_age_seconds = 60};
	struct cache_origin origin = {.source = "http://k", .hash = "h", .at = {(int64_t)1.8e18}};
	struct buf body = BUF_MAX(1000);
	struct catalogue *c = small_catalogue();
	struct err e = {0};

	buf_adds(&body, "[{}]");
	int code = catalogue_cache_save(k, c, &origin, &e);

	assert(code == 0 || e.text[0]);
	code = catalogue_cache_keep_page(k, URL, &page, &body, &e);
	assert(code == 0 || e.text[0]);
	code = catalogue_cache_keep_page(k, URL, &page, NULL, &e);
	assert(code == 0 || e.text[0]);
	code = catalogue_cache_confirm(k, (struct wall){2000}, &e);
	assert(code == 0 || e.text[0]);
	catalogue_cache_forget_pages(k, (struct wall){500}, &e);
	catalogue_free(c);
	buf_done(&body);
}

static void begin(void)
{
	struct catalogue_cache *k = NULL;
	struct err e = {0};

	test_folder_make(&world.folder);
	atexit(remove_folder);
	if (catalogue_cache_open(&k, world.folder.file, &e))
		abort();
	save(k);
	catalogue_cache_close(k);
	world.size = test_read_file(world.folder.file, world.file, sizeof world.file);
	assert(world.size && world.size < sizeof world.file);
	fuzz_columns_read(&world.columns, world.folder.file);
	assert(world.columns.n);
}

static void check_origin(const struct cache_origin *o)
{
	assert(memchr(o->source, '\0', sizeof o->source) && memchr(o->hash, '\0', sizeof o->hash));
	assert(memchr(o->source_text, '\0', sizeof o->source_text) && o->at.ns >= 0);
}

static void read_all(void)
{
	struct cache_origin origin = {0};
	struct catalogue *c = NULL;
	struct err e = {0};
	int code = catalogue_cache_origin(&origin, world.folder.file, &e);

	assert(code == 0 || e.text[0]);
	check_origin(&origin);
	code = catalogue_cache_load(&c, &origin, world.folder.file, &e);
	assert((code == 0) == (c != NULL) && (code == 0 || e.text[0]));
	check_origin(&origin);
	catalogue_free(c);
}

static void read_page(struct catalogue_cache *k)
{
	struct cached_page page = {0};
	struct buf body = BUF_MAX(1u << 20);
	struct err e = {0};

	for (size_t i = 0; i < 2; i++)
		if (catalogue_cache_page(k, URL, &page, i ? &body : NULL, &e) == 0)
			assert(memchr(page.etag, '\0', sizeof page.etag) &&
				page.fetched_at.ns >= 0);
	buf_done(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "SQLite format 3";
	struct catalogue_cache *k = NULL;
	char aside[400];
	struct err e = {0};

	if (!world.size)
		begin();
	while (test_folder_aside(&world.folder, aside, sizeof aside))
		if (unlink(aside) != 0)
			break;
	if (size > sizeof head && memcmp(data, head, sizeof head) == 0) {
		test_write_file(world.folder.file, (const char *)data, size);
	} else {
		test_write_file(world.folder.file, world.file, world.size);
		if (size && data[0] == '=')
			fuzz_values(world.folder.file, data + 1, size - 1, &world.columns);
		else
			fuzz_sql(world.folder.file, data, size);
	}
	read_all();
	int code = catalogue_cache_open(&k, world.folder.file, &e);

	assert(code == 0 || e.text[0]);
	if (code == 0) {
		read_page(k);
		save(k);
		catalogue_cache_close(k);
		read_all();
	}
	return 0;
}
