/* Disk space for the next run: the most that one took, and a fifth more. */
#include <math.h>

#include "recommender/sizing/strategy.h"

#define MARGIN 1.2

/*
 * Where the growth of the job's own file systems was not seen: what it wrote is never less than what its files take,
 * but counts again what is overwritten or deleted; what all file systems grew by counts what others wrote.
 */
static double written_or_grown(const struct run *r)
{
	const struct distribution *space = run_column(r, "system_disk_space_used_bytes");
	double written = run_total(r, "disk_written_bytes");
	double grown = space ? space->max - space->min : (double)NAN;

	return written >= 0 && written < 0x1p62 ? fmin(written, grown) : (double)NAN;
}

double disk_need(const struct run *r)
{
	double v = run_peak(r, "disk_grown_bytes");

	return v >= 0 && v < 0x1p62 ? v : written_or_grown(r);
}

void size_disk_by_most(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct summary disk = runs_summary(used, disk_need);
	char n[WORDS_MAX], most[WORDS_MAX];

	if (!disk.n)
		return;
	s->demand.disk_bytes = disk.max * MARGIN;
	if (disk.max >= MIB)
		sizing_explain(s, arena, "disk: %s needed at most %s, plus 20 %%",
			words_runs(n, disk.n), words_bytes(most, disk.max));
}
