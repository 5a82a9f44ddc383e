/* exporter/discovery/finder.c: which processes of a pod are runs, and how they are named. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/process/helpers.h"
#include "exporter/discovery/finder.h"
#include "exporter/core/counters.h"
#include "exporter/history/historian.h"
#include "exporter/core/identity.h"
#include "exporter/discovery/job_rules.h"
#include "exporter/kubernetes/pod_owners.h"
#include "tests/support/jobs_world.h"

#define OWN_PID 7
#define MAIN    "0123456789abcdef0123456789abcdef"
#define SIDECAR "fedcba9876543210fedcba9876543210"

struct fixture {
	struct world *w;
	struct options options;
	struct identity self;
	struct app app;
	struct sample_rows *sample_rows;
	struct finder *finder;
	char names[400]; /* sorted names of the followed runs */
};

static struct fixture *begin(struct options options)
{
	struct fixture *f = xcalloc(1, sizeof *f);

	f->w = world_new();
	f->w->host.now.mono.ns = 1000 * NS_PER_S;
	f->w->host.self = OWN_PID;
	f->options = options;
	f->options.jobs_max = 10;
	f->self.pid = OWN_PID;
	f->app = APP_INIT;
	f->app.options = &f->options;
	f->app.self = &f->self;
	f->app.history_path = "/nonexistent/history.db";
	columns_build(&f->app.columns);
	f->sample_rows = sample_rows_new(&f->app.columns);
	f->finder = finder_new(&f->app, f->sample_rows);
	return f;
}

static void end(struct fixture *f)
{
	finder_free(f->finder);
	sample_rows_free(f->sample_rows);
	columns_done(&f->app.columns);
	world_freep(&f->w);
	free(f);
}

/* Sets a command line; each string in it ends with NUL. */
static void command(struct fixture *f, int pid, const char *line, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "%d/cmdline", pid);
	memory_tree_file(f->w->proc, path, line, size);
}

