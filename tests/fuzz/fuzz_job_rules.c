/* The input is a rules file, then a NUL, then the command line and the environment of a process. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "exporter/discovery/job_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *text = xmalloc(size + 1);
	struct job_rules *rules = NULL;
	struct rule_finding found;
	struct err e = {0};

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	size_t n = strlen(text), rest = n < size ? size - n - 1 : 0;

	if (job_rules_parse(&rules, "f", text, n, &e)) {
		assert(e.text[0]);
		return 0;
	}
	const struct process_facts facts = {
		.text = {.command_line = {text + size - rest, rest},
			.environment = {text + size - rest, rest}},
		.executable = {text + size - rest, rest},
		.user = "batch",
	};

	if (job_rules_match(rules, &facts, &found, NULL) && !found.ignored)
		assert(utf8_plain(found.is.job_name));
	job_rules_free(rules);
	return 0;
}
