/* Reads times and durations in the formats of batch systems. A function accepts a text only if all
 * of it fits the format. */
#ifndef EXPORTER_CORE_TIMES_H
#define EXPORTER_CORE_TIMES_H

#include <stdbool.h>

#include "collectors/base/scan.h"

/* Reads a time such as 2026-11-21T08:45:12. A blank may replace the T, and a fraction of a second
 * and a zone (Z, +01:00, +0100) may follow. Without a zone, the time is in the local time zone of
 * this process. Returns seconds since 1970 UTC; NaN = the text is not such a time. */
double times_read(struct slice text);

/* Reads a duration in the format of Slurm: [DAYS-][HOURS:]MINUTES:SECONDS, such as 1-02:03:04.567.
 * Returns seconds; NaN = the text is not such a duration. */
double times_read_clock(struct slice text);

/* Reads a duration with units, such as "1d 2h 3m 4.5s" or "120ms". Returns seconds; NaN = the text
 * is not such a duration. */
double times_read_units(struct slice text);

#endif
