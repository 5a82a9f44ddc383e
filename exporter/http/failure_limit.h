/*
 * How many wrong passwords an address may still try: a token bucket for each, which holds FAILURE_BURST and gets one back
 * each FAILURE_SECONDS. A full one takes no place; who finds none shares one with all others who do not. Whoever uses it locks.
 */
#ifndef EXPORTER_FAILURE_LIMIT_H
#define EXPORTER_FAILURE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/clock.h"

#define FAILURE_BURST     10
#define FAILURE_SECONDS   1
#define FAILURE_ADDRESSES 512

/* All zero: nobody failed. */
struct failure_limit {
	struct failure_bucket {
		uint64_t address;
		struct mono full_at;
	} of_one[FAILURE_ADDRESSES], of_others;
};

/* Has it none left? */
bool failure_limit_reached(const struct failure_limit *l, uint64_t address, struct mono now);
void failure_limit_count(struct failure_limit *l, uint64_t address, struct mono now);

#endif
