#include "exporter/remote/sample_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/remote/run_series.h"

#define MS_PER_SECOND 1000
/* If another run has the millisecond in which a run ended, at most this many other milliseconds of
 * the same second are tried. */
#define TRIES 64
#define WAYS  8 /* number of elements of the table `taken` in which a time may be stored */

/* Returns the element of the table `taken` for a time (a hash of the series and the time). Sets
 * `*is_free` to true when the time was not in the table. */
static struct taken_time *place_of(struct sample_times *t, uint64_t series_and_time, bool *is_free)
{
	size_t first = series_and_time % (SAMPLE_TIMES_MAX / WAYS) * WAYS;
	struct taken_time *set = &t->taken[first];

	for (size_t i = 0; i < WAYS; i++) {
		*is_free = set[i].series_and_time == 0;
		if (*is_free || set[i].series_and_time == series_and_time)
			return &set[i];
	}
	/* All WAYS elements for this time are in use. Forget the oldest of them. */
	memmove(set, set + 1, (WAYS - 1) * sizeof *set);
	*is_free = true;
	return &set[WAYS - 1];
}

/* Reserves the time `ms` of the series for the run. Returns false if another run already has this
 * time. Sets `*is_new` to true when no run, not even this one, had it. */
static bool take(struct sample_times *t, uint64_t series, int64_t ms, uint64_t run, bool *is_new)
{
	const uint64_t key[] = {series, (uint64_t)ms};
	uint64_t series_and_time = hash_bytes(key, sizeof key) | 1;
	struct taken_time *p = place_of(t, series_and_time, is_new);

	if (*is_new)
		*p = (struct taken_time){series_and_time, run};
	return p->run == run;
}

static uint64_t series_of(const struct run *r)
{
	struct slice container = run_container(r->labels);
	const uint64_t parts[] = {hash_text(r->job_name), hash_bytes(container.data, container.len),
		(uint64_t)r->outcome};

	return hash_bytes(parts, sizeof parts);
}

static int64_t end_of(const struct run *r)
{
	return (int64_t)floor(r->ended_at * MS_PER_SECOND + 0.5);
}

int64_t sample_times_of(struct sample_times *t, const struct run *r, bool *shifted)
{
	uint64_t run = hash_text(r->run_id), series = series_of(r);
	int64_t end = end_of(r), second = end - end % MS_PER_SECOND;
	int64_t choice = end > second ? end : second + (int64_t)(run % MS_PER_SECOND), ms = choice;

	if (!t->taken)
		t->taken = xcalloc(SAMPLE_TIMES_MAX, sizeof *t->taken);
	bool is_new, own = take(t, series, ms, run, &is_new);

	for (unsigned i = 0; i < TRIES && !own; i++) {
		ms = second + (int64_t)((run + i) % MS_PER_SECOND);
		own = take(t, series, ms, run, &is_new);
	}
	if (shifted)
		*shifted = is_new && ms != choice;
	return ms;
}

void sample_times_lose(struct sample_times *t, const struct run *r)
{
	const uint64_t key[] = {series_of(r), (uint64_t)sample_times_of(t, r, NULL)};
	bool is_free;

	/* No run has the hash 0, so the time counts as used by another run from now on. */
	place_of(t, hash_bytes(key, sizeof key) | 1, &is_free)->run = 0;
}

void sample_times_done(struct sample_times *t)
{
	free(TAKE(t->taken));
}
