/* Explains why the kernel hides processes of other users from this process, for error messages. */
#ifndef EXPORTER_CORE_CAPABILITIES_H
#define EXPORTER_CORE_CAPABILITIES_H

/* Call it when a process of another user cannot be read. If this thread lacks the capability
 * SYS_PTRACE or DAC_READ_SEARCH, that is the reason, and the function returns NULL. Otherwise
 * returns a text with the reason. */
const char *capabilities_not_enough(void);

#endif
