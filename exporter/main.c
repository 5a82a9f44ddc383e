/* Runs the command given on the command line: starts the parts of "serve" and "run", and stops
 * them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "exporter/core/memory_budget.h"
#include "exporter/core/app.h"
#include "exporter/catalogue/in_use.h"
#include "exporter/cli/catalogue_command.h"
#include "exporter/sampling/job_costs.h"
#include "exporter/lifecycle/shutdown.h"
#include "exporter/sampling/follower.h"
#include "exporter/forward/to_exporter.h"
#include "exporter/remote/history_reader.h"
#include "exporter/remote/to_store.h"
#include "exporter/history/historian.h"
#include "exporter/kubernetes/pod_owners.h"
#include "exporter/http/http.h"
#include "exporter/core/identity.h"
#include "exporter/discovery/command_run.h"
#include "exporter/lifecycle/exit_deadline.h"
#include "exporter/core/log.h"
#include "exporter/core/loose_thread.h"
#include "exporter/this_server/this_server.h"
#include "exporter/cli/help.h"
#include "exporter/cli/manual.h"
#include "exporter/options/options.h"
#include "exporter/sampling/run_forecast.h"
#include "exporter/core/paths.h"
#include "exporter/lifecycle/privileges.h"
#include "exporter/cli/query.h"
#include "exporter/api/route.h"
#include "exporter/cli/rules_command.h"
#include "exporter/cli/transfer.h"
#include "exporter/cli/usage.h"
#include "exporter/sampling/health.h"
#include "exporter/sampling/rules_reload.h"
#include "exporter/sampling/sampler.h"
#include "exporter/site/site.h"
#include "exporter/lifecycle/systemd.h"
#include "exporter/answers/neighbourhood.h"
#include "exporter/answers/result_cache.h"
#include "exporter/client/bearer_token.h"
#include "exporter/core/memory_trim.h"
#include "exporter/wrapper/wrapper.h"
#include "exporter/core/worker.h"
#include "exporter/answers/app_caches.h"

#define SERVE "serve"
/* Seconds. After the exit deadline (exit_deadline.h), the threads that send runs may continue for
 * this time, or for --forward.timeout if that is shorter. */
#define LAST_SECONDS 2.0

/* At the start, log lines wait for at most this many seconds (log_hold), so that the line with the
 * URL comes first. */
#define LOG_HOLD_SECONDS 5.0

/* Opens /dev/null for each standard stream that is closed. Otherwise a file that this program opens
 * could become descriptor 0, 1 or 2, and libraries would write to that file. If /dev/null is
 * missing, opens "/" with O_PATH, which can be neither read nor written. With O_CLOEXEC, the stream
 * is closed in the job, as the caller wanted it. */
static void hold_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
			open("/dev/null", O_RDWR | O_CLOEXEC) != fd &&
			open("/", O_PATH | O_CLOEXEC) != fd)
			_exit(EXIT_FAILURE);
}

/* Returns the limits of the history. A server applies all of them. A wrapper applies only those
 * that its options set. */
static struct history_limits limits_of(const struct options *o, bool serves)
{
	static const struct {
		enum option_id option;
		enum history_limit limit;
	} rows[] = {{OPTION_history_runs_per_job, LIMIT_RUNS_PER_JOB},
		{OPTION_history_retention, LIMIT_RETENTION},
		{OPTION_history_max_size, LIMIT_MAX_BYTES},
		{OPTION_history_full_rate, LIMIT_FULL_RATE}};
	struct history_limits ret = {
		.runs_per_job = o->history_runs_per_job,
		.retention_seconds = o->history_retention,
		.max_bytes = o->history_max_size,
		.full_rate_seconds = o->history_full_rate,
		.keep_unsent = (o->forward_url ? RECEIVER_CENTRAL : 0u) |
			       (o->remote_write_url ? RECEIVER_STORE : 0u),
		.serves = serves,
	};

	for (size_t i = 0; i < ARRAY_LEN(rows) && !serves; i++)
		if (!o->given[rows[i].option])
			ret.defaults |= rows[i].limit;
	return ret;
}

