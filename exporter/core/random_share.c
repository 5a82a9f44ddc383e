/* Random numbers from the kernel. */
#include "exporter/core/random_share.h"

#include <math.h>
#include <stdint.h>
#include <sys/random.h>

#include "collectors/base/clock.h"

double random_share(void)
{
	uint32_t bits = 0;

	/* Use the clock if the kernel has no random numbers yet, which can happen early at boot. */
	if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
		bits = (uint32_t)now_read().mono.ns;
	return bits / 4294967296.0;
}

double retry_delay(unsigned failures, double first, double longest)
{
	double delay = fmin(first * exp2(failures > 1 ? failures - 1 : 0), longest);

	return delay * (0.5 + 0.5 * random_share());
}
