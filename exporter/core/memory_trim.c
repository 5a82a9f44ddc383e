#include "exporter/core/memory_trim.h"

#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Frees the pages of a read-only segment of the program or a library. When such a page is used
 * again, the kernel reads it from the file. A page that lies only partly in the segment is not
 * freed. */
static void drop_pages(const struct dl_phdr_info *object, const ElfW(Phdr) * segment,
	uintptr_t page)
{
	uintptr_t begin = object->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;

	begin = (begin + page - 1) & ~(page - 1);
	end &= ~(page - 1);
	if (begin < end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

static bool has_text_relocations(const struct dl_phdr_info *object, const ElfW(Phdr) * dynamic)
{
	const ElfW(Dyn) *d = (const ElfW(Dyn) *)(object->dlpi_addr + dynamic->p_vaddr);

	for (; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
			return true;
	return false;
}

static int drop_code(struct dl_phdr_info *object, size_t size, void *context)
{
	(void)size;
	for (size_t i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC &&
			has_text_relocations(object, &object->dlpi_phdr[i]))
			return 0;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && segment->p_flags == (PF_R | PF_X))
			drop_pages(object, segment, *(const uintptr_t *)context);
	}
	return 0;
}

void memory_trim_setup(void)
{
	mallopt(M_ARENA_MAX, 1);
	/* glibc allocates each block above this threshold by mmap(2). Such a block goes back to the
	 * kernel as soon as it is freed, and it can grow without a copy. By default, glibc raises
	 * the threshold over time. Large freed blocks would then stay in the heap below small
	 * blocks that are in use. Setting the threshold keeps it fixed. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

void memory_trim_start(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	malloc_trim(0);
	dl_iterate_phdr(drop_code, &page);
}