static void process(struct fixture *f, int pid, int ppid, const char *program,
	const char *container)
{
	char path[64], text[200];

	PUT(f->w, .pid = pid, .ppid = ppid, .start = (unsigned long)pid);
	command(f, pid, program, strlen(program) + 1);
	snprintf(path, sizeof path, "%d/cgroup", pid);
	snprintf(text, sizeof text, "0::/kubepods/pod1/%s\n", container ? container : "");
	memory_tree_text(f->w->proc, path, text);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Searches for runs. Returns the sorted names of the followed runs, with a blank after each
 * name. */
static const char *look_for_runs(struct fixture *f)
{
	const char *name[20];
	size_t n = 0, len = 0;

	finder_look(f->finder, &f->w->host);
	look(f->w);
	for (size_t i = 0; i < f->w->snapshot.n_runs && n < ARRAY_LEN(name); i++)
		name[n++] = f->w->snapshot.runs[i].job_name;
	qsort(name, n, sizeof *name, by_text);
	f->names[0] = '\0';
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(f->names + len, sizeof f->names - len, "%s ", name[i]);
	return f->names;
}

static void put_pod(struct fixture *f)
{
	process(f, 1, 0, "/pause", NULL);
	process(f, OWN_PID, 0, "/usr/bin/rightsize-exporter", SIDECAR);
	process(f, 8, OWN_PID, "sleep", SIDECAR); /* started by the exporter */
	process(f, 20, 0, "/app/train\x01", MAIN);
	process(f, 21, 20, "worker", MAIN);
	process(f, 30, 0, "nginx", SIDECAR);
}

static void all_of_a_pod_is_one_run_but_the_exporter_and_pause(void **state)
{
	setenv("POD_NAME", "nightly-28868640-x7k2p", 1);
	setenv("POD_UID", "uid-1", 1);
	struct fixture *f = begin((struct options){.jobs_pod = true});

	put_pod(f);
	assert_string_equal(look_for_runs(f), "nightly ");
	assert_double_equal(f->w->snapshot.runs[0].value[RUN_PROCESSES], 3, 0);
	end(f);
	unsetenv("POD_NAME");
	unsetenv("POD_UID");
}

/* A helper is started by the job, so it also has the job's name in its environment. It must not
 * begin a run, even if it is found before any other process of the job. */
static void helper_begins_no_run(void **state)
{
	for (int declared = 0; declared < 2; declared++) {
		struct fixture *f = begin((struct options){.jobs_recognise = true});
		static const char named[] = "RIGHTSIZE_JOB_NAME=etl\0RIGHTSIZE_HELPER=1";
		struct err e = {0};

		process(f, 1, 0, "init", NULL);
		process(f, 20, 1, "monitor", NULL);
		memory_tree_file(f->w->proc, "20/environ", named,
			declared ? sizeof "RIGHTSIZE_JOB_NAME=etl" : sizeof named);
		f->w->host.helpers = declared ? xcalloc(1, sizeof *f->w->host.helpers) : NULL;
		if (declared)
			helpers_declare(f->w->host.helpers, &f->w->host, 20);
		assert_string_equal(look_for_runs(f), "");
		process(f, 21, 1, "load", NULL);
		memory_tree_text(f->w->proc, "21/environ", "RIGHTSIZE_JOB_NAME=etl");
		assert_string_equal(look_for_runs(f), "etl ");
		assert_int_equal(finder_declare_helper(f->finder, &f->w->host, 77, &e), -ESRCH);
		free(f->w->host.helpers);
		f->w->host.helpers = NULL;
		end(f);
	}
}

static void each_container_is_a_job_of_its_own_by_its_first_program(void **state)
{
	setenv("POD_NAME", "nightly-28868640-x7k2p", 1);
	struct fixture *f = begin((struct options){.jobs_pod = true, .jobs_per_container = true});

	put_pod(f);
	assert_string_equal(look_for_runs(f), "nightly/nginx nightly/train_ ");
	end(f);
	unsetenv("POD_NAME");
}

/* The run does not begin while the process is still the container runtime. Otherwise the run would
 * keep the runtime's name. */
static void the_runtime_that_begins_a_container_gives_it_no_name(void **state)
{
	setenv("POD_NAME", "nightly-28868640-x7k2p", 1);
	struct fixture *f = begin((struct options){.jobs_pod = true, .jobs_per_container = true});

	process(f, 20, 0, "/usr/bin/runc", MAIN);
	assert_string_equal(look_for_runs(f), "");
	f->w->host.now.mono.ns += 2000 * NS_PER_S;
	process(f, 20, 0, "train", MAIN);
	assert_string_equal(look_for_runs(f), "nightly/train ");
	end(f);
	unsetenv("POD_NAME");
}

static void write_labels(const char *folder, const char *text)
{
	char path[64];

	snprintf(path, sizeof path, "%s/labels", folder);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* In a Spark driver on Kubernetes the name that a user gave is only in a label of the pod. */
static void labels_of_the_pod_complete_what_a_process_of_the_same_system_says(void **state)
{
	static const char driver[] = "java\0org.apache.spark.deploy.SparkSubmit\0--class\0"
				     "org.apache.spark.deploy.PythonRunner\0local:///x/main.py";
	static const char step[] = "python\0flow.py\0step\0fit\0--run-id\0007";
	char folder[] = "/tmp/rightsize-finder-XXXXXX", path[64];

	assert_non_null(mkdtemp(folder));
	write_labels(folder, "spark-app-name=\"nightly\"\nspark-role=\"driver\"\n");
	struct fixture *f = begin((struct options){
		.jobs_pod = true, .jobs_recognise = true, .jobs_pod_info = folder});

	process(f, 20, 0, "tini", MAIN);
	process(f, 21, 20, "java", MAIN);
	command(f, 21, driver, sizeof driver);
	process(f, 22, 20, "python", MAIN);
	command(f, 22, step, sizeof step);
	assert_string_equal(look_for_runs(f), "flow/fit nightly/driver ");
	end(f);
	snprintf(path, sizeof path, "%s/labels", folder);
	unlink(path);
	rmdir(folder);
}

/* Returns "NAME CPU-SECONDS " for each run that goes on, in the order of their start. */
static const char *look_at_cpu(struct fixture *f)
{
	size_t n = 0;

	finder_look(f->finder, &f->w->host);
	look(f->w);
	f->names[0] = '\0';
	for (size_t i = 0; i < f->w->snapshot.n_runs; i++) {
		const struct run_reading *r = &f->w->snapshot.runs[i];

		if (!r->ended)
			n += (size_t)snprintf(f->names + n, sizeof f->names - n, "%s %g ",
				r->job_name, r->value[RUN_CPU_SECONDS]);
	}
	return f->names;
}

static void worker(struct fixture *f, int pid, const char *title, unsigned long cpu_seconds)
{
	char path[64];

	PUT(f->w, .pid = pid, .ppid = 1, .start = 5, .user = 100 * cpu_seconds);
	command(f, pid, title, strlen(title) + 1);
	snprintf(path, sizeof path, "%d/environ", pid);
	memory_tree_file(f->w->proc, path, "RAY_JOB_ID=01", sizeof "RAY_JOB_ID=01");
}

/* A worker that has run for long executes one task after the other, and shows each task in its
 * title. Each task is a run. The run counts only the CPU time that the worker used under that
 * title. */
static void worker_has_a_run_for_each_title_with_what_it_used_under_it(void **state)
{
	static const struct {
		const char *title;
		unsigned long cpu_seconds; /* of the worker since its start */
		const char *runs;
	} steps[] = {
		{"ray::IDLE", 100, ""},
		{"ray::task_a", 110, "ray/task_a 0 "},
		{"ray::task_a", 113, "ray/task_a 3 "},
		{"ray::IDLE", 120, ""},
		{"ray::task_b", 130, "ray/task_b 0 "},
		{"ray::task_b", 131, "ray/task_b 1 "},
		{"ray::task_a", 140, "ray/task_a 0 "},
		{"ray::IDLE_SpillWorker", 150, ""},
		{"ray::Trainer.__init__", 160, "ray/Trainer 0 "},
		{"ray::Trainer", 161, "ray/Trainer 1 "},
		{"ray::Trainer.fit()", 165, "ray/Trainer 5 "},
		{"ray::Trainer", 166, "ray/Trainer 6 "},
	};

	struct fixture *f = begin((struct options){.jobs_recognise = true});

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		worker(f, 20, steps[i].title, steps[i].cpu_seconds);
		const char *runs = look_at_cpu(f);

		if (strcmp(runs, steps[i].runs) != 0)
			fail_msg("step %zu, %s: %s", i, steps[i].title, runs);
	}
	end(f);
}

static void workers_at_the_same_task_have_runs_of_their_own(void **state)
{
	struct fixture *f = begin((struct options){.jobs_recognise = true});

	worker(f, 20, "ray::task_a", 100);
	worker(f, 21, "ray::task_a", 200);
	assert_string_equal(look_at_cpu(f), "ray/task_a 0 ray/task_a 0 ");
	worker(f, 20, "ray::task_a", 101);
	worker(f, 21, "ray::IDLE", 201);
	assert_string_equal(look_at_cpu(f), "ray/task_a 1 ");
	gone(f->w, 20);
	assert_string_equal(look_at_cpu(f), "");
	end(f);
}

static void pod_without_a_name_is_no_job(void **state)
{
	struct fixture *f = begin((struct options){.jobs_pod = true});

	put_pod(f);
	assert_string_equal(look_for_runs(f), "");
	end(f);
}

static void more_jobs_than_allowed_are_refused_and_counted(void **state)
{
	setenv("POD_NAME", "nightly-28868640-x7k2p", 1);
	struct fixture *f = begin((struct options){.jobs_pod = true, .jobs_per_container = true});

	f->options.jobs_max = 1;
	finder_free(f->finder);
	f->finder = finder_new(&f->app, f->sample_rows);
	put_pod(f);
	const char *names = look_for_runs(f);

	assert_true(strcmp(names, "nightly/nginx ") == 0 || strcmp(names, "nightly/train_ ") == 0);
	end(f);
	unsetenv("POD_NAME");
}

/* Makes a process of `user` with its job name in its environment. */
static void names_itself(struct fixture *f, int pid, const char *job_name, unsigned user)
{
	char path[64], text[200];

	process(f, pid, 0, "train", NULL);
	snprintf(path, sizeof path, "%d/environ", pid);
	int n = snprintf(text, sizeof text, "RIGHTSIZE_JOB_NAME=%s", job_name);

	memory_tree_file(f->w->proc, path, text, (size_t)n + 1);
	snprintf(path, sizeof path, "%d/status", pid);
	/* The program is set-user-ID root. Its real user is the one that counts. */
	snprintf(text, sizeof text, "Name:\ttrain\nUid:\t%u\t0\t0\t0\n", user);
	memory_tree_text(f->w->proc, path, text);
}

/* Searches, records the starts and ends, and forgets the ended runs. */
static void look_and_record(struct fixture *f)
{
	look_for_runs(f);
	finder_settle(f->finder, &f->w->host, &f->w->snapshot);
	jobs_drop_ended(f->w->host.jobs, &f->w->host, UINT64_MAX, 0);
}

static void start_recording(struct fixture *f)
{
	const struct historian_config c = {
		.path = ":memory:", .columns = &f->app.columns, .alive = identity_is_alive};

	history_setup();
	assert_int_equal(historian_start(&f->app.historian, &c, NULL), 0);
}

static void one_user_with_many_names_keeps_nobody_else_s_job_out(void **state)
{
	char name[32];

	struct fixture *f = begin((struct options){.jobs_recognise = true});

	start_recording(f);
	f->options.jobs_max = 3;
	finder_free(f->finder);
	f->finder = finder_new(&f->app, f->sample_rows);
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "evil%d", i);
		names_itself(f, 20 + i, name, 1000);
	}
	uint64_t refused = counters_found(FOUND_TOO_MANY_JOBS);

	assert_string_equal(look_for_runs(f), "evil0 evil1 evil2 ");
	assert_int_equal(counters_found(FOUND_TOO_MANY_JOBS), refused + 2);
	look_and_record(f);
	/* No new job is accepted while all the user's jobs go on. */
	names_itself(f, 30, "payroll", 0);
	assert_string_equal(look_for_runs(f), "evil0 evil1 evil2 ");
	for (int i = 0; i < 5; i++)
		gone(f->w, 20 + i);
	gone(f->w, 30);
	look_and_record(f);
	names_itself(f, 40, "payroll", 0);
	names_itself(f, 41, "evil9", 1000);
	assert_string_equal(look_for_runs(f), "payroll ");
	historian_stop(f->app.historian);
	end(f);
}

