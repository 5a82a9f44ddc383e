#include "exporter/discovery/command_run.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "collectors/host.h"
#include "collectors/process/facts.h"
#include "exporter/discovery/finder_state.h"
#include "exporter/discovery/job_rules.h"
#include "exporter/discovery/pod.h"

#define COMMAND_LINE_MAX (8u << 20) /* bytes; the kernel allows only 6 MiB of arguments */

/* Finds the file that execvp(3) would execute. Returns "" when there is none. */
static void find_executable(const char *command, char out[PATH_MAX])
{
	const char *path = getenv("PATH");
	struct scan s = SCAN(path ? path : "/bin:/usr/bin", strlen(path ? path : "/bin:/usr/bin"));
	char file[PATH_MAX];
	struct slice folder;

	out[0] = '\0';
	if (strchr(command, '/')) {
		if (!realpath(command, out))
			out[0] = '\0';
		return;
	}
	while (scan_piece(&s, ':', &folder)) {
		int n = snprintf(file, sizeof file, "%.*s/%s", (int)(folder.len ? folder.len : 1),
			folder.len ? folder.data : ".", command);

		if (n > 0 && (size_t)n < sizeof file && access(file, X_OK) == 0 &&
			realpath(file, out))
			return;
	}
	out[0] = '\0';
}

/* The facts about the command before it starts. The command line and the executable are known from
 * the arguments. All other facts are read from this process, because the command inherits them. */
struct command_facts {
	struct host host;
	struct facts_reader *reader;
	struct buf command_line;
	char executable[PATH_MAX];
	struct process_facts facts;
};

static void join(struct buf *out, char *const command[])
{
	for (size_t i = 0; command[i]; i++)
		buf_add(out, command[i], strlen(command[i]) + 1);
}

/* Reads the environment, the working directory, the control group and the user of this process,
 * because the command inherits them. Must be called before this process starts a second thread. */
static void read_facts(struct command_facts *f, const struct options *o, unsigned which,
	char *const command[])
{
	const struct host_paths paths = {o->procfs, o->sysfs, o->rootfs};

	f->command_line = BUF_MAX(COMMAND_LINE_MAX);
	join(&f->command_line, command);
	const struct slice line = {f->command_line.data, f->command_line.len};

	if (host_open(&f->host, &paths, NULL) == 0) {
		f->reader = facts_reader_new();
		if (facts_begin(f->reader, &f->host, f->host.self, &f->facts)) {
			f->facts.text.command_line = line;
			facts_complete(f->reader, &f->host, which, &f->facts);
		}
	}
	f->facts.text.command_line = line;
	if (which & FACT_EXECUTABLE) {
		find_executable(command[0], f->executable);
		f->facts.executable = (struct slice){f->executable, strlen(f->executable)};
	}
}

static void facts_done(struct command_facts *f)
{
	facts_reader_free(f->reader);
	host_close(&f->host);
	buf_done(&f->command_line);
}

/* Uses the name of the program, without its folders, as the job name. */
static void name_by_program(struct slice command_line, struct recognised *r)
{
	struct slice program = identify_program(command_line);

	utf8_clean_plain(program.data, program.len, '_', r->job_name, sizeof r->job_name);
	if (!r->job_name[0])
		text_copy("command", r->job_name, sizeof r->job_name);
}

/* Replaces values of `r` by the values of options. An option for the job name replaces only the
 * name, and not the run number, the labels and so on. */
static void take_options(const struct options *o, struct recognised *r)
{
	if (o->run_job_name)
		text_copy(o->run_job_name, r->job_name, sizeof r->job_name);
	if (o->run_attempt)
		r->attempt = (double)o->run_attempt;
	if (o->given[OPTION_run_input_bytes])
		r->input_bytes = (double)o->run_input_bytes;
	if (o->run_request_cpu > 0)
		r->cpu_cores = o->run_request_cpu;
	if (o->run_request_memory)
		r->memory_bytes = (double)o->run_request_memory;
}

/* Writes the key of the job to r->job: its name, its namespace and the cluster. */
static void place(const struct options *o, struct command_run *r)
{
	struct recognised *is = &r->is;

	pod_job_space(o, is->space);
	job_key_write(is->job_name, is->space, o->jobs_cluster, r->job);
}

int command_run_identify(struct command_run *ret, const struct options *o, char *const command[],
	struct err *e)
{
	struct job_rules *rules = NULL;
	struct rule_finding found = {0};
	struct command_facts f = {0};
	int code = o->jobs_rules ? job_rules_read(&rules, o->jobs_rules, e) : 0;

	*ret = (struct command_run){0};
	read_facts(&f, o, rules ? job_rules_facts(rules) : 0, command);
	bool known = recognise_wrapped(&f.facts.text, &ret->is);

	/* A rule with "ignore: true" does not apply to a command that a wrapper starts. */
	if (rules && !o->run_job_name && job_rules_match(rules, &f.facts, &found, NULL) &&
		!found.ignored) {
		identify_fill_numbers(&found.is, &ret->is);
		ret->is = found.is;
		known = true;
	}
	/* RIGHTSIZE_JOB_NAME names the job of a process, and also sets the option --job-name. If
	 * only the process has the name from it, the option has refused it. Remove the refused name
	 * here, too. */
	if (!o->run_job_name && ret->is.own_name)
		ret->is.job_name[0] = '\0';
	identify_bound_numbers(&ret->is);
	take_options(o, &ret->is);
	if (!ret->is.job_name[0])
		name_by_program(f.facts.text.command_line, &ret->is);
	place(o, ret);
	if (known && strcmp(ret->is.system, "environment") != 0)
		ret->system = ret->is.system;
	ret->labels = record_labels_text(&ret->is);
	job_rules_free(rules);
	facts_done(&f);
	return code;
}

void command_run_done(struct command_run *r)
{
	free(r->labels);
}
