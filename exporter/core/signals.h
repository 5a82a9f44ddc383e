/*
 * SIGTERM, SIGINT and SIGQUIT end the program. All threads block them. A second one during the
 * shutdown cuts the waiting short.
 */
#ifndef EXPORTER_CORE_SIGNALS_H
#define EXPORTER_CORE_SIGNALS_H

#include <signal.h>

void signals_end(sigset_t *ret);

#endif
