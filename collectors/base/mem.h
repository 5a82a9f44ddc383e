/*
 * Memory and descriptors that clean up after themselves.
 *
 * xmalloc and friends end the program when memory is gone: a sampler that limps on without memory
 * loses data silently. Therefore every size from outside has a named cap before it gets here, and
 * the memory that a server uses for its clients has a budget (exporter/core/memory_budget.h).
 */
#ifndef COLLECTORS_BASE_MEM_H
#define COLLECTORS_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

void *xmalloc(size_t size) __attribute__((malloc, alloc_size(1), returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, alloc_size(1, 2), returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((alloc_size(2), returns_nonnull));
void *xreallocarray(void *p, size_t n, size_t size)
	__attribute__((alloc_size(2, 3), returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));

/* AUTO(freep) char *p = ...; runs freep(&p) when p leaves its block. */
#define AUTO(cleanup_function) __attribute__((cleanup(cleanup_function)))

void freep(void *pointer_to_pointer);
void closep(const int *fd); /* closes when >= 0 */

/* TAKE(p): the value of p, with p set to NULL: ownership moves out of an AUTO variable. */
#define TAKE(p)                                                                                    \
	__extension__({                                                                            \
		__typeof__(p) *take_from_ = &(p);                                                  \
		__typeof__(p) taken_ = *take_from_;                                                \
		*take_from_ = NULL;                                                                \
		taken_;                                                                            \
	})

/* FNV-1a, 64 bits: compares texts fast; it gives no protection against deliberate collisions. */
uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_text(const char *s);

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Makes room for one more element; doubles. n and room are size_t lvalues. */
#define GROW(array, n, room)                                                                       \
	do {                                                                                       \
		if ((n) == (room)) {                                                               \
			(room) = (room) ? (room)*2 : 8;                                            \
			(array) = xreallocarray((array), (room), sizeof *(array));                 \
		}                                                                                  \
	} while (0)

/*
 * An arena: many small pieces with one life. Pieces are never freed one by one; arena_reset makes
 * all room free again without returning it, so a warm arena allocates nothing.
 */
struct arena_chunk;
struct arena {
	struct arena_chunk *first, *current;
};

void *arena_alloc(struct arena *a, size_t size)
	__attribute__((returns_nonnull)); /* zeroed, aligned to 16 */
char *arena_text(struct arena *a, const char *s, size_t len)
	__attribute__((returns_nonnull)); /* NUL added */
void arena_reset(struct arena *a);
void arena_done(struct arena *a);

#endif
