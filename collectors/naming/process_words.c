/* Splits the texts of a process into variables and arguments. Finds words in variables, arguments
 * and process titles. */
#include "collectors/naming/process_words.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/base/utf8.h"
#include "collectors/naming/stable_name.h"

/* ---- splitting ---- */

static int compare_name(const void *key, const void *row)
{
	const struct slice *name = key;
	const char *other = *(const char *const *)row;
	int order = strncmp(name->data, other, name->len);

	return order ? order : (other[name->len] ? -1 : 0);
}

/* Stores the value of a variable that the table of systems reads. If a variable is set twice, keeps
 * the first value, because getenv() in the job returns the first one, too. */
static void take_variable(struct process_words *w, struct slice text)
{
	const char *equals = memchr(text.data, '=', text.len);
	struct slice name = {text.data, equals ? (size_t)(equals - text.data) : 0};

	if (name.len == 0)
		return;
	const char *const *row = bsearch(&name, naming_variables, VARIABLE_COUNT,
		sizeof naming_variables[0], compare_name);

	if (row && !w->variable[row - naming_variables].data && equals + 1 < text.data + text.len)
		w->variable[row - naming_variables] =
			(struct slice){equals + 1, text.len - name.len - 1};
}

void process_words_split(const struct process_text *text, struct process_words *w)
{
	struct scan environment = scan_slice(text->environment);
	struct scan arguments = scan_slice(text->command_line);
	struct slice piece;

	memset(w->variable, 0, sizeof w->variable);
	w->n_arguments = 0;
	w->command_line = text->command_line;
	w->file = text->file;
	w->pod = text->pod;
	while (text->environment.data && scan_piece(&environment, '\0', &piece))
		take_variable(w, piece);
	while (text->command_line.data && w->n_arguments < ARGUMENTS_MAX &&
		scan_piece(&arguments, '\0', &piece))
		w->argument[w->n_arguments++] = piece;
}

/* ---- sources: each function returns a slice; its data is NULL when there is no value ---- */

static const struct slice nothing = {NULL, 0};

static struct slice after(struct slice s, size_t n)
{
	return (struct slice){s.data + n, s.len - n};
}

static struct slice part(struct slice s, int index)
{
	struct scan rest = scan_slice(s);
	struct slice piece = s;

	for (int i = 0; i <= index; i++)
		if (!scan_piece(&rest, '/', &piece))
			return nothing;
	return piece.len ? piece : nothing;
}

struct slice naming_last_part(struct slice s, char separator)
{
	const char *at = s.data ? memrchr(s.data, separator, s.len) : NULL;

	return at ? after(s, (size_t)(at + 1 - s.data)) : s;
}

/* Reads a JSON string. The opening quote was already read. Escape sequences are copied to `ret`
 * without being decoded. */
static bool json_string(struct scan *s, struct slice *ret)
{
	const char *begin = s->at;

	while (!scan_end(s) && *s->at != '"')
		s->at += *s->at == '\\' && s->at + 1 < s->end ? 2 : 1;
	*ret = (struct slice){begin, (size_t)(s->at - begin)};
	return scan_char(s, '"');
}

