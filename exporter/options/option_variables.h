/*
 * The variables of the environment that stand for options: RIGHTSIZE_SAMPLE_INTERVAL for --sample.interval, and
 * RIGHTSIZE_COLLECTOR_X for --collector.X, with true or false.
 */
#ifndef EXPORTER_OPTION_VARIABLES_H
#define EXPORTER_OPTION_VARIABLES_H

#include "exporter/options/options.h"

#define COLLECTOR_PREFIX "collector."
#define OPTION_NAME_MAX  64
#define VARIABLE_MAX     (OPTION_NAME_MAX + 16)

/* The variable of the option or collector of this name. */
void variable_of(const char *name, char out[VARIABLE_MAX]);

/*
 * Says of each variable that begins with RIGHTSIZE_ and is no option, but much like that of one, which one is meant.
 * What is like none is left alone: Kubernetes sets variables for each of its services. One thread, while no other changes
 * the environment.
 */
void variables_check(enum command_bits command,
	void (*say)(const char *variable, const char *meant));

#endif
