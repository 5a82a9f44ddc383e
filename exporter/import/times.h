/* Times and durations as batch systems write them. Each function reads the whole text. */
#ifndef EXPORTER_IMPORT_TIMES_H
#define EXPORTER_IMPORT_TIMES_H

#include <stdbool.h>

#include "collectors/base/scan.h"

/* Reads 2026-11-21T08:45:12, with a blank in place of T, with a fraction of a second, with a zone (Z,
 * +01:00, +0100) or in the local time zone of this process. Returns seconds since 1970 UTC; NaN = any
 * other text. */
double times_read(struct slice text);

/* Reads [DAYS-][HOURS:]MINUTES:SECONDS, as Slurm writes a duration, such as 1-02:03:04.567. Returns
 * seconds; NaN = any other text. */
double times_read_clock(struct slice text);

/* Reads a duration with units, such as "1d 2h 3m 4.5s" or "120ms". Returns seconds; NaN = any other
 * text. */
double times_read_units(struct slice text);

#endif
