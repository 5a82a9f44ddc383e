#include "exporter/text/line_wrap.h"

#include <string.h>

void line_wrap_add(struct buf *out, const char *text, size_t indent)
{
	size_t column = indent;

	buf_addf(out, "%*s", (int)indent, "");
	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > indent && column + 1 + word > WRAP_COLUMNS) {
			buf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, text, word);
		column += word;
		text += word + (text[word] == ' ');
	}
	buf_addc(out, '\n');
}
