/* How SQLite is set up, which is the sizes of its memory. */
#include "exporter/history/history_private.h"

/*
 * Every thread of glibc keeps seven freed pieces of each of 64 sizes up to 1032 bytes (malloc/malloc.c, tcache), up to
 * 230 KiB, and what lies around them cannot be given back. SQLite asks for nearly all of these sizes, so that hours pass
 * until there are seven of each. Of six sizes there soon are, and they come to 14 KiB.
 */
#define LARGEST_CLASS  1024
#define SMALLEST_CLASS 32

static int round_up(int n)
{
	int class = SMALLEST_CLASS;

	if (n > LARGEST_CLASS)
		return (n + 7) & ~7;
	while (class < n)
		class *= 2;
	return class;
}

void history_setup(void)
{
	sqlite3_mem_methods m;

	history_recovery_hear();
	/* Without it nothing is different but the memory that is used. */
	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &m) != SQLITE_OK)
		return;
	m.xRoundup = round_up;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &m);
}
