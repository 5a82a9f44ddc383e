/* The list of all options, and the functions that read them. These are made from the list: struct
 * options, the flags (--name), the environment variables (RIGHTSIZE_NAME in upper case, with _ for
 * . and -), --help and the table of options in the manual. A flag takes precedence over the
 * environment, and the environment over the default.
 *
 * X(kind, field, "flag name", "default", least, most, commands, "placeholder", "help")
 *
 * The kinds:
 * - TEXT, TEXTS (repeatable): `least` is the shape of a valid text (exporter/options/shapes.h); 0 =
 *   any text that is not empty
 * - FLAG: --name, --no-name
 * - COUNT: a whole number
 * - DURATION: 500ms, 30s, 15m, 36h, 90d; stored in seconds
 * - BYTES, CORES: collectors/base/quantity.h
 * - CHOICE: `least` is a function that returns the i-th choice, and NULL past the last
 *
 * A number that is not given and has no default is 0. */
#ifndef EXPORTER_OPTIONS_OPTIONS_H
#define EXPORTER_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/text_list.h"

enum command_bits {
	COMMAND_SERVE = 1,
	COMMAND_RUN = 2,
	COMMAND_QUERY = 4, /* all commands that read the history: recommend, stats, runs, ... */
	COMMAND_WATCH = COMMAND_SERVE | COMMAND_RUN,
	COMMAND_RULES = 8,
	/* all commands that watch jobs, answer queries about them, or test the rules that name
	 * them */
	COMMAND_ALL = 15,
	COMMAND_EXPORT = 16,
	COMMAND_IMPORT = 32,
	COMMAND_TRANSFER = COMMAND_EXPORT | COMMAND_IMPORT,
	COMMAND_EVERY = COMMAND_ALL | COMMAND_TRANSFER,
};

/* Default of --history.runs-per-job, the number of runs to keep for each job. A recommendation also
 * uses at most this number of successful runs. */
#define HISTORY_RUNS_PER_JOB 200

/* Makes the text of a default from a constant. */
#define OPTION_DEFAULT(constant)  OPTION_DEFAULT_(constant)
#define OPTION_DEFAULT_(constant) #constant

/* clang-format off */
#define OPTIONS(X) \
X(TEXTS, listen_addresses, "web.listen-address", NULL, &shape_address, 0, COMMAND_WATCH, "ADDRESS", \
  "Address to serve on, HOST:PORT or [IPV6]:PORT; repeatable; port 0 takes a free one and prints it; none serves on --web.unix-socket alone (serve: 127.0.0.1:9877; run: none)") \
X(TEXT, web_config_file, "web.config.file", NULL, 0, 0, COMMAND_WATCH, "FILE", \
  "TLS, client certificates, users, headers and a rate limit, in the YAML of Prometheus' exporters (web-configuration.md of exporter-toolkit); read again a second after it changed") \
X(TEXT, external_url, "web.external-url", NULL, &shape_url, 0, COMMAND_SERVE, "URL", \
  "URL of this exporter as people reach it, with a path where a proxy adds one; alerts, dashboards and the summary of run link to it (default: http:// and the address that Prometheus scrapes)") \
X(TEXT, grafana_url, "web.grafana-url", NULL, &shape_url, 0, COMMAND_SERVE, "URL", \
  "URL of the Grafana that has the dashboards of this exporter; alerts and pages link to it") \
X(TEXT, telemetry_path, "web.telemetry-path", "/metrics", &shape_metrics_path, 0, COMMAND_WATCH, "PATH", \
  "Path of the metrics") \
X(COUNT, max_connections, "web.max-connections", "512", 1, 65536, COMMAND_WATCH, "N", \
  "Most HTTP connections at the same time, and half of the limit of open files; when more come, the longest silent go") \
X(FLAG, disable_compression, "web.disable-compression", "false", 0, 0, COMMAND_WATCH, NULL, \
  "Never answer with gzip") \
X(DURATION, linger, "web.linger", "0s", 0, 3600, COMMAND_SERVE, "DURATION", \
  "How long to stay up at the end until the final values were scraped once") \
X(FLAG, exit_with_job, "exit-with-job", "false", 0, 0, COMMAND_SERVE, NULL, \
  "End when a run was seen and none has been active for 5 s, so that a pod with this as a sidecar can complete") \
