/* Process texts in the format of the kernel. */
#ifndef TESTS_SUPPORT_PROCESS_TEXTS_H
#define TESTS_SUPPORT_PROCESS_TEXTS_H

/* A struct slice of strings that each end with a NUL. The last NUL is the literal's. */
#define TEXT(literal)                                                                              \
	{                                                                                          \
		literal, sizeof(literal)                                                           \
	}

/* The same as initialisers of struct process_text. */
#define ENVIRON(literal)   .environment = TEXT(literal)
#define COMMAND(literal)   .command_line = TEXT(literal)
#define POD(literal)       .pod = TEXT(literal)
#define FILE_TEXT(literal) .file = TEXT(literal)

#endif
