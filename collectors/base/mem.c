#include "collectors/base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_SIZE 16384
/* The first chunk of an arena is small, because many arenas live long and hold only a few texts. */
#define FIRST_CHUNK_SIZE 1024

struct arena_chunk {
	struct arena_chunk *next;
	size_t size, used;
	_Alignas(16) char data[];
};

static void *checked(void *p)
{
	if (!p) {
		fputs("rightsize-exporter: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t size)
{
	return checked(realloc(p, size ? size : 1));
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

void freep(void *pointer_to_pointer)
{
	void *p;

	memcpy(&p, pointer_to_pointer, sizeof p);
	free(p);
}

void closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static struct arena_chunk *chunk_new(size_t at_least, size_t usual)
{
	size_t size = at_least > usual ? at_least : usual;
	struct arena_chunk *c = xmalloc(sizeof *c + size);

	c->next = NULL;
	c->size = size;
	c->used = 0;
	return c;
}

/* Frees a list of chunks. Returns their total size. */
static size_t drop_chunks(struct arena_chunk **first)
{
	size_t size = 0;

	for (struct arena_chunk *c = *first, *next; c; c = next) {
		next = c->next;
		size += c->size;
		free(c);
	}
	*first = NULL;
	return size;
}

/* Finds a chunk with room for `size` bytes. All chunks after the current chunk are empty. If all
 * empty chunks are too small, one chunk with their total size replaces them. Otherwise an arena
 * that is reset often would collect small chunks. */
static struct arena_chunk *chunk_for(struct arena *a, size_t size)
{
	struct arena_chunk *c = a->current;

	if (c && c->size - c->used >= size)
		return c;
	struct arena_chunk **later = c ? &c->next : &a->first;

	for (c = *later; c && c->size < size;)
		c = c->next;
	if (!c) {
		size_t room = drop_chunks(later);

		c = chunk_new(room > size ? room : size + (room ? size / 4 : 0),
			a->first ? CHUNK_SIZE : FIRST_CHUNK_SIZE);
		*later = c;
	}
	a->current = c;
	return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size = (size + 15) & ~(size_t)15;
	struct arena_chunk *c = chunk_for(a, size);
	void *p = c->data + c->used;

	c->used += size;
	return memset(p, 0, size);
}

char *arena_text(struct arena *a, const char *s, size_t len)
{
	char *p = arena_alloc(a, len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

void arena_reset(struct arena *a)
{
	for (struct arena_chunk *c = a->first; c; c = c->next)
		c->used = 0;
	a->current = a->first;
}

size_t arena_bytes(const struct arena *a)
{
	size_t bytes = 0;

	for (const struct arena_chunk *c = a->first; c; c = c->next)
		bytes += sizeof *c + c->size;
	return bytes;
}

void arena_done(struct arena *a)
{
	drop_chunks(&a->first);
	*a = (struct arena){0};
}

uint64_t hash_bytes(const void *data, size_t len)
{
	const unsigned char *byte = data;
	uint64_t hash = 14695981039346656037U;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ byte[i]) * 1099511628211U;
	return hash;
}

uint64_t hash_text(const char *s)
{
	return hash_bytes(s, strlen(s));
}
