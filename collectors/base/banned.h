/* Library functions that must not be used: a use of one does not compile. Use scan.h, buf.h, err.h
 * and clock.h instead. CMake includes this header in every C file of the project. */
#ifndef COLLECTORS_BASE_BANNED_H
#define COLLECTORS_BASE_BANNED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat sprintf vsprintf strtok strtok_r atoi atol atoll atof sscanf gets
#pragma GCC poison strtol strtoul strtoll strtoull localtime gmtime strerror asctime ctime

#endif
