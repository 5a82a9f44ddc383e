/* The input is the output of `rules capture`. The target reads it and prints it again. The second
 * output must be read like the first. */
#include <assert.h>
#include <string.h>

#include "exporter/cli/process_dump.h"
#include "tests/fuzz/fuzz_file.h"

static void again(void *context, const struct process_facts *facts)
{
	json_t *list = context, *one = process_dump_json(facts, NULL);

	assert(memchr(facts->user, '\0', sizeof facts->user));
	assert(memchr(facts->container, '\0', sizeof facts->container));
	json_array_append_new(list, one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *document = json_object(), *first = json_array(), *second = json_array();
	struct err e = {0};

	fuzz_file_write(data, size);
	json_object_set(document, "processes", first);
	if (process_dump_read(fuzz_path, 0, again, first, &e) == 0) {
		char *text = json_dumps(document, 0);

		assert(text);
		fuzz_file_write(text, strlen(text));
		free(text);
		assert(process_dump_read(fuzz_path, 0, again, second, &e) == 0);
		assert(json_equal(first, second));
	} else {
		assert(e.text[0]);
	}
	process_dump_read(fuzz_path, 7, again, second, &e);
	json_decref(second);
	json_decref(first);
	json_decref(document);
	return 0;
}