static void rules_of_the_site_win_over_the_pod(void **state)
{
	static const char text[] = "rules:\n- command_line: 'worker'\n  ignore: true\n"
				   "- command_line: 'train'\n  job_name: fit\n";
	struct job_rules *rules = NULL;
	struct err e = {0};

	setenv("POD_NAME", "nightly-28868640-x7k2p", 1);
	struct fixture *f = begin((struct options){.jobs_pod = true});

	if (job_rules_parse(&rules, "f", text, sizeof text - 1, &e))
		fail_msg("%s", e.text);
	finder_rules(f->finder, rules);
	put_pod(f);
	assert_string_equal(look_for_runs(f), "fit nightly ");
	end(f);
	unsetenv("POD_NAME");
}

/* ---- an exporter on a Kubernetes node, which sees the processes of all pods ---- */

#define UID_OF(n) "0000000" #n "-1111-2222-3333-444455556666"

static void put_node_pod(struct fixture *f, const char *folder)
{
	char path[400];

	snprintf(path, sizeof path, "var/log/pods/%s/main/0.log", folder);
	memory_tree_text(f->w->root, path, "");
}

/* Puts a process into a pod's container. `group` is the pod's control group. */
static void node_process(struct fixture *f, int pid, int ppid, const char *program,
	const char *group)
{
	char path[64], text[300];

	process(f, pid, ppid, program, NULL);
	snprintf(path, sizeof path, "%d/cgroup", pid);
	snprintf(text, sizeof text, "0::%s/cri-containerd-" MAIN ".scope\n", group);
	memory_tree_text(f->w->proc, path, text);
}

