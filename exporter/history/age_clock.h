/* The clock that decides which data is old enough to be deleted. With the wall clock, all data
 * would seem old at once after a jump ahead (a wrong NTP answer, a manual change). This clock
 * therefore follows a jump ahead only after the wall clock has run steadily for a day. Until then,
 * this clock continues from the time before the jump. It follows a jump back at once.
 *
 * After a reboot, only the wall clock shows how long the machine was off. A gap of up to a day is
 * accepted at once. A longer gap is treated as a jump ahead. */
#ifndef EXPORTER_HISTORY_AGE_CLOCK_H
#define EXPORTER_HISTORY_AGE_CLOCK_H

#include "collectors/base/clock.h"

/* The wall clock and the monotonic clock advance by nearly the same time between two calls. If the
 * difference is this many seconds or more, the wall clock has jumped. Slewing of the wall clock and
 * delayed calls cause smaller differences. */
#define AGE_CLOCK_JUMP_SECONDS 3600.0
/* After a jump ahead, the new time is accepted when the wall clock has run steadily for this many
 * seconds. After a reboot, a gap of up to this many seconds is accepted at once. */
#define AGE_CLOCK_DOUBT_SECONDS 86400.0
#define AGE_CLOCK_BOOT_ID_MAX   40

struct age_clock_reading {
	double wall, mono; /* seconds; `wall` NaN = no reading */
};

/* State between two calls. The history file stores it for the next process. */
struct age_clock {
	struct age_clock_reading agreed; /* the last reading that was accepted */
	/* first reading after a jump that is not accepted yet */
	struct age_clock_reading doubted;
	char boot_id[AGE_CLOCK_BOOT_ID_MAX]; /* the boot in which `mono` was read; "" = unknown */
};
#define AGE_CLOCK_INIT ((struct age_clock){.agreed = {NAN, NAN}, .doubted = {NAN, NAN}})

/* Returns the time of this clock in seconds since 1970 UTC. The first reading is accepted without a
 * check. An empty `boot_id` is treated as a reboot. */
double age_clock_read(struct age_clock *c, struct now now, const char *boot_id);

#endif
