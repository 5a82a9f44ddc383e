/* Sentences below a table, wrapped to the screen. */
#ifndef EXPORTER_TERMINAL_PARAGRAPHS_H
#define EXPORTER_TERMINAL_PARAGRAPHS_H

#include <stddef.h>

#include <jansson.h>

#include "collectors/base/buf.h"
#include "exporter/terminal/screen.h"

/* Appends a text, wrapped. */
void paragraphs_text(struct buf *out, const struct screen *s, const char *text);
/* Appends "NAME text". All lines of the text begin after 15 columns. */
void paragraphs_line(struct buf *out, const struct screen *s, const char *name, const char *text);
/* Appends a paragraph for each warning of an answer, at most `most` of them. */
void paragraphs_warnings(struct buf *out, const json_t *answer, const struct screen *s,
	size_t most);
/* Appends a server with its vendor, its region and the kind of its price: "m6i.xlarge, aws
 * us-east-1, spot". */
void paragraphs_server(struct buf *out, const json_t *server);
/* Appends the date of the prices of an answer, and the exchange rates with which the prices were
 * converted to `currency`. */
void paragraphs_prices(struct buf *out, const json_t *answer, const struct screen *s,
	const char *currency);
/* Appends the notes of an answer about servers. */
void paragraphs_notes(struct buf *out, const json_t *answer, const struct screen *s);
/* Appends a paragraph for each of the first `most` alternatives in an answer about servers: its
 * saving and its condition. Then appends how many more alternatives there are. */
void paragraphs_alternatives(struct buf *out, const json_t *answer, const struct screen *s,
	size_t most);
/* Appends the command line "rightsize-exporter WORDS --job-name=NAME", quoted for the shell, with
 * flags for the job's namespace and cluster. `job` is a key (collectors/base/job_key.h); "" = no
 * job. */
void paragraphs_command(struct buf *out, const char *words, const char *job);
/* Appends a command that tells more about the job: "Next: rightsize-exporter WORDS
 * --job-name=NAME". `job` is a JSON object with job_name, namespace and cluster. */
void paragraphs_next(struct buf *out, const struct screen *s, const char *words, const json_t *job);

#endif