X(DURATION, exit_wait, "exit-with-job.wait", "1h", 1, 31536000, COMMAND_SERVE, "DURATION", \
  "Longest wait of --exit-with-job for the first run: a job may be over before this exporter is there to see it") \
X(DURATION, sample_interval, "sample.interval", "1s", 0.1, 3600, COMMAND_WATCH, "DURATION", \
  "Time between samples for the history, 100ms to 1h") \
X(TEXT, history_path, "history.path", NULL, 0, 0, COMMAND_EVERY, "FILE", \
  "The history, an SQLite file, or :memory: (default: history.db in $STATE_DIRECTORY, else /var/lib/rightsize-exporter for root, else $XDG_STATE_HOME/rightsize-exporter, else ~/.local/state/rightsize-exporter)") \
X(TEXT, history_url, "history.url", NULL, &shape_store_url, 0, COMMAND_SERVE, "URL", \
  "A Prometheus-compatible store from which runs are read, such as http://prometheus:9090; the history is then a cache (default: :memory:)") \
X(COUNT, history_runs_per_job, "history.runs-per-job", OPTION_DEFAULT(HISTORY_RUNS_PER_JOB), 1, 100000, COMMAND_WATCH, "N", \
  "Runs to keep for each job. The oldest go first, but one stays that had another memory limit. A recommendation uses the newest " OPTION_DEFAULT(HISTORY_RUNS_PER_JOB) " successful runs: fewer make it worse, more do not help") \
X(DURATION, history_retention, "history.retention", "365d", 60, 3155760000, COMMAND_WATCH, "DURATION", \
  "Age at which ended runs go; the newest run of a job always stays") \
X(BYTES, history_max_size, "history.max-size", "1Gi", 1e6, 1e15, COMMAND_WATCH, "BYTES", \
  "Largest size of the history; the samples of the oldest runs go first, then the runs, at last the newest run of jobs") \
X(DURATION, history_full_rate, "history.full-rate", "7d", 60, 3155760000, COMMAND_WATCH, "DURATION", \
  "Age at which the samples of a run are thinned to minutes") \
X(TEXT, forward_url, "forward.url", NULL, &shape_forward_url, 0, COMMAND_WATCH, "URL", \
  "Another exporter, which is to know the runs of all that name it here: each ended run is posted to URL/runs, once it has arrived never again") \
X(TEXT, forward_token_file, "forward.token-file", NULL, 0, 0, COMMAND_WATCH, "FILE", \
  "File with the token to show there (Authorization: Bearer); read anew before each attempt") \
X(TEXT, forward_ca_file, "forward.ca-file", NULL, 0, 0, COMMAND_WATCH, "FILE", \
  "Certificates to trust there instead of the system's, PEM") \
X(DURATION, forward_timeout, "forward.timeout", "10s", 0, 3600, COMMAND_WATCH, "DURATION", \
  "Longest time at the end to send the runs that are left; another SIGTERM or SIGINT stops it; runs that are still left wait in the history") \
X(TEXT, remote_write_url, "remote-write.url", NULL, &shape_store_url, 0, COMMAND_WATCH, "URL", \
  "A Prometheus-compatible store that gets each ended run, such as http://prometheus:9090/api/v1/write; --forward.timeout applies, too") \
X(TEXT, store_token_file, "store.token-file", NULL, 0, 0, COMMAND_WATCH, "FILE", \
  "File with the token to show to the store of --remote-write.url or --history.url (Authorization: Bearer)") \
X(TEXT, store_basic_auth_file, "store.basic-auth-file", NULL, 0, 0, COMMAND_WATCH, "FILE", \
  "File with USER:PASSWORD to show there (Authorization: Basic)") \
X(TEXT, store_ca_file, "store.ca-file", NULL, 0, 0, COMMAND_WATCH, "FILE", \
  "Certificates to trust there instead of the system's, PEM") \
X(TEXTS, store_headers, "store.header", NULL, &shape_header, 0, COMMAND_WATCH, "NAME: VALUE", \
  "Header to send there, such as X-Scope-OrgID: team; repeatable") \
