#include "exporter/core/counters.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "collectors/base/mem.h"

#define HANDLERS_MAX 64

/* HTTP statuses that are counted separately. All other statuses are counted together as "other". */
static const struct {
	int status;
	const char *code;
} codes[] = {{200, "200"}, {201, "201"}, {304, "304"}, {400, "400"}, {401, "401"}, {403, "403"},
	{404, "404"}, {405, "405"}, {409, "409"}, {413, "413"}, {415, "415"}, {422, "422"},
	{429, "429"}, {500, "500"}, {503, "503"}, {0, "other"}};

static struct {
	_Atomic(const char *) handler;
	atomic_uint_least64_t n[ARRAY_LEN(codes)];
} rows[HANDLERS_MAX];

static bool row_is(size_t i, const char *handler)
{
	const char *free_row = NULL;

	return atomic_compare_exchange_strong(&rows[i].handler, &free_row, handler) ||
	       strcmp(free_row, handler) == 0;
}

void counters_http_add(const char *handler, int status)
{
	size_t code = 0;

	while (code < ARRAY_LEN(codes) - 1 && codes[code].status != status)
		code++;
	for (size_t i = 0; i < HANDLERS_MAX; i++)
		if (row_is(i, handler)) {
			atomic_fetch_add_explicit(&rows[i].n[code], 1, memory_order_relaxed);
			return;
		}
}

void counters_http_each(void (*each)(void *context, const char *handler, const char *code,
				uint64_t n),
	void *context)
{
	for (size_t i = 0; i < HANDLERS_MAX; i++) {
		const char *handler = atomic_load(&rows[i].handler);

		for (size_t code = 0; handler && code < ARRAY_LEN(codes); code++) {
			uint64_t n = atomic_load_explicit(&rows[i].n[code], memory_order_relaxed);

			if (n)
				each(context, handler, codes[code].code, n);
		}
	}
}

static atomic_uint_least64_t not_plausible;

void counters_not_plausible_add(uint64_t n)
{
	atomic_fetch_add_explicit(&not_plausible, n, memory_order_relaxed);
}

uint64_t counters_not_plausible(void)
{
	return atomic_load_explicit(&not_plausible, memory_order_relaxed);
}

/* ---- discovery of runs ---- */

static const char *const found_names[FOUND_PROBLEMS] = {
	[FOUND_TOO_MANY_JOBS] = "too_many_jobs",
	[FOUND_NOT_FOLLOWED] = "not_followed",
	[FOUND_UNREADABLE] = "environment_unreadable",
	[FOUND_PATTERN_GAVE_UP] = "pattern_gave_up",
};

static atomic_uint_least64_t found_counts[FOUND_PROBLEMS];

const char *counters_found_name(enum found_problem p)
{
	return found_names[p];
}

void counters_found_add(enum found_problem p, uint64_t n)
{
	atomic_fetch_add_explicit(&found_counts[p], n, memory_order_relaxed);
}

uint64_t counters_found(enum found_problem p)
{
	return atomic_load_explicit(&found_counts[p], memory_order_relaxed);
}
