#include "exporter/terminal/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collectors/base/mem.h"

#define UNKNOWN "?"

static int digits_after_point(double v)
{
	double size = fabs(v);

	if (size >= 99.95)
		return 0;
	if (size >= 9.995)
		return 1;
	if (size >= 0.9995)
		return 2;
	/* A number below 1 gets three significant digits, too: 0.000783. */
	return size > 0 ? 2 - (int)floor(log10(size * (1 + 1e-9))) : 0;
}

void figure_number(struct buf *out, double v)
{
	if (isnan(v))
		buf_adds(out, UNKNOWN);
	else
		buf_addf(out, "%.*f", digits_after_point(v), v);
}

/* Writes at most `digits` digits after the point, without zeros at the end. */
static void add_without_zeros(struct buf *out, double v, int digits)
{
	char text[64];
	size_t n;

	if (isnan(v)) {
		buf_adds(out, UNKNOWN);
		return;
	}
	snprintf(text, sizeof text, "%.*f", digits, v);
	n = strlen(text);
	if (strchr(text, '.'))
		while (text[n - 1] == '0')
			n--;
	if (text[n - 1] == '.')
		n--;
	buf_add(out, text, n);
}

void figure_short(struct buf *out, double v)
{
	add_without_zeros(out, v, 2);
}

static const char *const byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

static size_t byte_unit(double bytes, double *factor)
{
	size_t u = 0;

	*factor = 1;
	/* 1,023.5 and more would be printed as 1024, so use the next unit. */
	for (; bytes / *factor >= 1023.5 && u + 1 < sizeof byte_units / sizeof *byte_units; u++)
		*factor *= 1024;
	return u;
}

void figure_bytes(struct buf *out, double bytes)
{
	double factor;
	size_t u = byte_unit(bytes, &factor);

	if (isnan(bytes)) {
		buf_adds(out, UNKNOWN);
		return;
	}
	if (u == 0)
		buf_addf(out, "%.0f", bytes);
	else
		figure_number(out, bytes / factor);
	buf_addf(out, " %s", byte_units[u]);
}

void figure_bytes_of(struct buf *out, double used, double requested)
{
	double factor;
	size_t u = byte_unit(fmax(used, requested), &factor); /* fmax ignores NaN */

	if (isnan(used) && isnan(requested)) {
		buf_adds(out, UNKNOWN);
		return;
	}
	figure_number(out, used / factor);
	buf_addc(out, '/');
	requested /= factor;
	add_without_zeros(out, requested, isnan(requested) ? 0 : digits_after_point(requested));
	buf_addf(out, " %s", byte_units[u]);
}

void figure_seconds(struct buf *out, double seconds)
{
	static const struct {
		double from, unit;
		const char *name;
	} units[] = {{2 * 86400.0, 86400, "d"}, {2 * 3600.0, 3600, "h"}, {99.5, 60, "min"}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (seconds >= units[i].from) {
			figure_number(out, seconds / units[i].unit);
			buf_addf(out, " %s", units[i].name);
			return;
		}
	figure_number(out, seconds);
	buf_adds(out, isnan(seconds) ? "" : " s");
}

void figure_cores(struct buf *out, double cores)
{
	struct buf number AUTO(buf_done) = BUF_MAX(64);

	add_without_zeros(&number, cores, isnan(cores) ? 0 : digits_after_point(cores));
	buf_addf(out, "%s%s", buf_text(&number),
		isnan(cores)                        ? "" :
		strcmp(buf_text(&number), "1") == 0 ? " core" :
						      " cores");
}

/* Returns the length of `text` without its unit ("0.24 cores") if `other` has the same unit, in
 * singular or plural. Otherwise returns the whole length of `text`. */
static size_t length_without_unit(const char *text, const char *other)
{
	size_t number = strcspn(text, " ");
	const char *unit = text + number, *same = other + strcspn(other, " ");
	size_t n = strlen(unit), m = strlen(same);

	n -= n && unit[n - 1] == 's';
	m -= m && same[m - 1] == 's';
	return n == m && memcmp(unit, same, n) == 0 ? number : strlen(text);
}

void figure_of(struct buf *out, void (*add)(struct buf *out, double v), double v, double of)
{
	struct buf first AUTO(buf_done) = BUF_MAX(64), second AUTO(buf_done) = BUF_MAX(64);

	add(&first, v);
	if (!isnan(of)) {
		add(&second, of);
		buf_add(out, buf_text(&first),
			length_without_unit(buf_text(&first), buf_text(&second)));
		buf_addf(out, " of %s", buf_text(&second));
	} else {
		buf_adds(out, buf_text(&first));
	}
}

void figure_cpus(struct buf *out, double cpus)
{
	figure_short(out, cpus);
	buf_adds(out, cpus > 0.999 && cpus < 1.001 ? " CPU" : " CPUs");
}

void figure_percent(struct buf *out, double ratio)
{
	double percent = 100 * ratio;

	if (isnan(ratio))
		buf_adds(out, UNKNOWN);
	else
		buf_addf(out, fabs(percent) < 9.95 && percent != 0 ? "%.1f %%" : "%.0f %%",
			percent);
}

void figure_change(struct buf *out, double from, double to)
{
	double percent = 100 * (to / from - 1);

	if (!isfinite(percent))
		return;
	buf_addf(out, "%s%.0f %%", percent >= 0.5 ? "+" : "", fabs(percent) < 0.5 ? 0 : percent);
}

double figure_time_seconds(const char *iso)
{
	struct tm at = {0};

	return iso && strptime(iso, "%Y-%m-%dT%H:%M:%S", &at) ? (double)timegm(&at) : (double)NAN;
}

void figure_time(struct buf *out, const char *iso)
{
	double seconds = figure_time_seconds(iso);
	time_t at = (time_t)seconds;
	struct tm local;
	char text[32];

	if (isnan(seconds) || !localtime_r(&at, &local) ||
		!strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local))
		buf_adds(out, UNKNOWN);
	else
		buf_adds(out, text);
}
