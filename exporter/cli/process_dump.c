#include "exporter/cli/process_dump.h"

#include <errno.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "exporter/core/json.h"
#include "collectors/naming/recognise.h"

#define TEXT_MAX 65536

static json_t *text(struct slice s)
{
	char out[TEXT_MAX];

	slice_copy(s, out, sizeof out);
	return json_text(out);
}

static json_t *arguments(struct slice command_line)
{
	struct scan s = scan_slice(command_line);
	json_t *ret = json_array();
	struct slice piece;

	while (scan_piece(&s, '\0', &piece))
		json_push(ret, text(piece));
	return ret;
}

/* Returns the text to write for the environment variable `key`. If a rule reads the variable, the
 * text is the whole value. Otherwise the text is only the part of the value that names the job.
 * NULL = do not write the variable. */
static json_t *variable(struct slice key, struct slice value, const struct job_rules *rules)
{
	struct buf part AUTO(buf_done) = BUF_MAX(HOST_SCRATCH_SIZE);

	if (rules && job_rules_reads(rules, key))
		return text(value);
	if (!recognise_is_variable(key))
		return NULL;
	recognise_value_part(key, value, &part);
	return text((struct slice){buf_text(&part), part.len});
}

static json_t *variables(struct slice environment, const struct job_rules *rules)
{
	struct scan s = scan_slice(environment);
	json_t *ret = json_object();
	struct slice piece;
	char name[128];

	while (scan_piece(&s, '\0', &piece)) {
		const char *equals = memchr(piece.data, '=', piece.len);
		struct slice key = {piece.data, equals ? (size_t)(equals - piece.data) : 0};

		if (key.len == 0 || key.len >= sizeof name)
			continue;
		json_t *value =
			variable(key, (struct slice){equals + 1, piece.len - key.len - 1}, rules);

		slice_copy(key, name, sizeof name);
		if (value)
			json_put(ret, name, value);
	}
	return ret;
}

static json_t *file(struct slice of_process)
{
	struct buf part AUTO(buf_done) = BUF_MAX(HOST_SCRATCH_SIZE);

	recognise_file_part(of_process, &part);
	return text((struct slice){buf_text(&part), part.len});
}

json_t *process_dump_json(const struct process_facts *f, const struct job_rules *rules)
{
	json_t *o = json_object();

	json_put(o, "pid", json_num(f->pid));
	json_put(o, "user", json_text(f->user));
	json_put(o, "executable", text(f->executable));
	json_put(o, "command_line", arguments(f->text.command_line));
	json_put(o, "working_directory", text(f->working_directory));
	json_put(o, "cgroup", text(f->cgroup));
	json_put(o, "container", json_text(f->container));
	json_put(o, "environment", variables(f->text.environment, rules));
	json_put(o, "file", file(f->text.file));
	return o;
}

/* ---- reading ---- */

static struct slice member(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return (struct slice){s, s ? strlen(s) : 0};
}

/* Copies the member `key` of `o` to `out`. A text that is too long is cut between two UTF-8
 * characters, so that it stays printable. */
static void copy_member(const json_t *o, const char *key, char *out, size_t size)
{
	struct slice s = member(o, key);

	if (s.data)
		utf8_clean(s.data, s.len, out, size);
}

static void take_process(const json_t *o,
	void (*each)(void *context, const struct process_facts *facts), void *context)
{
	struct buf command_line AUTO(buf_done) = BUF_MAX(HOST_SCRATCH_SIZE);
	struct buf environment AUTO(buf_done) = BUF_MAX(HOST_SCRATCH_SIZE);
	json_t *value, *all = json_object_get(o, "environment");
	const char *name;
	size_t i;

	json_array_foreach(json_object_get(o, "command_line"), i, value)
	{
		if (json_is_string(value))
			buf_add(&command_line, json_string_value(value),
				json_string_length(value) + 1);
	}
	json_object_foreach(all, name, value)
	{
		if (!json_is_string(value))
			continue;
		buf_addf(&environment, "%s=%s", name, json_string_value(value));
		buf_addc(&environment, '\0');
	}
	struct process_facts f = {
		.pid = (pid_t)json_integer_value(json_object_get(o, "pid")),
		.text = {.environment = {environment.data, environment.len},
			.command_line = {command_line.data, command_line.len},
			.file = member(o, "file")},
		.executable = member(o, "executable"),
		.working_directory = member(o, "working_directory"),
		.cgroup = member(o, "cgroup"),
	};

	copy_member(o, "user", f.user, sizeof f.user);
	copy_member(o, "container", f.container, sizeof f.container);
	each(context, &f);
}

int process_dump_read(const char *file, pid_t pid,
	void (*each)(void *context, const struct process_facts *facts), void *context,
	struct err *e)
{
	json_error_t why;
	json_t *document = json_load_file(file, 0, &why), *process;
	json_t *processes = json_object_get(document, "processes");
	size_t i, taken = 0;

	if (!document)
		return err_set(e, -EINVAL, "%s:%d: %s", file, why.line > 0 ? why.line : 1,
			why.text);
	if (!json_is_array(processes)) {
		json_decref(document);
		return err_set(e, -EINVAL,
			"%s: not a file of \"rules capture\", which writes {\"processes\": [...]}",
			file);
	}
	json_array_foreach(processes, i, process)
	{
		if (pid && json_integer_value(json_object_get(process, "pid")) != pid)
			continue;
		take_process(process, each, context);
		taken++;
	}
	json_decref(document);
	return pid && !taken ? err_set(e, -ESRCH, "%s has no process %d", file, (int)pid) : 0;
}
