/* Reads the output of `sacct --parsable2`: a row for each job, then a row for each of its steps.
 * The peak of memory is in the rows of the steps, and all other facts are in the row of the job. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "exporter/import/made_run.h"
#include "exporter/import/table.h"
#include "exporter/core/times.h"

#define ID_MAX 64

/* The job whose rows are being read. */
struct slurm_job {
	char id[ID_MAX]; /* "" = none */
	uint64_t line;
	struct made_run run;
	bool ended;
	double peak; /* largest peak of the steps so far, bytes; NaN = unknown */
};

/* The states of ended jobs. In the output, words may follow a state, as in "CANCELLED by 1000". A
 * "+" after a state, as in "CANCELLED+", means that sacct has cut off such words. */
static const struct state {
	const char *name;
	enum outcome outcome;
} states[] = {
	{"COMPLETED", OUTCOME_SUCCEEDED},
	{"OUT_OF_MEMORY", OUTCOME_OOM_KILLED},
	{"OUT_OF_ME+", OUTCOME_OOM_KILLED},
	{"FAILED", OUTCOME_FAILED},
	{"TIMEOUT", OUTCOME_FAILED},
	{"DEADLINE", OUTCOME_FAILED},
	{"CANCELLED", OUTCOME_FAILED},
	{"NODE_FAIL", OUTCOME_FAILED},
	{"PREEMPTED", OUTCOME_FAILED},
	{"BOOT_FAIL", OUTCOME_FAILED},
	{"REVOKED", OUTCOME_FAILED},
};

/* Finds a state in the table. Returns NULL for a job that has not ended (PENDING, RUNNING,
 * REQUEUED, RESIZING, SUSPENDED). */
static const struct state *state_of(struct slice text)
{
	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		size_t n = strlen(states[i].name);

		if (slice_starts(text, states[i].name) &&
			(text.len == n || text.data[n] == ' ' || text.data[n] == '+'))
			return &states[i];
	}
	return NULL;
}

/* Reads a size. `unit` is the unit of a number without a suffix. */
static double size_of(struct slice text, double unit)
{
	double v;

	return quantity_bytes(text, QUANTITY_OF_SLURM, unit, &v) ? v : (double)NAN;
}

/* Reads the memory that the whole job requested. In Slurm before 21.08, the size may end with "n"
 * or "c": "4Gn" is 4 GiB for each node, and "4Gc" is 4 GiB for each CPU. */
static double requested_memory(const struct text_table *t)
{
	struct slice text = table_field(t, "ReqMem");
	char last = text.len ? text.data[text.len - 1] : '\0';
	double times = 1;

	if (last == 'n')
		times = fmax(1, table_number(t, "NNodes"));
	if (last == 'c')
		times = fmax(table_number(t, "AllocCPUS"), table_number(t, "ReqCPUS"));
	if (last == 'n' || last == 'c')
		text.len--;
	double bytes = times * size_of(text, 1024.0 * 1024);

	return bytes > 0 ? bytes : (double)NAN;
}

/* Reads the peak memory of a step: that of all its tasks together (TRESUsageInTot). If it is
 * missing, only the peak of the largest task is known (MaxRSS). It is then multiplied by the number
 * of tasks, because each task may have used as much. */
static double step_peak(const struct text_table *t)
{
	struct scan usage = scan_slice(table_field(t, "TRESUsageInTot"));
	struct slice part;
	double total, tasks = table_number(t, "NTasks");

	while (scan_piece(&usage, ',', &part))
		if (slice_starts(part, "mem=") &&
			(total = size_of((struct slice){part.data + 4, part.len - 4}, 1)) > 0)
			return total;
	total = size_of(table_field(t, "MaxRSS"), 1) * (tasks > 1 ? tasks : 1);
	return total > 0 ? total : (double)NAN;
}

/* Reads CODE:SIGNAL. */
static void read_exit(struct made_run *m, struct slice text)
{
	struct scan s = scan_slice(text);
	uint64_t exit_code, signal;

	if (!scan_u64(&s, &exit_code) || !scan_char(&s, ':') || !scan_u64(&s, &signal) ||
		!scan_end(&s))
		return;
	if (signal)
		m->run.exit_signal = (double)signal;
	else
		m->run.exit_code = (double)exit_code;
}

static double first_number(double a, double b)
{
	return isnan(a) ? b : a;
}

