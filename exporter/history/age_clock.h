/*
 * What time it is when the age of something decides whether it is thrown away. A wall clock that
 * jumps ahead (a wrong NTP answer, a hand on the clock) would make everything old at once, so a
 * jump is believed only when the clock has gone on from it for a day; until then time goes on as it
 * did before. How long a machine was off only its clock tells: up to a day of that is believed at
 * once, more as a jump is.
 */
#ifndef EXPORTER_HISTORY_AGE_CLOCK_H
#define EXPORTER_HISTORY_AGE_CLOCK_H

#include "collectors/base/clock.h"

#define AGE_CLOCK_JUMP_SECONDS  3600.0 /* less is slewing, or a late call */
#define AGE_CLOCK_DOUBT_SECONDS 86400.0
#define AGE_CLOCK_BOOT_ID_MAX   40

struct age_clock_reading {
	double wall, mono; /* seconds; wall is NaN: there is none */
};

/* What is to be kept between calls, also between those of one program and the next. */
struct age_clock {
	struct age_clock_reading agreed;     /* when the clock was last believed */
	struct age_clock_reading doubted;    /* where it jumped to, and goes on from */
	char boot_id[AGE_CLOCK_BOOT_ID_MAX]; /* when mono is of this boot; "" = of none */
};
#define AGE_CLOCK_INIT ((struct age_clock){.agreed = {NAN, NAN}, .doubted = {NAN, NAN}})

/* Seconds since 1970 UTC. The first call is believed. boot_id: "" = unknown, which is as after a boot. */
double age_clock_read(struct age_clock *c, struct now now, const char *boot_id);

#endif
