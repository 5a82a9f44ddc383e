#include "exporter/history/outcome.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#define EXIT_CODE_KILLED (128 + SIGKILL)

enum outcome outcome_of(const struct ending_facts *f, const struct account_note *note)
{
	bool looks_killed =
		f->killed || f->exit_signal == SIGKILL || f->exit_code == EXIT_CODE_KILLED;
	bool unknown = isnan(f->exit_code) && isnan(f->exit_signal);

	if (f->exit_code == 0)
		return OUTCOME_SUCCEEDED;
	if (note->oom_kills > 0 || (note->shared_oom_kills > 0 && looks_killed))
		return OUTCOME_OOM_KILLED;
	return unknown ? OUTCOME_UNKNOWN : OUTCOME_FAILED;
}

enum outcome outcome_as_reported(enum outcome reported, double exit_code,
	const struct account_note *note)
{
	const struct ending_facts f = {.exit_code = exit_code, .exit_signal = NAN};

	return reported == OUTCOME_FAILED && outcome_of(&f, note) == OUTCOME_OOM_KILLED ?
		       OUTCOME_OOM_KILLED :
		       reported;
}

static const char *known(const char *text)
{
	return text[0] ? text : NULL;
}

void outcome_note(struct run_finish *finish, const struct account_note *note)
{
	if (isnan(finish->exit_code) && isnan(finish->exit_signal) && note->status_known) {
		if (WIFEXITED(note->status))
			finish->exit_code = WEXITSTATUS(note->status);
		else
			finish->exit_signal = WTERMSIG(note->status);
	}
	finish->outcome = outcome_of(&(struct ending_facts){finish->exit_code, finish->exit_signal,
					     finish->killed},
		note);
	finish->memory_source = note->memory_source;
	finish->cpu_source = note->cpu_source;
	finish->cpu_missed_seconds = note->cpu_missed_seconds;
	finish->cpu_foreign_seconds = note->cpu_foreign_seconds;
	finish->machine_cpus = note->machine_cpus;
	finish->machine_memory_bytes = note->machine_memory_bytes;
	finish->machine_vram_bytes = note->machine_vram_bytes;
	finish->disk_source = note->disk_source;
	finish->network_source = note->network_source;
	finish->architecture = note->architecture;
	finish->cpu_level = note->cpu_level;
	finish->gpu_manufacturer = known(note->gpu_manufacturer);
	finish->gpu_model = known(note->gpu_model);
	finish->address_limit_bytes = note->address_limit_bytes;
	finish->address_peak_bytes = note->address_peak_bytes;
}
