/* Disk space for the next run: the most that one took, and a fifth more. */
#include <math.h>

#include "recommender/strategy.h"

#define MARGIN 1.2

static double disk_grown(const struct run *r)
{
	double v = run_peak(r, "disk_grown_bytes");

	return v >= 0 && v < 0x1p62 ? v : (double)NAN;
}

void size_disk(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct summary disk = runs_summary(used, disk_grown);
	char n[WORDS_MAX], most[WORDS_MAX];

	if (!disk.n)
		return;
	s->demand.disk_bytes = disk.max * MARGIN;
	if (disk.max >= MIB)
		sizing_explain(s, arena,
			"disk: %s wrote at most %s that was there at once, plus 20 %%",
			words_runs(n, disk.n), words_bytes(most, disk.max));
}
