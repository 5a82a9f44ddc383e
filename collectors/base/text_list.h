/* A list of texts. The list owns neither the array nor the texts. */
#ifndef COLLECTORS_BASE_TEXT_LIST_H
#define COLLECTORS_BASE_TEXT_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct text_list {
	size_t n; /* 0 = the list is empty */
	const char *const *text;
};

/* Returns true if `text` is in the list. Upper and lower case are equal. */
bool text_list_has(const struct text_list *list, const char *text);

#endif
