/* Random numbers from the kernel. */
#include "exporter/core/random_share.h"

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
