/* Explains why the kernel hides processes of other users from this process, for error messages. */
#ifndef EXPORTER_CORE_CAPABILITIES_H
#define EXPORTER_CORE_CAPABILITIES_H

/* Call it when a process of another user cannot be read. The usual reason is that this thread lacks
 * the capability SYS_PTRACE or DAC_READ_SEARCH: the function then returns NULL. If it has both,
 * returns a text with the other possible reasons. */
const char *capabilities_not_enough(void);

#endif
