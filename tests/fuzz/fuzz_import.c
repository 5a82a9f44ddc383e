/* The input is the name of a source of import, a newline, and a file for this source. Each run that the
 * source makes must be a message of POST /runs that is read, or be refused with a reason. A second
 * reading gives the same runs. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/forward/run_message.h"
#include "exporter/import/import.h"
#include "tests/fuzz/fuzz.h"

struct told {
	uint64_t runs, hash;
};

static int take(void *context, uint64_t line, const char *text, size_t len, struct err *e)
{
	struct told *t = context;
	AUTO(arena_done) struct arena arena = {0};
	struct run r;
	struct err why = {0};

	(void)line;
	(void)e;
	if (run_message_read(&r, text, len, &arena, &why))
		assert(why.text[0]);
	else
		assert(r.run_id[0] && r.job_name[0]);
	t->runs++;
	t->hash = t->hash * 31 + hash_bytes(text, len);
	return 0;
}

static void wrong(void *context, uint64_t line, const char *why)
{
	struct told *t = context;

	assert(why[0]);
	t->hash = t->hash * 31 + line;
}

static void ignore(void *context)
{
	(void)context;
}

static struct told read_once(const struct import_source *source, struct slice text)
{
	struct told t = {0};
	struct err e = {0};
	FILE *in = fmemopen((char *)(uintptr_t)text.data, text.len, "r");
	const struct import_input input = {.path = "file.txt",
		.in = in,
		.written_at = 1.7e9,
		.now = 1.8e9,
		.outcome = "succeeded",
		.sink = {take, wrong, ignore, ignore, &t}};

	assert(in);
	if (source->read(&input, &e))
		assert(e.text[0]);
	fclose(in);
	return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scan s = SCAN((const char *)data, size), line;
	char name[32];

	if (!scan_line(&s, &line))
		return 0;
	slice_copy(scan_rest(&line), name, sizeof name);
	const struct import_source *source = import_source_find(name);

	if (!source || source->of_url || scan_end(&s))
		return 0;
	struct told first = read_once(source, scan_rest(&s)),
		    second = read_once(source, scan_rest(&s));

	assert(first.runs == second.runs && first.hash == second.hash);
	return 0;
}
