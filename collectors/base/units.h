/* Units of memory and storage, in bytes. Casts make integers of them. */
#ifndef COLLECTORS_BASE_UNITS_H
#define COLLECTORS_BASE_UNITS_H

#define MIB 1048576.0
#define GB  1e9

#endif
