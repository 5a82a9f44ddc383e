/* A log in memory, instead of exporter/core/log.c. Each line is "message key=value". Only the first
 * key and value of a message are recorded. For one thread at a time. */
#ifndef TESTS_SUPPORT_FAKE_LOG_H
#define TESTS_SUPPORT_FAKE_LOG_H

const char *fake_log(void);
void fake_log_clear(void);

#endif
