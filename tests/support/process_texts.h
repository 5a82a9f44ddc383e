/* Process texts in the format of the kernel. */
#ifndef TESTS_SUPPORT_PROCESS_TEXTS_H
#define TESTS_SUPPORT_PROCESS_TEXTS_H

/* Initialises a struct slice with strings that each end with a NUL. C adds the last NUL to the
 * literal. */
#define TEXT(literal)                                                                              \
	{                                                                                          \
		literal, sizeof(literal)                                                           \
	}

/* Initialise the members of a struct process_text. */
#define ENVIRON(literal)   .environment = TEXT(literal)
#define COMMAND(literal)   .command_line = TEXT(literal)
#define POD(literal)       .pod = TEXT(literal)
#define FILE_TEXT(literal) .file = TEXT(literal)

#endif
