/*
 * The time by which old data is deleted. If the wall clock jumps ahead (a wrong NTP answer, a manual
 * change), everything would be old at once. This clock follows a jump only after the wall clock ran
 * on from there for a day; until then it continues from the old time. After a reboot only the wall
 * clock knows how long the machine was off: a gap of up to a day is believed at once, a longer one
 * is treated as a jump.
 */
#ifndef EXPORTER_HISTORY_AGE_CLOCK_H
#define EXPORTER_HISTORY_AGE_CLOCK_H

#include "collectors/base/clock.h"

#define AGE_CLOCK_JUMP_SECONDS  3600.0 /* less is slewing or a late call */
#define AGE_CLOCK_DOUBT_SECONDS 86400.0
#define AGE_CLOCK_BOOT_ID_MAX   40

struct age_clock_reading {
	double wall, mono; /* seconds; wall NaN: none */
};

/* State between calls. The history keeps it for the next process. */
struct age_clock {
	struct age_clock_reading agreed;     /* the last reading that was believed */
	struct age_clock_reading doubted;    /* the reading after a jump that is not believed yet */
	char boot_id[AGE_CLOCK_BOOT_ID_MAX]; /* the boot that mono counts from; "" = unknown */
};
#define AGE_CLOCK_INIT ((struct age_clock){.agreed = {NAN, NAN}, .doubted = {NAN, NAN}})

/* Seconds since 1970 UTC. The first reading is believed. boot_id "" is treated as a reboot. */
double age_clock_read(struct age_clock *c, struct now now, const char *boot_id);

#endif
