/* Tools for collectors that read kernel files: a file that is read every tick, a counter that never
 * falls, and a limit for work that is done less often than every tick. */
#ifndef COLLECTORS_KERNEL_FILE_H
#define COLLECTORS_KERNEL_FILE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/err.h"
#include "collectors/base/number.h"
#include "collectors/base/scan.h"
#include "collectors/base/tree.h"
#include "collectors/host.h"

/* A file whose descriptor stays open after the first read. `tree` and `path` are borrowed. */
struct kernel_file {
	struct tree *tree;
	const char *path;
	struct kept kept;
	bool tried; /* an attempt to open the file was made */
};

void kernel_file_open(struct kernel_file *s, struct tree *tree, const char *path);
void kernel_file_close(struct kernel_file *s); /* does nothing for zeroed memory */
/* Makes each read open and close the file, so that no descriptor stays open. Call this function
 * right after kernel_file_open. */
void kernel_file_by_path(struct kernel_file *s);

/* Reads the whole file into host->scratch, where the text is valid until the next read. If the kept
 * descriptor fails, the file is opened again once. The error names the file. */
int kernel_file_read(struct kernel_file *s, const struct host *host, struct scan *ret,
	struct err *e);

/* Reads the file and keeps its text. kernel_file_read of the same file returns that text until
 * host->now changes. /proc/stat is shared in this way, because its cost grows with the number of
 * CPUs. */
int kernel_file_read_shared(struct kernel_file *s, const struct host *host, struct scan *ret,
	struct err *e);

/* The kept text of a shared file, in host->text. */
struct kernel_file_text {
	const struct tree *tree; /* NULL = no text is kept */
	const char *path;
	struct mono at;
	char *data;
	size_t n, room;
};
void kernel_file_text_free(struct kernel_file_text *t);

/* Like kernel_file_read, but opens the file and closes it again. Both functions call
 * tree_read_records, and have its limit on the length of records. */
int kernel_file_read_once(const struct host *host, struct tree *tree, const char *path,
	struct scan *ret, struct err *e);

/* Returns true if the error `code` means that the kernel does not have the file. Returns false if
 * the file may exist but could not be read. */
bool kernel_file_absent(int code);

/* Reads a file that contains one number. Returns NUMBER_UNKNOWN for any other text, such as
 * "max". */
uint64_t kernel_file_number(const struct host *host, struct tree *tree, const char *path);

/* A counter that never falls, made from a kernel counter that may fall. Examples of falling kernel
 * counters: idle and iowait fall when a CPU comes back online, and interface statistics fall
 * because they are summed without a lock.
 *
 * If the kernel counter falls to less than half, it has restarted from zero (a replaced device).
 * Its new value is then added. After a smaller fall, `value` stays constant until the kernel
 * counter exceeds its earlier value. Zeroed memory = no reading yet. */
struct counter {
	uint64_t last;
	double value;
};

/* Takes `raw`, the next reading of the kernel counter, and returns c->value. Do not call this
 * function if the kernel counter could not be read: every 64-bit number counts as a reading, even
 * UINT64_MAX. */
double counter_follow(struct counter *c, uint64_t raw);

/* Limits how often work is done. ration_due returns true at the first call, and then once every
 * `seconds`. */
struct ration {
	struct mono next;
};

bool ration_due(struct ration *r, struct mono now, int64_t seconds);

#endif
