/* Writes two sizings in every format into a folder, as FORMAT.NAME. "gpu" has everything. "cpu" has
 * limits above its requests, and neither GPU nor disk. check.py checks the meaning of the files. */
#include <math.h>
#include <stdio.h>

#include "recommender/advice/advice.h"

#define MIB 1048576.0

static const struct sizing gpu = {
	.demand = {2.25, 3584 * MIB, 1, 14336 * MIB, 20480 * MIB, 1200},
	.resources = {3, 3584, 1, 14336},
	.cpu_cores_limit = NAN,
	.memory_bytes_limit = NAN,
	.duration_high = 2700,
	.memory_at_risk = {NAN, NAN, NAN},
};

static const struct sizing cpu = {
	.demand = {0.5, 512 * MIB, NAN, NAN, NAN, 60},
	.resources = {1, 512, 0, 0},
	.cpu_cores_limit = 4,
	.memory_bytes_limit = 704 * MIB,
	.duration_high = 90,
	.memory_at_risk = {512 * MIB, 456 * MIB, 704 * MIB},
};

static int write_one(const char *folder, const struct advice_format *f, const char *name,
	const struct sizing *s)
{
	char path[4096];
	struct buf text = BUF_MAX(65536);

	snprintf(path, sizeof path, "%s/%s.%s", folder, f->name, name);
	FILE *file = fopen(path, "we");

	if (!file) {
		perror(path);
		return 1;
	}
	advice_write(&text, f, s);
	fputs(buf_text(&text), file);
	buf_done(&text);
	return fclose(file) != 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc != 2) {
		fputs("usage: write_formats FOLDER\n", stderr);
		return 2;
	}
	for (const struct advice_format *f = advice_formats; f->name; f++)
		if (f->layout)
			failed |= write_one(argv[1], f, "gpu", &gpu) |
				  write_one(argv[1], f, "cpu", &cpu);
	return failed;
}
