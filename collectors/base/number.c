#include "collectors/base/number.h"

#include <string.h>

bool number_find(struct scan text, const char *key, uint64_t *ret)
{
	struct scan line;

	while (scan_line(&text, &line)) {
		if (!scan_literal(&line, key))
			continue;
		if (!scan_char(&line, ':') && !scan_char(&line, ' ') && !scan_char(&line, '='))
			continue;
		return scan_u64(&line, ret);
	}
	return false;
}

bool number_pressure(struct scan text, const char *start, uint64_t *ret)
{
	struct scan line;
	struct slice word;

	while (scan_line(&text, &line)) {
		if (!scan_word(&line, &word) || !slice_is(word, start))
			continue;
		while (scan_word(&line, &word))
			if (slice_starts(word, "total="))
				return number_find(scan_slice(word), "total", ret);
	}
	return false;
}

bool numbers_of_stat(struct scan text, uint64_t *ret, size_t end)
{
	const char *name_end = memrchr(text.at, ')', (size_t)(text.end - text.at));
	struct slice state;

	if (!name_end)
		return false;
	text.at = name_end + 1;
	if (!scan_word(&text, &state))
		return false;
	for (size_t i = STAT_FIELD_FIRST; i < end; i++) {
		int64_t v;

		if (scan_i64(&text, &v))
			ret[i] = (uint64_t)v;
		else if (!scan_u64(&text, &ret[i]))
			return false;
	}
	return true;
}

void numbers_read(struct scan text, uint64_t *ret, size_t n)
{
	for (size_t i = 0; i < n && scan_u64(&text, &ret[i]); i++)
		;
}
