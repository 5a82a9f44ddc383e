#include "exporter/discovery/pod.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/tree.h"
#include "collectors/base/utf8.h"

#define POD_TEXT_MAX (4 * POD_INFO_MAX)

static const struct {
	const char *variable, *key;
} variables[] = {
	{"POD_NAME", "pod.name"},
	{"POD_NAMESPACE", "pod.namespace"},
	{"POD_UID", "pod.uid"},
	{"JOB_COMPLETION_INDEX", "batch.kubernetes.io/job-completion-index"},
	{"RIGHTSIZE_JOB_NAME", "rightsize/job-name"},
};

/* Reads a quoted value. Kubernetes writes values with the quotes and escapes of Go. Decodes \" and
 * \\, and leaves other escapes unchanged. */
static bool add_quoted(struct scan *line, struct buf *out)
{
	if (!scan_char(line, '"'))
		return false;
	while (!scan_end(line) && *line->at != '"') {
		if (*line->at == '\\' && line->at + 1 < line->end &&
			(line->at[1] == '"' || line->at[1] == '\\'))
			line->at++;
		if (*line->at)
			buf_addc(out, *line->at);
		line->at++;
	}
	return scan_char(line, '"');
}

void pod_info_parse(struct slice text, struct buf *out)
{
	struct scan s = scan_slice(text), line;

	while (text.data && scan_line(&s, &line)) {
		struct buf value AUTO(buf_done) = BUF_MAX(POD_INFO_MAX);
		struct slice key;

		if (!scan_until(&line, '=', &key) || key.len == 0 ||
			memchr(key.data, '\0', key.len) || !add_quoted(&line, &value) ||
			value.len == 0)
			continue;
		buf_add(out, key.data, key.len);
		buf_addc(out, '=');
		buf_add(out, value.data, value.len);
		buf_addc(out, '\0');
	}
}

int pod_info_check(const char *folder, struct err *e)
{
	char begin[1];
	struct tree *tree;
	int code = tree_open(&tree, folder, e);

	if (code)
		return code;
	ssize_t labels = tree_head(tree, "labels", begin, sizeof begin);
	ssize_t annotations = tree_head(tree, "annotations", begin, sizeof begin);

	tree_free(tree);
	if (labels >= 0 || annotations >= 0)
		return 0;
	return err_system(e, (int)labels, "%s: neither labels nor annotations can be read", folder);
}

static void read_file(const char *folder, const char *name, struct buf *out)
{
	AUTO(freep) char *text = xmalloc(POD_INFO_MAX);
	struct tree *tree;

	if (tree_open(&tree, folder, NULL))
		return;
	ssize_t n = tree_read(tree, name, text, POD_INFO_MAX);

	tree_free(tree);
	pod_info_parse((struct slice){text, n > 0 ? (size_t)n : 0}, out);
}

void pod_job_space(const struct options *o, char ret[static JOB_SPACE_MAX])
{
	const char *space = o->jobs_namespace;

	if (!space && o->jobs_pod_namespace)
		space = getenv("POD_NAMESPACE");
	space = space && strlen(space) < JOB_SPACE_MAX && utf8_plain(space) ? space : "";
	text_copy(space, ret, JOB_SPACE_MAX);
}

int pod_recognise(const char *folder, struct buf *text, struct recognised *ret, struct err *e)
{
	*text = BUF_MAX(POD_TEXT_MAX);
	if (folder) {
		read_file(folder, "annotations", text);
		read_file(folder, "labels", text);
	}
	for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
		const char *value = getenv(variables[i].variable);

		if (!value || !*value)
			continue;
		buf_addf(text, "%s=%s", variables[i].key, value);
		buf_addc(text, '\0');
	}
	const struct process_text all = {.pod = {text->data, text->len}};

	if (recognise(&all, ret)) {
		/* If the pod has no run number, give it one, so that all its processes belong to
		 * one run. */
		if (!ret->run[0])
			text_copy("pod", ret->run, sizeof ret->run);
		return 0;
	}
	return err_set(e, -ENOENT,
		"the pod has no name: set POD_NAME by the downward API, --jobs.pod-info to a "
		"folder with its labels, or RIGHTSIZE_JOB_NAME");
}
