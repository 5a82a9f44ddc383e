/* What the files of the jobs share. */
#ifndef COLLECTORS_JOBS_PRIVATE_H
#define COLLECTORS_JOBS_PRIVATE_H

#include "collectors/process/exit_watch.h"
#include "collectors/followed/jobs.h"
#include "collectors/process/tree.h"
#include "collectors/followed/place.h"

#define OUTCOMES_MAX 8

struct job {
	char name[JOB_NAME_MAX];
	double finished[RUN_N_METRICS]; /* counters: sums over the runs that were dropped */
	double told[RUN_N_METRICS];     /* counters: the last value that was given out */
	double peak[RUN_N_METRICS]; /* of the last ended run, until the next begins; NaN = none */
	size_t n_outcomes;
	struct {
		char name[16];
		uint64_t runs;
	} outcome[OUTCOMES_MAX];
	double last_end;
	uint64_t last_use, active_at; /* by jobs.uses */
	struct tracked *runs;         /* as the points were last made */
};

struct tracked {
	char run_id[RUN_ID_MAX];
	struct job *job;
	struct tracked *next_of_job;
	struct wall started_at;
	struct mono started_mono;
	struct process_tree tree;
	struct account *account;
	struct run_place place;
	struct ending ending;
	struct tree_now now; /* of this look, like alive: how many of its processes there are */
	size_t alive;
	struct mono empty_since; /* when the last process was seen to be gone; 0 = not yet */
	bool awaits_conclusion, concluded, ended;
	uint64_t ended_generation; /* of the snapshot that has its last reading */
	struct mono ended_at;
	double grace_seconds;
	enum final_kind final_kind;
	double final[RUN_N_METRICS];
	double value[RUN_N_METRICS]; /* the last reading */
};

struct jobs {
	size_t n_runs, runs_room;
	struct tracked **run;
	size_t n_jobs, jobs_room;
	struct job **job;
	uint64_t name_hash[JOBS_MAX]; /* of job[], so that to find one of many is no matter */
	uint64_t uses;
	struct wall read_at; /* 0 = not yet */
	struct gpus *gpus;   /* borrowed; NULL = nothing is known of GPUs */
	struct accounts *accounts;
	struct endings endings;
};

#endif
