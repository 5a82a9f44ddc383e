/* Recognises the job of one process with the table of systems. */
#include "collectors/naming/recognise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "collectors/base/utf8.h"
#include "collectors/naming/heap_options.h"
#include "collectors/naming/process_words.h"
#include "collectors/naming/stable_name.h"

/* Scripts in the folder of a Nextflow task. The first of them contains the name of the Nextflow
 * process. */
#define NEXTFLOW_FILE ".command.run"
#define NEXTFLOW_CALL ".command.sh"

/* Argo copies the template of a step to one of these paths in the step's container. Both paths are
 * needed, because /var/run is often a link to /run, and links are not followed. */
static const char *const argo_files[] = {"root/var/run/argo/template", "root/run/argo/template"};

/* ---- words ---- */

static struct slice up_to(struct slice s, const char *stops)
{
	struct slice all = s;

	for (size_t i = 0; i < s.len; i++)
		if (s.data[i] && strchr(stops, s.data[i])) {
			s.len = i;
			break;
		}
	while (s.len && s.data[s.len - 1] == ' ')
		s.len--;
	return s.len ? s : all;
}

static size_t digits_before(struct slice s, size_t end)
{
	size_t n = 0;

	while (n < end && s.data[end - 1 - n] >= '0' && s.data[end - 1 - n] <= '9')
		n++;
	return n;
}

static size_t blanks_before(struct slice s, size_t end)
{
	size_t n = 0;

	while (n < end && s.data[end - 1 - n] == ' ')
		n++;
	return n;
}

/* Removes the part that differs between parallel jobs: "test: [a, b]", "test 3/5" and "test 3 / 5"
 * become "test". Other text stays unchanged. */
static struct slice without_total(struct slice s)
{
	const char *list = naming_ends_in(s, "]") ? memmem(s.data, s.len, ": [", 3) : NULL;
	size_t total = digits_before(s, s.len), slash = s.len - total;

	if (list && list > s.data)
		return (struct slice){s.data, (size_t)(list - s.data)};
	slash -= blanks_before(s, slash);
	if (!total || !slash || s.data[slash - 1] != '/')
		return s;
	size_t end = slash - 1 - blanks_before(s, slash - 1), index = digits_before(s, end);
	size_t blanks = blanks_before(s, end - index), name = end - index - blanks;

	return index && blanks && name ? (struct slice){s.data, name} : s;
}

/* Jenkins makes one job for each proposed change: "app/PR-12" and "app/PR-12-merge" become
 * "app". */
static struct slice without_change(struct slice s)
{
	struct slice change = naming_last_part(s, '/');
	size_t end = change.len;

	if (change.len == s.len || (!slice_starts(change, "PR-") && !slice_starts(change, "MR-")))
		return s;
	if (naming_ends_in(change, "-head") || naming_ends_in(change, "-merge"))
		end -= naming_ends_in(change, "-head") ? strlen("-head") : strlen("-merge");
	size_t number = digits_before(change, end), folder = s.len - change.len - 1;

	return number && number + strlen("PR-") == end && folder ? (struct slice){s.data, folder} :
								   s;
}

static struct slice without_begin(struct slice s, const char *begin)
{
	size_t n = slice_starts(s, begin) && s.len > strlen(begin) ? strlen(begin) : 0;

	return (struct slice){s.data + n, s.len - n};
}

static struct slice trimmed(struct slice s, enum trim trim)
{
	switch (trim) {
	case TRIM_NOTHING:
		return stable_name(s);
	case TRIM_GENERATED:
		return stable_name_without_generated(s);
	case TRIM_NODE:
		return stable_name_without_node(s);
	case TRIM_SCHEDULE:
		return stable_name_without_schedule(s);
	case TRIM_BRACKETS:
		return stable_name(up_to(s, "[("));
	case TRIM_MAPPED:
		return stable_name(up_to(s, "[-"));
	case TRIM_TRAINING:
		return stable_name_without_training(s);
	case TRIM_COLON:
		return stable_name(up_to(s, ":"));
	case TRIM_METHOD:
		return stable_name(up_to(s, ".("));
	case TRIM_EXECUTOR:
		return stable_name(without_begin(s, "exec-"));
	case TRIM_CHANGE:
		return stable_name(without_change(s));
	case TRIM_OF_TOTAL:
		return stable_name(without_total(s));
	}
	return s;
}