static void skip_space(struct scan *s)
{
	while (!scan_end(s) &&
		(*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
		s->at++;
}

/* Returns the value of the member `name` in the outermost JSON object, if the value is a string
 * that is not empty. */
static struct slice json_member(struct slice json, const char *name)
{
	struct scan s = scan_slice(json);
	struct slice text;
	int depth = 0;

	while (json.data && !scan_end(&s)) {
		char c = *s.at++;

		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		if (c != '"')
			continue;
		if (!json_string(&s, &text))
			break;
		skip_space(&s);
		if (depth != 1 || !slice_is(text, name) || !scan_char(&s, ':'))
			continue;
		skip_space(&s);
		return scan_char(&s, '"') && json_string(&s, &text) && text.len ? text : nothing;
	}
	return nothing;
}

static bool is_option(struct slice a)
{
	return a.len > 1 && a.data[0] == '-';
}

static bool is_one_of(struct slice a, const char *words)
{
	struct scan s = SCAN(words, strlen(words));
	struct slice word;

	while (scan_word(&s, &word))
		if (slice_equal(word, a))
			return true;
	return false;
}

/* Finds consecutive arguments that equal the words in `words`, such as "tasks run". Returns the
 * index of the last of these arguments, or n_arguments when there is no match. */
static size_t find_program(const struct process_words *w, const char *words)
{
	for (size_t i = 0; i < w->n_arguments; i++) {
		struct scan s = SCAN(words, strlen(words));
		struct slice word;
		size_t k = i;

		while (k < w->n_arguments && scan_word(&s, &word) &&
			slice_equal(word, w->argument[k])) {
			if (scan_end(&s))
				return k;
			k++;
		}
	}
	return w->n_arguments;
}

/* Finds the `index`-th argument after the program's name; 0 = the name itself. Options and their
 * values are not counted. Returns the position of the argument, or n_arguments when there are fewer
 * arguments. */
static size_t find_argument(const struct process_words *w, const struct program *p, int index)
{
	size_t i = find_program(w, p->name);

	while (index > 0 && i < w->n_arguments) {
		i += i < w->n_arguments && is_one_of(w->argument[i], p->valued) ? 2 : 1;
		if (i < w->n_arguments && !is_option(w->argument[i]))
			index--;
	}
	return i < w->n_arguments ? i : w->n_arguments;
}

static struct slice argument(const struct process_words *w, const struct program *p, int index)
{
	size_t at = find_argument(w, p, index);

	return at < w->n_arguments ? w->argument[at] : nothing;
}

/* Finds the first option with the name `f->text` and a value that begins with `begin`. Returns the
 * part of the value after `begin`. */
static struct slice option(const struct process_words *w, const struct from *f, const char *begin)
{
	const struct program *p = f->program;
	size_t n = strlen(f->text), i = p ? find_program(w, p->name) + 1 : 0;
	size_t end = p && p->options_first ? find_argument(w, p, 1) : w->n_arguments;

	for (; i < end; i++) {
		struct slice a = w->argument[i], value = nothing;
		bool valued = p && is_one_of(a, p->valued);

		if (slice_is(a, f->text))
			value = i + 1 < end ? w->argument[i + 1] : nothing;
		else if (a.len > n && a.data && slice_starts(a, f->text) && a.data[n] == '=')
			value = after(a, n + 1);
		if (value.data && slice_starts(value, begin))
			return after(value, strlen(begin));
		i += valued;
	}
	return nothing;
}

bool naming_ends_in(struct slice s, const char *ending)
{
	size_t n = strlen(ending);

	return s.len > n && memcmp(s.data + s.len - n, ending, n) == 0;
}

static struct slice script(const struct process_words *w, const struct from *f)
{
	size_t i = f->program ? find_argument(w, f->program, 1) : 0;
	size_t end = f->program && i < w->n_arguments ? i + 1 : w->n_arguments;

	for (; i < end; i++) {
		struct slice name = naming_last_part(w->argument[i], '/');

		if (naming_ends_in(name, f->text))
			return (struct slice){name.data, name.len - strlen(f->text)};
	}
	return nothing;
}

/* Returns word number `index` after `begin` in the process title. The first argument is the whole
 * title, because a title is one string with blanks in it. NULs may follow the title. */
static struct slice title(const struct process_words *w, const char *begin, int index)
{
	struct slice line = w->n_arguments ? w->argument[0] : nothing;
	struct slice word = nothing;

	if (!line.data || !slice_starts(line, begin))
		return nothing;
	struct scan s = scan_slice(after(line, strlen(begin)));

	for (int i = 0; i <= index; i++)
		if (!scan_word(&s, &word))
			return nothing;
	return word;
}

static struct slice worker(const struct process_words *w, const char *begin, const char *idle)
{
	struct slice line = w->n_arguments ? w->argument[0] : nothing;

	if (!line.data || !slice_starts(line, begin))
		return nothing;
	struct slice rest = after(line, strlen(begin));

	/* A worker with the title "IDLE_SpillWorker" is idle, too. */
	if (slice_is(rest, idle) || (slice_starts(rest, idle) && rest.data[strlen(idle)] == '_'))
		return nothing;
	return rest;
}

/* Finds an argument such as "/tmp/snakejob.RULE.12.sh" and returns RULE, the part between `begin`
 * and the number. */
static struct slice middle(const struct process_words *w, const char *begin)
{
	for (size_t i = 0; i < w->n_arguments; i++) {
		struct slice name = naming_last_part(w->argument[i], '/');

		if (!naming_ends_in(name, ".sh"))
			continue;
		name.len -= strlen(".sh");
		if (!slice_starts(name, begin))
			continue;
		name = after(name, strlen(begin));
		const char *dot = memrchr(name.data, '.', name.len);

		return dot && dot > name.data ?
			       (struct slice){name.data, (size_t)(dot - name.data)} :
			       nothing;
	}
	return nothing;
}

static struct slice up_to_last(struct slice s, char c)
{
	const char *at = s.len ? memrchr(s.data, c, s.len) : NULL;

	return at ? (struct slice){s.data, (size_t)(at - s.data)} : s;
}

static struct slice file_line(const struct process_words *w, const char *begin)
{
	const struct slice begin_text = {begin, strlen(begin)};

	if (!w->file.data)
		return nothing;
	struct scan s = scan_slice(w->file), line;

	if (scan_line_of(&s, begin, &line))
		return naming_ends_in(begin_text, "'") ? up_to_last(scan_rest(&line), '\'') :
							 scan_rest(&line);
	return nothing;
}

static bool is_class_of(struct slice file, struct slice name)
{
	struct scan s = scan_slice(file), line;
	struct slice declared;

	while (scan_line_of(&s, "class ", &line))
		if (scan_until(&line, '(', &declared) && slice_equal(declared, name))
			return true;
	return false;
}

static struct slice file_class(struct slice file)
{
	struct scan s = scan_slice(file), line;
	struct slice name, found = nothing;

	while (file.data && scan_line(&s, &line)) {
		scan_blanks(&line);
		if (scan_until(&line, '(', &name) && scan_char(&line, ')') && name.len &&
			is_class_of(file, name))
			found = name;
	}
	return found;
}

static struct slice pod_value(const struct process_words *w, const char *key)
{
	size_t n = strlen(key);
	struct slice piece;

	if (!w->pod.data)
		return nothing;
	struct scan s = scan_slice(w->pod);

	while (scan_piece(&s, '\0', &piece))
		if (slice_starts(piece, key) && piece.len > n && piece.data[n] == '=')
			return after(piece, n + 1);
	return nothing;
}

/* Returns the name of the pod without the part that its owner added. Kubernetes adds labels to
 * every pod of an owner, which show the kind of the owner. */
static struct slice pod_name(const struct process_words *w)
{
	struct slice name = pod_value(w, "pod.name"), piece;
	struct pod_owner owner = {
		.template_hash = pod_value(w, "pod-template-hash"),
		.index = pod_value(w, "batch.kubernetes.io/job-completion-index"),
		.stateful_set = pod_value(w, "statefulset.kubernetes.io/pod-name").data != NULL,
	};

	if (!name.data)
		return nothing;
	struct scan s = scan_slice(w->pod);

	while (scan_piece(&s, '\0', &piece))
		owner.labels_known = owner.labels_known || !slice_starts(piece, "pod.");
	return stable_name_without_replica(name, &owner);
}

static struct slice source(const struct process_words *w, const struct from *f)
{
	struct slice value = w->variable[f->variable];

	switch (f->kind) {
	case FROM_NOTHING:
		return nothing;
	case FROM_ENVIRONMENT:
		return value;
	case FROM_PART:
		return value.data ? part(value, f->index) : nothing;
	case FROM_LAST_PART:
		return naming_last_part(value, ':');
	case FROM_JSON:
		return json_member(value, f->member);
	case FROM_OPTION:
		return option(w, f, "");
	case FROM_OPTION_JSON:
		return json_member(option(w, f, ""), f->member);
	case FROM_OPTION_PAIR:
		return option(w, f, f->member);
	case FROM_ARGUMENT:
		return argument(w, f->program, f->index);
	case FROM_SCRIPT:
		return script(w, f);
	case FROM_TITLE:
		return title(w, f->text, f->index);
	case FROM_WORKER:
		return worker(w, f->text, f->member);
	case FROM_MIDDLE:
		return middle(w, f->text);
	case FROM_FILE:
		return file_line(w, f->text);
	case FROM_FILE_JSON:
		return json_member(w->file, f->member);
	case FROM_FILE_CLASS:
		return file_class(w->file);
	case FROM_POD:
		return pod_value(w, f->text);
	case FROM_POD_NAME:
		return pod_name(w);
	case FROM_TEXT:
		return (struct slice){f->text, strlen(f->text)};
	}
	return nothing;
}

const struct from *process_words_read(const struct process_words *w, const struct word *word,
	struct slice *ret)
{
	for (size_t i = 0; i < SOURCES_MAX; i++) {
		struct slice value = source(w, &word->from[i]);

		if (value.len == 0)
			continue;
		*ret = value;
		return &word->from[i];
	}
	return NULL;
}

/* ---- the parts of a file or variable that the table reads ---- */

/* Longest part that is copied, in bytes. */
#define PART_MAX 1000

static void add_json(const struct from *f, const char *value, struct buf *out)
{
	buf_addf(out, "{\"%s\":\"%s\"}", f->member, value);
}

static void add_line(const struct from *f, const char *value, struct buf *out)
{
	struct slice begin = {f->text, strlen(f->text)};

	buf_addf(out, "%s%s%s\n", f->text, value, naming_ends_in(begin, "'") ? "'" : "");
}

static void add_class(const struct from *f, const char *value, struct buf *out)
{
	(void)f;
	buf_addf(out, "class %s(\n%s()\n", value, value);
}

/* Calls `add` for each source of the kind `kind` that has a value. Skips values longer than
 * PART_MAX. */
static void add_parts(const struct process_words *w, enum from_kind kind,
	void (*add)(const struct from *f, const char *value, struct buf *out), struct buf *out)
{
	char text[PART_MAX + 32];

	for (const struct job_system *s = naming_systems; s->name; s++)
		for (size_t i = 0; i < SYSTEM_WORDS_MAX * SOURCES_MAX; i++) {
			const struct from *f = &s->words[i / SOURCES_MAX].from[i % SOURCES_MAX];
			struct slice value =
				f->kind == kind ? source(w, f) : (struct slice){NULL, 0};

			if (value.len &&
				utf8_clean(value.data, value.len, text, sizeof text) <= PART_MAX)
				add(f, text, out);
		}
}

void recognise_file_part(struct slice file, struct buf *out)
{
	const struct process_words w = {.file = file};
	size_t before = out->len;

	add_parts(&w, FROM_FILE, add_line, out);
	add_parts(&w, FROM_FILE_CLASS, add_class, out);
	if (out->len == before)
		add_parts(&w, FROM_FILE_JSON, add_json, out);
}

void recognise_value_part(struct slice name, struct slice value, struct buf *out)
{
	struct process_words w = {.n_arguments = 0};
	bool whole = true;

	for (size_t i = 0; i < VARIABLE_COUNT; i++)
		if (slice_is(name, naming_variables[i]))
			w.variable[i] = value;
	for (const struct job_system *s = naming_systems; s->name; s++)
		for (size_t i = 0; i < SYSTEM_WORDS_MAX * SOURCES_MAX; i++) {
			const struct from *f = &s->words[i / SOURCES_MAX].from[i % SOURCES_MAX];

			whole = whole && !(f->kind == FROM_JSON && w.variable[f->variable].data);
		}
	if (whole)
		buf_add(out, value.data, value.len);
	else
		add_parts(&w, FROM_JSON, add_json, out);
}
