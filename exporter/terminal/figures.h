/* Numbers with units as people read them: three significant digits, the unit in the text. An unknown
 * number (NaN) is "?". All functions append to `out`. */
#ifndef EXPORTER_TERMINAL_FIGURES_H
#define EXPORTER_TERMINAL_FIGURES_H

#include "collectors/base/buf.h"

/* 0.0123, 1.23, 12.3, 123, 12345: three significant digits, but no digit before the point is lost. */
void figure_number(struct buf *out, double v);
/* At most two digits after the point, without zeros at the end: 4, 0.5, 2.25. */
void figure_short(struct buf *out, double v);
void figure_bytes(struct buf *out, double bytes);     /* "2.31 GiB" */
void figure_seconds(struct buf *out, double seconds); /* "4.20 s", "42.1 min", "3.07 h", "2.10 d" */
void figure_cores(struct buf *out, double cores);     /* "1 core", "3.81 cores", "0.5 cores" */
void figure_cpus(struct buf *out, double cpus);       /* "1 CPU", "4 CPUs", "0.5 CPUs" */
/* "12 %"; below 10 with one digit after the point. `ratio` 1 = 100 %. */
void figure_percent(struct buf *out, double ratio);
/* Writes the change from `from` to `to`: "-50 %", "+25 %", "0 %". Writes nothing if it is
 * unknown. */
void figure_change(struct buf *out, double from, double to);
/* Writes "10.1/16 GiB": both numbers in the unit of the larger one, with three significant digits. A
 * request has no zeros at the end. */
void figure_bytes_of(struct buf *out, double used, double requested);
/* Writes "0.24 of 1 core", "313 MiB of 2.00 GiB": both amounts with `add`, and a unit that both have only
 * once. Writes only `v` if `of` is NaN. */
void figure_of(struct buf *out, void (*add)(struct buf *out, double v), double v, double of);

/* "2026-11-24 21:00" in the local time zone; "?" if `iso` is not a time such as
 * "2026-11-24T21:00:00.000Z". */
void figure_time(struct buf *out, const char *iso);
/* Returns the whole seconds since 1970 UTC of a time in this format. NaN = not a time. */
double figure_time_seconds(const char *iso);

#endif
