/* Reading what tells processes apart. */
#include "collectors/process_facts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/process.h"

/* Only the beginning of a file that names a job is read. */
#define FILE_MAX             65536
#define PATH_ROOM            (PATH_MAX + 64)
#define FILE_PATH_MAX        (PATH_ROOM - 16)
#define CONTAINER_DIGITS_MIN 32
#define CONTAINER_DIGITS_MAX 64

struct facts_reader {
	char *command_line, *environment, *file; /* HOST_SCRATCH_SIZE each; FILE_MAX */
	char executable[PATH_ROOM], directory[PATH_ROOM], cgroup[PATH_ROOM];
};

struct facts_reader *facts_reader_new(void)
{
	struct facts_reader *r = xcalloc(1, sizeof *r);

	r->command_line = xmalloc(HOST_SCRATCH_SIZE);
	r->environment = xmalloc(HOST_SCRATCH_SIZE);
	r->file = xmalloc(FILE_MAX);
	return r;
}

void facts_reader_free(struct facts_reader *r)
{
	if (!r)
		return;
	free(r->command_line);
	free(r->environment);
	free(r->file);
	free(r);
}

static ssize_t read_text(const struct host *h, pid_t pid, const char *file, char *out, size_t size,
	struct slice *ret)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof path, "%d/%s", (int)pid, file);
	ssize_t n = tree_read(h->proc, path, out, size);

	*ret = (struct slice){out, n > 0 ? (size_t)n : 0};
	return n;
}

bool facts_begin(struct facts_reader *r, const struct host *h, pid_t pid, struct process_facts *ret)
{
	*ret = (struct process_facts){.pid = pid};
	read_text(h, pid, "cmdline", r->command_line, HOST_SCRATCH_SIZE, &ret->text.command_line);
	return ret->text.command_line.len > 0;
}

static struct slice read_link(const struct host *h, pid_t pid, const char *file, char *out,
	size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "%d/%s", (int)pid, file);
	ssize_t n = tree_link(h->proc, path, out, size);

	return (struct slice){out, n > 0 ? (size_t)n : 0};
}

/* Lines are NUMBER:CONTROLLERS:PATH; v2's is "0::PATH" (cgroups(7)). */
static struct slice path_of_cgroup(struct slice text)
{
	struct scan s = scan_slice(text), line;
	struct slice best = {text.data, 0};
	int rank = 0;

	while (scan_line(&s, &line)) {
		struct slice number, controllers;

		if (!scan_until(&line, ':', &number) || !scan_until(&line, ':', &controllers))
			continue;
		struct slice path = {line.at, (size_t)(line.end - line.at)};
		bool is_root = slice_is(path, "/");
		int this = is_root                         ? 1 :
			   slice_is(number, "0")           ? 4 :
			   slice_is(controllers, "memory") ? 3 :
							     2;

		if (this > rank) {
			rank = this;
			best = path;
		}
	}
	return best;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

void container_of_cgroup(struct slice cgroup, char out[CONTAINER_ID_MAX])
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i <= cgroup.len; i++) {
		if (i < cgroup.len && is_hex(cgroup.data[i])) {
			n++;
			continue;
		}
		/* The last one: what is outside (a pod's, another engine's) stands before it. */
		if (n >= CONTAINER_DIGITS_MIN && n <= CONTAINER_DIGITS_MAX)
			slice_copy((struct slice){cgroup.data + i - n, n}, out, CONTAINER_ID_MAX);
		n = 0;
	}
}

static bool read_uid(const struct host *h, pid_t pid, uint64_t *ret)
{
	char path[64];
	struct scan line;

	snprintf(path, sizeof path, "%d/status", (int)pid);
	ssize_t n = tree_read(h->proc, path, h->scratch, h->scratch_size);
	struct scan s = SCAN(h->scratch, n > 0 ? n : 0);

	while (scan_line(&s, &line))
		if (scan_literal(&line, "Uid:"))
			return scan_u64(&line, ret);
	return false;
}

/* Names as /etc/passwd has them; directories on the network are not asked. */
static void read_user(const struct host *h, pid_t pid, char out[USER_NAME_MAX])
{
	struct slice name, password;
	struct scan line;
	uint64_t uid, number;

	out[0] = '\0';
	if (!read_uid(h, pid, &uid))
		return;
	snprintf(out, USER_NAME_MAX, "%llu", (unsigned long long)uid);
	ssize_t n = tree_read(h->root, "etc/passwd", h->scratch, h->scratch_size);
	struct scan s = SCAN(h->scratch, n > 0 ? n : 0);

	while (scan_line(&s, &line))
		if (scan_until(&line, ':', &name) && scan_until(&line, ':', &password) &&
			scan_u64(&line, &number) && number == uid) {
			slice_copy(name, out, USER_NAME_MAX);
			return;
		}
}

void facts_complete(struct facts_reader *r, const struct host *h, unsigned which,
	struct process_facts *facts)
{
	pid_t pid = facts->pid;
	char path[FILE_PATH_MAX];
	struct slice text;

	facts->refused = process_refused((int)read_text(h, pid, "environ", r->environment,
		HOST_SCRATCH_SIZE, &facts->text.environment));
	for (size_t i = 0; recognise_file(&facts->text, i, path, sizeof path); i++)
		if (read_text(h, pid, path, r->file, FILE_MAX, &facts->text.file) > 0)
			break;
	if (which & FACT_EXECUTABLE)
		facts->executable = read_link(h, pid, "exe", r->executable, sizeof r->executable);
	if (which & FACT_WORKING_DIRECTORY)
		facts->working_directory =
			read_link(h, pid, "cwd", r->directory, sizeof r->directory);
	if (which & FACT_CGROUP) {
		read_text(h, pid, "cgroup", r->cgroup, sizeof r->cgroup, &text);
		facts->cgroup = path_of_cgroup(text);
		container_of_cgroup(facts->cgroup, facts->container);
	}
	if (which & FACT_USER)
		read_user(h, pid, facts->user);
}
