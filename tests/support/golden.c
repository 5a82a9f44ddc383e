#include "tests/support/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "tests/unit/test_main.h"

#define GOLDEN_MAX (1u << 20)

static void update(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(text, 1, len, f) != len || fclose(f) != 0)
		fail_msg("cannot write %s", path);
}

static void read_whole(struct buf *out, const char *path)
{
	FILE *f = fopen(path, "re");
	char chunk[4096];
	size_t n;

	if (!f)
		fail_msg("cannot read %s: run the test with UPDATE_GOLDEN=1 to make it", path);
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(out, chunk, n);
	fclose(f);
}

void golden_check(const char *name, const char *text, size_t len)
{
	struct buf expected = BUF_MAX(GOLDEN_MAX);
	const char *wish = getenv("UPDATE_GOLDEN");
	char path[4096];
	size_t same = 0, line = 1;

	snprintf(path, sizeof path, "%s/%s", GOLDEN_FOLDER, name);
	if (wish && strcmp(wish, "1") == 0) {
		update(path, text, len);
		return;
	}
	read_whole(&expected, path);
	while (same < len && same < expected.len && text[same] == expected.data[same])
		line += text[same++] == '\n';
	if (same < len || same < expected.len)
		fail_msg("differs from %s in line %zu, at \"%.60s\" instead of \"%.60s\"", path,
			line, same < len ? text + same : "",
			same < expected.len ? expected.data + same : "");
	buf_done(&expected);
}
