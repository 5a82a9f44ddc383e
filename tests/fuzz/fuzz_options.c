/* The input is the program's command line and environment. The first line is the command. Lines
 * that begin with "RIGHTSIZE_" are variables, and all others are arguments. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/options/options.h"
#include "tests/fuzz/fuzz.h"

#define WORDS_MAX 64

static enum command_bits command_of(const char *word)
{
	static const enum command_bits commands[] = {
		COMMAND_SERVE, COMMAND_RUN, COMMAND_QUERY, COMMAND_RULES};

	return commands[*word & 3];
}

static char *set_variable(char *line)
{
	char *equals = strchr(line, '=');

	if (!equals)
		return NULL;
	*equals = '\0';
	setenv(line, equals + 1, 1);
	return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *text = xmalloc(size + 1);
	char *next = text, *line, *argv[WORDS_MAX + 1], *variable[WORDS_MAX];
	size_t n = 0, n_variables = 0;
	struct options o = {0};
	struct err e = {0};

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	enum command_bits command = command_of(text);

	strsep(&next, "\n");
	while ((line = strsep(&next, "\n")) && n < WORDS_MAX && n_variables < WORDS_MAX) {
		if (strncmp(line, "RIGHTSIZE_", 10) != 0)
			argv[n++] = line;
		else if ((line = set_variable(line)))
			variable[n_variables++] = line;
	}
	argv[n] = NULL;
	if (options_read(&o, command, (int)n, argv, &e)) {
		assert(e.text[0]);
	} else {
		assert(o.telemetry_path[0] == '/');
		assert(!o.forward_url || !strchr(o.forward_url, '@'));
		assert(o.sample_interval >= 0.1 && o.sample_interval <= 3600);
		assert(o.history_max_size >= 1000000 || !(command & COMMAND_WATCH));
		assert(o.n_rest >= 0 && (size_t)o.n_rest <= n);
		assert(!o.rest || !o.rest[o.n_rest]);
	}
	options_done(&o);
	for (size_t i = 0; i < n_variables; i++)
		unsetenv(variable[i]);
	return 0;
}
