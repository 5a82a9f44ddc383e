/* A machine in memory that changes over time as the input says, in lines:
 *
 * 	@@ /proc/stat			a file: its content follows, up to the next "@@ "
 * 	@@ -> /sys/class/net/e ../x	a symbolic link
 * 	@@ space /boot			a mounted file system, each with less free space
 * 	@@ gone /proc/self		removes the file, or the folder with its content
 * 	@@ tick				advances one second and reads everything
 *
 * A target may define more words. After the input there are two more ticks, one 61 s and one 0.25 s
 * later. */
#ifndef TESTS_FUZZ_FUZZ_MACHINE_H
#define TESTS_FUZZ_FUZZ_MACHINE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/test_host.h"

#define FUZZ_ENTRIES_MAX 200
#define FUZZ_TICKS_MAX   20

struct fuzz_machine {
	struct test_host t;
	size_t entries, ticks;
	/* Called at each tick, with the clock already advanced. */
	void (*tick)(struct fuzz_machine *m);
	/* Called for a line whose word is not in the list above; may be NULL. */
	void (*other)(struct fuzz_machine *m, struct slice word, struct scan line);
};

static void fuzz_pass(struct fuzz_machine *m, double seconds)
{
	test_host_advance(&m->t, seconds);
	m->tick(m);
}

/* Executes one "@@ " line. `line` is its rest, and `body` is the text up to the next such line. */
static void fuzz_obey(struct fuzz_machine *m, struct scan line, struct scan body)
{
	struct tree_space space = {.size = 1000000,
		.free = 500000 - m->entries,
		.available = 400000,
		.files = 10,
		.files_free = 5};
	char path[512], target[512 + sizeof "self/root/"];
	struct slice word, second;

	if (m->entries++ > FUZZ_ENTRIES_MAX || !scan_word(&line, &word))
		return;
	if (slice_is(word, "tick")) {
		if (m->ticks++ < FUZZ_TICKS_MAX)
			fuzz_pass(m, 1);
	} else if (slice_is(word, "->")) {
		if (!scan_word(&line, &word) || !scan_word(&line, &second))
			return;
		slice_copy(word, path, sizeof path);
		slice_copy(second, target, sizeof target);
		test_host_link(&m->t, path, target);
	} else if (slice_is(word, "space")) {
		slice_copy((struct slice){line.at, (size_t)(line.end - line.at)}, path,
			sizeof path);
		memory_tree_space(m->t.root, path + strspn(path, " /"), space, 0x801 + m->entries);
		snprintf(target, sizeof target, "self/root/%s", path + strspn(path, " /"));
		memory_tree_space(m->t.proc, target, space, 0x801 + m->entries);
	} else if (slice_is(word, "gone")) {
		if (!scan_word(&line, &word))
			return;
		slice_copy(word, path, sizeof path);
		test_host_remove(&m->t, path);
	} else if (word.data[0] == '/') {
		slice_copy(word, path, sizeof path);
		test_host_bytes(&m->t, path, body.at, (size_t)(body.end - body.at));
	} else if (m->other) {
		m->other(m, word, line);
	}
}

/* Returns the end of the piece that begins at `text`: the start of the next line with "@@ ". */
static const char *fuzz_piece_end(struct scan text)
{
	struct scan line;

	while (scan_line(&text, &line)) {
		if (scan_literal(&line, "@@ "))
			return line.at - 3;
	}
	return text.end;
}

static void fuzz_play(struct fuzz_machine *m, const uint8_t *data, size_t size)
{
	struct scan text = SCAN((const char *)data, size), line;

	while (scan_line(&text, &line)) {
		if (!scan_literal(&line, "@@ "))
			continue;
		struct scan body = {text.at, fuzz_piece_end(text)};

		fuzz_obey(m, line, body);
		text.at = body.end;
	}
	fuzz_pass(m, 61);
	fuzz_pass(m, 0.25);
}

#endif
