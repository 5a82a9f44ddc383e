/* Settings of malloc, and the return of unused memory to the system. */
#ifndef EXPORTER_CORE_MEMORY_TRIM_H
#define EXPORTER_CORE_MEMORY_TRIM_H

/*
 * Call before threads start. All threads share one heap: a heap per thread would only cost memory.
 */
void memory_trim_setup(void);

/*
 * Returns memory that only the start needed: free heap, and pages of code. Code that runs again is
 * mapped again from the page cache. Saves about 2 MiB of 8. Breakpoints of a debugger are lost.
 * Any thread, once; others may run.
 */
void memory_trim_start(void);

#endif
