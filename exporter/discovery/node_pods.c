#include "exporter/discovery/node_pods.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/naming/stable_name.h"

#define LOGS_FOLDER "var/log/pods"
#define LOOK_EVERY  (60 * NS_PER_S)

struct node_pods {
	size_t n, room;
	struct node_pod *pod;
	/* Monotonic times in ns; 0 = never. `checked`: when `here` was last set. `listed`: when the
	 * folders of logs were last listed. */
	int64_t checked, listed;
	bool here;
};

struct node_pods *node_pods_new(void)
{
	return xcalloc(1, sizeof(struct node_pods));
}

void node_pods_free(struct node_pods *p)
{
	if (!p)
		return;
	free(p->pod);
	free(p);
}

static int any_name(void *context, const char *name)
{
	(void)context;
	(void)name;
	return 1;
}

bool node_pods_here(struct node_pods *p, const struct host *h)
{
	int64_t now = h->now.mono.ns;

	if (p->checked == 0 || now - p->checked >= LOOK_EVERY) {
		p->checked = now;
		p->here = tree_list(h->root, LOGS_FOLDER, any_name, NULL) > 0;
	}
	return p->here;
}

/* Reads a UID that begins at `at` and has "-" or "_" between its parts. `len` is the number of
 * bytes that may be read. */
static bool read_uid(const char *at, size_t len, char ret[POD_UID_MAX])
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (len < sizeof form - 1)
		return false;
	for (size_t i = 0; form[i]; i++) {
		bool hex = isdigit((unsigned char)at[i]) || (at[i] >= 'a' && at[i] <= 'f');

		if (form[i] == 'x' ? !hex : at[i] != '-' && at[i] != '_')
			return false;
		ret[i] = form[i] == 'x' ? at[i] : '-';
	}
	ret[sizeof form - 1] = '\0';
	return true;
}

bool node_pods_uid(struct slice cgroup, char ret[POD_UID_MAX])
{
	char uid[POD_UID_MAX];
	bool found = false;

	for (size_t i = 0; i + 4 < cgroup.len; i++) {
		const char *at = cgroup.data + i;

		if ((*at == '/' || *at == '-') && memcmp(at + 1, "pod", 3) == 0 &&
			read_uid(at + 4, cgroup.len - i - 4, uid)) {
			memcpy(ret, uid, sizeof uid);
			found = true;
		}
	}
	return found;
}

/* Returns true for the namespaces that Kubernetes itself makes, except "default"
 * (https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces). */
static bool is_of_system(const char *space)
{
	static const char *const spaces[] = {"kube-system", "kube-public", "kube-node-lease"};

	for (size_t i = 0; i < ARRAY_LEN(spaces); i++)
		if (strcmp(space, spaces[i]) == 0)
			return true;
	return false;
}

static struct node_pod *of_uid(const struct node_pods *p, const char *uid)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->pod[i].uid, uid) == 0)
			return &p->pod[i];
	return NULL;
}

/* Adds the pod of a folder NAMESPACE_NAME_UID. Namespace and name contain no "_". */
static int add_folder(void *context, const char *folder)
{
	struct node_pods *p = context;
	struct scan s = SCAN(folder, strlen(folder));
	struct node_pod pod = {0};
	struct slice space, name, uid;

	if (!scan_until(&s, '_', &space) || !scan_until(&s, '_', &name))
		return 0;
	uid = scan_rest(&s);
	if (space.len >= sizeof pod.space || name.len >= sizeof pod.name ||
		uid.len >= sizeof pod.uid)
		return 0;
	slice_copy(uid, pod.uid, sizeof pod.uid);
	if (of_uid(p, pod.uid) || p->n == NODE_PODS_MAX)
		return 0;
	slice_copy(space, pod.space, sizeof pod.space);
	slice_copy(name, pod.name, sizeof pod.name);
	enum pod_maker maker = stable_name_pod_maker(name);

	pod.of_cron_job = maker == POD_OF_CRON_JOB;
	pod.of_job = pod.of_cron_job || (maker == POD_OF_JOB && !is_of_system(pod.space));
	GROW(p->pod, p->n, p->room);
	p->pod[p->n++] = pod;
	return 0;
}

/* Adds to the table the pods that have a folder of logs. If the table is full, empties it first,
 * which removes the pods whose folders are gone. Pods that are added again keep the value of
 * `recorded`. */
static void list_folders(struct node_pods *p, const struct host *h)
{
	struct node_pods old = {0};

	if (p->n == NODE_PODS_MAX) {
		old = *p;
		p->pod = NULL;
		p->n = p->room = 0;
	}
	p->listed = h->now.mono.ns;
	tree_list(h->root, LOGS_FOLDER, add_folder, p);
	for (size_t i = 0; i < p->n && old.n; i++) {
		const struct node_pod *known = of_uid(&old, p->pod[i].uid);

		p->pod[i].recorded = known && known->recorded;
	}
	free(old.pod);
}

struct node_pod *node_pods_find(struct node_pods *p, const struct host *h, struct slice cgroup)
{
	char uid[POD_UID_MAX];

	if (!node_pods_uid(cgroup, uid))
		return NULL;
	struct node_pod *found = of_uid(p, uid);

	if (found || (p->listed && p->listed == h->now.mono.ns))
		return found;
	list_folders(p, h);
	return of_uid(p, uid);
}

void node_pods_text(const struct node_pod *pod, struct slice index, struct buf *out)
{
	buf_addf(out, "pod.name=%s%cpod.namespace=%s%cpod.uid=%s%c", pod->name, 0, pod->space, 0,
		pod->uid, 0);
	if (index.data)
		buf_addf(out, "batch.kubernetes.io/job-completion-index=%.*s%c", (int)index.len,
			index.data, 0);
}