/* Makes text safe to show: valid UTF-8 without control characters. */
static void clean(struct slice s, char *out, size_t size)
{
	utf8_clean_plain(s.data, s.len, '_', out, size);
}

static void add_to_name(char *name, size_t size, const char *word)
{
	size_t n = strlen(name);

	snprintf(name + n, size - n, "%s%s", n ? "/" : "", word);
}

static double number(struct slice s)
{
	struct scan text = scan_slice(s);
	uint64_t v;

	return scan_u64(&text, &v) && scan_end(&text) ? (double)v : (double)NAN;
}

static void take_word(const struct word *word, enum trim trim, struct slice value,
	struct recognised *r, char *name, size_t size)
{
	char text[JOB_WORD_MAX];

	if (word->is & WORD_NAME) {
		clean(trimmed(value, trim), text, sizeof text);
		stable_name_drop_dates(text);
		if (!stable_name_only_dates((struct slice){text, strlen(text)}))
			add_to_name(name, size, text);
	} else {
		clean(value, text, sizeof text);
	}
	if (word->is & WORD_RUN)
		memcpy(r->run, text, sizeof text);
	if (word->is & WORD_TASK)
		memcpy(r->task, text, sizeof text);
	if (word->is & (WORD_ATTEMPT | WORD_RETRY))
		r->attempt = number(value) + (word->is & WORD_RETRY ? 1 : 0);
	if (word->label && r->n_labels < JOB_LABELS_MAX) {
		text_copy(word->label, r->label[r->n_labels].name, LABEL_NAME_MAX);
		memcpy(r->label[r->n_labels++].value, text, sizeof text);
	}
}

/* Stores the requested number of cores or the requested memory. Some systems state the memory for
 * each core. Store the number of cores first, because the two are then multiplied. */
static void take_request(const struct word *word, enum quantity_writer writer, struct slice value,
	struct recognised *r)
{
	double bytes = NAN;

	if (word->is & WORD_CPU)
		quantity_of_run(QUANTITY_RUN_CORES, value, writer, &r->cpu_cores);
	if (word->is & (WORD_MEMORY | WORD_MEMORY_PER_CPU))
		quantity_of_run(QUANTITY_RUN_MEMORY, value, writer, &bytes);
	if (word->is & WORD_MEMORY)
		r->memory_bytes = bytes;
	if ((word->is & WORD_MEMORY_PER_CPU) && isnan(r->memory_bytes))
		r->memory_bytes = bytes * r->cpu_cores;
}

#define RECOGNISED_NONE                                                                            \
	((struct recognised){                                                                      \
		.attempt = NAN, .cpu_cores = NAN, .memory_bytes = NAN, .input_bytes = NAN})

static bool take_system(const struct process_words *w, const struct job_system *s,
	struct recognised *ret)
{
	char name[SYSTEM_WORDS_MAX * JOB_WORD_MAX] = "";
	const struct from *from[SYSTEM_WORDS_MAX];
	struct slice value[SYSTEM_WORDS_MAX];

