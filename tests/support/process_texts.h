/* Texts of processes, as the kernel keeps them. */
#ifndef TESTS_SUPPORT_PROCESS_TEXTS_H
#define TESTS_SUPPORT_PROCESS_TEXTS_H

/* A struct slice of strings that each end in NUL; the last one's is the literal's own. */
#define TEXT(literal)                                                                              \
	{                                                                                          \
		literal, sizeof(literal)                                                           \
	}

/* The same as a field of struct process_text. */
#define ENVIRON(literal)   .environment = TEXT(literal)
#define COMMAND(literal)   .command_line = TEXT(literal)
#define POD(literal)       .pod = TEXT(literal)
#define FILE_TEXT(literal) .file = TEXT(literal)

#endif