static void pods_of_jobs_on_a_node_are_runs_by_the_steady_part_of_their_names(void **state)
{
	static const struct {
		const char *folder, *job;
	} table[] = {
		{"etl_nightly-28868640-x7k2p_" UID_OF(1), "nightly "},
		{"etl_load-x7k2p_" UID_OF(1), "load "},
		{"kube-system_backup-28868640-x7k2p_" UID_OF(1), "backup "},
		{"kube-system_kube-proxy-x7k2p_" UID_OF(1), ""},
		{"etl_web-5d78c9869d-x7k2p_" UID_OF(1), ""},
		{"etl_db-0_" UID_OF(1), ""},
		{"etl_nightly-28868640-x7k2p_" UID_OF(2), ""},
		{"nightly-28868640-x7k2p_" UID_OF(1), ""},
		{"etl_nightly-28868640-x7k2p", ""},
	};
	static const char *const groups[] = {
		"/kubepods/burstable/pod" UID_OF(1),
		"/kubepods.slice/kubepods-pod00000001_1111_2222_3333_444455556666.slice",
		"/../../kubepods-besteffort-pod00000001_1111_2222_3333_444455556666.slice",
	};

	for (size_t i = 0; i < ARRAY_LEN(table) * ARRAY_LEN(groups); i++) {
		struct fixture *f = begin((struct options){.jobs_recognise = true});
		const char *group = groups[i % ARRAY_LEN(groups)];

		put_node_pod(f, table[i / ARRAY_LEN(groups)].folder);
		process(f, 1, 0, "init", NULL);
		process(f, 10, 1, "containerd-shim", NULL);
		node_process(f, 20, 10, "/pause", group);
		node_process(f, 21, 10, "runc", group);
		assert_string_equal(look_for_runs(f), "");
		command(f, 21, "python\0etl.py", sizeof "python\0etl.py");
		node_process(f, 22, 21, "worker", group);
		node_process(f, 23, 10, "sh", group);
		f->w->host.now.mono.ns += 100 * NS_PER_S;
		assert_string_equal(look_for_runs(f), table[i / ARRAY_LEN(groups)].job);
		if (f->w->snapshot.n_runs)
			assert_double_equal(f->w->snapshot.runs[0].value[RUN_PROCESSES], 3, 0);
		end(f);
	}
}

