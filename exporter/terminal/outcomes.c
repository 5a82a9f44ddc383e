#include "exporter/terminal/outcomes.h"

#include <string.h>

#include "collectors/base/mem.h"

static const struct outcome_row rows[] = {
	{"succeeded", "ok", "ok", '.', STYLE_PLAIN}, {"failed", "failed", "failed", 'F', STYLE_BAD},
	{"oom_killed", "out of memory", "OOM", 'O', STYLE_BAD},
	{"interrupted", "interrupted", "interrupted", 'I', STYLE_WARN},
	{"running", "running", "running", 'R', STYLE_GOOD},
	{"unknown", "unknown", "unknown", '?', STYLE_PLAIN}, /* must be the last row */
};

const struct outcome_row *outcomes_find(const char *name)
{
	const struct outcome_row *row = rows;

	while (row < rows + ARRAY_LEN(rows) - 1 && strcmp(row->name, name) != 0)
		row++;
	return row;
}
