/* A list of texts. The list owns neither the array nor the texts. */
#ifndef COLLECTORS_BASE_TEXT_LIST_H
#define COLLECTORS_BASE_TEXT_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct text_list {
	size_t n; /* 0 = nothing was given */
	const char *const *text;
};

/* True when text is in the list, ignoring case. */
bool text_list_has(const struct text_list *list, const char *text);

#endif