/* A Kubernetes node names the run of a pod after the pod, without the index of an indexed Job.
 * There are exceptions:
 * - If the environment of the process has a job name, this name is used.
 * - If the pod has an exporter as a sidecar, the sidecar records the run.
 * - Without recognition, or with the option of a sidecar (jobs_pod), no pod of the node names a
 *   run.
 * - A pod on the machine's network is not a Job's pod. The machine's network is that of process 1
 *   or, if process 1 is hidden, that of the runtime. */
static void pod_of_a_node_is_no_run_when_the_run_is_known_otherwise(void **state)
{
	static const struct {
		const char *environment, *sidecar,
			*own; /* environments of the job and the sidecar */
		bool recognise, jobs_pod;
		const char *first, *runtime; /* networks of process 1 and of the runtime */
		const char *job;
	} table[] = {
		{"A=1", NULL, NULL, true, false, "net:[1]", "net:[1]", "load-3 "},
		{"JOB_COMPLETION_INDEX=3", NULL, NULL, true, false, "net:[1]", "net:[1]", "load "},
		{"JOB_COMPLETION_INDEX=4", NULL, NULL, true, false, "net:[1]", "net:[1]",
			"load-3 "},
		{"RIGHTSIZE_JOB_NAME=mine", NULL, NULL, true, false, "net:[1]", "net:[1]", "mine "},
		{"A=1", "rightsize-exporter", "A=1", true, false, "net:[1]", "net:[1]", ""},
		{"A=1", "rightsize-exporter", "RIGHTSIZE_JOB_NAME=mine", true, false, "net:[1]",
			"net:[1]", ""},
		{"A=1", "envoy", "A=1", true, false, "net:[1]", "net:[1]", "load-3 "},
		{"A=1", NULL, NULL, false, false, "net:[1]", "net:[1]", ""},
		{"A=1", NULL, NULL, true, true, "net:[1]", "net:[1]", ""},
		{"A=1", NULL, NULL, true, false, "net:[2]", "net:[2]", ""},
		{"A=1", NULL, NULL, true, false, NULL, "net:[2]", ""},
		{"A=1", NULL, NULL, true, false, NULL, "net:[1]", "load-3 "},
		{"A=1", NULL, NULL, true, false, "net:[1]", "net:[2]", "load-3 "},
		{"A=1", NULL, NULL, true, false, NULL, NULL, "load-3 "},
	};
	static const char group[] = "/kubepods/pod" UID_OF(1);

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct fixture *f = begin((struct options){
			.jobs_recognise = table[i].recognise, .jobs_pod = table[i].jobs_pod});

		put_node_pod(f, "etl_load-3-x7k2p_" UID_OF(1));
		process(f, 1, 0, "init", NULL);
		if (table[i].first)
			memory_tree_link(f->w->proc, "1/ns/net", table[i].first);
		process(f, 10, 1, "containerd-shim", NULL);
		if (table[i].runtime)
			memory_tree_link(f->w->proc, "10/ns/net", table[i].runtime);
		if (table[i].sidecar) {
			node_process(f, 20, 10, table[i].sidecar, group);
			memory_tree_text(f->w->proc, "20/environ", table[i].own);
		}
		node_process(f, 21, 10, "python", group);
		memory_tree_text(f->w->proc, "21/environ", table[i].environment);
		memory_tree_link(f->w->proc, "21/ns/net", "net:[2]");
		node_process(f, 22, 21, "worker", group);
		memory_tree_link(f->w->proc, "22/ns/net", "net:[2]");
		assert_string_equal(look_for_runs(f), table[i].job);
		end(f);
	}
}

