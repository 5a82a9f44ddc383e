/* exporter/discovery/node_pods.c: the pod of a control group, from what a Kubernetes node has on its disk. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/discovery/node_pods.h"
#include "tests/support/jobs_world.h"

#define UID "0123abcd-1111-2222-3333-444455556666"

static struct slice text_of(const char *text)
{
	return (struct slice){text, strlen(text)};
}

static void uid_is_in_the_path_of_a_control_group(void **state)
{
	static const struct {
		const char *path, *uid;
	} table[] = {
		{"/kubepods/burstable/pod" UID "/0f1e", UID},
		{"/kubepods/pod" UID, UID},
		{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-"
		 "pod0123abcd_1111_2222_3333_444455556666.slice/cri-containerd-0f1e.scope",
			UID},
		{"/../../pod" UID "/0f1e", UID},
		{"/kubepods/podffffffff-1111-2222-3333-444455556666/x/kubepods/pod" UID, UID},
		{"/kubepods/pod" UID "/kubepods/pod0123", UID},
		{"/kubepods/pod" UID "/podffffffff-1111-2222-3333-44445555666x", UID},
		/* a static pod, whose name in the path is a hash */
		{"/kubepods/burstable/pod0123abcd111122223333444455556666/0f1e", NULL},
		{"/kubepods/pod0123ABCD-1111-2222-3333-444455556666", NULL},
		{"/kubepods/pod0123abcd-1111-2222-3333-44445555666", NULL},
		{"/kubepods/tripod" UID, NULL},
		{"/user.slice/user-1000.slice", NULL},
		{"/pod", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char uid[POD_UID_MAX] = "";
		bool found = node_pods_uid(text_of(table[i].path), uid);

		if (found != (table[i].uid != NULL) || (found && strcmp(uid, table[i].uid) != 0))
			fail_msg("%s: %s", table[i].path, uid);
	}
}

static void put_folder(struct world *w, unsigned n)
{
	char path[200];

	snprintf(path, sizeof path,
		"var/log/pods/etl_load-x7k2p_%08x-1111-2222-3333-444455556666/main/0.log", n);
	memory_tree_text(w->root, path, "");
}

static struct node_pod *find(struct node_pods *p, struct world *w, unsigned n)
{
	char path[100];

	snprintf(path, sizeof path, "/kubepods/pod%08x-1111-2222-3333-444455556666", n);
	return node_pods_find(p, &w->host, text_of(path));
}

/* The folder of an ended pod stays for a while, so the table may become full. It then makes room
 * for new pods. */
static void pod_is_found_after_more_pods_than_the_table_holds(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	struct node_pods *p = node_pods_new();

	w->host.now.mono.ns = NS_PER_S;
	for (unsigned n = 0; n < NODE_PODS_MAX; n++)
		put_folder(w, n);
	assert_non_null(find(p, w, 0));
	assert_non_null(find(p, w, NODE_PODS_MAX - 1));
	find(p, w, 0)->recorded = true;
	for (unsigned n = 2; n < NODE_PODS_MAX; n++) {
		char path[200];

		snprintf(path, sizeof path,
			"var/log/pods/etl_load-x7k2p_%08x-1111-2222-3333-444455556666/main/0.log",
			n);
		memory_tree_remove(w->root, path);
	}
	put_folder(w, NODE_PODS_MAX);
	assert_null(find(p, w, NODE_PODS_MAX)); /* the folders were listed at this tick */
	w->host.now.mono.ns += NS_PER_S;
	const struct node_pod *pod = find(p, w, NODE_PODS_MAX);

	assert_non_null(pod);
	assert_string_equal(pod->space, "etl");
	assert_string_equal(pod->name, "load-x7k2p");
	assert_true(pod->of_job);
	assert_false(pod->of_cron_job);
	assert_false(pod->recorded);
	/* The caller's note about a pod stays while the pod has its folder. */
	assert_true(find(p, w, 0)->recorded);
	assert_false(find(p, w, 1)->recorded);
	node_pods_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uid_is_in_the_path_of_a_control_group),
		cmocka_unit_test(pod_is_found_after_more_pods_than_the_table_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