/* Logs that the sizes K, M, G and T in --history.max-size now count powers of 1000, as in
 * Kubernetes. They were powers of 1024 before, so the same option now gives a smaller limit. */
static void say_units(const struct options *o)
{
	const char *size = o->text[OPTION_history_max_size];
	char now[24], before[24];
	double binary;

	if (!quantity_was_binary((struct slice){size, strlen(size)}, &binary))
		return;
	snprintf(now, sizeof now, "%" PRIu64, o->history_max_size);
	snprintf(before, sizeof before, "%.0f", binary);
	log_line(LOG_LEVEL_INFO,
		"--history.max-size: K, M, G and T are powers of 1000 now, not of 1024; for those "
		"write Ki, Mi, Gi and Ti",
		"given", size, "bytes", now, "bytes_before", before, NULL);
}

static int start_historian(struct app *app, const struct identity *self, struct err *e)
{
	/* Static, because a historian that hangs still uses it. The end of the process closes it. */
	static int lock = -1;
	struct historian_config c = {
		.path = app->history_path,
		.columns = &app->columns,
		.limits = limits_of(app->options, app->self != NULL),
		.here = self->here,
		.alive = identity_is_alive,
		.upkeep_waits = app->self != NULL,
		.hasty = app->self == NULL,
		.lock = app->self ? &lock : NULL,
	};

	return historian_start(&app->historian, &c, e);
}

/* The threads that send ended runs to other programs, or read runs from them. NULL = the thread
 * does not run, because its option is not given. */
struct run_exchange {
	struct forwarder *to_exporter, *to_store;
	struct history_reader *from_store;
};

static struct endpoint_options store_endpoint(const struct options *o)
{
	return (struct endpoint_options){.token_file = o->store_token_file,
		.basic_auth_file = o->store_basic_auth_file,
		.ca_file = o->store_ca_file,
		.ca_option = "--store.ca-file",
		.headers = o->store_headers};
}

/* Starts the thread that reads runs from the store of --history.url. */
static int start_reader(struct history_reader **ret, struct app *app, struct err *e)
{
	const struct options *o = app->options;
	const struct history_reader_options r = {
		.url = o->history_url,
		.endpoint = store_endpoint(o),
		.historian = app->historian,
		.retention_seconds = o->history_retention,
		.runs_per_job = o->history_runs_per_job,
	};

	return history_reader_start(ret, &r, e);
}

/* Starts each thread whose option is given: --forward.url, --remote-write.url, --history.url. */
static int start_exchange(struct run_exchange *ret, struct app *app, struct err *e)
{
	const struct options *o = app->options;
	struct forwarder_options f = {
		.protocol = &to_exporter,
		.url = o->forward_url,
		.path = "/runs",
		.endpoint = {.token_file = o->forward_token_file,
			.ca_file = o->forward_ca_file,
			.ca_option = "--forward.ca-file"},
		.history_path = app->history_path,
		.historian = app->historian,
		.hasty = o->exit_with_job,
	};
	int code = f.url ? forwarder_start(&ret->to_exporter, &f, e) : 0;

	f.protocol = &to_store;
	f.url = o->remote_write_url;
	f.path = "";
	f.endpoint = store_endpoint(o);
	if (code == 0 && f.url)
		code = forwarder_start(&ret->to_store, &f, e);
	return code || !o->history_url ? code : start_reader(&ret->from_store, app, e);
}

/* Stops the threads that send runs. First waits until the newest ended runs are on disk, because
 * these threads read runs only from the disk. */
static int stop_senders(const struct run_exchange *s, struct app *app, double seconds)
{
	struct mono begun;

	if (!s->to_exporter && !s->to_store)
		return 0;
	historian_settle(app->historian, HISTORIAN_STOP_SECONDS);
	begun = now_read().mono;
	int code = forwarder_stop(s->to_exporter, seconds);

	seconds = fmax(0, seconds - mono_seconds_between(begun, now_read().mono));
	return code ? code : forwarder_stop(s->to_store, seconds);
}

