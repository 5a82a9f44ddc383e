/* The scenario that is played, for the functions in fake_nvml_calls.c. */
#ifndef TESTS_SUPPORT_FAKE_NVML_PLAY_H
#define TESTS_SUPPORT_FAKE_NVML_PLAY_H

#include <stdbool.h>

struct device { /* a handle points to one; slice < 0: the whole GPU */
	int gpu, slice;
};

struct process {
	int gpu, slice;
	unsigned pid, mib, percent;
	char kind;
};

/* Takes the scenario from the environment, unless one was set. */
void fake_read_environment(void);

/* Returns the code to answer with at once, or 0 to go on. The lock is held until fake_leave. */
int fake_enter(const char *function, const struct device *d);
int fake_leave(int code);

/* Below, the lock is held. */
int fake_number(const char *key, int missing);
bool fake_value_is(const char *key, const char *word);
const char *fake_value(const char *key);
/* The next entry of "processes", from where its value was left; false at the end. */
bool fake_next_process(const char **at, struct process *ret);

#endif
