/* Writes log lines to stderr. Each line is written by one write(2), so that lines of several
 * programs do not mix. The exception is a line of more than PIPE_BUF bytes to a pipe, which is
 * split. The format is logfmt (ts=... level=... msg="..." key=value) or JSON. Any thread may log.
 * Library functions do not log: they return errors, and the main loops log them. Never log a
 * secret, an argv or an environment value. Lines that cannot be written, because stderr blocks, are
 * dropped. A later line tells how many. */
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

/* These functions make the URL of the server's page the first line of the log. After log_hold,
 * lines wait in memory until log_release writes them. log_first writes an INFO line before the
 * waiting lines. After an error, or when more than 64 KiB of lines wait, the waiting lines are
 * written at once. Later lines then do not wait. With --log.level=debug, no line waits. The caller
 * of log_hold must ensure that log_release is called even if the start of the program hangs. */
void log_hold(void);
void log_release(void);
void log_first(const char *message, ...) __attribute__((sentinel));

/* Writes `text` to stderr. If nothing could be written for `patience_ms` milliseconds (-1 = no
 * limit), drops the rest of `text` and returns false. Without a limit, this program could hang:
 * stderr may be a full pipe, and its reader may be stopped or wait for the end of this program. */
bool log_write(const char *text, size_t len, int patience_ms);

/* Limits a warning that would otherwise be logged again and again. Call log_complaint_due after
 * each failure: it returns true for the 1st, 10th, 100th, ... failure in a row. The caller then
 * logs the failure. Call log_complaint_over after each success: it returns true if there was a
 * failure before, and sets the count to 0. The caller then logs that the failures are over. */
struct complaint {
	unsigned long times;
};
bool log_complaint_due(struct complaint *c);
bool log_complaint_over(struct complaint *c);

#endif
