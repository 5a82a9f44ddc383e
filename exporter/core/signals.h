/* SIGTERM, SIGINT and SIGQUIT end the program. All threads block these signals. A second signal
 * during the shutdown ends the waits of the shutdown. */
#ifndef EXPORTER_CORE_SIGNALS_H
#define EXPORTER_CORE_SIGNALS_H

#include <signal.h>

void signals_end(sigset_t *ret);

#endif
