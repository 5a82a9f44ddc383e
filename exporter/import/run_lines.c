/* Reads runs as the command export prints them: each line is a message of POST /runs. A message may
 * also have several lines, as GET /runs prints it: the first has only its opening bracket, and the
 * last only its closing bracket. */
#include <errno.h>
#include <string.h>

#include "exporter/forward/run_message.h"
#include "exporter/import/import.h"
#include "exporter/import/text_lines.h"

/* The lines so far of a message with several lines. */
struct open_message {
	struct buf text;
	uint64_t first; /* number of its first line; 0 = no message is open */
};

static bool is_bracket(struct slice line, const char *brackets)
{
	return line.len == 1 && strchr(brackets, line.data[0]);
}

/* Reports a message that has no closing bracket. The lines after it are read. */
static void drop_open(const struct import_input *in, struct open_message *m)
{
	in->sink.wrong(in->sink.context, m->first, "the message has no end");
	buf_reset(&m->text);
	m->first = 0;
}

static int read_line(const struct import_input *in, struct slice line, uint64_t number,
	void *context, struct err *e)
{
	struct open_message *m = context;

	/* A run on one line is no part of a message with several lines, whose inner lines are
	 * indented. */
	if (m->first && line.len > 1 && line.data[0] == '{')
		drop_open(in, m);
	if (!m->first && !is_bracket(line, "{["))
		return in->sink.run(in->sink.context, number, line.data, line.len, e);
	if (!m->first)
		m->first = number;
	buf_add(&m->text, line.data, line.len);
	buf_addc(&m->text, '\n');
	if (!is_bracket(line, "}]"))
		return 0;
	int code = m->text.full ? err_set(e, -EINVAL, "accepted are runs of at most %u bytes",
					  RUN_MESSAGE_MAX) :
				  in->sink.run(in->sink.context, m->first, buf_text(&m->text),
					  m->text.len, e);

	buf_reset(&m->text);
	m->first = 0;
	return code;
}

int import_run_lines(const struct import_input *in, struct err *e)
{
	struct open_message m = {.text = BUF_MAX(RUN_MESSAGE_MAX)};
	int code = text_lines_read(in, read_line, &m, e);

	if (code == 0 && m.first)
		drop_open(in, &m);
	buf_done(&m.text);
	return code;
}