	for (size_t i = 0; i < SYSTEM_WORDS_MAX; i++) {
		from[i] = process_words_read(w, &s->words[i], &value[i]);
		if (!from[i] && s->words[i].is & WORD_NEEDED)
			return false;
	}
	*ret = RECOGNISED_NONE;
	ret->system = s->name;
	ret->grace_seconds = s->grace_seconds;
	for (size_t i = 0; i < SYSTEM_WORDS_MAX; i++) {
		if (!from[i])
			continue;
		enum trim trim = from[i]->trim ? from[i]->trim : s->words[i].trim;

		ret->passing = ret->passing || from[i]->kind == FROM_WORKER;
		take_word(&s->words[i], trim, value[i], ret, name, sizeof name);
		take_request(&s->words[i], s->writer, value[i], ret);
	}
	/* If all words of the name were dates or run numbers, the system's name is used. */
	if (!name[0])
		text_copy(s->name, name, sizeof name);
	clean((struct slice){name, strlen(name)}, ret->job_name, sizeof ret->job_name);
	return true;
}

static bool find_system(const struct process_words *w, struct recognised *ret)
{
	for (const struct job_system *s = naming_systems; s->name; s++)
		if (take_system(w, s, ret))
			return true;
	return false;
}

/* The annotation by which a user names the job of a pod. */
#define OWN_NAME_WORD "rightsize/job-name"

static struct slice words_own_name(const struct process_words *w)
{
	static const struct word own = {NULL, 0,
		{{.kind = FROM_ENVIRONMENT, .variable = VARIABLE_RIGHTSIZE_JOB_NAME},
			{.kind = FROM_POD, .text = OWN_NAME_WORD}},
		TRIM_NOTHING};
	struct slice name = {NULL, 0};

	process_words_read(w, &own, &name);
	return name;
}

/* Takes a quantity that the user set. A wrong one is ignored, so that the value of the system
 * stays. */
static void take_quantity(enum quantity_of_run what, struct slice value, double *ret)
{
	if (value.data)
		quantity_of_run(what, value, QUANTITY_OF_PEOPLE, ret);
}

/* Takes the values that the user set in RIGHTSIZE_* variables or on the pod. They replace the
 * values that the workflow system set. */
static void take_own(const struct process_words *w, struct recognised *r)
{
	struct slice name = words_own_name(w);
	struct slice run = w->variable[VARIABLE_RIGHTSIZE_RUN_ID];
	struct slice attempt = w->variable[VARIABLE_RIGHTSIZE_ATTEMPT];

	r->own_name = name.data != NULL;
	r->passing = r->passing && !r->own_name;
	if (name.data)
		clean(name, r->job_name, sizeof r->job_name);
	if (run.data)
		clean(run, r->run, sizeof r->run);
	if (attempt.data)
		r->attempt = number(attempt);
	take_quantity(QUANTITY_RUN_INPUT, w->variable[VARIABLE_RIGHTSIZE_INPUT_BYTES],
		&r->input_bytes);
	take_quantity(QUANTITY_RUN_CORES, w->variable[VARIABLE_RIGHTSIZE_REQUEST_CPU],
		&r->cpu_cores);
	take_quantity(QUANTITY_RUN_MEMORY, w->variable[VARIABLE_RIGHTSIZE_REQUEST_MEMORY],
		&r->memory_bytes);
}

/* Returns true when the process runs in an allocation of this batch system. */
static bool is_allocated_by(const struct process_words *w, const struct job_system *s)
{
	struct slice value;
	bool has_requests = false, has_run = false;

	for (size_t i = 0; i < SYSTEM_WORDS_MAX; i++) {
		enum word_is is = s->words[i].is;

		has_requests = has_requests || (is & (WORD_CPU | WORD_MEMORY));
		has_run = has_run || ((is & WORD_RUN) && (is & WORD_NEEDED) &&
					     process_words_read(w, &s->words[i], &value));
	}
	return has_requests && has_run;
}

/* Takes the requests from the batch system in which the process runs, if no requests are known yet.
 * A workflow system such as Nextflow names the job, but the batch system around it knows the
 * request. A batch system also knows the request of a job without a name. */
static void take_batch_requests(const struct process_words *w, struct recognised *r)
{
	const struct job_system *s = naming_systems;
	struct slice value;

	if (!isnan(r->cpu_cores) || !isnan(r->memory_bytes))
		return;
	while (s->name && !is_allocated_by(w, s))
		s++;
	for (size_t i = 0; s->name && i < SYSTEM_WORDS_MAX; i++)
		if (process_words_read(w, &s->words[i], &value))
			take_request(&s->words[i], s->writer, value, r);
}

