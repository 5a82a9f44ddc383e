/* Memory and descriptors that are freed automatically.
 *
 * A function whose name begins with x ends the program when memory runs out. An exporter that
 * continued without memory would lose data silently. Callers must limit every size that comes from
 * outside, by a named constant. A server has a memory budget for its clients
 * (exporter/core/memory_budget.h). */
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

/* Example: AUTO(freep) char *p = ...; calls freep(&p) at the end of the block of `p`. */
#define AUTO(cleanup_function) __attribute__((cleanup(cleanup_function)))

void freep(void *pointer_to_pointer);
void closep(const int *fd); /* closes *fd if it is >= 0 */

/* Returns the value of `p` and sets `p` to NULL, so that AUTO does not free the value. The caller
 * owns the value. */
#define TAKE(p)                                                                                    \
	__extension__({                                                                            \
		__typeof__(p) *take_from_ = &(p);                                                  \
		__typeof__(p) taken_ = *take_from_;                                                \
		*take_from_ = NULL;                                                                \
		taken_;                                                                            \
	})

/* Both functions return the FNV-1a hash with 64 bits, for fast comparison of texts. The hash is not
 * safe against deliberate collisions. */
uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_text(const char *s);

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Makes room for one more element by doubling the array. `n` and `room` are size_t lvalues. */
#define GROW(array, n, room)                                                                       \
	do {                                                                                       \
		if ((n) == (room)) {                                                               \
			(room) = (room) ? (room)*2 : 8;                                            \
			(array) = xreallocarray((array), (room), sizeof *(array));                 \
		}                                                                                  \
	} while (0)

/* An arena: many small pieces of memory that are freed together. arena_reset frees all pieces but
 * keeps the memory for later pieces, so an arena that is reset regularly soon needs no new
 * memory. */
struct arena_chunk;
struct arena {
	struct arena_chunk *first, *current;
};

void *arena_alloc(struct arena *a, size_t size)
	__attribute__((returns_nonnull)); /* zeroed, aligned to 16 */
char *arena_text(struct arena *a, const char *s, size_t len)
	__attribute__((returns_nonnull)); /* a copy that ends in NUL */
void arena_reset(struct arena *a);
size_t arena_bytes(const struct arena *a); /* the memory that the arena has, used or not */
void arena_done(struct arena *a);

#endif
