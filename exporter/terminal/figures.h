/* Writes numbers for people: with three significant digits and a unit. An unknown number (NaN)
 * becomes "?". All functions append to `out`. */
#ifndef EXPORTER_TERMINAL_FIGURES_H
#define EXPORTER_TERMINAL_FIGURES_H

#include "collectors/base/buf.h"

/* Three significant digits, but all digits before the point: 0.0123, 1.23, 12.3, 123, 12345. */
void figure_number(struct buf *out, double v);
/* At most two digits after the point, without zeros at the end: 4, 0.5, 2.25. */
void figure_short(struct buf *out, double v);
void figure_bytes(struct buf *out, double bytes);     /* "2.31 GiB" */
void figure_seconds(struct buf *out, double seconds); /* "4.20 s", "42.1 min", "3.07 h", "2.10 d" */
void figure_cores(struct buf *out, double cores);     /* "1 core", "3.81 cores", "0.5 cores" */
void figure_cpus(struct buf *out, double cpus);       /* "1 CPU", "4 CPUs", "0.5 CPUs" */
/* "12 %". `ratio` 1 = 100 %. Below 10 %, one digit follows the point: "3.4 %". */
void figure_percent(struct buf *out, double ratio);
/* Writes the change from `from` to `to`: "-50 %", "+25 %", "0 %". Writes nothing if it is
 * unknown. */
void figure_change(struct buf *out, double from, double to);
/* Writes the used and the requested bytes: "10.1/16 GiB". Both have the unit of the larger number
 * and three significant digits. The requested number has no zeros at the end. */
void figure_bytes_of(struct buf *out, double used, double requested);
/* Writes "0.24 of 1 core" or "313 MiB of 2.00 GiB". `add` writes each of the two numbers with its
 * unit. If the units are equal, the unit is written only once. Writes only `v` if `of` is NaN. */
void figure_of(struct buf *out, void (*add)(struct buf *out, double v), double v, double of);

/* Converts a time such as "2026-11-24T21:00:00.000Z" to "2026-11-24 21:00" in the local time zone.
 * For another text, writes "?". */
void figure_time(struct buf *out, const char *iso);
/* Returns the whole seconds since 1970 UTC of a time in this format. NaN = not a time. */
double figure_time_seconds(const char *iso);

#endif
