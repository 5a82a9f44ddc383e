#include "collectors/process/helpers.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/naming/recognise.h"
#include "collectors/process/process.h"

void helpers_begin(struct helpers *ret, const struct host *h)
{
	struct process_stat s;

	*ret = (struct helpers){0};
	if (h->self && process_read_stat(h, h->self, &s) == 0)
		ret->code_bytes = s.code_bytes;
}

/* ---- processes that clients declared ---- */

bool helpers_declared(const struct helpers *all, pid_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; all && i < all->n; i++)
		if (all->declared[i].pid == pid && all->declared[i].start_ticks == start_ticks)
			return true;
	return false;
}

static void forget_ended(struct helpers *all, const struct host *h)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		struct process_stat s;
		int code = process_read_stat(h, all->declared[i].pid, &s);

		if (!process_gone(code) && (code || s.start_ticks == all->declared[i].start_ticks))
			all->declared[n++] = all->declared[i];
	}
	all->n = n;
}

int helpers_declare(struct helpers *all, const struct host *h, pid_t pid)
{
	struct process_stat s;
	int code = process_read_stat(h, pid, &s);

	if (code)
		return process_gone(code) ? -ESRCH : code;
	if (helpers_declared(all, pid, s.start_ticks))
		return 0;
	if (all->n == HELPERS_MAX)
		forget_ended(all, h);
	if (all->n == HELPERS_MAX)
		return -ENOSPC;
	all->declared[all->n++] = (struct declared_helper){pid, s.start_ticks};
	return 0;
}

/* ---- signs of a helper that can be read from the process ---- */

/* Reads the beginning of a file of the process. */
static struct slice read_head(const struct host *h, pid_t pid, const char *file)
{
	char path[PROCESS_PATH_MAX];
	ssize_t n = tree_head(h->proc, process_path(path, pid, file), h->scratch, h->scratch_size);

	return (struct slice){h->scratch, n > 0 ? (size_t)n : 0};
}

bool helper_by_environment(const struct host *h, pid_t pid)
{
	return recognise_declares_helper(read_head(h, pid, "environ"));
}

/* Returns true if the process `pid` executes the same file as this exporter. */
static bool is_our_program(const struct host *h, pid_t pid)
{
	char path[PROCESS_PATH_MAX], theirs[PATH_MAX], ours[PATH_MAX];

	return tree_link(h->proc, process_path(path, pid, "exe"), theirs, sizeof theirs) > 0 &&
	       tree_link(h->proc, process_path(path, h->self, "exe"), ours, sizeof ours) > 0 &&
	       strcmp(theirs, ours) == 0;
}

/* Returns true for a process of this exporter's program that is no wrapper. The kernel cuts the
 * name of a process to 15 bytes. If the program was started through a link, the process may have
 * another name, but its code has the same size. Other programs may have that size, too. Therefore a
 * process with that size is checked by its link /proc/PID/exe, which is expensive to read. */
static bool is_exporter(const struct host *h, const struct process_stat *s)
{
	bool named = strcmp(s->name, "rightsize-expor") == 0;
	bool alike =
		h->helpers && h->helpers->code_bytes && s->code_bytes == h->helpers->code_bytes;

	if (!named && !alike)
		return false;
	struct slice command_line = read_head(h, s->pid, "cmdline");

	if (recognise_is_wrapper(command_line))
		return false;
	return recognise_is_exporter(command_line) || (alike && is_our_program(h, s->pid));
}

enum helper_kind helper_kind_of(const struct host *h, const struct process_stat *s,
	bool environment)
{
	if (helpers_declared(h->helpers, s->pid, s->start_ticks))
		return HELPER_DECLARED;
	if (s->pid == h->self || is_exporter(h, s))
		return HELPER_EXPORTER;
	return environment && helper_by_environment(h, s->pid) ? HELPER_DECLARED : HELPER_NONE;
}
