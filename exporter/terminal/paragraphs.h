/* Sentences below a table, wrapped to the screen. */
#ifndef EXPORTER_TERMINAL_PARAGRAPHS_H
#define EXPORTER_TERMINAL_PARAGRAPHS_H

#include <stddef.h>

#include <jansson.h>

#include "collectors/base/buf.h"
#include "exporter/terminal/screen.h"

/* Appends a text, wrapped. */
void paragraphs_text(struct buf *out, const struct screen *s, const char *text);
/* Appends "NAME           text": the text begins after 15 columns, and so do its other lines. */
void paragraphs_line(struct buf *out, const struct screen *s, const char *name, const char *text);
/* Appends the warnings of an answer, one paragraph each, at most `most` of them. */
void paragraphs_warnings(struct buf *out, const json_t *answer, const struct screen *s,
	size_t most);
/* Appends a server with its place and the properties of its price: "m6i.xlarge, aws us-east-1,
 * spot". */
void paragraphs_server(struct buf *out, const json_t *server);
/* Appends the day of the prices and the exchange rates that they were converted with. */
void paragraphs_prices(struct buf *out, const json_t *answer, const struct screen *s,
	const char *currency);
/* Appends the notes of an answer about servers. */
void paragraphs_notes(struct buf *out, const json_t *answer, const struct screen *s);
/* Appends a paragraph for each alternative of an answer about servers, at most `most` of them: its
 * saving and its condition. The last one says how many more there are. */
void paragraphs_alternatives(struct buf *out, const json_t *answer, const struct screen *s,
	size_t most);
/* Appends "rightsize-exporter WORDS --job-name=NAME", quoted for the shell, with the job's namespace and
 * cluster. `job`: collectors/base/job_key.h; "" = no job. */
void paragraphs_command(struct buf *out, const char *words, const char *job);
/* Appends the command that says more: "Next: rightsize-exporter WORDS --job-name=NAME". `job`:
 * an object with job_name. */
void paragraphs_next(struct buf *out, const struct screen *s, const char *words, const json_t *job);

#endif
