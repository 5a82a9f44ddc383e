/* Numbers as people read them, for sentences. */
#include <stdio.h>

#include "recommender/sizing/strategy.h"

const char *words_bytes(char out[WORDS_MAX], double bytes)
{
	double gib = bytes / MIB / 1024;

	if (gib >= 1024)
		snprintf(out, WORDS_MAX, "%.2f TiB", gib / 1024);
	else if (gib >= 1)
		snprintf(out, WORDS_MAX, gib < 10 ? "%.2f GiB" : "%.1f GiB", gib);
	else
		snprintf(out, WORDS_MAX, bytes < 10 * MIB ? "%.2f MiB" : "%.0f MiB", bytes / MIB);
	return out;
}

const char *words_seconds(char out[WORDS_MAX], double seconds)
{
	if (seconds >= 2 * 86400)
		snprintf(out, WORDS_MAX, "%.1f days", seconds / 86400);
	else if (seconds >= 2 * 3600)
		snprintf(out, WORDS_MAX, "%.1f h", seconds / 3600);
	else if (seconds >= 120)
		snprintf(out, WORDS_MAX, "%.1f min", seconds / 60);
	else
		snprintf(out, WORDS_MAX, "%.3g s", seconds);
	return out;
}

/* A probability is never certain, and its first digit is all that is known of a small one. */
const char *words_share(char out[WORDS_MAX], double share)
{
	double percent = 100 * share;

	if (percent < 0.1)
		snprintf(out, WORDS_MAX, "less than 0.1 %%");
	else if (percent > 99)
		snprintf(out, WORDS_MAX, "more than 99 %%");
	else
		snprintf(out, WORDS_MAX, percent < 10 ? "%.1f %%" : "%.0f %%", percent);
	return out;
}

const char *words_sized_runs(char out[WORDS_MAX], const struct sizing *s, size_t n)
{
	if (!s->memory_kills)
		return words_runs(out, n);
	snprintf(out, WORDS_MAX, "%zu run%s", n, n == 1 ? "" : "s");
	return out;
}

const char *words_runs(char out[WORDS_MAX], size_t n)
{
	snprintf(out, WORDS_MAX, "%zu successful run%s", n, n == 1 ? "" : "s");
	return out;
}
