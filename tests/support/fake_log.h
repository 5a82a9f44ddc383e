/*
 * A log that is kept instead of printed: "message key=value" a line, the first pair only. Stands
 * in for exporter/core/log.c. One thread at a time.
 */
#ifndef TESTS_SUPPORT_FAKE_LOG_H
#define TESTS_SUPPORT_FAKE_LOG_H

const char *fake_log(void);
void fake_log_clear(void);

#endif