/* The function exit_plan.last, which exit_deadline_leave calls before it ends the program: closes
 * the open runs and sends the runs that wait. The sampler may still run. */
static void do_last(const struct exit_plan *l)
{
	if (l->app->self)
		shutdown_close_runs(l->app, l->app->self);
	stop_senders(l->context, l->app, fmin(l->app->options->forward_timeout, LAST_SECONDS));
}

/* Stops the threads that send runs, and then the historian. If one of them hangs in disk I/O, ends
 * the program by _exit(2). */
static void stop_history(const struct exit_plan *l)
{
	int stuck = stop_senders(l->context, l->app, l->app->options->forward_timeout);

	if (!stuck)
		stuck = historian_stop(l->app->historian);
	if (stuck)
		loose_threads_leave(l->exit_code);
}

/* Stops the HTTP server and the sampler. If an HTTP thread hangs in disk I/O, ends the program
 * immediately, because the later steps of the exit free memory that such a thread still uses. */
static void stop_watching(struct http *h, struct exit_deadline *begun, const struct exit_plan *l)
{
	int stuck = http_stop(h);

	if (!stuck) {
		if (l->app->sampler)
			exit_deadline_works(begun, sampler_thread(l->app->sampler));
		sampler_stop(l->app->sampler);
		run_forecasts_stop(l->app->run_forecasts);
	}
	exit_deadline_reached(begun);
	if (stuck)
		exit_deadline_leave(l);
}

/* ---- serve ---- */

/* Takes the first sample, and then starts the upkeep of the history. With the first sample, the
 * exporter continues the open runs whose jobs still run. Upkeep marks all other open runs as
 * interrupted, so it must come later. */
static int begin_upkeep(struct app *app, struct err *e)
{
	int code = sampler_look(app->sampler, SAMPLER_PATIENCE_SECONDS, e);

	if (code == 0)
		historian_upkeep(app->historian);
	return code;
}

static int cannot_serve(int code, const struct err *e)
{
	log_line(LOG_LEVEL_ERROR, "cannot serve", "err", e->text, NULL);
	return code;
}

/* The time at which the server started, for health_of. */
struct begun {
	struct app *app;
	struct mono at;
};

static bool is_healthy(void *context)
{
	const struct begun *b = context;

	return health_of(b->app, b->at).ok;
}

/* Logs a warning if the catalogue cannot be read. This is not an error, because only answers with
 * servers need the catalogue. */
static void warn_of_catalogue(struct app *app)
{
	AUTO(catalogue_use_done) struct catalogue_use use = {0};
	struct err e = {0};

	if (app->options->catalogue_path && catalogue_use_once(app, &use, &e))
		log_line(LOG_LEVEL_WARN, "--catalogue.path cannot be read: answers have no servers",
			"err", e.text, NULL);
}

/* Stores the URL of this server's page in the history, so that a wrapper with the same history
 * can print a link to its run. */
static void note_page(const struct app *app, const struct identity *self, const struct http *http)
{
	struct history_page page = {.server = self->here};
	const char *external = app->options->external_url;

	page.server.pid = self->pid;
	page.server.start_ticks = self->start_ticks;
	page.url = http_page_url(http, &page.address);
	/* Without a TCP address, store no URL: a wrapper checks by TCP whether the page can be
	 * reached. */
	if (!page.url)
		return;
	if (external)
		page.url = external;
	historian_page(app->historian, &page);
}

/* Waits until a signal or the end of the job ends the server. The server's threads work during the
 * wait. */
static void wait_for_end(struct app *app, const sigset_t *set)
{
	warn_of_catalogue(app);
	log_line(LOG_LEVEL_INFO, "stopping", "reason", shutdown_wait(app, set), NULL);
	systemd_notify("STOPPING=1");
	shutdown_linger(app, set);
}

/* The function of a worker: after LOG_HOLD_SECONDS, writes the waiting log lines, because they may
 * explain why the start hangs. */
static double release_log(void *context)
{
	bool *waited = context;

	if (*waited) {
		log_release();
		return WORKER_END;
	}
	*waited = true;
	return LOG_HOLD_SECONDS;
}

