/* The input is a kernel text with numbers. The first line is the key to find. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/number.h"
#include "tests/fuzz/fuzz.h"

#define NUMBERS 6
#define STAYS   (UINT64_MAX - 7)

/* Returns the number of digits at `at`; 0 = there is no number. A number that does not fit into 64
 * bits gives a value above UINT64_MAX. */
static size_t read_digits(const char *at, unsigned __int128 *ret)
{
	size_t n = 0;

	for (*ret = 0; isdigit((unsigned char)at[n]); n++)
		if (*ret <= UINT64_MAX)
			*ret = *ret * 10 + (unsigned)(at[n] - '0');
	return n;
}

/* A number that is found must be in a line that begins with the key, and must fit into 64 bits. */
static void check_found(const char *text, const char *key)
{
	uint64_t found;
	bool is_found = number_find(SCAN(text, strlen(text)), key, &found);
	size_t len = strlen(key);
	const char *line = text;

	while (line && (strncmp(line, key, len) != 0 || !line[len] || !strchr(": =", line[len]))) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	const char *digits = line ? line + len + 1 + strspn(line + len + 1, " \t") : "";
	unsigned __int128 v;

	if (isdigit((unsigned char)digits[0]))
		assert(read_digits(digits, &v) && is_found == (v <= UINT64_MAX) &&
			(!is_found || found == (uint64_t)v));
	else
		assert(!is_found);
}

/* numbers_read() must not change the values after the last valid number. */
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

/* The process name may contain anything. The fields begin after the last closing bracket. */
static void check_stat(const char *text)
{
	uint64_t field[NUMBERS + 1 + STAT_FIELD_FIRST];
	size_t end = ARRAY_LEN(field) - 1;
	const char *at = strrchr(text, ')');

	field[end] = STAYS;
	bool whole = numbers_of_stat(SCAN(text, strlen(text)), field, end);

	assert(field[end] == STAYS);
	assert(at || !whole);
	if (!whole)
		return;
	at += 1 + strspn(at + 1, " \t");
	at += strcspn(at, " \t\n");
	for (size_t i = STAT_FIELD_FIRST; i < end; i++) {
		unsigned __int128 v;

		at += strspn(at, " \t");
		bool minus = *at == '-';
		size_t n = read_digits(at + minus, &v);

		assert(n && v <= (minus ? (unsigned __int128)INT64_MAX + 1 : UINT64_MAX));
		assert(field[i] == (minus ? 0 - (uint64_t)v : (uint64_t)v));
		at += minus + n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *text = xmalloc(size + 1);

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	/* The first line is the key, because a key contains no newline. A key is never empty. */
	char *rest = strchr(text, '\n');

	check_read(text);
	check_stat(text);
	if (!rest || rest == text)
		return 0;
	*rest++ = '\0';
	check_found(rest, text);
	uint64_t kib, bytes = NUMBER_UNKNOWN;

	if (number_find(SCAN(rest, strlen(rest)), text, &kib))
		bytes = number_from_kib(kib);
	assert(bytes == NUMBER_UNKNOWN || bytes % 1024 == 0);
	return 0;
}
