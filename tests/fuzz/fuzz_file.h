/* A file for functions that read a file by its name. The content is the input, and the file is
 * removed at the end. */
#ifndef TESTS_FUZZ_FUZZ_FILE_H
#define TESTS_FUZZ_FUZZ_FILE_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

/* The file is in memory if possible, because it is written thousands of times a second. */
static char fuzz_path[64];

static void fuzz_file_remove(void)
{
	unlink(fuzz_path);
}

static void fuzz_file_write(const void *data, size_t size)
{
	static int fd = -1;

	if (fd < 0) {
		static const char *const places[] = {"/dev/shm/fuzz-XXXXXX", "/tmp/fuzz-XXXXXX"};

		for (size_t i = 0; i < 2 && fd < 0; i++) {
			size_t n = 0;

			for (; places[i][n]; n++)
				fuzz_path[n] = places[i][n];
			fuzz_path[n] = '\0';
			fd = mkostemp(fuzz_path, O_CLOEXEC);
		}
		atexit(fuzz_file_remove);
	}
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
}

#endif
