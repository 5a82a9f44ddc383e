/*
 * Calls that do not compile here: each has a safe counterpart in this folder. Forced into every file
 * of ours by CMake.
 */
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
