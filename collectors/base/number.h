/*
 * Numbers in texts of the kernel: after a key at the start of a line (/proc/meminfo, memory.stat, fdinfo), or one after the
 * other (statm).
 */
#ifndef COLLECTORS_BASE_NUMBER_H
#define COLLECTORS_BASE_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/scan.h"

/* A number that the kernel did not give. */
#define NUMBER_UNKNOWN UINT64_MAX

static inline double number_value(uint64_t v)
{
	return v == NUMBER_UNKNOWN ? NAN : (double)v;
}

/* Raises *value to candidate; never lowers it. */
static inline void raise_to(uint64_t *value, uint64_t candidate)
{
	if (candidate > *value)
		*value = candidate;
}

/* kB of /proc/meminfo and the like as bytes; unknown where that is more than 64 bits hold. */
static inline uint64_t number_from_kib(uint64_t kib)
{
	return kib > (NUMBER_UNKNOWN - 1) / 1024 ? NUMBER_UNKNOWN : kib * 1024;
}

/* Value of "key: 12", "key 12" or "key=12" at the start of a line. */
uint64_t number_find(struct scan text, const char *key);

/*
 * Fields of a /proc/PID/stat, by their numbers in proc(5), from the fourth on and before end; negative ones as two's complement. The name,
 * which may be anything, is passed over. False: they are not all there, and ret holds any.
 */
#define STAT_FIELD_FIRST 4
bool numbers_of_stat(struct scan text, uint64_t *ret, size_t end);

/* total= in the line that begins with this word, "some" or "full", of a file about pressure (PSI). */
uint64_t number_pressure(struct scan text, const char *line);

/* The first n numbers of a text, with blanks between; those that are not there stay as they are in ret. */
void numbers_read(struct scan text, uint64_t *ret, size_t n);

#endif