X(TEXT, catalogue_path, "catalogue.path", NULL, 0, 0, COMMAND_ALL, "FILE", \
  "File with your own servers and prices: CSV, JSON, an sc-data SQLite file or its SQL dump, plain or gzip; no catalogue is fetched then") \
X(TEXT, catalogue_cache, "catalogue.cache", NULL, 0, 0, COMMAND_ALL, "FILE", \
  "File of the fetched or imported catalogue (default: catalogue.db in $CACHE_DIRECTORY, else /var/cache/rightsize-exporter for root, else $XDG_CACHE_HOME/rightsize-exporter, else ~/.cache/rightsize-exporter)") \
X(TEXT, catalogue_url, "catalogue.url", "https://keeper.sparecores.net", &shape_url, 0, COMMAND_ALL, "URL", \
  "The Spare Cores Keeper whose catalogue is fetched") \
X(TEXT, catalogue_ca_file, "catalogue.ca-file", NULL, 0, 0, COMMAND_ALL, "FILE", \
  "Certificates to trust there instead of the system's, PEM; for example that of a proxy that signs connections") \
X(FLAG, catalogue_refresh, "catalogue.refresh", "true", 0, 0, COMMAND_SERVE, NULL, \
  "Fetch the catalogue in the background when an answer first needs it, in about 60 calls, and again when it is old") \
X(DURATION, catalogue_refresh_interval, "catalogue.refresh-interval", "1d", 3600, 31557600, COMMAND_ALL, "DURATION", \
  "Age at which the catalogue is fetched again") \
X(TEXTS, catalogue_regions, "catalogue.region", NULL, 0, 0, COMMAND_ALL, "REGION", \
  "Fetch the prices of this region, too, by any of its names or VENDOR~NAME, not only the lowest of each server anywhere; repeatable (default: the region of this server, if it is known)") \
X(TEXTS, catalogue_benchmarks, "catalogue.benchmark", NULL, 0, 0, COMMAND_ALL, "ID", \
  "Fetch the scores of this benchmark, too, not only SCore; repeatable") \
X(TEXTS, catalogue_rates, "catalogue.rate", NULL, &shape_rate, 0, COMMAND_ALL, "CURRENCY=USD", \
  "US dollars for one unit of a currency, such as EUR=1.16, instead of the rate of the catalogue; repeatable") \
X(TEXT, procfs, "path.procfs", "/proc", 0, 0, COMMAND_WATCH, "DIRECTORY", \
  "Mount point of procfs") \
X(TEXT, sysfs, "path.sysfs", "/sys", 0, 0, COMMAND_ALL, "DIRECTORY", \
  "Mount point of sysfs") \
X(TEXT, rootfs, "path.rootfs", "/", 0, 0, COMMAND_WATCH, "DIRECTORY", \
  "Root of the file systems to report on") \
X(FLAG, cloud_discovery, "cloud.discovery", "true", 0, 0, COMMAND_ALL, NULL, \
  "Find out which server this is from the metadata services of clouds, except those that the machine's DMI rules out") \
X(TEXT, server_vendor, "server.vendor", NULL, 0, 0, COMMAND_ALL, "VENDOR", \
  "Vendor of this server as in the catalogue, for example aws; no metadata service is asked then") \
X(TEXT, server_type, "server.type", NULL, 0, 0, COMMAND_ALL, "TYPE", \
  "Instance type of this server as its vendor calls it, for example m7i.large") \
X(TEXT, server_region, "server.region", NULL, 0, 0, COMMAND_ALL, "REGION", \
  "Region of this server as its vendor calls it, for example us-east-1") \
X(CHOICE, server_allocation, "server.allocation", "unknown", option_server_allocations, 0, COMMAND_ALL, "ALLOCATION", \
  "How this server is rented: ondemand, spot or unknown") \
X(TEXT, unix_socket, "web.unix-socket", NULL, 0, 0, COMMAND_SERVE, "PATH", \
  "Unix socket to serve on as well; from it, processes of the same user and of root may announce runs and end them") \
X(FLAG, allow_changes, "web.allow-changes", "false", 0, 0, COMMAND_SERVE, NULL, \
  "Let all clients that reach an address announce runs and end them, not only users of --web.config.file") \
