/*
 * What collectors of kernel files share: a file that is read every tick, a counter that may fall in
 * the kernel but not here, and work that is not done every tick.
 */
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

/* A file whose descriptor stays open, from its first reading on. tree and path are borrowed. */
struct kernel_file {
	struct tree *tree;
	const char *path;
	struct kept kept;
	bool tried; /* to open it */
};

void kernel_file_open(struct kernel_file *s, struct tree *tree, const char *path);
void kernel_file_close(struct kernel_file *s); /* zeroed memory: nothing */
/* Call right after kernel_file_open: the file is then opened for each read, and no descriptor stays open. */
void kernel_file_by_path(struct kernel_file *s);

/*
 * The whole file in host->scratch, valid until the next read. A descriptor that fails is opened
 * anew once. The error names the file.
 */
int kernel_file_read(struct kernel_file *s, const struct host *host, struct scan *ret,
	struct err *e);

/*
 * Reads the file anew and keeps its text: until host->now changes, kernel_file_read of the same file
 * returns that text. /proc/stat is shared this way, since its cost grows with the number of CPUs.
 */
int kernel_file_read_shared(struct kernel_file *s, const struct host *host, struct scan *ret,
	struct err *e);

/* The text of a shared file, in host->text. */
struct kernel_file_text {
	const struct tree *tree; /* NULL: nothing */
	const char *path;
	struct mono at;
	char *data;
	size_t n, room;
};
void kernel_file_text_free(struct kernel_file_text *t);

/* The same without a kept descriptor. Files with records longer than TREE_RECORD_MAX must not be read by these. */
int kernel_file_read_once(const struct host *host, struct tree *tree, const char *path,
	struct scan *ret, struct err *e);

/* Does the code mean that this kernel lacks the file, not that a read failed? */
bool kernel_file_absent(int code);

/* A file that holds a single number; unknown when it holds anything else, such as "max". */
uint64_t kernel_file_number(const struct host *host, struct tree *tree, const char *path);

/*
 * A kernel counter that never falls here. Some do in the kernel: idle and iowait when a CPU comes
 * back online, interface statistics that are summed without a lock. A fall to less than half is
 * taken for a restart from zero (a device that was replaced), and what it has counted since is
 * added; a smaller one holds the value until the kernel has caught up. Zeroed = not seen yet.
 */
struct counter {
	uint64_t last;
	double value;
};

/* Takes the next reading; the value, or NaN when raw is unknown. */
double counter_follow(struct counter *c, uint64_t raw);

/* Work that is not done every tick: true at the first call, and then after that many seconds. */
struct ration {
	struct mono next;
};

bool ration_due(struct ration *r, struct mono now, int64_t seconds);

#endif
