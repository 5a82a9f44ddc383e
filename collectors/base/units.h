/* Units of memory and storage in bytes. Cast them to get integers. */
#ifndef COLLECTORS_BASE_UNITS_H
#define COLLECTORS_BASE_UNITS_H

#define MIB 1048576.0
#define GB  1e9

#endif
