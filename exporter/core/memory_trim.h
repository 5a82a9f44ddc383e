/* Sets up malloc, and gives unused memory back to the kernel. */
#ifndef EXPORTER_CORE_MEMORY_TRIM_H
#define EXPORTER_CORE_MEMORY_TRIM_H

/* Makes all threads share one heap, because a separate heap for each thread takes more memory. Call
 * it before threads start. */
void memory_trim_setup(void);

/* Gives back memory that is needed only while the program starts: free heap, and pages of program
 * code. This saves about 2 of 8 MiB. When the code of a page runs again, the kernel maps the page
 * again from the page cache. Breakpoints that a debugger has set in the code are lost. Call it
 * once. Other threads may run meanwhile. */
void memory_trim_start(void);

#endif
