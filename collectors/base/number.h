/* Reads numbers in kernel files: after a key at the start of a line (/proc/meminfo, memory.stat,
 * fdinfo), or in a row (statm). */
#ifndef COLLECTORS_BASE_NUMBER_H
#define COLLECTORS_BASE_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/scan.h"

/* Stands for a number that the file does not have. */
#define NUMBER_UNKNOWN UINT64_MAX

static inline double number_value(uint64_t v)
{
	return v == NUMBER_UNKNOWN ? NAN : (double)v;
}

/* Sets *value to `candidate` if that is larger. */
static inline void raise_to(uint64_t *value, uint64_t candidate)
{
	if (candidate > *value)
		*value = candidate;
}

/* Converts kB, as in /proc/meminfo, to bytes. Returns NUMBER_UNKNOWN if the result does not fit
 * into 64 bits. */
static inline uint64_t number_from_kib(uint64_t kib)
{
	return kib > (NUMBER_UNKNOWN - 1) / 1024 ? NUMBER_UNKNOWN : kib * 1024;
}

/* Finds the number of "key: 12", "key 12" or "key=12" at the start of a line. Returns false if
 * there is no number, for example if the value is "max". 2^64-1 is a valid number, too, although it
 * equals NUMBER_UNKNOWN. */
bool number_find(struct scan text, const char *key, uint64_t *ret);

/* Like number_find. Returns NaN if there is no number. */
static inline double number_found(struct scan text, const char *key)
{
	uint64_t v;

	return number_find(text, key, &v) ? (double)v : (double)NAN;
}

/* Reads fields of /proc/PID/stat into `ret`: from field 4 (STAT_FIELD_FIRST) to field `end` - 1.
 * ret[i] is field number i of proc(5). Negative values are stored as two's complement. The process
 * name may contain any bytes. Returns false if a field is missing; `ret` is then undefined. */
#define STAT_FIELD_FIRST 4
bool numbers_of_stat(struct scan text, uint64_t *ret, size_t end);

/* Finds the value of total= in the line "some" or "full" of a pressure file (PSI). Returns false if
 * there is none. */
bool number_pressure(struct scan text, const char *line, uint64_t *ret);

/* Reads up to `n` numbers that are separated by blanks. If the text has fewer numbers, the last
 * elements of `ret` stay unchanged. */
void numbers_read(struct scan text, uint64_t *ret, size_t n);

#endif
