/*
 * A machine in memory that changes over time as the input says, in lines:
 *
 *	@@ /proc/stat			a file: its content follows, up to the next "@@ "
 *	@@ -> /sys/class/net/e ../x	a symbolic link
 *	@@ space /boot			a file system is mounted there; each is fuller than the one before
 *	@@ gone /proc/self		removed, with all below
 *	@@ tick				a second passes, and everything is looked at
 *
 * Further words are the target's own. At the end it is looked at twice more, after longer times.
 */
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
	/* A look, after the clock was moved. */
	void (*tick)(struct fuzz_machine *m);
	/* A line that is none of the above; may be NULL. */
	void (*other)(struct fuzz_machine *m, struct slice word, struct scan line);
};

static void fuzz_pass(struct fuzz_machine *m, double seconds)
{
	test_host_advance(&m->t, seconds);
	m->tick(m);
}

/* Does one "@@ " line, of which line is the rest; body is what follows up to the next. */
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

/* The end of the piece that begins at text: where the next line with "@@ " begins. */
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
