#include "recommender/sizing/warning.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 512

static_assert(WARNING_CODES <= 32, "warnings_codes returns 32 bits");

const struct warning_row warning_rows[WARNING_CODES] = {
	[WARNING_FEW_RUNS] = {"few_runs", SEVERITY_INFO, true,
		"Fewer than three runs were measured"},
	[WARNING_MEMORY_UNKNOWN] = {"memory_unknown", SEVERITY_WARNING, true,
		"The memory of no run is known, so no memory is requested"},
	[WARNING_CPU_UNKNOWN] = {"cpu_unknown", SEVERITY_WARNING, true,
		"The CPU time of no run is known well enough, so no CPU is requested"},
	[WARNING_NEWEST_RUNS_FAILED] = {"newest_runs_failed", SEVERITY_CRITICAL, true,
		"The newest three or more runs failed, or did not end in a known way, and no kill for "
		"memory was seen"},
	[WARNING_KILLED_FOR_MEMORY] = {"killed_for_memory", SEVERITY_WARNING, false,
		"The kernel killed runs, or processes of runs, because memory ran out"},
	[WARNING_KILLED_AGAIN] = {"killed_again", SEVERITY_CRITICAL, true,
		"Three or more of the newest six runs were killed for memory"},
	[WARNING_FAILED_AT_MEMORY_LIMIT] = {"failed_at_memory_limit", SEVERITY_WARNING, false,
		"Runs failed, or ended in an unknown way, with their memory at its limit"},
	[WARNING_FAILS_AT_ANY_LIMIT] = {"fails_at_any_limit", SEVERITY_CRITICAL, true,
		"Runs fail at their memory limit again after it was raised: look for a fault in "
		"the job"},
	[WARNING_MEMORY_FOLLOWS_LIMIT] = {"memory_follows_limit", SEVERITY_WARNING, false,
		"The job uses a share of the memory that it gets, such as a Java heap"},
	[WARNING_LIMIT_NOT_PROVEN] = {"limit_not_proven", SEVERITY_INFO, true,
		"The job follows its memory limit, and fewer than three runs succeeded undisturbed "
		"under the limit that is requested"},
	[WARNING_RECLAIMABLE_MEMORY] = {"reclaimable_memory", SEVERITY_INFO, false,
		"A large part of the peak is file memory that the kernel can take back"},
	[WARNING_MEMORY_SWAPPED] = {"memory_swapped", SEVERITY_WARNING, true,
		"Much memory of the job was swapped out, and the peak does not count it"},
	[WARNING_FAILED_RUNS_USED_MORE] = {"failed_runs_used_more", SEVERITY_WARNING, true,
		"Failed runs used clearly more memory or time than successful ones"},
	[WARNING_CUT_BY_TIME_LIMIT] = {"cut_by_time_limit", SEVERITY_WARNING, false,
		"Runs were ended from outside, at a time limit or by a signal"},
	[WARNING_MIXED_JOBS] = {"mixed_jobs", SEVERITY_WARNING, true,
		"The name seems to cover different jobs"},
	[WARNING_CHANGE_NOT_SETTLED] = {"change_not_settled", SEVERITY_INFO, true,
		"The newest runs differ from all earlier ones"},
	[WARNING_INPUT_BEYOND_SEEN] = {"input_beyond_seen", SEVERITY_WARNING, true,
		"The announced input is clearly larger or smaller than every earlier one"},
	[WARNING_NOT_MEASURED] = {"not_measured", SEVERITY_WARNING, false,
		"Runs were recorded without numbers"},
	[WARNING_UNCERTAIN_CPU] = {"uncertain_cpu", SEVERITY_WARNING, false,
		"CPU time of the runs may be missing, or may be that of other processes"},
	[WARNING_CPU_PEAK_UNKNOWN] = {"cpu_peak_unknown", SEVERITY_INFO, false,
		"Only the mean use of CPU of the runs is known, not the most at once"},
	[WARNING_WAITS_FOR_CPU] = {"waits_for_cpu", SEVERITY_WARNING, false,
		"Threads of the runs waited for a CPU: more cores would make the job faster"},
	[WARNING_BUSY_MACHINE] = {"busy_machine", SEVERITY_WARNING, true,
		"Threads of the runs waited for a CPU longer than they ran, and no limit held them "
		"back: nobody knows how many cores the job would use on a machine with free CPUs"},
	[WARNING_TASKS_REFUSED] = {"tasks_refused", SEVERITY_WARNING, false,
		"A limit of tasks refused forks of the runs"},
	[WARNING_GPU_HARDLY_USED] = {"gpu_hardly_used", SEVERITY_WARNING, false,
		"The job keeps its GPUs busy for a small part of the time"},
	[WARNING_DATED_NAMES] = {"dated_names", SEVERITY_INFO, false,
		"Other jobs differ from this one in a date or a number of their name only"},
	[WARNING_NOT_SIZED] = {"not_sized", SEVERITY_INFO, true,
		"The answer has no recommendation of this job: ask /recommend for it"},
};

const char *severity_name(enum severity s)
{
	static const char *const names[] = {"info", "warning", "critical"};

	return names[s];
}

/* Inserts `new` after all warnings that are at least as severe. `w` must not contain a warning with
 * the same code. */
static void insert(struct warnings *w, struct warning new)
{
	size_t i;

	for (i = w->n; i > 0; i--) {
		if (warning_rows[w->at[i - 1].code].severity >= warning_rows[new.code].severity)
			break;
		w->at[i] = w->at[i - 1];
	}
	w->at[i] = new;
	w->n++;
}

void warnings_add(struct warnings *w, struct arena *arena, enum warning_code code, size_t runs,
	const char *format, ...)
{
	char text[TEXT_MAX];
	size_t kept = 0;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (size_t i = 0; i < w->n; i++)
		if (w->at[i].code != code)
			w->at[kept++] = w->at[i];
	w->n = kept;
	insert(w, (struct warning){code, arena_text(arena, text, strlen(text)), runs});
}

uint32_t warnings_codes(const struct warnings *w)
{
	uint32_t codes = 0;

	for (size_t i = 0; i < w->n; i++)
		codes |= UINT32_C(1) << w->at[i].code;
	return codes;
}

struct warnings warnings_from_codes(uint32_t codes)
{
	struct warnings w = {0};

	for (unsigned i = 0; i < WARNING_CODES; i++)
		if (codes & UINT32_C(1) << i)
			insert(&w, (struct warning){.code = (enum warning_code)i, .text = ""});
	return w;
}

bool warnings_have(const struct warnings *w, enum warning_code code)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->at[i].code == code)
			return true;
	return false;
}

bool warnings_allow_apply(const struct warnings *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (warning_rows[w->at[i].code].unsafe)
			return false;
	return true;
}
