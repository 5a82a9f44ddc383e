/* The input is the variables and files that systemd and Kubernetes provide. A line NAME=VALUE sets
 * one of the variables below; the value "self" means this process's pid. The whole input is also
 * used as a file of the downward API. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/utf8.h"
#include "exporter/core/paths.h"
#include "exporter/discovery/pod.h"
#include "exporter/lifecycle/systemd.h"
#include "tests/fuzz/fuzz.h"

/* Folder of the downward API's file. */
static char fuzz_folder[] = "/tmp/fuzz-pod-XXXXXX";

static void fuzz_folder_remove(void)
{
	char path[64];

	snprintf(path, sizeof path, "%s/labels", fuzz_folder);
	unlink(path);
	rmdir(fuzz_folder);
}

static void fuzz_folder_write(const char *name, const void *data, size_t size)
{
	static bool made;
	char path[64];

	if (!made && !mkdtemp(fuzz_folder))
		abort();
	if (!made)
		atexit(fuzz_folder_remove);
	made = true;
	snprintf(path, sizeof path, "%s/%s", fuzz_folder, name);
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
		abort();
}

static const char *const variables[] = {"NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "POD_NAME",
	"POD_NAMESPACE", "POD_UID", "RIGHTSIZE_JOB_NAME", "STATE_DIRECTORY", "XDG_STATE_HOME",
	"HOME", "CACHE_DIRECTORY", "XDG_CACHE_HOME"};

static bool set_variable(struct scan line)
{
	char value[300];
	struct slice name;

	if (!scan_until(&line, '=', &name))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		if (slice_is(name, variables[i])) {
			slice_copy((struct slice){line.at, (size_t)(line.end - line.at)}, value,
				sizeof value);
			if (strcmp(value, "self") == 0)
				snprintf(value, sizeof value, "%d", getpid());
			setenv(variables[i], value, 1);
			return true;
		}
	return false;
}

/* Every entry must be NAME=VALUE, followed by a NUL. */
static void check_info(const struct buf *info)
{
	size_t at = 0;

	while (at < info->len) {
		const char *entry = info->data + at;
		size_t n = strnlen(entry, info->len - at);

		assert(at + n < info->len && memchr(entry, '=', n));
		at += n + 1;
	}
}

static void check_paths(void)
{
	static int (*const paths[])(char **ret, const char *given, struct err *e) = {
		path_default_history, path_default_cache};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		char *path = NULL;
		struct err e = {0};

		if (paths[i](&path, NULL, &e) == 0)
			assert(path && strstr(path, ".db"));
		else
			assert(!path && e.text[0]);
		free(path);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf info AUTO(buf_done) = BUF_MAX(4 * POD_INFO_MAX);
	struct buf pod AUTO(buf_done) = BUF_MAX(0);
	struct scan text = SCAN((const char *)data, size), line;
	struct recognised r;
	struct err e = {0};

	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		unsetenv(variables[i]);
	while (scan_line(&text, &line))
		set_variable(line);
	pod_info_parse((struct slice){(const char *)data, size}, &info);
	if (!info.full)
		check_info(&info);
	fuzz_folder_write("labels", data, size);
	if (pod_recognise(fuzz_folder, &pod, &r, &e) == 0)
		assert(utf8_plain(r.job_name) && r.run[0]);
	else
		assert(e.text[0]);
	if (pod_info_check(fuzz_folder, &e) != 0)
		assert(e.text[0]);
	assert(pod_info_check("/nonexistent", &e) < 0);
	check_paths();
	/* No program listens at the addresses that the variables name. */
	assert(!systemd_notify("READY=1"));
	assert(systemd_sockets() <= 1024);
	return 0;
}
