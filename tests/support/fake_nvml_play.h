/* The scenario, for the functions in fake_nvml_calls.c. */
#ifndef TESTS_SUPPORT_FAKE_NVML_PLAY_H
#define TESTS_SUPPORT_FAKE_NVML_PLAY_H

#include <stdbool.h>

struct device { /* NVML's handles point to this struct; slice < 0 = whole GPU */
	int gpu, slice;
};

struct process {
	int gpu, slice;
	unsigned pid, mib, percent;
	char kind;
};

struct taken_sample { /* of GPU 0, added by fake_nvml_sample() */
	unsigned pid, percent;
	unsigned long long at_us; /* microseconds since the Unix epoch */
};

/* Reads the scenario from the environment, unless a test has set one. */
void fake_read_environment(void);

/* Begins an NVML function, and takes the lock. If the result is not 0, the function must end with
 * this code at once. fake_leave() ends the function: it releases the lock and returns `code`. */
int fake_enter(const char *function, const struct device *d);
int fake_leave(int code);

/* Functions that read the scenario. The caller holds the lock. */
int fake_number(const char *key, int missing);
bool fake_value_is(const char *key, const char *word);
const char *fake_value(const char *key);
/* Reads the next entry of "processes" and moves `at` behind it. Returns false at the end. */
bool fake_next_process(const char **at, struct process *ret);
/* Returns the samples, oldest first. */
const struct taken_sample *fake_samples(unsigned *ret_n);

#endif
