/*
 * Counters of the HTTP requests answered, for rightsize_http_requests_total. Any thread.
 */
#ifndef EXPORTER_HTTP_COUNT_H
#define EXPORTER_HTTP_COUNT_H

#include <stdint.h>

/* handler is the path of what answered, one of a few, and must live as long as the program. */
void http_count(const char *handler, int status);

/* Calls each for every pair that was counted at least once. */
void http_count_each(void (*each)(void *context, const char *handler, const char *code, uint64_t n),
	void *context);

#endif
