#include "collectors/kernel_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"

void kernel_file_open(struct kernel_file *s, struct tree *tree, const char *path)
{
	*s = (struct kernel_file){.tree = tree, .path = path, .kept = KEPT_NONE};
}

void kernel_file_close(struct kernel_file *s)
{
	if (s->tree)
		kept_done(&s->kept);
	*s = (struct kernel_file){.kept = KEPT_NONE};
}

void kernel_file_by_path(struct kernel_file *s)
{
	s->tried = true;
}

static const char *tree_name(const struct host *host, const struct tree *t)
{
	return t == host->proc ? "proc/" : t == host->sys ? "sys/" : "/";
}

static int text_of_read(const struct host *host, const struct tree *tree, const char *path,
	ssize_t n, struct scan *ret, struct err *e)
{
	if (n < 0)
		return err_system(e, (int)n, "read %s%s", tree_name(host, tree), path);
	*ret = SCAN(host->scratch, (size_t)n);
	return 0;
}

/* ---- a text shared by all readers of a tick ---- */

static bool is_kept(const struct host *host, const struct kernel_file *s)
{
	const struct kernel_file_text *t = host->text;

	return t && t->tree == s->tree && t->at.ns == host->now.mono.ns &&
	       strcmp(t->path, s->path) == 0;
}

static void keep_text(const struct host *host, const struct kernel_file *s, struct scan text)
{
	struct kernel_file_text *t = host->text;
	size_t n = (size_t)(text.end - text.at);

	if (t->room < n) {
		t->data = xrealloc(t->data, n);
		t->room = n;
	}
	memcpy(t->data, text.at, n);
	t->n = n;
	t->tree = s->tree;
	t->path = s->path;
	t->at = host->now.mono;
}

void kernel_file_text_free(struct kernel_file_text *t)
{
	if (t)
		free(t->data);
	free(t);
}

/* ---- reading ---- */

static int read_anew(struct kernel_file *s, const struct host *host, struct scan *ret,
	struct err *e)
{
	if (!s->tried)
		s->kept = tree_keep(s->tree, s->path);
	s->tried = true;
	ssize_t n = kept_read(&s->kept, s->tree, s->path, host->scratch, host->scratch_size);

	if (n < 0 && s->kept.fd >= 0) {
		kept_done(&s->kept);
		s->kept = tree_keep(s->tree, s->path);
		n = kept_read(&s->kept, s->tree, s->path, host->scratch, host->scratch_size);
	}
	return text_of_read(host, s->tree, s->path, n, ret, e);
}

int kernel_file_read(struct kernel_file *s, const struct host *host, struct scan *ret,
	struct err *e)
{
	if (!is_kept(host, s))
		return read_anew(s, host, ret, e);
	memcpy(host->scratch, host->text->data, host->text->n);
	host->scratch[host->text->n] = '\0';
	*ret = SCAN(host->scratch, host->text->n);
	return 0;
}

int kernel_file_read_shared(struct kernel_file *s, const struct host *host, struct scan *ret,
	struct err *e)
{
	int code = read_anew(s, host, ret, e);

	if (host->text)
		host->text->tree = NULL;
	if (host->text && code == 0 && ret->at < ret->end)
		keep_text(host, s, *ret);
	return code;
}

int kernel_file_read_once(const struct host *host, struct tree *tree, const char *path,
	struct scan *ret, struct err *e)
{
	ssize_t n = tree_read_records(tree, path, host->scratch, host->scratch_size);

	return text_of_read(host, tree, path, n, ret, e);
}

bool kernel_file_absent(int code)
{
	/* The kernel returns EOPNOTSUPP if PSI is switched off, and ENODEV for a file of a removed
	 * cgroup. */
	return code == -ENOENT || code == -ESRCH || code == -ENODEV || code == -EOPNOTSUPP;
}

uint64_t kernel_file_number(const struct host *host, struct tree *tree, const char *path)
{
	struct scan text;
	uint64_t v;

	if (kernel_file_read_once(host, tree, path, &text, NULL) < 0 || !scan_u64(&text, &v))
		return NUMBER_UNKNOWN;
	return v;
}

double counter_follow(struct counter *c, uint64_t raw)
{
	if (raw >= c->last) {
		c->value += (double)(raw - c->last);
		c->last = raw;
	} else if (raw < c->last / 2) {
		c->value += (double)raw;
		c->last = raw;
	}
	return c->value;
}

bool ration_due(struct ration *r, struct mono now, int64_t seconds)
{
	if (now.ns < r->next.ns)
		return false;
	r->next.ns = now.ns + seconds * NS_PER_S;
	return true;
}
