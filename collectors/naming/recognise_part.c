/* Of texts that hold more than names, what the table of systems reads of them. */
#include <string.h>

#include "collectors/base/utf8.h"
#include "collectors/naming/recognise_private.h"

/* What is longer is cut anyway before it is shown. */
#define PART_MAX 1000

static void add_json(const struct from *f, const char *value, struct buf *out)
{
	buf_addf(out, "{\"%s\":\"%s\"}", f->member, value);
}

static void add_line(const struct from *f, const char *value, struct buf *out)
{
	struct slice begin = {f->text, strlen(f->text)};

	buf_addf(out, "%s%s%s\n", f->text, value, ends_in(begin, "'") ? "'" : "");
}

/* Of all sources of this kind that have something. */
static void add_parts(const struct words *w, enum from_kind kind,
	void (*add)(const struct from *f, const char *value, struct buf *out), struct buf *out)
{
	char text[PART_MAX + 32];

	for (const struct job_system *s = job_systems; s->name; s++)
		for (size_t i = 0; i < WORDS_MAX * SOURCES_MAX; i++) {
			const struct from *f = &s->words[i / SOURCES_MAX].from[i % SOURCES_MAX];
			struct slice value =
				f->kind == kind ? words_source(w, f) : (struct slice){NULL, 0};

			if (value.len &&
				utf8_clean(value.data, value.len, text, sizeof text) <= PART_MAX)
				add(f, text, out);
		}
}

void recognise_file_part(struct slice file, struct buf *out)
{
	const struct words w = {.file = file};
	size_t before = out->len;

	add_parts(&w, FROM_FILE, add_line, out);
	if (out->len == before)
		add_parts(&w, FROM_FILE_JSON, add_json, out);
}

void recognise_value_part(struct slice name, struct slice value, struct buf *out)
{
	struct words w = {.n_arguments = 0};
	bool whole = true;

	for (size_t i = 0; i < VARIABLE_COUNT; i++)
		if (slice_is(name, variable_names[i]))
			w.variable[i] = value;
	for (const struct job_system *s = job_systems; s->name; s++)
		for (size_t i = 0; i < WORDS_MAX * SOURCES_MAX; i++) {
			const struct from *f = &s->words[i / SOURCES_MAX].from[i % SOURCES_MAX];

			whole = whole && !(f->kind == FROM_JSON && w.variable[f->variable].data);
		}
	if (whole)
		buf_add(out, value.data, value.len);
	else
		add_parts(&w, FROM_JSON, add_json, out);
}
