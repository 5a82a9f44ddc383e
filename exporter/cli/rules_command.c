#include "exporter/cli/rules_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "collectors/process/pids.h"
#include "collectors/process/process.h"
#include "exporter/cli/process_dump.h"
#include "exporter/cli/usage.h"
#include "exporter/discovery/job_rules.h"
#include "exporter/core/json.h"
#include "exporter/core/log.h"
#include "exporter/options/options.h"
#include "collectors/naming/recognise.h"

#define OUTPUT_MAX  ((size_t)64 << 20)
#define COMMAND_MAX 60

struct rules_session {
	struct options options;
	struct job_rules *rules; /* NULL = no rules */
	struct host host;
	struct facts_reader *reader;
	struct buf out;
	json_t *captured; /* processes that "rules capture" prints; NULL for "rules test" */
	bool explain;
};

static int complain(const struct err *e)
{
	fprintf(stderr, "rightsize-exporter rules: %s\n", e->text);
	return EXIT_FAILURE;
}

/* ---- one process ---- */

static void add_command(struct buf *out, struct slice command_line)
{
	char text[COMMAND_MAX];

	utf8_clean(command_line.data,
		command_line.len < COMMAND_MAX * 4 ? command_line.len : COMMAND_MAX * 4, text,
		sizeof text);
	/* utf8_clean has replaced the NUL after each argument by U+FFFD. Replace that by a
	 * space. */
	for (char *c = text; *c; c++)
		if (strncmp(c, "\xef\xbf\xbd", 3) == 0) {
			*c = ' ';
			memmove(c + 1, c + 3, strlen(c + 3) + 1);
		} else if ((unsigned char)*c < 0x20 || *c == 0x7f) {
			*c = '?';
		}
	buf_adds(out, text);
}

static void add_labels(struct buf *out, const struct recognised *r)
{
	for (size_t i = 0; i < r->n_labels; i++)
		buf_addf(out, " %s=%s", r->label[i].name, r->label[i].value);
	if (r->run[0])
		buf_addf(out, " run=%s", r->run);
	if (r->attempt >= 1)
		buf_addf(out, " attempt=%.0f", r->attempt);
}

/* Prints "PID COMMAND", and then which rule or system names the process, for example "rule 2 (line
 * 9) names it NAME flow=a". */
static void describe(struct rules_session *s, const struct process_facts *facts)
{
	struct buf explanation AUTO(buf_done) = BUF_MAX(OUTPUT_MAX);
	struct rule_finding found = {0};
	struct recognised is;
	bool known = recognise(&facts->text, &is);
	bool ruled = s->rules && !(known && is.own_name) &&
		     job_rules_match(s->rules, facts, &found, s->explain ? &explanation : NULL);

	if (recognise_is_exporter(facts->text.command_line))
		known = ruled = false;
	buf_addf(&s->out, "%d ", (int)facts->pid);
	add_command(&s->out, facts->text.command_line);
	buf_addc(&s->out, '\n');
	buf_adds(&s->out, buf_text(&explanation));
	if (found.gave_up)
		buf_addf(&s->out, "\t%u patterns took too long and were given up\n", found.gave_up);
	if (ruled) {
		buf_adds(&s->out, "\t");
		job_rules_name(s->rules, found.rule, &s->out);
		buf_addf(&s->out, "%s%s", found.ignored ? ": no job" : " names it ",
			found.ignored ? "" : found.is.job_name);
		add_labels(&s->out, &found.is);
	} else if (known) {
		buf_addf(&s->out, "\t%s names it %s",
			is.own_name ? "RIGHTSIZE_JOB_NAME" : is.system, is.job_name);
		add_labels(&s->out, &is);
	} else {
		buf_addf(&s->out, "\tnothing names it%s",
			facts->refused ? "; its environment may not be read" : "");
	}
	buf_addc(&s->out, '\n');
}

static void print_process(void *session, const struct process_facts *facts)
{
	struct rules_session *s = session;

	if (s->captured)
		json_push(s->captured, process_dump_json(facts, s->rules));
	else
		describe(s, facts);
}

/* ---- the processes ---- */

