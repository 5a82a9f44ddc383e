#include "exporter/cli/transfer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "exporter/cli/progress_line.h"
#include "exporter/cli/usage.h"
#include "exporter/core/columns.h"
#include "exporter/core/log.h"
#include "exporter/core/paths.h"
#include "exporter/forward/run_message.h"
#include "exporter/history/history.h"
#include "exporter/import/importer.h"
#include "exporter/options/options.h"
#include "exporter/text/line_wrap.h"
#include "exporter/text/user_file.h"

#define PROGRAM    "rightsize-exporter "
#define EXPORT     "export"
#define IMPORT     "import"
#define PAGE       256 /* number of runs that export reads at once */
#define WRONG_TOLD 100 /* number of wrong lines that are printed; the others are only counted */
#define TOLD_MAX   ((size_t)1 << 20)

static char standard_input[] = "standard input", output_flag[] = "--output";

static int failed(const char *command, const struct err *e)
{
	fprintf(stderr, PROGRAM "%s: ", command);
	usage_print(e->text);
	fputc('\n', stderr);
	return EXIT_FAILURE;
}

/* Opens the history. The caller calls columns_done. */
static int open_history(struct history **ret, const struct options *o, enum history_mode mode,
	struct columns *columns, struct err *e)
{
	AUTO(freep) char *path = NULL;
	struct err notice = {0};
	int code = path_default_history(&path, o->history_path, e);

	columns_build(columns);
	if (code == 0 && mode == HISTORY_WRITE)
		code = path_make_folder(path, e);
	if (code == 0)
		code = history_open(ret, path, mode, columns, &notice, e);
	if (notice.code)
		log_line(LOG_LEVEL_WARN, notice.text, NULL);
	return code;
}

/* ---- export ---- */

static bool is_part(const char *wanted, const char *part)
{
	return !wanted || strcmp(wanted, part) == 0;
}

static bool is_wanted(const struct options *o, const char *job_name)
{
	struct job_parts p = job_key_parts(job_name);

	return is_part(o->run_job_name, p.name) && is_part(o->job_space, p.space) &&
	       is_part(o->job_cluster, p.cluster);
}

static int write_run(const struct run *r, FILE *out)
{
	json_t *o = run_message(r);
	AUTO(freep) char *text = json_dumps(o, JSON_COMPACT);

	json_decref(o);
	return text && fputs(text, out) >= 0 && fputc('\n', out) >= 0 ? 0 : -EIO;
}

static int write_runs(struct history *h, const struct options *o, FILE *out,
	struct progress *progress, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	uint64_t written = 0;
	int64_t position = 0;
	struct runs page;
	int code;

	do {
		arena_reset(&arena);
		code = history_runs_after(h, &position, PAGE, &arena, &page, e);
		for (size_t i = 0; code == 0 && i < page.n; i++) {
			if (!is_wanted(o, page.run[i].job_name))
				continue;
			code = write_run(&page.run[i], out);
			written += code == 0;
		}
		progress_note(progress, "runs", written, 0);
	} while (code == 0 && page.n);
	if (code == 0 && fflush(out) < 0)
		code = -EIO;
	return code == -EIO && !e->text[0] ? err_set(e, code, "cannot write the runs") : code;
}

/* Writes the runs to stdout, or to the file of -o, which is written completely or not at all. */
static int export_to(const struct options *o, struct history *h, struct progress *progress,
	struct err *e)
{
	struct user_file file = {0};
	int code;

	if (!o->output)
		return write_runs(h, o, stdout, progress, e);
	code = user_file_begin(&file, o->output, e);
	if (code)
		return code;
	return user_file_end(&file, write_runs(h, o, file.out, progress, e), e);
}

/* Prints that no run was written. Without this message, a mistyped name would look like an empty
 * history. */
static void say_nothing_written(const struct options *o)
{
	bool chosen = o->run_job_name || o->job_space || o->job_cluster;

	fprintf(stderr, PROGRAM EXPORT ": 0 runs written: the history has no ended run%s\n",
		chosen ? " of this --job-name, --namespace and --cluster" : "");
}

/* Reads the options of export, with "-o" for "--output". Refuses other arguments. */
static int read_export(struct options *o, int argc, char **argv)
{
	struct err e = {0};

	for (int i = 0; i < argc; i++)
		if (strcmp(argv[i], "-o") == 0)
			argv[i] = output_flag;
	if (options_read(o, COMMAND_EXPORT, argc, argv, &e))
		return usage_error(EXPORT, e.text);
	int code = o->n_rest ? usage_argument(EXPORT, o->rest[0], "output") : 0;

	if (code)
		options_done(o);
	return code;
}

