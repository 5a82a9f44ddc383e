/* Tells why the kernel hides processes of other users from this process. */
#ifndef EXPORTER_CORE_CAPABILITIES_H
#define EXPORTER_CORE_CAPABILITIES_H

/* Returns why a process of another user cannot be read although this thread has the capabilities
 * SYS_PTRACE and DAC_READ_SEARCH. Returns NULL if the thread lacks one of them. */
const char *capabilities_not_enough(void);

#endif
