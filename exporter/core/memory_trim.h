/* How memory is taken from the system, and given back. */
#ifndef EXPORTER_CORE_MEMORY_TRIM_H
#define EXPORTER_CORE_MEMORY_TRIM_H

/* Before any thread but the first: one heap for the few threads there are; one for each would cost memory and gain nothing. */
void memory_trim_setup(void);

/*
 * Memory that only the start needed, given back: freed heap, and pages of programs and libraries that hold code alone.
 * Whatever of that runs again is mapped again as it runs, from the page cache: the kernel would do the same if it were
 * short of memory, but counts them as ours until then. About 2 MiB of 8.
 *
 * A breakpoint that a debugger has set by then is lost. Any thread, once; others may run.
 */
void memory_trim_start(void);

#endif
