/* A log in memory, instead of exporter/core/log.c. Each line is "message key=value", with the first
 * pair only. For one thread at a time. */
#ifndef TESTS_SUPPORT_FAKE_LOG_H
#define TESTS_SUPPORT_FAKE_LOG_H

const char *fake_log(void);
void fake_log_clear(void);

#endif
