/* Sets up malloc, and gives unused memory back to the kernel. */
#ifndef EXPORTER_CORE_MEMORY_TRIM_H
#define EXPORTER_CORE_MEMORY_TRIM_H

/* Makes all threads share one heap, because a separate heap for each thread takes more memory. Call
 * it before threads start. */
void memory_trim_setup(void);

/* Gives back memory that is needed only while the program starts: free heap, and pages of program
 * code. If code runs again, the kernel maps its pages again from the page cache. This saves about 2
 * MiB of 8 MiB. A debugger's breakpoints are lost. Call it once. Any thread may call it while other
 * threads run. */
void memory_trim_start(void);

#endif
