/* The signals that end the program: SIGTERM, SIGINT and SIGQUIT. All threads block them. If a
 * second signal arrives during the shutdown, the shutdown stops waiting for anything. signals_end
 * fills `ret` with these signals. */
#ifndef EXPORTER_CORE_SIGNALS_H
#define EXPORTER_CORE_SIGNALS_H

#include <signal.h>

void signals_end(sigset_t *ret);

#endif