/* ---- with the Kubernetes API, which says who owns a pod ---- */

/* The owner of all pods, and what the API does meanwhile. */
struct owners {
	const char *version, *kind, *name;
	atomic_bool silent; /* does not answer yet */
	atomic_uint known;
};

static int tell_owner(void *context, const char *path, struct http_response *ret, struct err *e)
{
	struct owners *o = context;
	const char *pod = strrchr(path, '/') + 1;

	while (o->silent)
		usleep(1000);
	ret->body.max = 1000;
	ret->status = strstr(path, "/pods/") ? 200 : 404;
	buf_addf(&ret->body,
		"{\"metadata\":{\"name\":\"%s\",\"uid\":\"" UID_OF(
			1) "\",\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\","
			   "\"uid\":\"u\"}]}}",
		pod, o->version, o->kind, o->name);
	return 0;
}

static void owner_known(void *context)
{
	atomic_fetch_add(&((struct owners *)context)->known, 1);
}

static void wait_for_owner(const struct owners *o)
{
	for (int i = 0; i < 10000 && !o->known; i++)
		usleep(1000);
	assert_int_equal(o->known, 1);
}

/* The owner says for certain whether a pod is a job, and which part of the pod's name is the job's
 * name. */
static void owner_names_the_pod_of_a_node(void **state)
{
	static const struct {
		const char *folder, *version, *kind, *name, *job;
		bool on_host_network;
	} table[] = {
		{"etl_load-tea22-x7k2p_" UID_OF(1), "batch/v1", "Job", "load-x7k2p", "load ",
			false},
		{"etl_x_" UID_OF(1), "batch/v1", "Job", "load", "load ", false},
		{"etl_mnist-worker-0_" UID_OF(1), "kubeflow.org/v1", "PyTorchJob", "mnist",
			"mnist ", false},
		{"kube-system_backup-x7k2p_" UID_OF(1), "batch/v1", "Job", "backup", "backup ",
			true},
		{"etl_fluent-bit-x7k2p_" UID_OF(1), "apps/v1", "DaemonSet", "fluent-bit", "",
			false},
		{"etl_nightly-28868640-x7k2p_" UID_OF(1), "apps/v1", "ReplicaSet", "x", "", false},
		/* If the owner is of an unknown kind, the pod's name decides. */
		{"etl_load-x7k2p_" UID_OF(1), "acme.example/v1", "Widget", "w", "load ", false},
		{"etl_load-x7k2p_" UID_OF(1), "acme.example/v1", "Widget", "w", "", true},
	};
	static const char group[] = "/kubepods/pod" UID_OF(1);

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct fixture *f = begin((struct options){.jobs_recognise = true});
		struct owners o = {table[i].version, table[i].kind, table[i].name, true, 0};
		const struct owner_api api = {&o, tell_owner};

		assert_int_equal(pod_owners_start_with(&f->app.pod_owners, &api, NULL), 0);
		pod_owners_tell(f->app.pod_owners, owner_known, &o);
		put_node_pod(f, table[i].folder);
		process(f, 1, 0, "init", NULL);
		memory_tree_link(f->w->proc, "1/ns/net", "net:[1]");
		node_process(f, 20, 1, "python", group);
		memory_tree_link(f->w->proc, "20/ns/net",
			table[i].on_host_network ? "net:[1]" : "net:[2]");
		node_process(f, 21, 20, "worker", group);
		memory_tree_link(f->w->proc, "21/ns/net",
			table[i].on_host_network ? "net:[1]" : "net:[2]");
		assert_string_equal(look_for_runs(f), ""); /* the API has not answered */
		o.silent = false;
		wait_for_owner(&o);
		f->w->host.now.mono.ns += NS_PER_S;
		assert_string_equal(look_for_runs(f), table[i].job);
		if (f->w->snapshot.n_runs)
			assert_double_equal(f->w->snapshot.runs[0].value[RUN_PROCESSES], 2, 0);
		pod_owners_free(f->app.pod_owners);
		end(f);
	}
}

