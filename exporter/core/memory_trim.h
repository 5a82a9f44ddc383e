/* Sets up malloc, and gives unused memory back to the kernel. */
#ifndef EXPORTER_CORE_MEMORY_TRIM_H
#define EXPORTER_CORE_MEMORY_TRIM_H

/* Makes all threads share one heap, because a separate heap for each thread takes more memory. Call
 * it before threads start. */
void memory_trim_setup(void);

/* Call it once, after the start of the program. Gives memory that only the start needed back to the
 * kernel: free heap, and pages of program code. This saves about 2 of 8 MiB. If the code of a page
 * is needed again, the kernel reads the page from the page cache. Breakpoints that a debugger has
 * set in the code are lost. Other threads may run during the call. */
void memory_trim_start(void);

#endif
