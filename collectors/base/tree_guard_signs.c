#include "collectors/base/tree_guard_signs.h"

#include <stdint.h>

bool statm_in_exec(struct scan s)
{
	uint64_t size, resident, shared, code;

	return scan_u64(&s, &size) && scan_u64(&s, &resident) && scan_u64(&s, &shared) &&
	       scan_u64(&s, &code) && size > 0 && code == 0;
}

bool status_may_map(struct scan s, bool *waits)
{
	uint64_t threads = UINT64_MAX;
	struct scan line;

	*waits = false;
	while (scan_line(&s, &line))
		if (scan_literal(&line, "State:\t"))
			*waits = scan_char(&line, 'D');
		else if (scan_literal(&line, "Threads:\t"))
			scan_u64(&line, &threads);
	return *waits || threads > 1;
}