/* If the API is slow, a run begins with the pod's name, and keeps this name when the API answers.
 * The API is asked for the owner when the pod's first process appears. Therefore the run of a later
 * process may begin at once with the owner's name. */
static void run_keeps_the_name_with_which_it_began(void **state)
{
	static const char group[] = "/kubepods/pod" UID_OF(1);

	for (int early = 0; early < 2; early++) {
		struct fixture *f = begin((struct options){.jobs_recognise = true});
		struct owners o = {"batch/v1", "CronJob", "nightly", !early, 0};
		const struct owner_api api = {&o, tell_owner};
		struct buf words AUTO(buf_done) = BUF_MAX(OWNER_WORDS_MAX);
		enum pod_class class;

		assert_int_equal(pod_owners_start_with(&f->app.pod_owners, &api, NULL), 0);
		put_node_pod(f, "etl_load-x7k2p_" UID_OF(1));
		process(f, 1, 0, "init", NULL);
		node_process(f, 19, 1, "/pause", group);
		assert_string_equal(look_for_runs(f), "");
		if (early)
			while (!pod_owners_find(f->app.pod_owners,
				&(struct pod_id){"etl", "load-x7k2p", UID_OF(1)},
				f->w->host.now.mono, false, &words, &class))
				usleep(1000);
		f->w->host.now.mono.ns += 5 * NS_PER_S;
		node_process(f, 20, 1, "python", group);
		assert_string_equal(look_for_runs(f), early ? "nightly " : "load ");
		o.silent = false;
		f->w->host.now.mono.ns += NS_PER_S;
		node_process(f, 21, 1, "sh", group);
		assert_string_equal(look_for_runs(f), early ? "nightly " : "load ");
		assert_int_equal(f->w->snapshot.n_runs, 1);
		assert_double_equal(f->w->snapshot.runs[0].value[RUN_PROCESSES], 2, 0);
		pod_owners_free(f->app.pod_owners);
		end(f);
	}
}

/* The pod's name shows no job, and the API answers later than the exporter waits for it. Until then
 * the process is checked again and again. It still counts only once as a process whose environment
 * may not be read. */
static void late_answer_names_a_process(void **state)
{
	static const char group[] = "/kubepods/pod" UID_OF(1);
	struct fixture *f = begin((struct options){.jobs_recognise = true});
	struct owners o = {"batch/v1", "CronJob", "nightly", true, 0};
	const struct owner_api api = {&o, tell_owner};
	uint64_t refused = counters_found(FOUND_UNREADABLE);

	assert_int_equal(pod_owners_start_with(&f->app.pod_owners, &api, NULL), 0);
	pod_owners_tell(f->app.pod_owners, owner_known, &o);
	put_node_pod(f, "etl_db-0_" UID_OF(1));
	process(f, 1, 0, "init", NULL);
	node_process(f, 20, 1, "python", group);
	memory_tree_refuse(f->w->proc, "20/environ", -EACCES);
	for (int i = 0; i < 5; i++) {
		assert_string_equal(look_for_runs(f), "");
		f->w->host.now.mono.ns += NS_PER_S;
	}
	o.silent = false;
	wait_for_owner(&o);
	f->w->host.now.mono.ns += 3000 * NS_PER_S;
	assert_string_equal(look_for_runs(f), "nightly ");
	assert_int_equal(counters_found(FOUND_UNREADABLE), refused + 1);
	pod_owners_free(f->app.pod_owners);
	end(f);
}

