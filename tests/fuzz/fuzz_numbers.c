/* Any bytes as a text of the kernel with numbers, of which the first line is the key that is looked for. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/number.h"
#include "tests/fuzz/fuzz.h"

#define NUMBERS 6
#define STAYS   (UINT64_MAX - 7)

/* What is found stands in a line that begins with the key, and is no more than 64 bits hold. */
static void check_found(const char *text, const char *key)
{
	uint64_t found = number_find(SCAN(text, strlen(text)), key);
	size_t len = strlen(key);
	const char *line = text;

	while (line && (strncmp(line, key, len) != 0 || !line[len] || !strchr(": =", line[len]))) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	const char *digits = line ? line + len + 1 + strspn(line + len + 1, " \t") : "";

	if (!isdigit((unsigned char)digits[0])) {
		assert(found == NUMBER_UNKNOWN);
		return;
	}
	unsigned __int128 v = 0;

	for (; isdigit((unsigned char)*digits) && v <= UINT64_MAX; digits++)
		v = v * 10 + (unsigned)(*digits - '0');
	assert(found == (v > UINT64_MAX ? NUMBER_UNKNOWN : (uint64_t)v));
}

/* From the first that is none on they stay as they are. */
static void check_read(const char *text)
{
	uint64_t number[NUMBERS + 1], v;
	struct scan s = SCAN(text, strlen(text));
	size_t n = 0;

	for (size_t i = 0; i <= NUMBERS; i++)
		number[i] = STAYS;
	numbers_read(s, number, NUMBERS);
	for (; n < NUMBERS && scan_u64(&s, &v); n++)
		assert(number[n] == v);
	for (; n <= NUMBERS; n++)
		assert(number[n] == STAYS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *text = xmalloc(size + 1);

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	/* A key of the kernel has no end of its line, and is never empty. */
	char *rest = strchr(text, '\n');

	check_read(text);
	if (!rest || rest == text)
		return 0;
	*rest++ = '\0';
	check_found(rest, text);
	uint64_t bytes = number_from_kib(number_find(SCAN(rest, strlen(rest)), text));

	assert(bytes == NUMBER_UNKNOWN || bytes % 1024 == 0);
	return 0;
}