static void tell_silent_disk(struct app *app)
{
	struct err why = {0};

	if (!historian_is_opening(app->historian))
		return;
	historian_why(app->historian, &why);
	log_line(LOG_LEVEL_ERROR, "the history is opened as soon as its disk answers", "err",
		why.text, NULL);
}

/* Ends the program if the disk of the history does not answer, because a usual exit would hang with
 * the threads that use this disk. This is only checked for a disk that another machine or another
 * program serves. */
static void leave_silent_disk(const struct exit_plan *l)
{
	struct historian *h = l->app->historian;
	struct err why = {0};
	char lost[32];

	if (!historian_is_loose(h) || historian_settle(h, HISTORIAN_STOP_SECONDS))
		return;
	historian_why(h, &why);
	snprintf(lost, sizeof lost, "%" PRIu64, historian_health(h).events_waiting);
	log_line(LOG_LEVEL_ERROR,
		"exiting although the history does not answer: what waits for it is lost",
		"events_lost", lost, "err", why.text, NULL);
	exit_deadline_leave(l);
}

static struct exit_deadline *begin_exit(const struct exit_plan *l)
{
	leave_silent_disk(l);
	return exit_deadline_begin(l);
}

static int serve_until_signal(struct app *app, const struct identity *self, const sigset_t *set)
{
	struct err e = {0};
	struct follower *follower = NULL;
	struct run_exchange exchange = {NULL, NULL};
	struct job_costs *job_costs = NULL;
	struct http *http = NULL;
	struct systemd_service *systemd_service = NULL;
	struct begun begun = {app, now_read().mono};
	struct job_rules *rules = NULL;

	memory_budget_begin(app->options);
	int code = this_server_start(&app->machine, app->options, &e);

	if (code == 0)
		code = start_historian(app, self, &e);
	if (code == 0)
		tell_silent_disk(app);
	if (code == 0)
		code = run_forecasts_start(&app->run_forecasts, app, &e);
	if (code == 0)
		code = rules_reload_begin(app->options, &rules, &e);
	if (code == 0)
		code = pod_owners_start(&app->pod_owners, app->options, &e);
	if (code == 0)
		code = sampler_start(&app->sampler, app, rules, &e);
	if (code == 0)
		code = begin_upkeep(app, &e);
	if (code == 0)
		code = http_start(&http, app, &app->options->listen_addresses, &e);
	log_release();
	if (code == 0)
		code = follower_start(&follower, app, self, &e);
	if (code == 0)
		code = start_exchange(&exchange, app, &e);
	if (code == 0)
		code = job_costs_start(&job_costs, app, &e);
	if (code == 0)
		code = systemd_start(&systemd_service, is_healthy, &begun, &e);
	if (code == 0) {
		note_page(app, self, http);
		wait_for_end(app, set);
	} else {
		cannot_serve(code, &e);
	}
	int exit_code = code ? EXIT_FAILURE : EXIT_SUCCESS;
	const struct exit_plan exit_plan = {
		.app = app, .exit_code = exit_code, .last = do_last, .context = &exchange};
	struct exit_deadline *exit_deadline = begin_exit(&exit_plan);

	systemd_stop(systemd_service);
	job_costs_stop(job_costs);
	history_reader_stop(exchange.from_store);
	follower_stop(follower);
	pod_owners_stop(app->pod_owners);
	stop_watching(http, exit_deadline, &exit_plan);
	pod_owners_free(app->pod_owners);
	shutdown_close_runs(app, self);
	stop_history(&exit_plan);
	this_server_stop(app->machine);
	return code;
}

/* Warns about token files that cannot be read, and about options that have no effect without
 * another option. An unreadable file is not an error, because it is read again for each request
 * that needs it. */