int transfer_export(int argc, char **argv)
{
	struct columns columns = {0};
	struct history *h = NULL;
	struct progress_line line;
	struct options o = {0};
	struct err e = {0};
	int code = read_export(&o, argc, argv);

	if (code)
		return code;
	log_setup(o.log_level, o.log_format);
	signal(SIGPIPE, SIG_IGN);
	code = open_history(&h, &o, HISTORY_READ, &columns, &e);
	if (code == 0) {
		progress_line_begin(&line, EXPORT);
		code = export_to(&o, h, &line.progress, &e);
		progress_line_end(&line);
		if (code == 0 && line.progress.done == 0)
			say_nothing_written(&o);
	}
	history_close(h);
	columns_done(&columns);
	options_done(&o);
	return code ? failed(EXPORT, &e) : EXIT_SUCCESS;
}

/* ---- import ---- */

void transfer_import_help(struct buf *out)
{
	buf_adds(out, "SOURCE is one of these:\n");
	for (const struct import_source *s = import_sources; s->name; s++) {
		buf_addf(out, "  %s%s\n", s->name, s == import_sources ? ", the default" : "");
		line_wrap_add(out, s->help, 6);
	}
}

/* The messages about wrong lines of the file that is being read. */
struct telling {
	const char *path;
	uint64_t told;
	/* the messages; they are printed at the end, when the progress line is no longer on the
	 * terminal */
	struct buf text;
};

static void tell(void *context, uint64_t line, const char *why)
{
	struct telling *t = context;

	char path[512], reason[ERR_TEXT_MAX];

	if (t->told++ >= WRONG_TOLD)
		return;
	utf8_clean_plain(t->path, strlen(t->path), '?', path, sizeof path);
	utf8_clean_plain(why, strlen(why), '?', reason, sizeof reason);
	buf_addf(&t->text, PROGRAM IMPORT ": %s", path);
	if (line)
		buf_addf(&t->text, ":%" PRIu64, line);
	buf_addf(&t->text, ": %s\n", reason);
}

/* Opens a file. Sets `*written_at` to the time when the file was last changed; NaN = it is no
 * regular file. */
