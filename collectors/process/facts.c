#include "collectors/process/facts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/process/process.h"
#include "collectors/process/named_file.h"

/* Maximum number of bytes that are read from a file that may contain a job's name. */
#define FILE_MAX 65536
/* Maximum number of bytes of an environment that are read. The kernel limits arguments and
 * environment to 6 MiB together, but a process may declare a larger environment with PR_SET_MM. */
#define ENVIRONMENT_MAX      (8u << 20)
#define ENVIRONMENT_KEPT     (HOST_SCRATCH_SIZE / 2)
#define PATH_ROOM            (PATH_MAX + 64)
#define FILE_PATH_MAX        (PATH_ROOM - 16)
#define CONTAINER_DIGITS_MIN 32
#define CONTAINER_DIGITS_MAX 64

struct facts_reader {
	char *command_line, *environment; /* HOST_SCRATCH_SIZE bytes each */
	char *file;                       /* FILE_MAX bytes */
	/* Returns true for an additional variable that the caller needs. NULL = there is none. */
	bool (*wants)(const void *context, struct slice variable);
	const void *context;
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

void facts_reader_wants(struct facts_reader *r,
	bool (*wants)(const void *context, struct slice variable), const void *context)
{
	r->wants = wants;
	r->context = context;
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
	char path[PROCESS_PATH_MAX];
	ssize_t n = tree_read(h->proc, process_path(path, pid, file), out, size);

	*ret = (struct slice){out, n > 0 ? (size_t)n : 0};
	return n;
}

/* Reads the beginning of a long command line. Cuts it after a whole argument if possible. */
static void read_beginning(const struct host *h, const char *path, char *out, struct slice *ret)
{
	ssize_t n = tree_head(h->proc, path, out, HOST_SCRATCH_SIZE);
	size_t len = n > 0 ? (size_t)n : 0;

	while (len && out[len - 1])
		len--;
	if (len == 0 && n > 0) {
		len = (size_t)n;
		out[len - 1] = '\0';
	}
	*ret = (struct slice){out, len};
}

bool facts_begin(struct facts_reader *r, const struct host *h, pid_t pid, struct process_facts *ret)
{
	char path[PROCESS_PATH_MAX];

	*ret = (struct process_facts){.pid = pid};
	if (read_text(h, pid, "cmdline", r->command_line, HOST_SCRATCH_SIZE,
		    &ret->text.command_line) == -EFBIG)
		read_beginning(h, process_path(path, pid, "cmdline"), r->command_line,
			&ret->text.command_line);
	return ret->text.command_line.len > 0;
}

/* ---- a large environment ---- */

static bool is_wanted(const struct facts_reader *r, struct slice variable)
{
	const char *equals = memchr(variable.data, '=', variable.len);

	if (!equals)
		return false;
	variable.len = (size_t)(equals - variable.data);
	return recognise_is_variable(variable) || (r->wants && r->wants(r->context, variable));
}

/* An environment that is too large for the buffer is read in pieces. The first `kept` bytes of the
 * buffer are the variables to keep. The newest piece follows, and ends at `end`. */
struct sieve {
	size_t kept, end;
	bool skips; /* skip the rest of a variable that did not fit in the buffer */
};

/* Drops the unwanted variables from the newest piece. An incomplete variable at the end of the
 * piece stays for the next call. */
static void sift_environment(const struct facts_reader *r, struct sieve *s)
{
	char *text = r->environment, *nul;
	size_t at = s->kept;

	while ((nul = memchr(text + at, '\0', s->end - at))) {
		size_t next = (size_t)(nul + 1 - text);

		if (!s->skips && s->kept + next - at <= ENVIRONMENT_KEPT &&
			is_wanted(r, (struct slice){text + at, next - 1 - at})) {
			memmove(text + s->kept, text + at, next - at);
			s->kept += next - at;
		}
		s->skips = false;
		at = next;
	}
	memmove(text + s->kept, text + at, s->end - at);
	s->end = s->kept + s->end - at;
	if (s->end == HOST_SCRATCH_SIZE) {
		s->end = s->kept;
		s->skips = true;
	}
}

static struct slice read_wanted(const struct facts_reader *r, const struct host *h, pid_t pid)
{
	struct sieve s = {0};
	char path[PROCESS_PATH_MAX];
	ssize_t n;

