/* Token buckets, each kept as the time at which it will be full. */
#include "exporter/http/failure_limit.h"

#include <stddef.h>

#define REFILL_NS (FAILURE_SECONDS * NS_PER_S)

static bool is_full(const struct failure_bucket *b, struct mono now)
{
	return b->full_at.ns <= now.ns;
}

/* That of the address; else one that is full, which is that of nobody; else that of all others. */
static size_t place_of(const struct failure_limit *l, uint64_t address, struct mono now)
{
	size_t ret = FAILURE_ADDRESSES;

	for (size_t i = 0; i < FAILURE_ADDRESSES; i++) {
		if (is_full(&l->of_one[i], now))
			ret = i;
		else if (l->of_one[i].address == address)
			return i;
	}
	return ret;
}

bool failure_limit_reached(const struct failure_limit *l, uint64_t address, struct mono now)
{
	size_t i = place_of(l, address, now);
	const struct failure_bucket *b = i < FAILURE_ADDRESSES ? &l->of_one[i] : &l->of_others;

	return b->full_at.ns - now.ns > (FAILURE_BURST - 1) * REFILL_NS;
}

void failure_limit_count(struct failure_limit *l, uint64_t address, struct mono now)
{
	size_t i = place_of(l, address, now);
	struct failure_bucket *b = i < FAILURE_ADDRESSES ? &l->of_one[i] : &l->of_others;

	b->address = address;
	b->full_at.ns = (is_full(b, now) ? now.ns : b->full_at.ns) + REFILL_NS;
}
