/* Writes sizings in every format into a folder, as FORMAT.NAME. check.py checks the meaning of the
 * files. The names are:
 * - "gpu" has every number.
 * - "cpu" has limits above its requests, and neither GPU nor disk.
 * - "asked" is "cpu" with everything that a caller can request.
 * - "tmp" is "gpu" with everything that a caller can request.
 * - "share" uses a part of a GPU.
 * - "grid" has a line for each of many sizings. It exists only for a target that sells certain
 *   sizes. */
#include <math.h>
#include <stdio.h>

#include "recommender/advice/advice.h"

#define MIB 1048576.0

static const struct sizing gpu = {
	.demand = {2.25, 3584 * MIB, 1, 14336 * MIB, 20480 * MIB, 1200},
	.resources = {3, 3584, 1, 14336},
	.cpu_cores_limit = NAN,
	.memory_bytes_limit = NAN,
	.gpu_usage = 1,
	.duration_bound = 2700,
	.memory_at_risk = {NAN, NAN, NAN},
	.memory_attempts = {NAN, NAN, NAN, NAN},
};

static const struct sizing cpu = {
	.demand = {0.5, 512 * MIB, NAN, NAN, NAN, 60},
	.resources = {1, 512, 0, 0},
	.cpu_cores_limit = 4,
	.memory_bytes_limit = 704 * MIB,
	.gpu_usage = NAN,
	.duration_bound = 90,
	.memory_at_risk = {512 * MIB, 456 * MIB, 704 * MIB},
	.memory_attempts = {512 * MIB, 900 * MIB, 1600 * MIB, 2800 * MIB},
};

static const struct sizing share = {
	.demand = {1, 2048 * MIB, 1, 2048 * MIB, NAN, 60},
	.resources = {1, 2048, 1, 2048},
	.cpu_cores_limit = NAN,
	.memory_bytes_limit = NAN,
	.gpu_usage = 0.3,
	.duration_bound = NAN,
	.memory_at_risk = {NAN, NAN, NAN},
	.memory_attempts = {NAN, NAN, NAN, NAN},
};

static const struct advice_target plain = {.job_name = "etl/fit"};
static const struct advice_target asked = {
	.job_name = "etl/fit",
	.process = "MAIN:fit",
	.container = "my-app",
	.cpu_limit = true,
	.tmp = true,
};

static const struct {
	const char *name;
	const struct sizing *sizing;
	const struct advice_target *target;
} cases[] = {{"gpu", &gpu, &plain}, {"cpu", &cpu, &plain}, {"asked", &cpu, &asked},
	{"share", &share, &plain}, {"tmp", &gpu, &asked}};

static const double grid_cores[] = {0.1, 0.25, 0.5, 1, 1.1, 2, 4, 7.5, 8, 16, 18, 32, 64, 128};
static const unsigned grid_mib[] = {16, 512, 600, 1024, 3000, 5000, 8192, 17000, 30720, 30721,
	61440, 100000, 122880, 140000, 249856, 638976};

static int keep(const char *folder, const char *format, const char *name, const struct buf *text)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/%s.%s", folder, format, name);
	FILE *file = fopen(path, "we");

	if (!file) {
		perror(path);
		return 1;
	}
	fputs(buf_text(text), file);
	return fclose(file) != 0;
}

/* A sizing that does not fit gives an empty file. */
static int write_cases(const char *folder, const struct advice_format *f)
{
	int failed = 0;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf text = BUF_MAX(65536);

		advice_write(&text, f, cases[i].target, cases[i].sizing, NULL);
		failed |= keep(folder, f->name, cases[i].name, &text);
		buf_done(&text);
	}
	return failed;
}

static int write_grid(const char *folder, const struct advice_format *f)
{
	struct buf text = BUF_MAX(1 << 20);
	int failed;

	for (size_t i = 0; i < ARRAY_LEN(grid_cores) * ARRAY_LEN(grid_mib); i++) {
		struct sizing s = share;

		s.demand =
			(struct demand){grid_cores[i % ARRAY_LEN(grid_cores)], NAN, 0, 0, NAN, NAN};
		s.resources = (struct resources){0, grid_mib[i / ARRAY_LEN(grid_cores)], 0, 0};
		advice_write(&text, f, &plain, &s, NULL);
	}
	failed = keep(folder, f->name, "grid", &text);
	buf_done(&text);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc != 2) {
		fputs("usage: write_formats FOLDER\n", stderr);
		return 2;
	}
	for (const struct advice_format *f = advice_formats; f->name; f++) {
		if (f->layout)
			failed |= write_cases(argv[1], f);
		if (f->sizes)
			failed |= write_grid(argv[1], f);
	}
	return failed;
}
