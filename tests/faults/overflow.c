/* Writes BYTES bytes into a buffer, compiled and linked like the program. Usage: overflow
 * heap|stack BYTES. If the bytes fit, the exit code is 0. If they do not fit, the compiler's checks
 * must end the program. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

#define ROOM 64

/* The compiler does not know the size of the buffer. _FORTIFY_SOURCE=3 must detect the overflow at
 * run time. */
static int on_heap(size_t room, size_t n)
{
	char *block = xmalloc(room);

	memset(block, 'x', n);
	int code = block[0] == 'x' ? EXIT_SUCCESS : EXIT_FAILURE;

	free(block);
	return code;
}

/* No function of the C library is involved. -fstack-protector-strong must detect the overflow. */
__attribute__((noinline)) static int on_stack(size_t n)
{
	char block[ROOM];
	volatile char *at = block;

	for (size_t i = 0; i < n; i++)
		at[i] = 'x';
	return block[0] == 'x' ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct scan s = SCAN(argc == 3 ? argv[2] : "", argc == 3 ? strlen(argv[2]) : 0);
	uint64_t n;

	if (!scan_u64(&s, &n) || n == 0 || n > 1024)
		return 2;
	return strcmp(argv[1], "heap") == 0 ? on_heap((size_t)argc * ROOM / 3, n) : on_stack(n);
}