static void warn_of_tokens(const struct options *o)
{
	char token[TOKEN_MAX], space[JOB_SPACE_MAX];
	struct err e = {0};

	if (!o->forward_url && (o->forward_token_file || o->forward_ca_file))
		log_line(LOG_LEVEL_WARN,
			"--forward.token-file and --forward.ca-file have no effect: set "
			"--forward.url, too",
			NULL);
	if (!o->remote_write_url && !o->history_url &&
		(o->store_token_file || o->store_basic_auth_file || o->store_ca_file ||
			o->store_headers.n))
		log_line(LOG_LEVEL_WARN,
			"the options --store.* have no effect: set --remote-write.url or --history.url, too",
			NULL);
	if (o->changes_token_file && bearer_token_read(o->changes_token_file, token, &e))
		log_line(LOG_LEVEL_WARN, "changes over TCP are refused until the token can be read",
			"err", e.text, NULL);
	explicit_bzero(token, sizeof token);
	if (o->namespace_tokens &&
		bearer_token_namespace(o->namespace_tokens, NULL, space, &e) != -EACCES)
		log_line(LOG_LEVEL_WARN, BEARER_TOKENS_UNREADABLE, "err", e.text, NULL);
}

static void warn_of_variable(const char *variable, const char *meant)
{
	log_line(LOG_LEVEL_WARN, "an environment variable that names no option is ignored",
		"variable", variable, "meant", meant, NULL);
}

/* Blocks the signals that end the server or reload its rules. shutdown_wait waits for them. */
static void hold_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* Ignore SIGXFSZ. A write beyond the file size limit then returns an error, as on a full
	 * disk, and does not end the program. */
	signal(SIGXFSZ, SIG_IGN);
}

/* Refuses --history.url together with --remote-write.url: the exporter would read back the runs
 * that it has written to the store, and have them twice. With --history.url, the history is only a
 * cache of the store, so it is in memory by default. */
static int check_store(struct options *o, struct err *e)
{
	if (!o->history_url)
		return 0;
	if (o->remote_write_url)
		return err_set(e, -EINVAL,
			"--history.url and --remote-write.url: an exporter reads a store or writes to it; "
			"start another one for the other");
	if (!o->history_path)
		o->history_path = ":memory:";
	return 0;
}

/* Runs the command serve. `named`: true = the command line contains the word "serve"; false = it
 * does not, so an argument that is not a flag is an unknown command. */
