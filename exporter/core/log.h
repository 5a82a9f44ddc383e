/*
 * Log lines to stderr in logfmt (ts=... level=... msg="..." key=value) or JSON, one write each. Any thread.
 * Only the loops that decide what happens next log; libraries return errors. Never log a secret, an argv or
 * an environment value. A line that nobody takes is dropped, and the next one that is taken says how many were.
 */
#ifndef EXPORTER_CORE_LOG_H
#define EXPORTER_CORE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

/* Before threads start. Names as --log.level and --log.format accept them. */
void log_setup(const char *level, const char *format);

/*
 * log_line(LOG_LEVEL_INFO, "listening", "address", a, NULL): a message, then pairs of key and value texts. A NULL
 * value leaves its pair out.
 */
void log_line(enum log_level level, const char *message, ...) __attribute__((sentinel));

/*
 * On stderr, in one write where it is short. Whoever reads there may have stopped, or read on only when this program has
 * ended: after so many milliseconds (-1: never) without room for more the rest is dropped, and false.
 */
bool log_write(const char *text, size_t len, int patience_ms);

/*
 * For complaints that may repeat every tick: true when this one is to be said. Says the 1st, then backs off:
 * the 10th, 100th, ... in a row. log_complaint_over: it works again (true when something had been said).
 */
struct complaint {
	unsigned long times;
};
bool log_complaint_due(struct complaint *c);
bool log_complaint_over(struct complaint *c);

#endif
