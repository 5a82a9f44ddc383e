/* Reads runs as the command export prints them: each line is a message of POST /runs. */
#include "exporter/import/import.h"
#include "exporter/import/text_lines.h"

static int read_line(const struct import_input *in, struct slice line, uint64_t number,
	struct err *e)
{
	return in->sink.run(in->sink.context, number, line.data, line.len, e);
}

int import_run_lines(const struct import_input *in, struct err *e)
{
	return text_lines_read(in, read_line, e);
}
