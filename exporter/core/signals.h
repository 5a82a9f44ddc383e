/*
 * The signals that ask this program to end. All threads block them; a second one, while the program ends, means that nobody
 * waits any longer.
 */
#ifndef EXPORTER_CORE_SIGNALS_H
#define EXPORTER_CORE_SIGNALS_H

#include <signal.h>

void signals_end(sigset_t *ret);

#endif