static int read_times(struct made_run *m, const struct text_table *t, struct err *e)
{
	double started = times_read(table_field(t, "Start")),
	       ended = times_read(table_field(t, "End"));
	double seconds = first_number(table_number(t, "ElapsedRaw"),
		times_read_clock(table_field(t, "Elapsed")));

	started = first_number(started, table_number(t, "Start"));
	ended = first_number(ended, table_number(t, "End"));
	if (!made_run_times(m, started, ended, seconds))
		return err_set(e, -EINVAL,
			"two of Start, End and Elapsed are needed, as sacct prints them");
	return 0;
}

static void read_outcome(struct made_run *m, const struct text_table *t, const struct state *state)
{
	m->run.outcome = state->outcome;
	if (state->outcome == OUTCOME_FAILED && strcmp(state->name, "FAILED") != 0)
		m->run.end_reason = state->name;
	if (state->outcome == OUTCOME_OOM_KILLED) {
		/* Slurm sets the state OUT_OF_MEMORY when the control group of the job reached its
		 * limit, which is the requested memory. */
		m->run.memory_limit_bytes = m->run.requested_memory_bytes;
		made_run_total(m, "memory_oom_events", 1);
	}
	read_exit(m, table_field(t, "ExitCode"));
}

/* Passes the job to the sink as a run, if the job has ended. */
static int finish(struct slurm_job *job, const struct import_input *in, struct err *e)
{
	bool ended = job->id[0] && job->ended;

	job->id[0] = '\0';
	if (!ended)
		return 0;
	made_run_peak(&job->run, "memory_peak_bytes", job->peak);
	return made_run_give(&job->run, in, job->line, e);
}

static int begin(struct slurm_job *job, const struct text_table *t, const struct import_input *in,
	struct err *e)
{
	const struct state *state = state_of(table_field(t, "State"));
	struct slice started = table_field(t, "Start");
	struct made_run *m = &job->run;
	const struct slice same[] = {table_field(t, "Cluster"), {job->id, strlen(job->id)}, started,
		table_field(t, "End")};

	job->ended = state && !slice_is(started, "Unknown") && !slice_is(started, "None");
	if (!job->ended) {
		in->sink.unfinished(in->sink.context);
		return 0;
	}
	job->line = t->lines.number;
	job->peak = NAN;
	made_run_begin(m, "sacct");
	made_run_of_system(m, "slurm", table_field(t, "JobID"));
	m->run.requested_memory_bytes = requested_memory(t);
	m->run.requested_cpu_cores =
		first_number(table_number(t, "ReqCPUS"), table_number(t, "AllocCPUS"));
	read_outcome(m, t, state);
	made_run_total(m, "cpu_seconds", times_read_clock(table_field(t, "TotalCPU")));
	int code = read_times(m, t, e);

	if (code == 0)
		code = made_run_job(m, in, table_field(t, "JobName"), (struct slice){0},
			(struct slice){0}, e);
	if (code == 0)
		made_run_identify(m, same, ARRAY_LEN(same));
	job->ended = code == 0;
	return code;
}

static int read_row(void *context, const struct text_table *t, const struct import_input *in,
	struct err *e)
{
	struct slurm_job *job = context;
	struct slice id = table_field(t, table_has(t, "JobIDRaw") ? "JobIDRaw" : "JobID");
	const char *dot = id.len ? memchr(id.data, '.', id.len) : NULL;
	struct slice base = {id.data, dot ? (size_t)(dot - id.data) : id.len};

	if (base.len == 0 || base.len >= ID_MAX)
		return err_set(e, -EINVAL, "JobID: accepted are 1 to %d bytes", ID_MAX - 1);
	if (dot && !slice_is(base, job->id))
		return err_set(e, -EINVAL, "the row of the job is missing in front of its step");
	if (dot) {
		job->peak = fmax(job->peak, step_peak(t));
		return 0;
	}
	int code = finish(job, in, e);

	slice_copy(base, job->id, sizeof job->id);
	return code ? code : begin(job, t, in, e);
}

int import_sacct(const struct import_input *in, struct err *e)
{
	static const char *const needed[] = {"JobID", "JobName", "State", "Start", NULL};
	struct slurm_job job = {.id = ""};
	struct text_table t;
	int code = table_begin(&t, in->in, '|', false, e);

	if (code == 0)
		code = table_needs(&t, needed, e);
	if (code == 0)
		code = table_read_rows(&t, in, read_row, &job, e);
	if (code == 0)
		code = finish(&job, in, e);
	table_done(&t);
	return code;
}
