/*
 * A sampler for tests: gives hand-made snapshots (sample_snapshot.h), and can hang. Stands in for
 * exporter/sampling/sampler.c where the library has one.
 */
#ifndef TESTS_SUPPORT_FAKE_SAMPLER_H
#define TESTS_SUPPORT_FAKE_SAMPLER_H

#include "exporter/sampling/sampler.h"

struct sampler *fake_sampler_new(void);
void fake_sampler_free(struct sampler *s);

/* Takes a new snapshot when asked; before the first call there is none. */
void fake_sampler_tick(struct sampler *s);

/* From now on gives what there is, however old it is said to be, and its age is what is said. */
void fake_sampler_hang(struct sampler *s, double age_seconds);

/*
 * The last generation given to sampler_scraped, the longest wait requested lately, and the newest
 * generation.
 */
uint64_t fake_sampler_scraped(struct sampler *s);
double fake_sampler_wait(struct sampler *s);
uint64_t fake_sampler_generation(struct sampler *s);

#endif