X(TEXT, changes_token_file, "web.changes-token-file", NULL, 0, 0, COMMAND_SERVE, "FILE", \
  "File with a token; over TCP, only requests with it (Authorization: Bearer) may change something, and they need no user of the web configuration") \
X(TEXT, namespace_tokens, "web.namespace-tokens", NULL, 0, 0, COMMAND_SERVE, "DIRECTORY", \
  "Folder with a file for each namespace, named like it, with its token; over TCP, a request with the token (Authorization: Bearer) may post ended runs of this namespace and change nothing else, and needs no user of the web configuration") \
X(FLAG, namespace_tokens_read, "web.namespace-tokens.read", "false", 0, 0, COMMAND_SERVE, NULL, \
  "Over TCP, a request with the token of a namespace may also read its jobs; apart from users of the web configuration, no other client may read jobs or metrics") \
X(TEXTS, allowed_hosts, "web.allowed-host", NULL, &shape_host_name, 0, COMMAND_WATCH, "NAME", \
  "Accept this name in the header Host of requests without TLS and password, besides addresses, localhost and this machine's own name; a defence against DNS rebinding; .NAME: all names below it; *: any; repeatable. Without this, addresses other than loopback accept any name for reading") \
X(FLAG, security_seccomp, "security.seccomp", "true", 0, 0, COMMAND_SERVE, NULL, \
  "Forbid this process system calls that it never makes, such as execve and ptrace; a job under run is never restricted") \
X(TEXT, security_user, "security.user", NULL, 0, 0, COMMAND_SERVE, "USER", \
  "Continue as this user, with only the capabilities that reading needs, if root starts the server; a name or a number that no other program has; it becomes the owner of the folder of the history; the start needs SETUID, SETGID and CHOWN") \
X(FLAG, jobs_recognise, "jobs.recognise", "true", 0, 0, COMMAND_SERVE, NULL, \
  "Find runs by the environment and command line of their processes, and on a Kubernetes node by the pods of Jobs and CronJobs") \
X(COUNT, jobs_max, "jobs.max", "500", 1, 1000, COMMAND_SERVE, "N", \
  "Most different jobs whose runs are found here. Runs of further jobs are refused and counted, until a job has had no run for a day, or a user with fewer jobs gets a place of the user with most") \
X(FLAG, jobs_pod, "jobs.pod", "false", 0, 0, COMMAND_SERVE, NULL, \
  "For a sidecar with a shared PID namespace: all processes except the exporter and pause are one run, and the pod is its job") \
X(TEXT, jobs_pod_info, "jobs.pod-info", NULL, 0, 0, COMMAND_SERVE, "DIRECTORY", \
  "Folder of a downwardAPI volume with the pod's labels and annotations, which name its job") \
X(FLAG, jobs_per_container, "jobs.per-container", "false", 0, 0, COMMAND_SERVE, NULL, \
  "With --jobs.pod: each container is a job of its own, by its cgroup") \
X(FLAG, kubernetes_api, "kubernetes.api", "true", 0, 0, COMMAND_SERVE, NULL, \
  "On a Kubernetes node, ask the API for the owner of a pod, so that a job has the owner's name. This needs a mounted service account's token with the rights to get pods and jobs; without it, the pod's own name decides") \
X(TEXT, kubernetes_account, "kubernetes.account", "/var/run/secrets/kubernetes.io/serviceaccount", 0, 0, COMMAND_SERVE, "DIRECTORY", \
  "Folder of the service account's token and the API's certificate authority (token, ca.crt); read again for each request") \
X(TEXT, jobs_namespace, "jobs.namespace", NULL, &shape_job_space, 0, COMMAND_WATCH, "NAME", \
  "Namespace of the jobs found here: jobs of one name in different namespaces are different jobs (default: in a pod, the namespace of the pod; otherwise none)") \
X(FLAG, jobs_pod_namespace, "jobs.pod-namespace", "true", 0, 0, COMMAND_WATCH, NULL, \
  "Take the namespace of a pod for that of its jobs") \
X(TEXT, jobs_cluster, "jobs.cluster", NULL, &shape_job_space, 0, COMMAND_WATCH, "NAME", \
  "Cluster of the jobs found here, if one exporter has the runs of several clusters") \