static int serve_main(bool named, int argc, char **argv)
{
	struct options o;
	struct identity self;
	struct app app = APP_INIT;
	struct worker log_worker;
	bool waited = false;
	struct err e = {0};
	sigset_t set;

	if (options_read(&o, COMMAND_SERVE, argc, argv, &e))
		return usage_error(SERVE, e.text);
	log_setup(o.log_level, o.log_format);
	int code = 0;

	if (o.n_rest)
		code = named ? usage_argument(SERVE, o.rest[0], NULL) : help_refuse_word(o.rest[0]);
	else if (site_check_options(&o, &e) || check_store(&o, &e))
		code = usage_error(SERVE, e.text);
	if (code) {
		options_done(&o);
		return code;
	}
	log_hold();
	option_variables_check(COMMAND_SERVE, warn_of_variable);
	say_units(&o);
	warn_of_tokens(&o);
	hold_signals(&set);
	memory_budget_descriptors();
	identity_read(&self);
	app.options = &o;
	app.self = &self;
	app.refreshes_catalogue = true;
	app.results = result_cache_new();
	app.neighbourhoods = neighbourhoods_new();
	app.n_sockets = systemd_sockets();
	columns_build(&app.columns);

	AUTO(freep) char *path = NULL, *cache = NULL;

	code = path_default_history(&path, o.history_path, &e);
	app.history_path = path;
	/* Find the default path of the cache before privileges_drop changes the user, because the
	 * path depends on the user. */
	if (o.security_user && o.catalogue_refresh &&
		path_default_cache(&cache, o.catalogue_cache, NULL) == 0)
		o.catalogue_cache = cache;
	if (code == 0)
		code = privileges_drop(&o, path, &e);
	worker_init(&log_worker);
	if (code == 0)
		code = worker_start(&log_worker, "log", release_log, &waited, &e);
	code = code ? cannot_serve(code, &e) : serve_until_signal(&app, &self, &set);
	worker_done(&log_worker);
	columns_done(&app.columns);
	app_caches_done(&app);
	options_done(&o);
	return code ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- run ---- */

/* The parts that the command run starts, besides the sampler. */
struct run_parts {
	struct http *http;
	struct run_exchange exchange;
	bool wrong; /* true = a part that the options require did not start */
};

static void note_wrong(struct run_parts *p, const char *message, const struct err *e)
{
	log_line(LOG_LEVEL_WARN, message, "err", e->text, NULL);
	p->wrong = true;
}

/* Stores the reason why the history cannot be opened. The wrapper reports it at the end of the run,
 * together with the run's id. With --strict the job does not start, so the run has no end, and the
 * reason is logged here. */
static void note_no_history(struct app *app, struct run_parts *p, const struct err *e)
{
	app->not_in_history = *e;
	if (app->options->run_strict)
		note_wrong(p, "the run will not be in the history", e);
}

/* Starts the parts for a job. The job runs even if the history cannot be opened. The history is
 * then kept in memory, for the summary. */
static int start_for_job(struct app *app, const struct identity *self, struct run_parts *p,
	struct err *e)
{
	const struct options *o = app->options;

	if (o->listen_addresses.n)
		memory_budget_begin(o);
	int code = start_historian(app, self, e);

	if (code) {
		note_no_history(app, p, e);
		app->history_path = ":memory:";
		code = start_historian(app, self, e);
	}
	if (code == 0 && this_server_start(&app->machine, o, e) < 0)
		note_wrong(p, "the current server is unknown", e);
	if (code == 0 && o->listen_addresses.n &&
		run_forecasts_start(&app->run_forecasts, app, e) < 0)
		note_wrong(p, "the run has no forecast", e);
	if (code == 0)
		code = sampler_start(&app->sampler, app, NULL, e);
	if (code == 0 && o->listen_addresses.n &&
		http_start(&p->http, app, &o->listen_addresses, e) < 0)
		note_wrong(p, "the run is not served", e);
	if (code == 0 && start_exchange(&p->exchange, app, e))
		note_wrong(p, "the run is not forwarded", e);
	if (code)
		note_wrong(p, "the run is not watched", e);
	return code;
}

static int not_started(void)
{
	fputs("rightsize-exporter run: the command is not started, because of --strict\n", stderr);
	return EXIT_USAGE;
}

static int run_job(struct app *app, struct run_parts *p, char **command)
{
	struct identity self;
	struct command_run run;
	struct err e = {0};
	bool strict = app->options->run_strict;
	int code;

	wrapper_prepare();
	identity_read(&self);
	columns_build(&app->columns);
	if (command_run_identify(&run, app->options, command, &e))
		note_wrong(p, "the rules of --jobs.rules are ignored", &e);
	/* If the parts cannot be started, execute the job in place of this process, as if the
	 * caller had started it directly. */
	if (start_for_job(app, &self, p, &e) && !strict)
		return wrapper_become(command);
	code = strict && p->wrong ? not_started() : wrapper_run(app, &self, &run, command);
	const struct exit_plan exit_plan = {
		.app = app, .exit_code = code, .last = do_last, .context = &p->exchange};

	/* If the history cannot be written, end now without stopping all threads, because the
	 * caller waits for the exit code. */
	if (historian_gave_up(app->historian))
		exit_deadline_leave(&exit_plan);
	stop_watching(p->http, exit_deadline_begin(&exit_plan), &exit_plan);
	stop_history(&exit_plan);
	this_server_stop(app->machine);
	columns_done(&app->columns);
	command_run_done(&run);
	return code;
}

/* Ignores an option whose path is not a directory, because the run could not be watched with such a
 * path. */
static void check_directory(struct options *o, enum option_id option, const char *path)
{
	struct option_view view;
	struct stat st;
	struct err e = {0};

	if (!o->given[option] || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return;
	option_at(option, &view);
	err_set(&e, -EINVAL, "--%s=%.80s: accepted is a directory that exists", view.name, path);
	options_ignore(o, option, &e);
}

/* Checks the command line of "run". If a directory or the path of the metrics is wrong, logs that
 * and ignores the option. Returns an exit code if the job's command is missing, or if --strict
 * forbids a start with ignored options. Otherwise returns 0. */
static int check_run(struct options *o)
{
	struct err e = {0};

	if (site_check_options(o, &e))
		options_ignore(o, OPTION_telemetry_path, &e);
	check_directory(o, OPTION_procfs, o->procfs);
	check_directory(o, OPTION_sysfs, o->sysfs);
	check_directory(o, OPTION_rootfs, o->rootfs);
	for (size_t i = 0; i < o->n_ignored; i++)
		log_line(LOG_LEVEL_WARN, "an option is ignored", "err", o->ignored[i], NULL);
	if (o->n_rest)
		return o->run_strict && o->n_ignored ? not_started() : 0;
	err_set(&e, -EINVAL,
		"the command is missing: run [--job-name=NAME] -- COMMAND [ARGUMENT...]");
	return usage_error("run", e.text);
}

static int run_main(int argc, char **argv)
{
	struct options o;
	struct app app = APP_INIT;
	struct err e = {0};

	if (options_read(&o, COMMAND_RUN, argc, argv, &e))
		return usage_error("run", e.text);
	if (o.help) {
		options_done(&o);
		return manual_main(argc + 2, argv - 2);
	}
	log_setup(o.log_level, o.log_format);
	say_units(&o);
	AUTO(freep) char *path = NULL;
	struct run_parts parts = {0};
	int code = check_run(&o);

	if (code == 0 && path_default_history(&path, o.history_path, &e)) {
		app.options = &o;
		note_no_history(&app, &parts, &e);
		path = xstrdup(":memory:");
	}
	app.history_path = path;
	app.options = &o;
	if (code == 0)
		code = run_job(&app, &parts, o.rest);
	app_caches_done(&app);
	options_done(&o);
	return code;
}

/* ---- queries ---- */

static int query(const struct route *route, int argc, char **argv)
{
	struct options o;
	struct app app = APP_INIT;
	struct err e = {0};

	int own = query_split(route, argc, argv);

	if (options_read(&o, COMMAND_QUERY, argc - own, argv + own, &e))
		return usage_error(route->command, e.text);
	log_setup(o.log_level, o.log_format);
	if (o.n_rest) {
		int refused = query_refuse(route, o.rest[0]);

		options_done(&o);
		return refused;
	}

	AUTO(freep) char *path = NULL;
	int code = EXIT_FAILURE;

	app.options = &o;
	if (path_default_history(&path, o.history_path, &e)) {
		fprintf(stderr, "rightsize-exporter %s: %s\n", route->command, e.text);
	} else {
		app.history_path = path;
		columns_build(&app.columns);
		/* Cache the jobs of each namespace. The recommendation for a job also uses the runs
		 * of its namespace, and a table contains many jobs of one namespace. */
		app.neighbourhoods = neighbourhoods_new();
		code = query_main(&app, route, own, argv);
		columns_done(&app.columns);
	}
	app_caches_done(&app);
	options_done(&o);
	return code;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const struct route *route = query_route(word);

	hold_standard_descriptors();
	memory_trim_setup();
	history_setup();
	if (manual_wanted(argc, argv))
		return manual_main(argc, argv);
	if (route)
		return query(route, argc - 2, argv + 2);
	if (strcmp(word, "catalogue") == 0)
		return catalogue_command_main(argc - 2, argv + 2);
	if (strcmp(word, "export") == 0)
		return transfer_export(argc - 2, argv + 2);
	if (strcmp(word, "import") == 0)
		return transfer_import(argc - 2, argv + 2);
	if (strcmp(word, "run") == 0)
		return run_main(argc - 2, argv + 2);
	if (strcmp(word, "rules") == 0)
		return rules_command_main(argc - 2, argv + 2);
	bool named = strcmp(word, SERVE) == 0;

	return serve_main(named, argc - 1 - named, argv + 1 + named);
}