	process_path(path, pid, "environ");
	for (size_t from = 0; from < ENVIRONMENT_MAX; from += (size_t)n) {
		n = tree_part(h->proc, path, from, r->environment + s.end,
			HOST_SCRATCH_SIZE - s.end);
		if (n <= 0)
			break;
		s.end += (size_t)n;
		sift_environment(r, &s);
	}
	return (struct slice){r->environment, s.kept};
}

/* ---- links, cgroup and user ---- */

static struct slice read_link(const struct host *h, pid_t pid, const char *file, char *out,
	size_t size)
{
	char path[PROCESS_PATH_MAX];
	ssize_t n = tree_link(h->proc, process_path(path, pid, file), out, size);

	return (struct slice){out, n > 0 ? (size_t)n : 0};
}

/* Chooses the path for `cgroup` of struct process_facts. `text` is the content of /proc/PID/cgroup.
 * It has lines NUMBER:CONTROLLERS:PATH. For cgroup v2 the line is "0::PATH" (cgroups(7)). */
static struct slice path_of_cgroup(struct slice text)
{
	struct scan s = scan_slice(text), line;
	struct slice best = {text.data, 0};
	int rank = 0;

	while (scan_line(&s, &line)) {
		struct slice number, controllers;

		if (!scan_until(&line, ':', &number) || !scan_until(&line, ':', &controllers))
			continue;
		struct slice path = scan_rest(&line);
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

void facts_container(struct slice cgroup, char out[CONTAINER_ID_MAX])
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i <= cgroup.len; i++) {
		if (i < cgroup.len && is_hex(cgroup.data[i])) {
			n++;
			continue;
		}
		/* A path may contain several ids. Outer containers and pods come before inner
		 * containers in the path. Use the last id, which is that of the innermost
		 * container. */
		if (n >= CONTAINER_DIGITS_MIN && n <= CONTAINER_DIGITS_MAX)
			slice_copy((struct slice){cgroup.data + i - n, n}, out, CONTAINER_ID_MAX);
		n = 0;
	}
}

/* Reads the real uid. If the effective uid were used, a set-user-ID program could make us read
 * files of the program's owner. */
static bool read_uid(const struct host *h, pid_t pid, uint64_t *ret)
{
	struct scan line;

	return process_status_line(h, pid, "Uid:", &line) && scan_u64(&line, ret);
}

/* Reads the name from /etc/passwd only. Directory services such as LDAP are not queried. */
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

/* Reads the first readable file among those that may contain the job's name. */
static void read_file(struct facts_reader *r, const struct host *h, struct process_facts *facts)
{
	char path[FILE_PATH_MAX];
	uint64_t uid;

	for (size_t i = 0; recognise_file(&facts->text, i, path, sizeof path); i++) {
		ssize_t n = read_uid(h, facts->pid, &uid) ?
				    process_file_head(h, facts->pid, uid, path, r->file, FILE_MAX) :
				    -ENOENT;

		if (n > 0) {
			facts->text.file = (struct slice){r->file, (size_t)n};
			return;
		}
	}
}

void facts_complete(struct facts_reader *r, const struct host *h, unsigned which,
	struct process_facts *facts)
{
	pid_t pid = facts->pid;
	struct slice text;
	ssize_t n = read_text(h, pid, "environ", r->environment, HOST_SCRATCH_SIZE,
		&facts->text.environment);

	if (n == -EFBIG)
		facts->text.environment = read_wanted(r, h, pid);
	facts->refused = process_refused((int)n);
	read_file(r, h, facts);
	if (which & FACT_EXECUTABLE)
		facts->executable = read_link(h, pid, "exe", r->executable, sizeof r->executable);
	if (which & FACT_WORKING_DIRECTORY)
		facts->working_directory =
			read_link(h, pid, "cwd", r->directory, sizeof r->directory);
	if (which & FACT_CGROUP) {
		read_text(h, pid, "cgroup", r->cgroup, sizeof r->cgroup, &text);
		facts->cgroup = path_of_cgroup(text);
		facts_container(facts->cgroup, facts->container);
	}
	if (which & FACT_USER)
		read_user(h, pid, facts->user);
}
