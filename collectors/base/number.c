/* Numbers in texts of the kernel. */
#include "collectors/base/number.h"

uint64_t number_find(struct scan text, const char *key)
{
	struct scan line;
	uint64_t v;

	while (scan_line(&text, &line)) {
		if (!scan_literal(&line, key))
			continue;
		if (!scan_char(&line, ':') && !scan_char(&line, ' ') && !scan_char(&line, '='))
			continue;
		return scan_u64(&line, &v) ? v : NUMBER_UNKNOWN;
	}
	return NUMBER_UNKNOWN;
}

void numbers_read(struct scan text, uint64_t *ret, size_t n)
{
	for (size_t i = 0; i < n && scan_u64(&text, &ret[i]); i++)
		;
}
