/*
 * Log lines to stderr in logfmt (ts=... level=... msg="..." key=value) or JSON, one write each. Any
 * thread. Only the main loops log; libraries return errors. Never log a secret, an argv or an
 * environment value. When stderr blocks, lines are dropped; a later line reports their number.
 */
#ifndef EXPORTER_CORE_LOG_H
#define EXPORTER_CORE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

/* Call before threads start. Accepts the values of --log.level and --log.format. */
void log_setup(const char *level, const char *format);

/*
 * log_line(LOG_LEVEL_INFO, "listening", "address", a, NULL): a message, then pairs of key and value
 * texts. A NULL value leaves its pair out.
 */
void log_line(enum log_level level, const char *message, ...) __attribute__((sentinel));

/*
 * Writes text to stderr. The reader may be stopped or wait for our exit: after patience_ms without
 * progress (-1: wait forever) the rest is dropped and the result is false.
 */
bool log_write(const char *text, size_t len, int patience_ms);

/*
 * Rate limit of a warning that may repeat every tick. log_complaint_due is true for the 1st, 10th,
 * 100th, ... failure in a row. log_complaint_over ends the row; true when a warning was logged.
 */
struct complaint {
	unsigned long times;
};
bool log_complaint_due(struct complaint *c);
bool log_complaint_over(struct complaint *c);

#endif