X(TEXT, jobs_rules, "jobs.rules", NULL, 0, 0, COMMAND_WATCH | COMMAND_RULES, "FILE", \
  "Rules that say which process is a run of which job, YAML; the first that matches wins, before the built-in rules") \
X(COUNT, rules_pid, "pid", "0", 0, 4194304, COMMAND_RULES, "PID", \
  "Only this process, with the result of each rule") \
X(TEXT, rules_processes, "processes", NULL, 0, 0, COMMAND_RULES, "FILE", \
  "File that rules capture printed, instead of the processes of this machine") \
X(TEXT, run_job_name, "job-name", NULL, &shape_job_name, 0, COMMAND_RUN | COMMAND_TRANSFER, "NAME", \
  "Name of the job, the same for all its runs: without dates or run numbers (run: as serve names it, else the name of the program; import: as the input says; export: any)") \
X(TEXT, job_space, "namespace", NULL, &shape_job_space, 0, COMMAND_TRANSFER, "NAME", \
  "Namespace of the job (import: as the input says; export: any)") \
X(TEXT, job_cluster, "cluster", NULL, &shape_job_space, 0, COMMAND_TRANSFER, "NAME", \
  "Cluster of the job (import: as the input says; export: any)") \
X(CHOICE, import_from, "from", "runs", option_import_sources, 0, COMMAND_IMPORT, "SOURCE", \
  "The program that wrote the input") \
X(CHOICE, import_outcome, "outcome", NULL, option_import_outcomes, 0, COMMAND_IMPORT, "OUTCOME", \
  "Outcome of runs whose input has none; without this they are left out") \
X(DURATION, import_window, "window", "7d", 60, 31557600, COMMAND_IMPORT, "DURATION", \
  "With --from=prometheus: the time before now that is read") \
X(TEXT, import_token_file, "token-file", NULL, 0, 0, COMMAND_IMPORT, "FILE", \
  "With --from=prometheus: file with the token to show there (Authorization: Bearer)") \
X(TEXT, import_ca_file, "ca-file", NULL, 0, 0, COMMAND_IMPORT, "FILE", \
  "Certificates to trust there instead of the system's, PEM") \
X(TEXT, output, "output", NULL, 0, 0, COMMAND_EXPORT, "FILE", \
  "Write to this file, whole or not at all, instead of to stdout") \
X(BYTES, run_input_bytes, "input-bytes", NULL, 0, QUANTITY_BYTES_MOST, COMMAND_RUN, "BYTES", \
  "Size of this run's input, for recommendations, because peaks often follow it; 0 is a size, too, and an empty text is 0") \
X(CORES, run_request_cpu, "request-cpu", NULL, QUANTITY_CORES_LEAST, QUANTITY_CORES_MOST, COMMAND_RUN, "CORES", \
  "Cores that were requested for the run, such as 2.5 or 500m") \
X(BYTES, run_request_memory, "request-memory", NULL, 1, QUANTITY_BYTES_MOST, COMMAND_RUN, "BYTES", \
  "Memory that was requested for the run, such as 4Gi, 8G or a number of bytes") \
X(COUNT, run_attempt, "attempt", NULL, 1, ATTEMPT_MOST, COMMAND_RUN, "N", \
  "Number of this attempt; 2 is the first retry") \
X(FLAG, run_cgroup, "run.cgroup", "true", 0, 0, COMMAND_RUN, NULL, \
  "Give the command a control group of its own below ours, if that is allowed, for its exact CPU time") \
X(TEXT, run_report, "report", NULL, 0, 0, COMMAND_RUN, "FILE", \
  "At the end, write the report of the run to this file, also after a failure") \
X(FLAG, run_strict, "strict", "false", 0, 0, COMMAND_RUN, NULL, \
  "Do not start the command, and end with exit code 2, when an option, a variable or a file of this program is wrong; otherwise that is a line on stderr, and the command runs") \
X(CHOICE, run_format, "format", NULL, option_paste_formats, 0, COMMAND_RUN, "FORMAT", \
  "Format of the lines to paste at the end of the summary, one of those of recommend except json (default: that of the system of the run, else docker)") \
X(FLAG, quiet, "quiet", "false", 0, 0, COMMAND_RUN, NULL, \
  "No summary on stderr at the end") \
