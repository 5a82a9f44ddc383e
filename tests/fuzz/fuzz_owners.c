/* The input is the answers of a Kubernetes API, separated by "@@": each is a status, a line end and
 * a body. Each question about a pod and its owners gets the next answer; after the last one nobody
 * answers. An accepted text must be fit for a path, and for the words that name a job. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "collectors/base/utf8.h"
#include "collectors/naming/recognise.h"
#include "exporter/kubernetes/object_meta.h"
#include "exporter/kubernetes/owner_chain.h"
#include "tests/fuzz/fuzz.h"

struct world {
	struct scan rest;
	unsigned calls;
};

static int get(void *context, const char *path, struct http_response *ret, struct err *e)
{
	struct world *w = context;
	struct scan line;
	uint64_t status = 0;

	assert(strncmp(path, "/api", 4) == 0 && !strstr(path, "..") && !strstr(path, "//"));
	assert(path[strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789-./")] == '\0');
	w->calls++;
	if (scan_end(&w->rest))
		return err_set(e, -ECONNREFUSED, "no answer");
	const char *end = memmem(w->rest.at, (size_t)(w->rest.end - w->rest.at), "@@", 2);
	struct scan s = {w->rest.at, end ? end : w->rest.end};

	w->rest.at = end ? end + 2 : w->rest.end;
	if (!scan_line(&s, &line) || !scan_u64(&line, &status))
		return err_set(e, -EIO, "no status");
	ret->status = (int)(status % 1000);
	ret->body.max = OBJECT_JSON_MAX;
	buf_add(&ret->body, s.at, (size_t)(s.end - s.at));
	return ret->body.full ? err_set(e, -E2BIG, "too large") : 0;
}

/* The pod that the kubelet runs is the one in the next answer, so that recorded answers fit. */
static void next_uid(const struct world *w, char ret[POD_UID_MAX])
{
	struct scan s = w->rest, line;
	struct object_meta m;

	text_copy("0123abcd-1111-2222-3333-444455556666", ret, POD_UID_MAX);
	if (!scan_line(&s, &line))
		return;
	const char *end = memmem(s.at, (size_t)(s.end - s.at), "@@", 2);
	const struct slice body = {s.at, (size_t)((end ? end : s.end) - s.at)};

	if (object_meta_read(body, &m, NULL, NULL) == 0)
		text_copy(m.uid, ret, POD_UID_MAX);
}

/* Words are strings KEY=VALUE that end in NUL, and only those that the table of systems reads. */
static void check_words(const struct buf *words)
{
	struct scan s = SCAN(buf_text(words), words->len);
	struct slice piece, key;

	assert(words->len == 0 || words->data[words->len - 1] == '\0');
	while (scan_piece(&s, '\0', &piece)) {
		struct scan word = scan_slice(piece);

		assert(scan_until(&word, '=', &key));
		assert(recognise_is_pod_word(key) || slice_is(key, "pod.owner") ||
			slice_is(key, "pod.owner-kind"));
	}
}

static void ask(struct owner_chain *c, struct world *w, const char *name)
{
	char uid[POD_UID_MAX];
	const struct pod_id pod = {"etl", name, uid};
	const struct mono now = {NS_PER_S};
	unsigned before = w->calls;
	struct pod_ownership found;
	struct recognised r;
	struct err e = {0};

	next_uid(w, uid);
	int code = owner_chain_find(c, &pod, now, &found, &e);

	assert(code == 0 || e.text[0]);
	assert(w->calls - before <= OWNER_QUESTIONS_MAX);
	if (code == 0)
		check_words(&found.words);
	const struct process_text text = {.pod = {found.words.data, found.words.len}};

	if (code == 0 && recognise(&text, &r))
		assert(utf8_valid(r.job_name, strlen(r.job_name)));
	buf_done(&found.words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world w = {.rest = {(const char *)data, (const char *)data + size}};
	const struct owner_api api = {&w, get};
	struct owner_chain *c = owner_chain_new(&api);

	/* The second pod may have the owner of the first. */
	ask(c, &w, "p");
	ask(c, &w, "q");
	owner_chain_free(c);
	return 0;
}
