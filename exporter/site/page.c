#include "exporter/site/page.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* makes z_stream.next_in a pointer to const */
#include <zlib.h>

#include "collectors/base/mem.h"

static const struct page_file files[] = {
	{"/web/app.js", "text/javascript; charset=utf-8", &page_script},
	{"/web/app.css", "text/css; charset=utf-8", &page_style},
	{"/web/manual.css", "text/css; charset=utf-8", &page_manual_style},
	{"/web/icon.svg", "image/svg+xml", &page_icon},
};

const struct page_file *page_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (strcmp(path, files[i].path) == 0)
			return &files[i];
	return NULL;
}

void page_add(struct buf *out, const struct page_asset *a)
{
	AUTO(freep) char *plain = xmalloc(a->size + 1);
	/* For inflateInit2, 31 means the largest window (15) and a gzip header (+ 16). */
	z_stream z = {.next_in = a->gzip,
		.avail_in = (uInt)a->gzip_size,
		.next_out = (Bytef *)plain,
		.avail_out = (uInt)a->size};

	/* The build compressed the data, so a failure means that the program file is damaged. */
	if (inflateInit2(&z, 31) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	inflateEnd(&z);
	buf_add(out, plain, a->size);
}
