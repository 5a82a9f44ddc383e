/* The input is passed to the small text readers that have no fuzz target of their own: names,
 * paths, heads of files, tokens. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "collectors/base/tree_guard.h"
#include "collectors/base/utf8.h"
#include "collectors/process/facts.h"
#include "collectors/followed/run_binary.h"
#include "collectors/naming/stable_name.h"
#include "recommender/run_labels.h"
#include "tests/fuzz/fuzz.h"

/* The result must be a part of the name. It may be empty only if the name is empty. */
static void check_steady(struct slice (*cut)(struct slice name), struct slice name)
{
	struct slice once = cut(name);

	assert(once.data >= name.data && once.data + once.len <= name.data + name.len);
	assert(once.len || !name.len);
}

/* Makes up the facts about the pod's owner from the same text. */
static struct slice replica(struct slice name)
{
	const struct pod_owner owner = {
		.template_hash = {name.data, name.len / 2},
		.index = name,
		.stateful_set = name.len % 2,
		.labels_known = name.len % 3,
	};

	return stable_name_without_replica(name, &owner);
}

static void check_dates(const char *text)
{
	AUTO(freep) char *name = xstrdup(text), *shape = xstrdup(text);
	bool steady = stable_name_shape(text, shape) == NAME_STEADY;

	stable_name_drop_dates(name);
	assert(strlen(name) <= strlen(text) && (*name || !*text));
	assert(strlen(shape) <= strlen(text) && (*shape || !*text));
	assert(!steady || strcmp(shape, text) == 0);
}

/* Returns the number of characters U+0080 to U+009F in valid UTF-8. */
static size_t steering(const char *data, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i + 1 < size; i++)
		n += (unsigned char)data[i] == 0xc2 && (unsigned char)data[i + 1] < 0xa0;
	return n;
}

static void check_utf8(const char *data, size_t size)
{
	char clean[64];

	utf8_clean(data, size, clean, sizeof clean);
	assert(strlen(clean) < sizeof clean && utf8_valid(clean, strlen(clean)));
	assert(steering(clean, strlen(clean)) == 0);
	/* U+FFFD replaces these characters, and has three bytes instead of two. */
	if (utf8_valid(data, size) && !memchr(data, '\0', size)) {
		size_t whole = size + steering(data, size);

		assert(strlen(clean) == whole || whole >= sizeof clean);
	}
}

/* A printed number must be read back as the same number. */
static void check_numbers(const char *data, size_t size)
{
	struct scan s = SCAN(data, size), again;
	char text[DOUBLE_TEXT_MAX];
	double v, w;
	uint64_t u;
	int64_t i;

	if (scan_double(&s, &v)) {
		assert(isfinite(v) && s.at > data && s.at <= s.end);
		again = SCAN(text, double_text(text, v));
		assert(scan_double(&again, &w) && !(v < w) && !(v > w));
	}
	s = SCAN(data, size);
	if (!scan_u64(&s, &u))
		assert(s.at == data);
	s = SCAN(data, size);
	if (!scan_i64(&s, &i))
		assert(s.at == data);
}

/* Every piece of the text must lie inside the text, and the loops must end. */
static void check_pieces(const char *data, size_t size)
{
	struct scan s = SCAN(data, size), line;
	struct slice word, left;

	assert(scan_literal(&s, "") && s.at == data);
	scan_literal(&s, "run");
	while (scan_line(&s, &line)) {
		assert(line.at >= data && line.end <= data + size);
		while (scan_word(&line, &word)) {
			struct scan piece = scan_slice(word);

			assert(word.len && word.data + word.len <= data + size);
			while (scan_until(&piece, ':', &left))
				assert(!memchr(left.data, ':', left.len));
		}
		assert(line.end - line.at == (ptrdiff_t)strspn(line.at, " \t") ||
			memchr(line.at, '\0', (size_t)(line.end - line.at)));
	}
	assert(scan_end(&s));
}

/* Every label must lie inside the text, after the label before it. */
static void check_labels(const char *text)
{
	struct scan s = run_labels_scan(text);
	const char *before = text;
	struct run_label l;

	while (run_labels_next(&s, &l)) {
		assert(l.name.data > before && l.value.data > l.name.data + l.name.len);
		before = l.value.data + l.value.len;
		assert(before < s.end && *before == '"');
		assert(run_labels_find(text, l.name).data);
	}
}

static void check_signs(const char *data, size_t size)
{
	bool waits;

	statm_in_exec(SCAN(data, size));
	assert(status_may_map(SCAN(data, size), &waits) || !waits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The copy has exactly the input's size, so that a sanitizer notices a read past the
	 * end. */
	AUTO(freep) char *text = xmalloc(size + 1);
	char container[CONTAINER_ID_MAX];

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	struct slice all = {text, size};

	check_steady(stable_name, all);
	check_steady(stable_name_without_generated, all);
	check_steady(stable_name_without_node, all);
	check_steady(stable_name_without_schedule, all);
	check_steady(replica, all);
	stable_name_only_dates(all);
	check_steady(stable_name_without_training, all);
	check_dates(text);
	check_utf8(text, size);
	check_numbers(text, size);
	check_pieces(text, size);
	check_signs(text, size);
	check_labels(text);
	assert(!utf8_plain(text) || (strlen(text) && utf8_valid(text, strlen(text))));
	facts_container(all, container);
	assert(strspn(container, "0123456789abcdef") == strlen(container));
	run_binary_architecture(data, size);
	run_binary_emulated(text);
	return 0;
}
