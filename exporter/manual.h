/* --help, --version, and the tables that the README shows: all printed from the tables of the program. */
#ifndef EXPORTER_MANUAL_H
#define EXPORTER_MANUAL_H

#include <stdbool.h>

/* Does the command line ask for the manual: --help or -h (before any "--"), --version, or the word manual? */
bool manual_wanted(int argc, char **argv);
int manual_main(int argc, char **argv);

#endif
