/* A sampler for tests, instead of exporter/sampling/sampler.c. It returns hand-made snapshots
 * (sample_snapshot.h), and can hang. */
#ifndef TESTS_SUPPORT_FAKE_SAMPLER_H
#define TESTS_SUPPORT_FAKE_SAMPLER_H

#include "exporter/sampling/sampler.h"

struct sampler *fake_sampler_new(void);
void fake_sampler_free(struct sampler *s);

/* Takes a new snapshot. A new fake sampler has no snapshot. */
void fake_sampler_tick(struct sampler *s);

/* From now on the sampler returns the last snapshot, and reports `age_seconds` as its age. */
void fake_sampler_hang(struct sampler *s, double age_seconds);

/* fake_sampler_scraped() returns the last generation passed to sampler_scraped(),
 * fake_sampler_wait() the longest recent wait, and fake_sampler_generation() the newest
 * generation. */
uint64_t fake_sampler_scraped(struct sampler *s);
double fake_sampler_wait(struct sampler *s);
uint64_t fake_sampler_generation(struct sampler *s);

#endif
