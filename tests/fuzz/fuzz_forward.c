/* The input is a server's answer to a forwarded run: "STATUS RUN\n", then the body. */
#include <assert.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "exporter/client/download.h"
#include "collectors/base/mem.h"
#include "exporter/forward/to_exporter.h"
#include "tests/fuzz/fuzz.h"

#define ID_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scan s = SCAN((const char *)data, size), line;
	struct http_response a = {.body = BUF_MAX(1u << 20)};
	uint64_t status = 0;
	char run_id[ID_MAX] = "";

	if (scan_line(&s, &line) && scan_u64(&line, &status)) {
		scan_blanks(&line);
		slice_copy((struct slice){line.at, (size_t)(line.end - line.at)}, run_id,
			sizeof run_id);
	}
	a.status = (int)(status % 1000);
	buf_add(&a.body, s.at, (size_t)(s.end - s.at));
	bool refused = forward_is_refusal(&a), accepted = forward_is_accepted(&a, run_id);

	/* A refused run is never sent again. An accepted run is also stored at the other server. */
	assert(!refused || a.status == 400 || a.status == 413);
	assert(!accepted || a.status == 200 || a.status == 201);
	assert(!accepted || memmem(s.at, (size_t)(s.end - s.at), "run_id", 6) ||
		memchr(s.at, '\\', (size_t)(s.end - s.at)));
	const struct run run = {.run_id = run_id}, *runs[] = {&run, &run};
	enum run_verdict verdict[2] = {VERDICT_OPEN, VERDICT_OPEN};
	AUTO(arena_done) struct arena arena = {0};

	to_exporter.read(&a, runs, 1 + status / 1000 % 2, verdict, &arena);
	assert(strlen(forward_answer_text(&a, &arena)) <= 200);
	buf_done(&a.body);
	return 0;
}
