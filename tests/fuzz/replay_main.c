/* Stands in for libFuzzer. Calls the fuzz target with the empty input and with each file in the
 * folders named on the command line. Fails when a folder has no file, so that a lost corpus is
 * noticed. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_MAX (16L * 1024 * 1024)

/* Reads into a block of exactly the file's size, so that a sanitizer notices every read past the
 * end. */
static int replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	long size = -1;

	if (f && fseek(f, 0, SEEK_END) == 0)
		size = ftell(f);
	if (size < 0 || size > INPUT_MAX || fseek(f, 0, SEEK_SET) != 0) {
		fprintf(stderr, "%s: cannot be read, or is longer than %ld bytes\n", path,
			INPUT_MAX);
		if (f)
			fclose(f);
		return -1;
	}
	AUTO(freep) uint8_t *data = xmalloc((size_t)size);
	size_t n = fread(data, 1, (size_t)size, f);

	fclose(f);
	if (n != (size_t)size) {
		fprintf(stderr, "%s: %zu of %ld bytes read\n", path, n, size);
		return -1;
	}
	LLVMFuzzerTestOneInput(data, n);
	return 0;
}

static int replay_directory(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *entry;
	int replayed = 0;

	if (!d) {
		fprintf(stderr, "%s: %s\n", path, strerrordesc_np(errno));
		return -1;
	}
	while ((entry = readdir(d))) {
		char file[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
		if (replay(file) < 0) {
			replayed = -1;
			break;
		}
		replayed++;
	}
	closedir(d);
	return replayed;
}

int main(int argc, char **argv)
{
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		int replayed = replay_directory(argv[i]);

		if (replayed <= 0) {
			fprintf(stderr, "%s: no corpus\n", argv[i]);
			return 1;
		}
		printf("%s: %d inputs\n", argv[i], replayed);
	}
	return 0;
}