/* Takes the requests of the pod's container if no batch or workflow system states the requests of
 * the job. A number of the system is better, because one container may run several jobs. Outside a
 * pod, the variables of naming_pod_requests have other meanings and are ignored. */
static void take_pod_requests(const struct process_words *w, struct recognised *r)
{
	struct slice value;

	if (!w->variable[VARIABLE_KUBERNETES_SERVICE_HOST].data || !isnan(r->cpu_cores) ||
		!isnan(r->memory_bytes))
		return;
	for (const struct word *word = naming_pod_requests; word->is; word++)
		if (process_words_read(w, word, &value))
			take_request(word, QUANTITY_OF_PEOPLE, value, r);
}

static void take_heap_option(const struct process_words *w, struct recognised *r)
{
	const char *label = NULL, *option = heap_option_find(w->argument, w->n_arguments, &label);

	if (!option || r->n_labels == JOB_LABELS_MAX)
		return;
	text_copy(label, r->label[r->n_labels].name, LABEL_NAME_MAX);
	text_copy(option, r->label[r->n_labels++].value, JOB_WORD_MAX);
}

/* Fills `ret` with everything that can be read from `text`. Returns false when no job name was
 * found. */
static bool read_all(const struct process_text *text, struct recognised *ret)
{
	struct process_words w;

	process_words_split(text, &w);
	bool found = find_system(&w, ret);

	if (!found) {
		*ret = RECOGNISED_NONE;
		ret->system = "environment";
	}
	take_batch_requests(&w, ret);
	take_pod_requests(&w, ret);
	take_own(&w, ret);
	take_heap_option(&w, ret);
	return found || ret->own_name;
}

/* Sets former_name, the name that the job has while the file cannot be read. For example, a
 * Metaflow flow is then named after its script. */
static void take_former_name(const struct process_text *text, struct recognised *r)
{
	struct process_text without = *text;
	struct recognised former;

	without.file = (struct slice){NULL, 0};
	if (text->file.len && read_all(&without, &former) && former.system == r->system &&
		strcmp(former.job_name, r->job_name) != 0)
		text_copy(former.job_name, r->former_name, sizeof r->former_name);
}

bool recognise(const struct process_text *text, struct recognised *ret)
{
	struct recognised r;

	if (!read_all(text, &r))
		return false;
	take_former_name(text, &r);
	*ret = r;
	return true;
}

bool recognise_wrapped(const struct process_text *text, struct recognised *ret)
{
	return read_all(text, ret);
}

/* Writes the path of the file `folder``name`. An absolute path is below the root of the process. A
 * relative path is below its working directory. */
static bool file_path(struct slice folder, struct slice name, char *path, size_t size)
{
	int n = snprintf(path, size, "%s%.*s%.*s",
		folder.len && folder.data[0] == '/' ? "root" : "cwd/", (int)folder.len, folder.data,
		(int)name.len, name.data);

	return n > 0 && (size_t)n < size && !strstr(path, "..");
}

static bool nextflow_file(const struct process_words *w, char *path, size_t size)
{
	for (size_t i = 0; i < w->n_arguments; i++) {
		struct slice a = w->argument[i], name = naming_last_part(a, '/');
		struct slice folder = {a.data, a.len - name.len};

		if (slice_is(name, NEXTFLOW_FILE) || slice_is(name, NEXTFLOW_CALL))
			return file_path(folder,
				(struct slice){NEXTFLOW_FILE, strlen(NEXTFLOW_FILE)}, path, size);
	}
	return false;
}

/* Writes the path of the flow's script if the command line is that of a Metaflow step that runs
 * from its script (without METAFLOW_FLOW_NAME). */
