/* The input is a process's command line up to two NULs, then its environment up to two NULs, then
 * its file. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "collectors/naming/recognise.h"
#include "collectors/naming/systems.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the next list of strings. Each string ends with a NUL, and the list ends at an empty
 * string. */
static struct slice next_strings(struct slice *rest)
{
	const char *end = rest->len ? memmem(rest->data, rest->len, "\0\0", 2) : NULL;
	size_t n = end ? (size_t)(end - rest->data) + 1 : rest->len;
	struct slice ret = {rest->data, n};

	rest->data += n;
	rest->len -= n;
	if (rest->len) {
		rest->data++;
		rest->len--;
	}
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *copy = xmalloc(size + 1);
	struct slice rest = {copy, size};
	struct recognised r;
	char path[300];

	if (size)
		memcpy(copy, data, size);
	struct process_text text = {.command_line = next_strings(&rest)};

	text.environment = next_strings(&rest);
	text.file = next_strings(&rest);
	text.pod = rest;
	for (size_t i = 0; recognise_file(&text, i, path, sizeof path); i++)
		assert(!strstr(path, ".."));
	recognise_is_exporter(text.command_line);
	recognise_is_wrapper(text.command_line);
	recognise_declares_helper(text.environment);
	recognise_is_variable(text.command_line);
	recognise_is_worker(text.command_line);
	for (size_t i = 0; naming_systems[i].name; i++)
		assert(utf8_plain(naming_systems[i].name));
	if (!recognise(&text, &r))
		return 0;
	assert(r.system && utf8_plain(r.job_name));
	assert(recognised_same(&r, &r));
	assert(r.n_labels <= JOB_LABELS_MAX);
	for (size_t i = 0; i < r.n_labels; i++)
		assert(utf8_plain(r.label[i].value));
	return 0;
}