#define EVERYTHING (FACT_EXECUTABLE | FACT_WORKING_DIRECTORY | FACT_CGROUP | FACT_USER)

static bool is_of_rules(const void *session, struct slice variable)
{
	const struct rules_session *s = session;

	return s->rules && job_rules_reads(s->rules, variable);
}

static bool take_process(struct rules_session *s, pid_t pid)
{
	struct process_facts facts;

	if (!facts_begin(s->reader, &s->host, pid, &facts))
		return false;
	facts_complete(s->reader, &s->host, EVERYTHING, &facts);
	print_process(s, &facts);
	return true;
}

static int take_machine(struct rules_session *s, struct err *e)
{
	struct pids p = {0};
	int code = process_list(&s->host, pids_add, &p);

	for (size_t i = 0; i < p.n; i++)
		take_process(s, p.pid[i]);
	pids_done(&p);
	return code ? err_system(e, code, "list the processes") : 0;
}

static int take_all(struct rules_session *s, struct err *e)
{
	pid_t pid = (pid_t)s->options.rules_pid;

	s->explain = pid > 0;
	if (s->options.rules_processes)
		return process_dump_read(s->options.rules_processes, pid, print_process, s, e);
	if (!pid)
		return take_machine(s, e);
	return take_process(s, pid) ? 0 : err_set(e, -ESRCH, "there is no process %d", (int)pid);
}

/* ---- commands ---- */

static int check(struct rules_session *s, struct err *e)
{
	(void)e;
	size_t n = job_rules_count(s->rules);

	buf_addf(&s->out, "%s: %zu rule%s\n", s->options.jobs_rules, n, n == 1 ? "" : "s");
	return 0;
}

static int capture(struct rules_session *s, struct err *e)
{
	json_t *document = json_object();

	s->captured = json_array();
	int code = take_machine(s, e);

	json_put(document, "processes", TAKE(s->captured));
	json_write(&s->out, document);
	json_decref(document);
	return code;
}

static const struct {
	const char *word;
	int (*run)(struct rules_session *s, struct err *e);
	bool needs_rules;
} commands[] = {{"test", take_all}, {"check", check, .needs_rules = true}, {"capture", capture}};

const char *rules_command_word(size_t i)
{
	return i < ARRAY_LEN(commands) ? commands[i].word : NULL;
}

static int run(struct rules_session *s, size_t command, struct err *e)
{
	const struct host_paths paths = {"/proc", "/sys", "/"};
	int code = s->options.jobs_rules ? job_rules_read(&s->rules, s->options.jobs_rules, e) : 0;

	if (code == 0)
		code = host_open(&s->host, &paths, e);
	if (code == 0)
		code = commands[command].run(s, e);
	host_close(&s->host);
	job_rules_free(s->rules);
	return code;
}

int rules_command_main(int argc, char **argv)
{
	struct rules_session s = {.out = BUF_MAX(OUTPUT_MAX)};
	struct err e = {0};
	size_t command = 0;

	while (command < ARRAY_LEN(commands) &&
		(argc < 1 || strcmp(argv[0], commands[command].word) != 0))
		command++;
	if (command == ARRAY_LEN(commands))
		return usage_word("rules", argv[0], rules_command_word);
	int code = options_read(&s.options, COMMAND_RULES, argc - 1, argv + 1, &e);

	if (code)
		return usage_error("rules", e.text);
	if (s.options.n_rest)
		code = usage_argument("rules", s.options.rest[0], "jobs.rules");
	else if (commands[command].needs_rules && !s.options.jobs_rules)
		code = usage_error("rules", "--jobs.rules=FILE is missing: give the file to check");
	if (code) {
		options_done(&s.options);
		return code;
	}
	log_setup(s.options.log_level, s.options.log_format);
	s.reader = facts_reader_new();
	facts_reader_wants(s.reader, is_of_rules, &s);
	code = run(&s, command, &e);
	if (code == 0)
		fputs(buf_text(&s.out), stdout);
	facts_reader_free(s.reader);
	buf_done(&s.out);
	options_done(&s.options);
	return code ? complain(&e) : EXIT_SUCCESS;
}