static void machine_without_pods_reads_no_control_groups(void **state)
{
	struct fixture *f = begin((struct options){.jobs_recognise = true});

	process(f, 1, 0, "init", NULL);
	node_process(f, 20, 1, "python", "/kubepods/pod" UID_OF(1));
	assert_string_equal(look_for_runs(f), "");
	assert_int_equal(memory_tree_reads(f->w->proc, "20/cgroup"), 0);
	/* The kubelet was installed after the exporter had started. */
	put_node_pod(f, "etl_load-x7k2p_" UID_OF(1));
	f->w->host.now.mono.ns += 61 * NS_PER_S;
	node_process(f, 21, 1, "python", "/kubepods/pod" UID_OF(1));
	assert_string_equal(look_for_runs(f), "load ");
	end(f);
}

static void run_is_announced_once_and_a_process_that_is_gone_is_an_error(void **state)
{
	struct announced_run first, second;
	struct err e = {0};

	struct fixture *f = begin((struct options){.jobs_pod = false});
	struct announcement a = {.pid = 20, .job = "told"};

	process(f, 20, 0, "train", NULL);
	assert_int_equal(finder_announce(f->finder, &f->w->host, &a, &first, &e), 0);
	assert_false(first.known);
	assert_int_equal(finder_announce(f->finder, &f->w->host, &a, &second, &e), 0);
	assert_true(second.known);
	assert_string_equal(first.run_id, second.run_id);
	assert_string_equal(look_for_runs(f), "told ");
	a.pid = 21;
	assert_int_equal(finder_announce(f->finder, &f->w->host, &a, &second, &e), -ESRCH);
	assert_true(strstr(e.text, "21") != NULL);
	assert_int_equal(finder_finish(f->finder, &f->w->host, "unknown",
				 &(struct reported_end){0}),
		-ENOENT);
	end(f);
}

static void run_from_now_on_begins_when_it_is_announced(void **state)
{
	struct announced_run told;
	struct err e = {0};

	struct fixture *f = begin((struct options){.jobs_pod = false});
	struct announcement whole = {.pid = 20, .job = "whole"},
			    part = {.pid = 20, .job = "part", .from_now = true};

	process(f, 20, 0, "train", NULL);
	f->w->host.now.mono.ns += 100 * NS_PER_S;
	assert_int_equal(finder_announce(f->finder, &f->w->host, &whole, &told, &e), 0);
	assert_int_equal(finder_announce(f->finder, &f->w->host, &part, &told, &e), 0);
	assert_string_equal(look_for_runs(f), "part whole ");
	assert_true(f->w->snapshot.runs[0].value[RUN_DURATION_SECONDS] > 100);
	assert_double_equal(f->w->snapshot.runs[1].value[RUN_DURATION_SECONDS], 0, 2);
	end(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_of_jobs_on_a_node_are_runs_by_the_steady_part_of_their_names),
		cmocka_unit_test(pod_of_a_node_is_no_run_when_the_run_is_known_otherwise),
		cmocka_unit_test(owner_names_the_pod_of_a_node),
		cmocka_unit_test(run_keeps_the_name_with_which_it_began),
		cmocka_unit_test(late_answer_names_a_process),
		cmocka_unit_test(machine_without_pods_reads_no_control_groups),
		cmocka_unit_test(all_of_a_pod_is_one_run_but_the_exporter_and_pause),
		cmocka_unit_test(helper_begins_no_run),
		cmocka_unit_test(each_container_is_a_job_of_its_own_by_its_first_program),
		cmocka_unit_test(the_runtime_that_begins_a_container_gives_it_no_name),
		cmocka_unit_test(labels_of_the_pod_complete_what_a_process_of_the_same_system_says),
		cmocka_unit_test(worker_has_a_run_for_each_title_with_what_it_used_under_it),
		cmocka_unit_test(workers_at_the_same_task_have_runs_of_their_own),
		cmocka_unit_test(pod_without_a_name_is_no_job),
		cmocka_unit_test(more_jobs_than_allowed_are_refused_and_counted),
		cmocka_unit_test(one_user_with_many_names_keeps_nobody_else_s_job_out),
		cmocka_unit_test(rules_of_the_site_win_over_the_pod),
		cmocka_unit_test(run_is_announced_once_and_a_process_that_is_gone_is_an_error),
		cmocka_unit_test(run_from_now_on_begins_when_it_is_announced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