X(CHOICE, log_level, "log.level", "info", option_log_levels, 0, COMMAND_EVERY, "LEVEL", \
  "Least important messages to log: debug, info, warn or error") \
X(CHOICE, log_format, "log.format", "logfmt", option_log_formats, 0, COMMAND_EVERY, "FORMAT", \
  "logfmt or json")
/* clang-format on */

#define OPTION_TYPE_TEXT               const char *
#define OPTION_TYPE_TEXTS              struct text_list
#define OPTION_TYPE_FLAG               bool
#define OPTION_TYPE_COUNT              uint64_t
#define OPTION_TYPE_DURATION           double
#define OPTION_TYPE_BYTES              uint64_t
#define OPTION_TYPE_CORES              double
#define OPTION_TYPE_CHOICE             const char *
#define OPTION_FIELD(kind, field, ...) OPTION_TYPE_##kind field;

#define OPTION_ID(kind, field, ...) OPTION_##field,

enum option_id { OPTIONS(OPTION_ID) OPTION_COUNT };

#define HELP_ALL "--help=all"

/* A flag such as --help or --version asks for a text instead of running the command. */
enum flag_question { ASKS_NOTHING, ASKS_HELP, ASKS_ALL_HELP, ASKS_VERSION };
enum flag_question option_question(const char *argument);

struct options {
	OPTIONS(OPTION_FIELD)
	bool given[OPTION_COUNT];       /* true = a flag or the environment sets the option */
	const char *text[OPTION_COUNT]; /* the given value as text; NULL = no value */
	/* true = a flag sets the option, not only the environment; the flags of a repeatable option
	 * replace all values of the environment */
	bool by_flag[OPTION_COUNT];
	bool *collector_on; /* one for each collector of all_collectors */
	/* only for "run": true = a flag such as --help is in front of the job's command */
	bool help;
	/* only for "run", which ignores wrong options: one sentence about each of them */
	size_t n_ignored;
	char **ignored;
	char **rest; /* arguments after the options (run: the command), NULL-terminated */
	int n_rest;
};

/* Reads the options of one command from the environment and from its arguments. Stops at "--" or at
 * the first argument that is not a flag. Texts in `ret` point into `argv` and the environment.
 * Returns -EINVAL for an unknown flag or an invalid value. The message names the flag, the value
 * and the accepted values. After success the caller must call options_done.
 *
 * The command "run" must start its job even if an option is wrong. For "run", this function
 * therefore ignores wrong options, and adds a sentence about each to `ignored`. It returns -EINVAL
 * in one case only: an unknown flag without "--" after it, because the beginning of the job's
 * command is then unclear. */
int options_read(struct options *ret, enum command_bits command, int argc, char **argv,
	struct err *e);

void options_done(struct options *o);

/* Sets an option back to its default, and adds the message `why` to o->ignored. */
void options_ignore(struct options *o, enum option_id option, const struct err *why);

/* The documentation of one option. */
struct option_view {
	const char *name, *placeholder;  /* placeholder: NULL for a flag without a value */
	const char *fallback, *help;     /* fallback: NULL = no default */
	const char *(*choice)(size_t i); /* the i-th choice, NULL past the last; NULL = any value */
	unsigned commands;               /* enum command_bits */
};
bool option_at(size_t i, struct option_view *ret); /* false when `i` is past the last option */

/* Appends the options of a command for --help: only those in `names`, or all if `names` is NULL.
 * Returns the number of options that were left out. */
size_t options_help(struct buf *out, enum command_bits command, const char *const *names);
/* Returns true if --help shows the option or parameter `name`: `names` contains it, or `names` is
 * NULL. `names` ends with NULL. It contains parameters as flags, with "-" for each "_". */
bool options_help_shows(const char *const *names, const char *name);
/* Appends all options as a Markdown table. */
void options_markdown(struct buf *out);

/* ---- variables of the environment ---- */
/* Calls `say` for each environment variable that seems to be a misspelt variable of an option, such
 * as RIGHTSIZE_HISTORY_PAHT. Ignores other unknown variables that begin with RIGHTSIZE_, because
 * Kubernetes sets some for a service of this name. No other thread may change the environment
 * during the call. */
void option_variables_check(enum command_bits command,
	void (*say)(const char *variable, const char *meant));

#endif
