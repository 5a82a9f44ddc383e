#include "exporter/core/times.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "collectors/base/mem.h"

#define MINUTE  60.0
#define HOUR    3600.0
#define DAY     86400.0
#define LARGEST 1e12 /* numbers from here on are rejected: no run lasts that long, in any unit */

/* Reads exactly `digits` digits. */
static bool number(struct scan *s, int digits, int *ret)
{
	int v = 0;

	if (s->end - s->at < digits)
		return false;
	for (int i = 0; i < digits; i++) {
		if (s->at[i] < '0' || s->at[i] > '9')
			return false;
		v = 10 * v + (s->at[i] - '0');
	}
	s->at += digits;
	*ret = v;
	return true;
}

static double fraction(struct scan *s)
{
	double v = 0, unit = 0.1;

	if (!scan_char(s, '.') && !scan_char(s, ','))
		return 0;
	for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++, unit /= 10)
		v += unit * (*s->at - '0');
	return v;
}

/* Reads a time zone. Sets `*local` to true when the text has none. */
static bool zone(struct scan *s, double *offset, bool *local)
{
	int hours, minutes = 0;
	bool west = s->at < s->end && *s->at == '-';

	*offset = 0;
	*local = scan_end(s);
	if (*local || scan_char(s, 'Z'))
		return true;
	if (!(scan_char(s, '+') || scan_char(s, '-')) || !number(s, 2, &hours))
		return false;
	scan_char(s, ':');
	if (!scan_end(s) && !number(s, 2, &minutes))
		return false;
	*offset = (west ? -1 : 1) * (hours * HOUR + minutes * MINUTE);
	return hours <= 24 && minutes < 60;
}

double times_read(struct slice text)
{
	struct scan s = scan_slice(text);
	struct tm at = {.tm_isdst = -1};
	double part, offset;
	bool local;

	if (!number(&s, 4, &at.tm_year) || !scan_char(&s, '-') || !number(&s, 2, &at.tm_mon) ||
		!scan_char(&s, '-') || !number(&s, 2, &at.tm_mday) ||
		!(scan_char(&s, 'T') || scan_char(&s, ' ')) || !number(&s, 2, &at.tm_hour) ||
		!scan_char(&s, ':') || !number(&s, 2, &at.tm_min) || !scan_char(&s, ':') ||
		!number(&s, 2, &at.tm_sec))
		return NAN;
	part = fraction(&s);
	if (!zone(&s, &offset, &local) || !scan_end(&s) || at.tm_mon < 1 || at.tm_mon > 12 ||
		at.tm_mday < 1 || at.tm_mday > 31 || at.tm_hour > 23 || at.tm_min > 59 ||
		at.tm_sec > 60 || at.tm_year < 1970)
		return NAN;
	at.tm_year -= 1900;
	at.tm_mon -= 1;
	return (double)(local ? mktime(&at) : timegm(&at)) + part - offset;
}

double times_read_clock(struct slice text)
{
	struct scan s = scan_slice(text), days = s;
	double part[3], seconds = 0;
	uint64_t whole = 0;
	size_t n = 0;

	if (scan_u64(&days, &whole) && scan_char(&days, '-'))
		s = days;
	else
		whole = 0;
	do {
		if (n == ARRAY_LEN(part) || s.at == s.end || *s.at < '0' || *s.at > '9' ||
			!scan_double(&s, &part[n]) || !(part[n] < LARGEST))
			return NAN;
		seconds = 60 * seconds + part[n++];
	} while (scan_char(&s, ':'));
	if (!scan_end(&s) || n < 2 || !((double)whole < LARGEST))
		return NAN;
	return (double)whole * DAY + seconds;
}

double times_read_units(struct slice text)
{
	static const struct {
		const char *suffix;
		double seconds;
	} units[] = {{"ms", 0.001}, {"s", 1}, {"m", MINUTE}, {"h", HOUR}, {"d", DAY}};
	struct scan s = scan_slice(text);
	double seconds = 0, v;

	if (text.len == 0)
		return NAN;
	while (!scan_end(&s)) {
		size_t i = 0;

		if (!scan_double(&s, &v) || !(v >= 0 && v < LARGEST))
			return NAN;
		while (i < ARRAY_LEN(units) && !scan_literal(&s, units[i].suffix))
			i++;
		if (i == ARRAY_LEN(units))
			return NAN;
		seconds += v * units[i].seconds;
		scan_blanks(&s);
	}
	return seconds;
}
