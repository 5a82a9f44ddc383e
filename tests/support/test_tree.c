#include "tests/support/test_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collectors/base/mem.h"

struct entry {
	char *path, *data, *link;
	size_t len;
	int refuse;
	uint64_t cost_ns;
	size_t n_reads;
	bool has_space;
	struct tree_space space;
	uint64_t device;
};

struct memory {
	struct tree tree;
	size_t n, room;
	struct entry *entry;
};

static struct memory *memory_of(struct tree *t)
{
	return (struct memory *)(void *)t;
}

static struct entry *find(struct tree *t, const char *path)
{
	struct memory *m = memory_of(t);

	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->entry[i].path, path) == 0)
			return &m->entry[i];
	return NULL;
}

static bool below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return n == 0 || (strncmp(path, directory, n) == 0 && path[n] == '/');
}

static bool is_directory(struct tree *t, const char *path)
{
	struct memory *m = memory_of(t);

	for (size_t i = 0; i < m->n; i++)
		if (below(m->entry[i].path, path) && (m->entry[i].data || m->entry[i].link))
			return true;
	return false;
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void burn(uint64_t ns)
{
	uint64_t end = thread_cpu_ns() + ns;

	while (ns && thread_cpu_ns() < end)
		;
}

static ssize_t memory_read(struct tree *t, const char *path, char *buf, size_t size)
{
	struct entry *f = find(t, path);

	if (f) {
		f->n_reads++;
		burn(f->cost_ns);
	}
	if (f && f->refuse)
		return f->refuse;
	if (!f || !f->data)
		return is_directory(t, path) ? -EISDIR : -ENOENT;
	if (f->len >= size)
		return -EFBIG;
	memcpy(buf, f->data, f->len);
	buf[f->len] = '\0';
	return (ssize_t)f->len;
}

static ssize_t memory_part(struct tree *t, const char *path, uint64_t from, char *buf, size_t size)
{
	struct entry *f = find(t, path);

	if (f)
		f->n_reads++;
	if (f && f->refuse)
		return f->refuse;
	if (!f || !f->data)
		return is_directory(t, path) ? -EISDIR : -ENOENT;
	size_t n = from >= f->len ? 0 : f->len - from;

	n = n < size ? n : size;
	memcpy(buf, f->data + (n ? from : 0), n);
	return (ssize_t)n;
}

/* Returns true if one of the first `upto` entries is in or below `directory`, and its path
 * continues there with the same name. */
static bool seen_before(const struct memory *m, size_t upto, const char *directory,
	const char *name, size_t len)
{
	size_t skip = strlen(directory) ? strlen(directory) + 1 : 0;

	for (size_t i = 0; i < upto; i++) {
		const char *p = m->entry[i].path;

		if (below(p, directory) && strncmp(p + skip, name, len) == 0 &&
			(p[skip + len] == '\0' || p[skip + len] == '/'))
			return true;
	}
	return false;
}

static int memory_list(struct tree *t, const char *path,
	int (*each)(void *context, const char *name), void *context)
{
	struct memory *m = memory_of(t);
	const struct entry *self = find(t, path);
	size_t skip = strlen(path) ? strlen(path) + 1 : 0;

	if (self && self->refuse)
		return self->refuse;
	if (!is_directory(t, path))
		return -ENOENT;
	for (size_t i = 0; i < m->n; i++) {
		if (!below(m->entry[i].path, path) || (!m->entry[i].data && !m->entry[i].link))
			continue;
		const char *rest = m->entry[i].path + skip;
		size_t len = strcspn(rest, "/");

		if (seen_before(m, i, path, rest, len))
			continue;
		AUTO(freep) char *name = strndup(rest, len);
		int code = each(context, name);

		if (code)
			return code;
	}
	return 0;
}

static ssize_t memory_link(struct tree *t, const char *path, char *buf, size_t size)
{
	const struct entry *f = find(t, path);

	if (f && f->refuse)
		return f->refuse;
	if (!f)
		return -ENOENT;
	if (!f->link)
		return -EINVAL;
	size_t n = strlen(f->link);

	if (n >= size)
		return -EFBIG;
	memcpy(buf, f->link, n + 1);
	return (ssize_t)n;
}

static int memory_device(struct tree *t, const char *path, uint64_t *ret)
{
	const struct entry *f = find(t, path);

	if (f && f->refuse)
		return f->refuse;
	if (!f && !is_directory(t, path))
		return -ENOENT;
	*ret = f && f->has_space ? f->device : 1;
	return 0;
}

static int64_t memory_size(struct tree *t, const char *path)
{
	const struct entry *f = find(t, path);

	if (f && f->refuse)
		return f->refuse;
	return f && f->data ? (int64_t)f->len : is_directory(t, path) ? 0 : -ENOENT;
}

static int memory_space(struct tree *t, const char *path, struct tree_space *ret)
{
	const struct entry *f = find(t, path);

	if (f && f->refuse)
		return f->refuse;
	if (!f || !f->has_space)
		return -ENOENT;
	*ret = f->space;
	return 0;
}

static ssize_t memory_foreign(struct tree *t, const struct foreign *f, char *buf, size_t size)
{
	char path[8192];
	int n = snprintf(path, sizeof path, "%s/%s", f->folder, f->path);

	if (n < 0 || (size_t)n >= sizeof path || !f->allows(f->context, MEMORY_TREE_MOUNT))
		return -ENOENT;
	return memory_part(t, path, 0, buf, size);
}

static void entry_done(struct entry *f)
{
	free(f->path);
	free(f->data);
	free(f->link);
}

static void memory_free(struct tree *t)
{
	struct memory *m = memory_of(t);

	for (size_t i = 0; i < m->n; i++)
		entry_done(&m->entry[i]);
	free(m->entry);
	free(m);
}

static int64_t memory_get(struct tree *t, const struct tree_request *r)
{
	switch (r->call) {
	case TREE_READ:
	case TREE_READ_RECORDS:
		return memory_read(t, r->path, r->out, r->size);
	case TREE_PART:
		return memory_part(t, r->path, r->from, r->out, r->size);
	case TREE_LIST:
		return memory_list(t, r->path, r->each, r->context);
	case TREE_LINK:
		return memory_link(t, r->path, r->out, r->size);
	case TREE_DEVICE:
		return memory_device(t, r->path, r->out);
	case TREE_SIZE:
		return memory_size(t, r->path);
	case TREE_SPACE:
		return memory_space(t, r->path, r->out);
	case TREE_KEEP:
		return -EMFILE;
	case TREE_FOREIGN:
		return memory_foreign(t, r->foreign, r->out, r->size);
	}
	return -EINVAL;
}

static const struct tree_ops memory_ops = {.get = memory_get, .free = memory_free};

struct tree *memory_tree(void)
{
	struct memory *m = xcalloc(1, sizeof *m);

	m->tree.ops = &memory_ops;
	return &m->tree;
}

void tree_freep(struct tree **t)
{
	tree_free(*t);
}

static struct entry *find_or_add(struct tree *t, const char *path)
{
	struct memory *m = memory_of(t);
	struct entry *f = find(t, path);

	if (f)
		return f;
	GROW(m->entry, m->n, m->room);
	f = &m->entry[m->n++];
	*f = (struct entry){.path = xstrdup(path)};
	return f;
}

void memory_tree_file(struct tree *t, const char *path, const char *data, size_t len)
{
	struct entry *f = find_or_add(t, path);

	free(f->data);
	f->data = xmalloc(len + 1);
	memcpy(f->data, data, len);
	f->data[len] = '\0';
	f->len = len;
}

void memory_tree_text(struct tree *t, const char *path, const char *text)
{
	memory_tree_file(t, path, text, strlen(text));
}

void memory_tree_link(struct tree *t, const char *path, const char *target)
{
	struct entry *f = find_or_add(t, path);

	free(f->link);
	f->link = xstrdup(target);
}

void memory_tree_remove(struct tree *t, const char *path)
{
	struct memory *m = memory_of(t);

	for (size_t i = 0; i < m->n;) {
		if (strcmp(m->entry[i].path, path) == 0 || below(m->entry[i].path, path)) {
			entry_done(&m->entry[i]);
			m->entry[i] = m->entry[--m->n];
		} else {
			i++;
		}
	}
}

void memory_tree_space(struct tree *t, const char *path, struct tree_space space, uint64_t device)
{
	struct entry *f = find_or_add(t, path);

	f->has_space = true;
	f->space = space;
	f->device = device;
}

void memory_tree_refuse(struct tree *t, const char *path, int code)
{
	find_or_add(t, path)->refuse = code;
}

void memory_tree_cost(struct tree *t, const char *path, uint64_t ns)
{
	find_or_add(t, path)->cost_ns = ns;
}

size_t memory_tree_reads(struct tree *t, const char *path)
{
	const struct entry *f = find(t, path);

	return f ? f->n_reads : 0;
}

struct failing {
	struct tree tree;
	struct tree *inner;
	int *countdown, code;
};

static struct failing *failing_of(struct tree *t)
{
	return (struct failing *)(void *)t;
}

static int fails_now(struct tree *t)
{
	struct failing *f = failing_of(t);

	if (*f->countdown < 0)
		return 0;
	return (*f->countdown)-- == 0 ? f->code : 0;
}

static int64_t failing_get(struct tree *t, const struct tree_request *r)
{
	int code = fails_now(t);

	return code ? code : tree_get(failing_of(t)->inner, r);
}

static void failing_free(struct tree *t)
{
	free(t);
}

static const struct tree_ops failing_ops = {.get = failing_get, .free = failing_free};

struct tree *failing_tree(struct tree *inner, int *countdown, int code)
{
	struct failing *f = xcalloc(1, sizeof *f);

	f->tree.ops = &failing_ops;
	f->inner = inner;
	f->countdown = countdown;
	f->code = code;
	return &f->tree;
}
