/* SIGTERM, SIGINT and SIGQUIT end the program. All threads block these signals. If a second signal
 * arrives during the shutdown, the shutdown stops waiting for anything. */
#ifndef EXPORTER_CORE_SIGNALS_H
#define EXPORTER_CORE_SIGNALS_H

#include <signal.h>

void signals_end(sigset_t *ret);

#endif
