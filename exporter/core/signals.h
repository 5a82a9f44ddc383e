/* The signals that end the program: SIGTERM, SIGINT and SIGQUIT. signals_end sets `*ret` to these
 * signals. All threads block them; the main thread waits for them. If a second signal arrives
 * during the shutdown, the program ends without further waits. */
#ifndef EXPORTER_CORE_SIGNALS_H
#define EXPORTER_CORE_SIGNALS_H

#include <signal.h>

void signals_end(sigset_t *ret);

#endif
