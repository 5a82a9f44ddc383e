/* this_server_now() returns this value in tests. If all members are empty, the server is
 * unknown. */
#ifndef TESTS_SUPPORT_FAKE_MACHINE_H
#define TESTS_SUPPORT_FAKE_MACHINE_H

#include "exporter/this_server/this_server.h"

extern struct machine fake_machine;

#endif
