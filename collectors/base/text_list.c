#include "collectors/base/text_list.h"

#include <strings.h>

bool text_list_has(const struct text_list *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcasecmp(list->text[i], text) == 0)
			return true;
	return false;
}
