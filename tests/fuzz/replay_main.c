/* Runs a fuzz target over the files of its corpus: what is not built with libFuzzer has this main.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX (1 << 20)

static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(INPUT_MAX);
	size_t n = f && data ? fread(data, 1, INPUT_MAX, f) : 0;
	int bad = !f || !data || ferror(f);

	if (!bad) {
		/* A copy of the exact size, so that reading past the end is seen. */
		uint8_t *exact = malloc(n ? n : 1);

		if (exact) {
			memcpy(exact, data, n);
			LLVMFuzzerTestOneInput(exact, n);
		}
		bad = !exact;
		free(exact);
	}
	if (f)
		fclose(f);
	free(data);
	return bad;
}

int main(int argc, char **argv)
{
	char path[4096];
	int files = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s CORPUS-DIRECTORY\n", argv[0]);
		return 2;
	}
	DIR *d = opendir(argv[1]);

	for (struct dirent *entry; d && (entry = readdir(d));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
		if (replay_file(path)) {
			fprintf(stderr, "cannot read %s\n", path);
			return 1;
		}
		files++;
	}
	if (d)
		closedir(d);
	fprintf(stderr, "%d files of %s\n", files, argv[1]);
	return files == 0;
}