static bool metaflow_file(const struct process_words *w, char *path, size_t size)
{
	struct slice script = {NULL, 0};
	bool has_step = false, has_run = false;

	for (size_t i = 0; i < w->n_arguments; i++) {
		struct slice a = w->argument[i];

		if (!script.data && naming_ends_in(a, ".py"))
			script = a;
		has_step = has_step || slice_is(a, "step");
		has_run = has_run || slice_starts(a, "--run-id");
	}
	if (!script.data || !has_step || !has_run || w->variable[VARIABLE_METAFLOW_FLOW_NAME].data)
		return false;
	struct slice name = naming_last_part(script, '/');

	return file_path((struct slice){script.data, script.len - name.len}, name, path, size);
}

bool recognise_file(const struct process_text *text, size_t i, char *path, size_t size)
{
	struct process_words w;

	process_words_split(text, &w);
	if (i == 0 && (nextflow_file(&w, path, size) || metaflow_file(&w, path, size)))
		return true;
	if (i >= ARRAY_LEN(argo_files) || strlen(argo_files[i]) >= size ||
		!w.variable[VARIABLE_ARGO_NODE_ID].data || w.variable[VARIABLE_ARGO_TEMPLATE].data)
		return false;
	text_copy(argo_files[i], path, size);
	return true;
}

static bool agree(const char *a, const char *b)
{
	return !*a || !*b || strcmp(a, b) == 0;
}

bool recognised_same(const struct recognised *a, const struct recognised *b)
{
	return strcmp(a->system, b->system) == 0 && strcmp(a->job_name, b->job_name) == 0 &&
	       strcmp(a->space, b->space) == 0 && agree(a->run, b->run) &&
	       agree(a->task, b->task) &&
	       (isnan(a->attempt) || isnan(b->attempt) || a->attempt == b->attempt);
}

bool recognise_is_exporter(struct slice command_line)
{
	struct scan s = scan_slice(command_line);
	struct slice program;

	return command_line.data && scan_piece(&s, '\0', &program) &&
	       slice_is(naming_last_part(program, '/'), "rightsize-exporter");
}

bool recognise_is_wrapper(struct slice command_line)
{
	struct scan s = scan_slice(command_line);
	struct slice program, command;

	return command_line.data && scan_piece(&s, '\0', &program) &&
	       scan_piece(&s, '\0', &command) && slice_is(command, "run");
}

bool recognise_declares_helper(struct slice environment)
{
	struct scan s = scan_slice(environment);
	struct slice variable;

	while (environment.data && scan_piece(&s, '\0', &variable))
		if (slice_is(variable, "RIGHTSIZE_HELPER=1"))
			return true;
	return false;
}

bool recognise_is_worker(struct slice command_line)
{
	for (const struct job_system *s = naming_systems; s->name && command_line.data; s++)
		for (size_t i = 0; i < SYSTEM_WORDS_MAX * SOURCES_MAX; i++) {
			const struct from *f = &s->words[i / SOURCES_MAX].from[i % SOURCES_MAX];

			if (f->kind == FROM_WORKER && slice_starts(command_line, f->text))
				return true;
		}
	return false;
}

bool recognise_is_variable(struct slice name)
{
	for (size_t i = 0; i < VARIABLE_COUNT; i++)
		if (slice_is(name, naming_variables[i]))
			return true;
	return false;
}

bool recognise_is_pod_word(struct slice key)
{
	if (slice_is(key, OWN_NAME_WORD))
		return true;
	if (slice_starts(key, "pod."))
		return false;
	for (const struct job_system *s = naming_systems; s->name; s++)
		for (size_t i = 0; i < SYSTEM_WORDS_MAX * SOURCES_MAX; i++) {
			const struct from *f = &s->words[i / SOURCES_MAX].from[i % SOURCES_MAX];

			if (f->kind == FROM_POD && slice_is(key, f->text) &&
				strcmp(s->name, SYSTEM_KUBERNETES) != 0)
				return true;
		}
	return false;
}
