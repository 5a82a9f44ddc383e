/* Random numbers from the kernel. */
#include "exporter/core/random_share.h"

#include <stdint.h>
#include <sys/random.h>

#include "collectors/base/clock.h"

double random_share(void)
{
	uint32_t bits = 0;

	/* Early at boot the kernel may have no random numbers yet: use the clock. */
	if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
		bits = (uint32_t)now_read().mono.ns;
	return bits / 4294967296.0;
}