static int open_input(const char *path, FILE **ret, double *written_at, struct err *e)
{
	struct stat st;

	*ret = path == standard_input ? stdin : fopen(path, "re");
	*written_at = NAN;
	if (!*ret)
		return err_system(e, -errno, "open %s", path);
	if (fstat(fileno(*ret), &st) == 0 && S_ISDIR(st.st_mode)) {
		fclose(*ret);
		return err_set(e, -EISDIR, "%s is a folder: accepted are files", path);
	}
	if (S_ISREG(st.st_mode))
		*written_at = (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9;
	return 0;
}

/* Checks that `path` is a URL if the source reads a URL, and a file if the source reads files. The
 * error message does not contain the URL, which may contain a password. */
static int check_input(const struct import_source *source, const char *path, struct err *e)
{
	bool url = strstr(path, "://");

	if (url && !source->of_url)
		return err_set(e, -EINVAL, "--from=%s reads files: a URL needs --from=prometheus",
			source->name);
	if (!url && source->of_url && access(path, F_OK) == 0)
		return err_set(e, -EINVAL, "%s is a file: --from=%s reads a URL, http://HOST:PORT",
			path, source->name);
	return 0;
}

static int read_input(const struct options *o, const struct import_source *source, const char *path,
	struct importer *i, struct err *e)
{
	struct import_input in = {.path = path == standard_input ? "" : path,
		.written_at = NAN,
		.key = i->key,
		.outcome = o->import_outcome,
		.window_seconds = o->import_window,
		.now = i->now,
		.token_file = o->import_token_file,
		.ca_file = o->import_ca_file,
		.sink = importer_sink(i)};
	struct telling *t = i->context;
	int code = check_input(source, path, e);

	t->path = path;
	if (code == 0 && !source->of_url)
		code = open_input(path, &in.in, &in.written_at, e);
	if (code)
		return code;
	code = source->read(&in, e);
	if (in.in && in.in != stdin)
		fclose(in.in);
	if (code && !source->of_url)
		err_wrap(e, "%s", path);
	return code;
}

static void add_count(struct buf *out, uint64_t n, const char *what)
{
	buf_addf(out, "%s%" PRIu64 " %s", out->len ? ", " : "", n, what);
}

/* Prints the wrong lines and the counts. */
static void summarize(const struct importer *i, const struct telling *t,
	const struct import_source *source)
{
	struct buf text AUTO(buf_done) = BUF_MAX(256);

	fwrite(buf_text(&t->text), 1, t->text.len, stderr);
	add_count(&text, i->added, i->added == 1 ? "run added" : "runs added");
	add_count(&text, i->known, "known already");
	add_count(&text, i->wrong, "wrong");
	if (i->unfinished)
		add_count(&text, i->unfinished, "not ended");
	if (i->untold)
		add_count(&text, i->untold, "without an outcome");
	printf("%s\n", buf_text(&text));
	if (t->told > WRONG_TOLD)
		fprintf(stderr, PROGRAM IMPORT ": only the first %d wrong lines are shown\n",
			WRONG_TOLD);
	if (source == import_sources && i->wrong && !i->added && !i->known)
		fputs(PROGRAM IMPORT ": no line is a run as export prints it. If another program "
				     "wrote the input, name that program with --from.\n",
			stderr);
	if (i->untold)
		fputs(PROGRAM IMPORT ": the input does not say how runs ended, so they were left "
				     "out. If they succeeded, give --outcome=succeeded.\n",
			stderr);
}

static int import_all(const struct options *o, const struct import_source *source,
	struct importer *i, struct err *e)
{
	struct columns columns = {0};
	int code = open_history(&i->history, o, HISTORY_WRITE, &columns, e);

	for (int k = 0; code == 0 && k < o->n_rest; k++)
		code = read_input(o, source, o->rest[k], i, e);
	if (i->history)
		code = importer_end(i, code, e);
	history_close(i->history);
	columns_done(&columns);
	return code;
}

/* Returns true if the argument after `argument` is its value: `argument` is --NAME without "=", and
 * the option NAME needs a value. */
static bool has_value_behind(const char *argument)
{
	struct option_view o;
	size_t i = 0;

	if (strncmp(argument, "--", 2) != 0)
		return false;
	while (option_at(i, &o) && strcmp(argument + 2, o.name) != 0)
		i++;
	return option_at(i, &o) && o.placeholder;
}

/* Moves all options in front of the files, because a user may write them in any order. Replaces "-"
 * by `standard_input`. If the last argument is an option whose value is missing, returns that
 * option, and otherwise NULL. */
static const char *order_arguments(int argc, char **argv)
{
	int front = 0;

	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
		int n = has_value_behind(argv[i]) ? 2 : 1;

		if (strcmp(argv[i], "-") == 0)
			argv[i] = standard_input;
		if (argv[i][0] != '-')
			continue;
		if (i + n > argc)
			return argv[i];
		for (int k = 0; k < n; k++, front++) {
			char *moved = argv[i + k];

			memmove(argv + front + 1, argv + front,
				(size_t)(i + k - front) * sizeof *argv);
			argv[front] = moved;
		}
		i += n - 1;
	}
	return NULL;
}

static int read_import(struct options *o, int argc, char **argv)
{
	struct err e = {0};
	const char *open_flag = order_arguments(argc, argv);

	if (open_flag) {
		err_set(&e, -EINVAL, "%s needs a value", open_flag);
		return usage_error(IMPORT, e.text);
	}
	if (options_read(o, COMMAND_IMPORT, argc, argv, &e))
		return usage_error(IMPORT, e.text);
	if (o->n_rest)
		return 0;
	options_done(o);
	return usage_error(IMPORT, "FILE is missing: give a file, or - for standard input");
}

int transfer_import(int argc, char **argv)
{
	struct telling t = {.text = BUF_MAX(TOLD_MAX)};
	AUTO(freep) struct importer *i = xcalloc(1, sizeof *i);
	const struct import_source *source;
	struct progress_line line;
	struct options o = {0};
	struct err e = {0};
	int code = read_import(&o, argc, argv);

	if (code)
		return code;
	log_setup(o.log_level, o.log_format);
	i->key = (struct import_key){o.run_job_name, o.job_space, o.job_cluster};
	i->now = wall_seconds(now_read().wall);
	i->tell = tell;
	i->context = &t;
	progress_line_begin(&line, IMPORT);
	i->progress = &line.progress;
	source = import_source_find(o.import_from);
	code = import_all(&o, source, i, &e);
	progress_line_end(&line);
	options_done(&o);
	if (code)
		failed(IMPORT, &e);
	summarize(i, &t, source);
	buf_done(&t.text);
	return code || i->wrong || i->untold ? EXIT_FAILURE : EXIT_SUCCESS;
}
