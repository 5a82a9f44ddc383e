/* Sets up malloc, and returns unused memory to the system. */
#ifndef EXPORTER_CORE_MEMORY_TRIM_H
#define EXPORTER_CORE_MEMORY_TRIM_H

/* Call it before threads start. All threads share one heap, because a heap per thread would only
 * cost memory. */
void memory_trim_setup(void);

/* Returns memory that only the start needed: free heap, and pages of code. Code that runs again is
 * mapped again from the page cache. This saves about 2 MiB of 8 MiB. Breakpoints of a debugger are
 * lost. Call it once, on any thread, also while other threads run. */
void memory_trim_start(void);

#endif
