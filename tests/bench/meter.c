/* Measures the CPU time that the exporter uses to watch a tree, compared with the minimum for
 * reading the same files. Usage: bench_meter EXPORTER-PID ROOT-PID INTERVAL-MS TICKS
 *
 * Once per interval this program reads the children and stat files of every process of the tree,
 * like the exporter. It does so once with kept descriptors and once with open-read-close, and does
 * not parse the text. With kept descriptors it also reads the exporter's other open files: files of
 * the machine, of control groups and of the exporter itself.
 *
 * Prints one line, in milliseconds of CPU time per tick: the exporter; processes with kept
 * descriptors; processes with open-read-close; processes and the exporter's other files. The line
 * ends with the exporter's resident and private memory in KiB, and the number of processes. */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/scan.h"

#define PROCESSES_MAX 20000
#define NS_PER_S      1000000000LL

struct process {
	uint64_t pid;
	int children_fd, stat_fd;
};

#define FILES_MAX 4096

static struct process process[PROCESSES_MAX];
static size_t n_processes;
static int file_fd[FILES_MAX];
static size_t n_files;
static char text[1 << 16];

static long long nanoseconds(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int open_stat(uint64_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%lu/stat", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_children(uint64_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%lu/task/%lu/children", pid, pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static size_t read_text(int fd)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text, 0);

	return n < 0 ? 0 : (size_t)n;
}

static void add(uint64_t pid)
{
	if (n_processes == PROCESSES_MAX)
		return;
	process[n_processes++] = (struct process){
		.pid = pid, .children_fd = open_children(pid), .stat_fd = open_stat(pid)};
}

static void find_tree(uint64_t root)
{
	add(root);
	for (size_t i = 0; i < n_processes; i++) {
		struct scan s = SCAN(text, read_text(process[i].children_fd));
		uint64_t pid;

		while (scan_u64(&s, &pid))
			add(pid);
	}
}

/* Returns true for a file of a process in the tree. pass_kept() and pass_open() read such files. */
static bool is_of_tree(const char *path)
{
	struct scan s = SCAN(path, strlen(path));
	uint64_t pid;

	if (!scan_literal(&s, "/proc/") || !scan_u64(&s, &pid))
		return false;
	for (size_t i = 0; i < n_processes; i++)
		if (process[i].pid == pid)
			return true;
	return false;
}

/* Returns true for a mount table. The exporter keeps it open for change notices, and reads it only
 * after one. */
static bool is_mount_table(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && strcmp(name, "/mountinfo") == 0;
}

/* Finds the files below /proc and /sys that the exporter keeps open for reading. */
static void find_files(uint64_t exporter)
{
	char folder[64], path[4096];
	const struct dirent *entry;
	struct stat link;

	snprintf(folder, sizeof folder, "/proc/%lu/fd", exporter);
	DIR *d = opendir(folder);

	while (d && (entry = readdir(d)) && n_files < FILES_MAX) {
		ssize_t n = readlinkat(dirfd(d), entry->d_name, path, sizeof path - 1);

		if (n <= 0 || fstatat(dirfd(d), entry->d_name, &link, AT_SYMLINK_NOFOLLOW) < 0 ||
			!(link.st_mode & S_IRUSR))
			continue;
		path[n] = '\0';
		if ((strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0) ||
			is_of_tree(path) || is_mount_table(path))
			continue;
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd >= 0 && fstat(fd, &link) == 0 && S_ISREG(link.st_mode))
			file_fd[n_files++] = fd;
		else if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
}

static long long pass_files(void)
{
	long long begin = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);

	for (size_t i = 0; i < n_files; i++)
		read_text(file_fd[i]);
	return nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static long long pass_kept(void)
{
	long long begin = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);

	for (size_t i = 0; i < n_processes; i++) {
		read_text(process[i].children_fd);
		read_text(process[i].stat_fd);
	}
	return nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static long long pass_open(void)
{
	long long begin = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);

	for (size_t i = 0; i < n_processes; i++) {
		int children = open_children(process[i].pid);
		int status = open_stat(process[i].pid);

		read_text(children);
		read_text(status);
		close(children);
		close(status);
	}
	return nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

/* Returns the sum of the lines that begin with `key`. */
static uint64_t memory_kib(uint64_t pid, const char *key)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%lu/smaps_rollup", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct scan s = SCAN(text, read_text(fd)), line;
	uint64_t sum = 0, kib;
	struct slice word;

	while (scan_line(&s, &line))
		if (scan_word(&line, &word) && slice_starts(word, key) && scan_u64(&line, &kib))
			sum += kib;
	close(fd);
	return sum;
}

int main(int argc, char **argv)
{
	enum { EXPORTER, ROOT, INTERVAL_MS, TICKS, ARGUMENTS };
	uint64_t argument[ARGUMENTS] = {0};
	clockid_t exporter;

	for (int i = 0; i < ARGUMENTS && i + 1 < argc; i++)
		scan_u64(&SCAN(argv[i + 1], strlen(argv[i + 1])), &argument[i]);
	if (!argument[TICKS] || clock_getcpuclockid((pid_t)argument[EXPORTER], &exporter)) {
		fprintf(stderr, "usage: bench_meter EXPORTER-PID ROOT-PID INTERVAL-MS TICKS\n");
		return EXIT_FAILURE;
	}
	find_tree(argument[ROOT]);
	find_files(argument[EXPORTER]);

	struct timespec pause = {(time_t)(argument[INTERVAL_MS] / 1000),
		(long)(argument[INTERVAL_MS] % 1000 * 1000000)};
	long long begin = nanoseconds(exporter), kept = 0, opened = 0, files = 0;
	long long begin_wall = nanoseconds(CLOCK_MONOTONIC);

	for (uint64_t tick = 0; tick < argument[TICKS]; tick++) {
		nanosleep(&pause, NULL);
		/* The caches are warm for the method that reads second, so the two methods take
		 * turns in reading first. */
		if (tick % 2)
			opened += pass_open();
		kept += pass_kept();
		files += pass_files();
		if (tick % 2 == 0)
			opened += pass_open();
	}
	double spent = (double)(nanoseconds(exporter) - begin),
	       ticks = (double)argument[TICKS] * 1e6;
	/* The readings take time, and the exporter ticks during that time as well. Its number of
	 * ticks is therefore larger than TICKS. */
	double elapsed = (double)(nanoseconds(CLOCK_MONOTONIC) - begin_wall);
	double intervals = elapsed / (double)argument[INTERVAL_MS];

	printf("%.3f %.3f %.3f %.3f %lu %lu %zu\n", spent / intervals, (double)kept / ticks,
		(double)opened / ticks, (double)(kept + files) / ticks,
		memory_kib(argument[EXPORTER], "Rss:"), memory_kib(argument[EXPORTER], "Private_"),
		n_processes);
	return EXIT_SUCCESS;
}
