/* Names of variables, and slips in them. */
#include "exporter/options/option_variables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/collector.h"
#include "exporter/text/suggest.h"

#define PREFIX "RIGHTSIZE_"

void variable_of(const char *name, char out[VARIABLE_MAX])
{
	size_t n = strlen(PREFIX);

	text_copy(PREFIX, out, VARIABLE_MAX);
	for (; *name && n < VARIABLE_MAX - 1; name++)
		out[n++] =
			(char)(isalnum((unsigned char)*name) ? toupper((unsigned char)*name) : '_');
	out[n] = '\0';
}

struct variable {
	char name[VARIABLE_MAX];
	unsigned commands; /* that read it as an option */
};

struct variables {
	struct variable *variable;
	size_t n, room;
};

static void add(struct variables *v, const char *name, unsigned commands)
{
	GROW(v->variable, v->n, v->room);
	variable_of(name, v->variable[v->n].name);
	v->variable[v->n++].commands = commands;
}

/* Of all options of whatever command, of all collectors, and what names the job of a process. */
static struct variables all_variables(void)
{
	static const char *const of_jobs[] = {"job_name", "run_id", "attempt", "input_bytes"};
	struct variables ret = {0};
	struct option_view option;

	for (size_t i = 0; option_at(i, &option); i++)
		add(&ret, option.name, option.commands);
	for (size_t i = 0; all_collectors[i]; i++) {
		char name[OPTION_NAME_MAX];

		snprintf(name, sizeof name, COLLECTOR_PREFIX "%s", all_collectors[i]->name);
		add(&ret, name, COMMAND_WATCH);
	}
	for (size_t i = 0; i < ARRAY_LEN(of_jobs); i++)
		add(&ret, of_jobs[i], 0);
	return ret;
}

static bool is_known(const struct variables *v, const char *name)
{
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->variable[i].name, name) == 0)
			return true;
	return false;
}

void variables_check(enum command_bits command,
	void (*say)(const char *variable, const char *meant))
{
	const size_t prefix = strlen(PREFIX);
	struct variables all = all_variables();
	const char **names = xcalloc(all.n + 1, sizeof *names), *slip;
	char given[VARIABLE_MAX];
	size_t n = 0;

	for (size_t i = 0; i < all.n; i++)
		if (all.variable[i].commands & command)
			names[n++] = all.variable[i].name + prefix;
	for (char **entry = environ; *entry; entry++) {
		slice_copy((struct slice){*entry, strcspn(*entry, "=")}, given, sizeof given);
		if (strncmp(given, PREFIX, prefix) != 0 || is_known(&all, given))
			continue;
		slip = closest_slip(given + prefix, names, n);
		if (slip)
			say(given, slip - prefix);
	}
	free(names);
	free(all.variable);
}
