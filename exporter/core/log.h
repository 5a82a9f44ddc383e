/* Writes log lines to stderr, each with a single write. The format is logfmt (ts=... level=...
 * msg="..." key=value) or JSON. Any thread may log, but only the main loops do: libraries return
 * errors. Never log a secret, an argv or an environment value. When stderr blocks, lines are
 * dropped, and a later line reports how many. */
#ifndef EXPORTER_CORE_LOG_H
#define EXPORTER_CORE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

/* Sets the values of --log.level and --log.format. Call it before threads start. */
void log_setup(const char *level, const char *format);

/* Logs a message, then pairs of key and value texts: log_line(LOG_LEVEL_INFO, "listening",
 * "address", a, NULL). A pair with a NULL value is left out. */
void log_line(enum log_level level, const char *message, ...) __attribute__((sentinel));

/* Writes `text` to stderr. The reader of stderr may be stopped, or may wait for our exit. If
 * nothing could be written for `patience_ms` (-1 = no limit), drops the rest of `text` and returns
 * false. */
bool log_write(const char *text, size_t len, int patience_ms);

/* Limits a warning that would otherwise repeat at every tick. log_complaint_due counts a failure.
 * It returns true for the 1st, 10th, 100th, ... failure without a success in between. Call
 * log_complaint_over after a success. It resets the count, and returns true if there was a failure
 * before, so that the success can be logged. */
struct complaint {
	unsigned long times;
};
bool log_complaint_due(struct complaint *c);
bool log_complaint_over(struct complaint *c);

#endif
