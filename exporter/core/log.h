/* Writes log lines to stderr, each with a single write. Only a line of more than PIPE_BUF bytes is
 * written to a pipe in several writes. The format is logfmt (ts=... level=... msg="..." key=value)
 * or JSON. Any thread may log. Libraries do not log; they return errors, and the main loops log
 * them. Never log a secret, an argv or an environment value. When stderr blocks, lines are dropped,
 * and a later line reports how many. */
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

/* After log_hold, lines wait until log_release writes them. log_first writes an INFO line ahead of
 * the waiting lines, so that a person who starts the server first reads the URL of its page. An
 * error, or more than 64 KiB of waiting lines, ends the wait early. With --log.level=debug no line
 * waits. The caller of log_hold must call log_release even if the start hangs. */
void log_hold(void);
void log_release(void);
void log_first(const char *message, ...) __attribute__((sentinel));

/* Writes `text` to stderr. If nothing could be written for `patience_ms` (-1 = no limit), drops the
 * remaining bytes of `text` and returns false. The limit is needed because the program that reads
 * stderr may be stopped, or may wait until this process exits. */
bool log_write(const char *text, size_t len, int patience_ms);

/* Limits a warning that would otherwise repeat at every tick. log_complaint_due counts a failure.
 * It returns true for the 1st, 10th, 100th, ... failure in a row. log_complaint_over must be called
 * after a success. It sets the count to 0. It returns true if there was a failure before, so that
 * the caller can log the success. */
struct complaint {
	unsigned long times;
};
bool log_complaint_due(struct complaint *c);
bool log_complaint_over(struct complaint *c);

#endif
