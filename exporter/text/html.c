#include "exporter/text/html.h"

#include <string.h>

void html_add(struct buf *out, const char *s)
{
	for (; *s; s++)
		if (strchr("<>&\"'", *s))
			buf_addf(out, "&#%d;", *s);
		else
			buf_addc(out, *s);
}
