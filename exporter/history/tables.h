/* Declarations that only the files in exporter/history include.
 *
 * schema.c declares the tables. The id of a sample is (id of its run << 32) + the number of the
 * sample in the run, from 1 on. SQLite stores rows in the order of their ids. The samples of a run
 * are therefore stored together, in the order in which they were taken, even if the clock was set.
 * The table needs no other index. */
#ifndef EXPORTER_HISTORY_TABLES_H
#define EXPORTER_HISTORY_TABLES_H

#include <sys/stat.h>

#include "collectors/base/buf.h"
#include "exporter/history/history.h"
#include "exporter/history/packed_stats.h"
#include "exporter/history/sql.h"

/* Values of the column sample.kind. A row of the table `sample` is a measured sample or a row of a
 * thinned bucket: old samples were merged into the three rows of a bucket. These rows have the same
 * time and duration. */
enum sample_kind {
	SAMPLE_MEASURED,
	/* the mean of a value, the sum of a counter's growth, or the maximum of a high-water
	 * mark */
	SAMPLE_MEAN,
	/* lowest value; for a counter: lowest growth per second * duration of the bucket */
	SAMPLE_LOWEST,
	/* highest value; for a counter: highest growth per second * duration of the bucket */
	SAMPLE_HIGHEST,
};
#define ROWS_OF_BUCKET 3

#define FIRST_SAMPLE_OF(run) ((int64_t)((uint64_t)(run) << 32))
#define LAST_SAMPLE_OF(run)  (FIRST_SAMPLE_OF(run) | 0xffffffff)

struct history_column { /* a column in the file */
	const char *name;
	enum metric_fold fold;
	bool absent; /* true = the program needs the column, but the file lacks it */
};

/* X(name): a text about a run. Many runs have the same texts, so the file stores each combination
 * only once (circumstances.c). */
/* clang-format off */
#define FIRST_CIRCUMSTANCES(X) \
X(vendor) X(instance_type) X(region) X(zone) X(allocation) X(system) X(labels) X(architecture) X(cpu_level) \
X(cpu_source) X(memory_source) X(network_source) X(disk_source)

/* Texts that were added later. They come first, because a NULL there does not change the hash of a
 * row (hash_of in circumstances.c). A row of an older file is therefore found again. */
#define LATER_CIRCUMSTANCES(X) X(gpu_manufacturer) X(gpu_model)

#define CIRCUMSTANCES(X) LATER_CIRCUMSTANCES(X) FIRST_CIRCUMSTANCES(X)

#define CIRCUMSTANCE_ID(name) CIRCUMSTANCE_##name,
enum circumstance { CIRCUMSTANCES(CIRCUMSTANCE_ID) CIRCUMSTANCES_COUNT };

#define CIRCUMSTANCE_PLACE(name) ", ?"
#define CIRCUMSTANCE_NAME(name) ", " #name
#define CIRCUMSTANCE_IS(name) " AND " #name " IS ?"
#define CIRCUMSTANCE_NULL(name) ", " #name " = NULL"
/* CIRCUMSTANCE_TEXTS selects all texts from the row `c` of the table circumstances. A run of an older
 * schema has the first texts in its own row `r` instead, until history_pack_run rewrites the run. */
#define CIRCUMSTANCE_TEXT(name) ", c." #name
#define CIRCUMSTANCE_OLD_TEXT(name) ", coalesce(c." #name ", r." #name ")"
#define CIRCUMSTANCE_TEXTS LATER_CIRCUMSTANCES(CIRCUMSTANCE_TEXT) FIRST_CIRCUMSTANCES(CIRCUMSTANCE_OLD_TEXT)

/* BEGIN_COLUMNS: the columns of the table `run` that are written when a run begins. END_COLUMNS:
 * the columns that are written when it has ended. put_begin and put_end (write.c) bind the columns
 * in this order. */
#define BEGIN_COLUMNS "job, run_id, host, started_at, interval_seconds, pid, start_ticks, reaper_pid, reaper_start_ticks," \
  " pid_namespace, boot_id, requested_cpu_cores, requested_memory_bytes, memory_limit_bytes, input_bytes, attempt," \
  " owner_pid, owner_start_ticks, system_run, minutes_until, hours_until"
#define BEGIN_PARAMETERS "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"
#define END_COLUMNS "ended_at, duration_seconds, outcome, exit_code, exit_signal, cpu_missed_seconds, samples," \
  " cpu_foreign_seconds, machine_cpus, machine_memory_bytes, not_measured, address_limit_bytes, address_peak_bytes," \
  " end_reason, circumstances, stats_form, stats, memory_peak_bytes"
#define END_PARAMETERS "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"

/* Selects a column of the newest ended run of a job. */
#define NEWEST_ENDED(column, job) "(SELECT n." column " FROM run n WHERE n.job = " job " AND n.outcome <> 'running'" \
  " ORDER BY n.started_at DESC, n.id DESC LIMIT 1)"

/* The number of open runs of a job j. */
#define OPEN_RUNS_OF_JOB "(SELECT count(*) FROM run o INDEXED BY run_open WHERE o.job = j.id AND o.outcome = 'running')"

/* Selects a column of the newest successful run of a job j. The index run_by_job must contain the
 * column, so that no row of `run` is read. */
#define NEWEST_SUCCESS(column) "(SELECT n." column " FROM run n INDEXED BY run_by_job WHERE n.job = j.id" \
  " AND n.outcome = 'succeeded' ORDER BY n.started_at DESC, n.id DESC LIMIT 1)"

/* history_activity returns the sum of this number over all rows of job_outcome. The sum must also
 * grow when the outcome of a run is corrected from `interrupted` to `succeeded`. An interrupted run
 * therefore counts 1, and a run with any other outcome counts 2. */
#define OUTCOME_ACTIVITY "CASE outcome WHEN 'interrupted' THEN runs ELSE 2 * runs END"

/* An SQL condition: true when the run was sent to all receivers of the set `bits` (enum
 * history_receiver). */
#define SENT(bits) "(((" bits " & 1) = 0 OR forwarded_at IS NOT NULL) AND ((" bits " & 2) = 0 OR written_at IS NOT NULL))"

/* Three statements for one receiver: list the runs that were not sent to it, count these runs, and
 * mark a run as sent. `mark` is the column with the time at which a run was sent. */
#define SEND_STATEMENTS(X, name, mark) \
X(NOT_##name, "SELECT run_id FROM run WHERE " mark " IS NULL AND outcome <> 'running' ORDER BY ended_at, id LIMIT ?") \
X(COUNT_NOT_##name, "SELECT count(*) FROM run WHERE " mark " IS NULL AND outcome <> 'running'") \
X(name, "UPDATE run SET " mark " = ?2 WHERE run_id = ?1 AND (outcome = 'interrupted') = ?3")

#define HISTORY_STATEMENTS(X) \
X(BEGIN, "BEGIN IMMEDIATE") \
X(COMMIT, "COMMIT") \
/* Counts one more run of the job, and ?2 more ended runs. Adds the job if needed. */ \
X(JOIN_JOB, "INSERT INTO job(name, runs, kept) VALUES(?1, 1, ?2)" \
  " ON CONFLICT(name) DO UPDATE SET runs = runs + 1, kept = kept + ?2 RETURNING id") \
X(ADD_RUN, "INSERT INTO run(" BEGIN_COLUMNS ") VALUES(" BEGIN_PARAMETERS ")") \
X(ADD_ENDED_RUN, "INSERT INTO run(" BEGIN_COLUMNS ", " END_COLUMNS ") VALUES(" BEGIN_PARAMETERS ", " END_PARAMETERS ")") \
X(SET_CIRCUMSTANCES, "UPDATE run SET circumstances = ? WHERE run_id = ?") \
X(HOLD_CIRCUMSTANCES, "UPDATE circumstances SET runs = runs + 1 WHERE hash = ?" CIRCUMSTANCES(CIRCUMSTANCE_IS) " RETURNING id") \
X(ADD_CIRCUMSTANCES, "INSERT INTO circumstances(runs, hash" CIRCUMSTANCES(CIRCUMSTANCE_NAME) ")" \
  " VALUES(1, ?" CIRCUMSTANCES(CIRCUMSTANCE_PLACE) ")") \
X(RELEASE_CIRCUMSTANCES, "UPDATE circumstances SET runs = runs - 1 WHERE id = ?") \
X(DROP_CIRCUMSTANCES, "DELETE FROM circumstances WHERE id = ? AND runs < 1") \
X(CIRCUMSTANCES_OF_RUN, "SELECT NULL" CIRCUMSTANCE_TEXTS \
  " FROM run r LEFT JOIN circumstances c ON c.id = r.circumstances WHERE r.id = ?") \
X(FIND_STATS_FORM, "SELECT id FROM stats_form WHERE columns = ?") \
X(ADD_STATS_FORM, "INSERT INTO stats_form(columns) VALUES(?)") \
X(STATS_FORM, "SELECT columns FROM stats_form WHERE id = ?") \
X(OLD_RUN, "SELECT min(run) FROM run_stat") \
X(PACK_RUN, "UPDATE run SET circumstances = ?, stats_form = ?, stats = ?, memory_peak_bytes = ?" FIRST_CIRCUMSTANCES(CIRCUMSTANCE_NULL) \
  " WHERE id = ?") \
X(TAKE_OVER, "UPDATE run SET owner_pid = ?, owner_start_ticks = ? WHERE run_id = ? AND outcome = 'running'") \
X(IS_OF_JOB, "SELECT 1 FROM job WHERE id = ? AND name = ?") \
/* Reads the ids of the jobs with the names ?1 and ?2. Reads no row if a run of job ?1 is open, or
 * comes from another batch system than ?3. */ \
X(FORMER_JOB, "SELECT f.id, j.id FROM job f, job j WHERE f.name = ?1 AND j.name = ?2 AND NOT EXISTS(SELECT 1 FROM run r" \
  " LEFT JOIN circumstances c ON c.id = r.circumstances WHERE r.job = f.id AND (r.outcome = 'running'" \
  " OR coalesce(c.system, r.system) IS NOT ?3))") \
X(MOVE_RUNS, "UPDATE run SET job = ?2 WHERE job = ?1") \
X(MOVE_COUNTS, "UPDATE job SET (runs, kept) = (SELECT job.runs + f.runs, job.kept + f.kept FROM job f WHERE f.id = ?1)" \
  " WHERE id = ?2") \
X(MOVE_OUTCOMES, "INSERT INTO job_outcome(job, outcome, runs) SELECT ?2, outcome, runs FROM job_outcome WHERE job = ?1" \
  " ON CONFLICT(job, outcome) DO UPDATE SET runs = runs + excluded.runs") \
/* Reads whether a job has ended runs, and the start time of its ?2-th newest ended run. */ \
X(REMOVED_UNTIL, "SELECT j.kept > 0, (SELECT n.started_at FROM run n WHERE n.job = j.id AND n.outcome <> 'running'" \
  " ORDER BY n.started_at DESC, n.id DESC LIMIT 1 OFFSET ?2 - 1) FROM job j WHERE j.name = ?1") \
X(FIND_RUN, "SELECT id, job, outcome, started_at, interval_seconds, circumstances FROM run WHERE run_id = ?") \
X(NEXT_SAMPLE, "SELECT 1 + coalesce((SELECT max(id) FROM sample WHERE id BETWEEN r.id << 32 AND (r.id << 32) | 4294967295)," \
  " r.id << 32) FROM run r WHERE r.run_id = ?") \
X(END_RUN, "UPDATE run SET forwarded_at = NULL, written_at = NULL" FIRST_CIRCUMSTANCES(CIRCUMSTANCE_NULL) "," \
  " (" END_COLUMNS ") = (" END_PARAMETERS ") WHERE id = ?") \
X(COUNT_OUTCOME, "INSERT INTO job_outcome(job, outcome, runs) VALUES(?, ?, 1)" \
  " ON CONFLICT(job, outcome) DO UPDATE SET runs = runs + 1") \
X(KEEP_RUN, "UPDATE job SET kept = kept + 1 WHERE id = ?") \
X(UNKEEP_RUN, "UPDATE job SET kept = kept - 1 WHERE id = ?") \
X(SET_LAST_RUN, "UPDATE job SET (last_started_at, last_outcome, last_requests) = (SELECT n.started_at, n.outcome," \
  " n.requested_cpu_cores NOTNULL OR n.requested_memory_bytes NOTNULL FROM run n WHERE n.job = job.id" \
  " ORDER BY n.started_at DESC, n.id DESC LIMIT 1) WHERE id = ?1 AND (last_started_at <= ?2 OR last_started_at IS NULL)") \
X(UNCOUNT_OUTCOME, "UPDATE job_outcome SET runs = runs - 1 WHERE job = ? AND outcome = ?") \
X(DROP_STATS, "DELETE FROM run_stat WHERE run = ?") \
X(DROP_RUN, "DELETE FROM run WHERE id = ?1 RETURNING NOT (" SENT("?2") "), circumstances, job, started_at") \
X(LOSE_RUNS, "UPDATE forgotten SET runs = runs + ?") \
X(LOSSES, "SELECT jobs, runs FROM forgotten") \
X(DROP_SAMPLES, "DELETE FROM sample WHERE id BETWEEN ?1 AND coalesce(" \
  "(SELECT id FROM sample WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT 1 OFFSET ?3), ?2)") \
/* Reads an upper limit for the number of a run's rows: the number of its last sample, which is
 * fast. The rows are counted instead if the run was thinned. They are also counted if a sample
 * has a number of a million or more, because a damaged file may contain any number. */ \
X(ROWS_AT_MOST, "SELECT CASE WHEN minutes_until > r.id << 32 OR EXISTS" \
  " (SELECT 1 FROM sample s WHERE s.id BETWEEN (r.id << 32) + 1000000 AND (r.id << 32) | 4294967295)" \
  " THEN (SELECT count(*) FROM sample s WHERE s.id BETWEEN r.id << 32 AND (r.id << 32) | 4294967295)" \
  " ELSE (SELECT max(s.id) FROM sample s WHERE s.id BETWEEN r.id << 32 AND (r.id << 32) | 4294967295) - (r.id << 32)" \
  " END FROM run r WHERE r.id = ?") \
X(COUNT_SAMPLES, "SELECT total(samples), total(duration) FROM sample WHERE id BETWEEN ? AND ? AND kind < 2") \
X(FIRST_SAMPLE, "SELECT id, at FROM sample WHERE id > ? AND id <= ? ORDER BY id LIMIT 1") \
X(LAST_SAMPLE, "SELECT id, at, duration FROM sample WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1") \
X(OPEN_RUNS, "SELECT r.id, r.run_id, j.name, r.started_at, r.interval_seconds, r.pid, r.start_ticks, r.reaper_pid," \
  " r.reaper_start_ticks, r.pid_namespace, r.boot_id, r.owner_pid, r.owner_start_ticks" \
  " FROM run r INDEXED BY run_open JOIN job j ON j.id = r.job WHERE r.outcome = 'running' ORDER BY r.id") \
X(STATS, "SELECT \"column\", n, mean, min, max, p50, p95, p99, sum FROM run_stat WHERE run = ? ORDER BY \"column\"") \
/* The index run_by_job contains all columns that are read here, so no row of the table run is
 * read. */ \
X(JOB_MARK, "SELECT count(*), total(outcome = 'running'), total(outcome = 'succeeded'), total(outcome = 'interrupted')," \
  " total(id), total(duration_seconds) FROM run INDEXED BY run_by_job WHERE job = (SELECT id FROM job WHERE name = ?) AND started_at >= ?") \
X(JOBS, "SELECT j.id, j.name, j.runs, j.last_started_at, j.last_outcome," OPEN_RUNS_OF_JOB "," NEWEST_ENDED("ended_at", "j.id") \
  " FROM (SELECT * FROM job ORDER BY last_started_at DESC, name LIMIT ?) j ORDER BY j.last_started_at DESC, j.name") \
X(COUNT_JOBS, "SELECT count(*) FROM job") \
X(NAMES_NEAR, "SELECT name FROM (SELECT name FROM job WHERE name < ?1 ORDER BY name DESC LIMIT ?2)" \
  " UNION ALL SELECT name FROM (SELECT name FROM job WHERE name > ?1 ORDER BY name LIMIT ?2)") \
/* Finds the job with the key ?1, and jobs whose keys begin with ?1 followed by U+001F. Returns at
 * most two rows, because the caller needs to know only whether there is exactly one. */ \
X(KEYS_LIKE, "SELECT name FROM job WHERE name >= ?1 AND name < ?1 || char(32) ORDER BY name LIMIT 2") \
X(JOB_HEADS, "SELECT j.id, j.name, j.runs," OPEN_RUNS_OF_JOB ", j.last_started_at, j.last_outcome, j.last_requests FROM job j ORDER BY j.id") \
/* The next three statements read only the index run_by_job, which is fast. A run of an older
 * schema has its peak in the table run_stat instead. */ \
X(HEADS_FAILURES, "SELECT j.id, (SELECT total(outcome IN ('failed', 'oom_killed')) FROM (SELECT n.outcome FROM run n" \
  " INDEXED BY run_by_job WHERE n.job = j.id AND n.outcome <> 'running' ORDER BY n.started_at DESC, n.id DESC LIMIT 12))" \
  " FROM job j ORDER BY j.id") \
X(HEADS_DURATION, "SELECT j.id, " NEWEST_SUCCESS("duration_seconds") " FROM job j ORDER BY j.id") \
X(HEADS_MEMORY, "SELECT j.id, coalesce(" NEWEST_SUCCESS("memory_peak_bytes") ", (SELECT p.max FROM run_stat p WHERE p.run = " \
  NEWEST_SUCCESS("id") " AND p.\"column\" = 'memory_peak_bytes')) FROM job j ORDER BY j.id") \
X(OVERVIEW, "SELECT r.id, r.run_id, r.started_at, r.duration_seconds, r.outcome," \
  " r.requested_cpu_cores, r.requested_memory_bytes, r.host, coalesce(c.vendor, r.vendor), coalesce(c.instance_type, r.instance_type)," \
  " coalesce(c.region, r.region), coalesce(c.zone, r.zone), coalesce(c.allocation, r.allocation), r.stats_form, r.stats" \
  " FROM run r LEFT JOIN circumstances c ON c.id = r.circumstances WHERE r.job = ?1 ORDER BY r.started_at DESC, r.id DESC LIMIT ?2") \
X(ACTIVITY, "SELECT (SELECT total(runs) FROM job)" \
  " + (SELECT total(" OUTCOME_ACTIVITY ") FROM job_outcome) + (SELECT total(activity) FROM forgotten)") \
X(ENDED, "SELECT coalesce((SELECT max(id) FROM run), 0) - (SELECT count(*) FROM run INDEXED BY run_open WHERE outcome = 'running')") \
X(JOB_ORIGIN, "SELECT coalesce(c.system, r.system), coalesce(c.labels, r.labels) FROM run r" \
  " LEFT JOIN circumstances c ON c.id = r.circumstances WHERE r.job = (SELECT id FROM job WHERE name = ?)" \
  " ORDER BY r.started_at DESC, r.id DESC LIMIT 1") \
X(RECENT_JOBS, "SELECT l.job, (SELECT j.name FROM job j WHERE j.id = l.job), coalesce(c.system, r.system), coalesce(c.labels, r.labels) FROM (SELECT w.job, w.id, max(w.started_at) AS last FROM" \
  " (SELECT n.job, n.id, n.started_at FROM run n WHERE n.outcome <> 'running' ORDER BY n.started_at DESC, n.id DESC LIMIT ?) w" \
  " GROUP BY w.job ORDER BY last DESC, w.job LIMIT ?) l JOIN run r ON r.id = l.id LEFT JOIN circumstances c ON c.id = r.circumstances" \
  " ORDER BY l.last DESC, l.job") \
/* Reads only the index run_by_job, which is fast. A run of an older schema has its peak in the
 * table run_stat instead. */ \
X(MEMORY_RUNS, "SELECT r.outcome, r.duration_seconds, r.memory_limit_bytes, r.input_bytes, coalesce(r.memory_peak_bytes," \
  " (SELECT p.max FROM run_stat p WHERE p.run = r.id AND p.\"column\" = 'memory_peak_bytes'))" \
  " FROM run r INDEXED BY run_by_job WHERE r.job = ? AND r.outcome IN ('succeeded', 'oom_killed') AND r.not_measured IS NULL" \
  " ORDER BY r.started_at DESC, r.id DESC LIMIT ?") \
X(OUTCOMES, "SELECT outcome, runs FROM job_outcome WHERE job = ?") \
X(EXIT_STATUS, "SELECT exit_code, exit_signal FROM run WHERE job = ?1 AND outcome = ?2 AND outcome <> 'running'" \
  " ORDER BY started_at DESC, id DESC LIMIT 1") \
X(EXCESS_RUNS, "SELECT r.id FROM (SELECT id AS job FROM job INDEXED BY job_kept WHERE kept > ?1) AS full" \
  " JOIN run r ON r.id IN (SELECT n.id FROM run n WHERE n.job = full.job AND n.outcome <> 'running'" \
  " ORDER BY n.started_at DESC, n.id DESC LIMIT -1 OFFSET ?1) WHERE " SENT("?4") \
  " AND r.id IS NOT (SELECT o.id FROM run o WHERE o.job = r.job AND o.outcome <> 'running' AND o.outcome = 'succeeded'" \
  " AND o.memory_limit_bytes NOT BETWEEN " NEWEST_ENDED("memory_limit_bytes", "r.job") " / ?5 AND " \
  NEWEST_ENDED("memory_limit_bytes", "r.job") " * ?5 ORDER BY o.started_at DESC, o.id DESC LIMIT 1)" \
  " UNION ALL SELECT r.id FROM run r WHERE r.outcome <> 'running' AND r.started_at < ?2 AND r.ended_at < ?2" \
  " AND r.id <> " NEWEST_ENDED("id", "r.job") " AND " SENT("?4") " LIMIT ?3") \
X(OLDEST_RUNS, "SELECT r.id FROM run r INDEXED BY run_oldest WHERE r.outcome <> 'running' AND r.id <> " NEWEST_ENDED("id", "r.job") \
  " AND " SENT("?1") " ORDER BY r.started_at, r.id LIMIT ?2") \
X(NEXT_SAMPLED, "SELECT id >> 32 FROM sample WHERE id >= ? ORDER BY id LIMIT 1") \
X(MAY_LOSE_SAMPLES, "SELECT 1 FROM run r WHERE r.id = ?1 AND r.outcome <> 'running' AND (?2 OR r.id <> " NEWEST_ENDED("id", "r.job") ")") \
X(OLDEST_ENDED, "SELECT id, job FROM run WHERE outcome <> 'running' ORDER BY started_at, id LIMIT ?") \
X(FORGET_JOB, "UPDATE forgotten SET jobs = jobs + 1, activity = activity + (SELECT runs FROM job WHERE id = ?1)" \
  " + coalesce((SELECT sum(" OUTCOME_ACTIVITY ") FROM job_outcome WHERE job = ?1), 0)" \
  " WHERE NOT EXISTS(SELECT 1 FROM run WHERE job = ?1) AND EXISTS(SELECT 1 FROM job WHERE id = ?1)") \
X(DROP_OUTCOMES, "DELETE FROM job_outcome WHERE job = ?") \
X(DROP_JOB, "DELETE FROM job WHERE id = ?") \
X(THINNABLE_TO_MINUTES, "SELECT id, interval_seconds, minutes_until, (id << 32) | 4294967295, outcome = 'running' FROM run" \
  " WHERE (started_at < ?1 OR outcome = 'running') AND minutes_until >= 0 AND minutes_until < (id << 32) | 4294967295") \
X(THINNABLE_TO_HOURS, "SELECT id, interval_seconds, hours_until, minutes_until, outcome = 'running' FROM run" \
  " WHERE started_at < ?1 AND hours_until < minutes_until") \
X(THINNED_TO_MINUTES, "UPDATE run SET minutes_until = ?2 WHERE id = ?1") \
X(THINNED_TO_HOURS, "UPDATE run SET hours_until = ?2 WHERE id = ?1") \
SEND_STATEMENTS(X, FORWARDED, "forwarded_at") \
SEND_STATEMENTS(X, WRITTEN, "written_at") \
X(NOTES, "SELECT forwards_at, writes_at, serves_at, runs_per_job, retention_seconds, max_bytes, full_rate_seconds FROM note") \
X(NOTE_FORWARDS, "UPDATE note SET forwards_at = ?") \
X(NOTE_WRITES, "UPDATE note SET writes_at = ?") \
X(NOTE_SERVES, "UPDATE note SET serves_at = ?, runs_per_job = ?, retention_seconds = ?, max_bytes = ?, full_rate_seconds = ?") \
X(NOTE_PAGE, "UPDATE note SET page_url = ?, page_address = ?, server_pid = ?, server_start_ticks = ?," \
  " server_pid_namespace = ?, server_boot_id = ?") \
X(PAGE, "SELECT page_url, page_address, server_pid, server_start_ticks, server_pid_namespace, server_boot_id FROM note") \
X(AGE_CLOCK, "SELECT boot_id, agreed_wall, agreed_mono, doubted_wall, doubted_mono FROM age_clock") \
X(SET_AGE_CLOCK, "UPDATE age_clock SET boot_id = ?, agreed_wall = ?, agreed_mono = ?, doubted_wall = ?, doubted_mono = ?") \
X(PAGES, "SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size") \
X(DATA_VERSION, "PRAGMA data_version") \
X(COLUMNS, "SELECT name, fold FROM metric_column ORDER BY id")
/* clang-format on */

#define HISTORY_STATEMENT_ID(id, text) STATEMENT_##id,
enum history_statement { HISTORY_STATEMENTS(HISTORY_STATEMENT_ID) STATEMENT_COUNT };

struct known_form {
	int64_t id; /* in the table stats_form */
	struct stats_form form;
};

struct history {
	struct sql_file file;
	char *path;
	bool memory;
	const struct columns *columns; /* the columns that this program writes */
	size_t n_columns;              /* number of columns in the file */
	struct history_column *column;
	struct arena names;
	sqlite3_stmt *statement[STATEMENT_COUNT]; /* each is prepared at its first use */
	/* the statement that inserts a sample with all of `columns` */
	sqlite3_stmt *add_sample;
	struct known_form *form; /* forms (packed_stats.h) that were read so far */
	size_t n_forms, forms_room;
	struct arena forms;
	struct arena adding; /* for history_run_add, which is called for many runs */
	int64_t kept_form;   /* id of the form stats_form_of_kept; 0 = not known yet */
	/* Progress of the two passes over all runs that remove samples (drop_oldest_samples in
	 * prune.c). `older_samples` skips the newest ended run of each job, and `newest_samples`
	 * includes it. */
	struct sample_pass {
		int64_t next; /* id of the run from which the pass goes on */
		bool any;     /* true = the pass has removed samples */
	} older_samples, newest_samples;
	/* Start time of a run, in seconds since 1970 UTC: the newest run that this handle removed
	 * because the file was too large. 0 = no run was removed. */
	double no_room_until;
	bool (*over)(void);     /* see history_give_up_when */
	uint64_t not_plausible; /* number of runs with impossible numbers in this transaction */
	struct {
		/* `patient`: see history_wait_while. `began`: time at which the wait began.
		 * `wrote`: time at which the -wal file last changed. */
		bool (*patient)(void *context, double stuck_seconds);
		void *context;
		struct mono began, wrote;
		struct stat wal; /* the -wal file as it was at the time `wrote` */
	} lock_wait;
	unsigned lost_pages; /* result of history_lost_pages() when the file was opened */
	bool large_cache;    /* true = history_run_add has enlarged SQLite's page cache */
	/* SQLite copies the -wal file into the database when it has this many pages; 0 = not set
	 * yet */
	int64_t wal_pages;
};

/* ---- tables.c ---- */
/* Removes all forms (packed_stats.h) from the memory of the handle. Call it after a rollback, which
 * has removed the forms that the transaction added to the file. */
void history_forget_forms(struct history *h);
struct sql sql_use(struct history *h, enum history_statement id, struct err *e);

/* Runs a statement with the `n` integer parameters `values`, and ignores its rows. */
int sql_use_run(struct history *h, enum history_statement id, const int64_t *values, size_t n,
	struct err *e);
enum outcome sql_outcome(struct sql *q); /* reads the next column */

/* Returns true when h->path leads to another file than the open one, or to no file. */
bool history_moved(struct history *h);
int history_check_moved(struct history *h, struct err *e); /* returns -ESTALE when moved */

/* ---- open.c ---- */
uint64_t history_wal_bytes(const struct history *h); /* bytes of the -wal file */

/* ---- intact.c ---- */
/* Does the same as stat(2) for the file `h->path` + `suffix`. */
int history_stat(const struct history *h, const char *suffix, struct stat *ret);
/* Keeps this program alive when another program truncates the -shm file that SQLite has mapped:
 * without it, SIGBUS would kill this program. Call it once. */
void history_survive_lost_pages(void);
/* the result changes each time this program notices a truncated -shm file */
unsigned history_lost_pages(void);
/* Checks that the files still contain the bytes that SQLite wrote. Call it within a write
 * transaction. Returns -EBADMSG when another program truncated or overwrote a file. Returns -ESTALE
 * when the -wal file was deleted or replaced. The caller must then call history_checkpoint: SQLite
 * still has the deleted -wal file open, and copies the missing changes from it into the
 * database. */
int history_check_intact(const struct history *h, struct err *e);

/* A read transaction: all reads in it see the same state of the file. If the caller has already
 * begun a transaction, no new transaction is begun. */
struct sql_reading {
	struct history *history; /* NULL = the caller's transaction is used */
};
int sql_reading_begin(struct sql_reading *ret, struct history *h, struct err *e);
void sql_reading_end(struct sql_reading *r); /* for AUTO(sql_reading_end) */

/* ---- schema.c ---- */
/* Checks whether this program can use the file. Sets `*ret` to the schema version; 0 = an empty
 * file. Returns -ENOTSUP for a database of another program or a newer schema version, and -EBADMSG
 * for a damaged file. */
int history_check_version(struct history *h, int64_t *ret, struct err *e);
/* Returns -ENOTSUP for an older schema version, because a reader cannot migrate the file. */
int history_check_readable(const struct history *h, int64_t version, struct err *e);
/* Creates or migrates the tables, adds missing columns, and prepares all statements. */
int history_migrate(struct history *h, struct err *e);
int history_read_columns(struct history *h, struct err *e);
const struct history_column *history_find_column(const struct history *h, const char *name);
void history_add_name(struct buf *b, const char *name); /* quotes the name */

/* ---- write.c ---- */
/* The row of a job contains facts of the job's newest run. Updates them. Call it after a run that
 * started at `started_at` was added, changed or removed. Does nothing if the job has a newer
 * run. */
int history_set_last_run(struct history *h, int64_t job, double started_at, struct err *e);

/* ---- circumstances.c ---- */
struct circumstances {
	const char *text[CIRCUMSTANCES_COUNT]; /* NULL = unknown */
};
/* Finds or adds the row of the table circumstances with these texts, and increments its count of
 * runs. Sets `*ret` to the id of the row. */
int circumstances_hold(struct history *h, const struct circumstances *c, int64_t *ret,
	struct err *e);
/* Decrements the count of runs of the row `id`. Removes the row if the count is then 0. Does
 * nothing for id 0. */
int circumstances_release(struct history *h, int64_t id, struct err *e);
int circumstances_of_run(struct history *h, int64_t run, struct arena *arena,
	struct circumstances *ret, struct err *e);
/* Copies to `c` each text of `newer` that is not NULL. */
void circumstances_merge(struct circumstances *c, const struct circumstances *newer);

/* ---- stored_stats.c ---- */
/* The packed statistics of a run, as its row of the table `run` has them. `form` is the id of their
 * form (packed_stats.h). `stats` is the blob, of `size` bytes. `form` 0 = the statistics are in the
 * table run_stat instead. */
struct packed_run {
	int64_t form;
	const void *stats;
	size_t size;
	/* the maximum of the column memory_peak_bytes; the index run_by_job has a copy of it */
	double memory_peak_bytes;
};
/* Packs the statistics of a run into `arena`. Adds their form (packed_stats.h) to the file if the
 * file does not have it. `own` true = this exporter measured the run: all statistics are stored
 * exactly. `own` false = another exporter measured it: only the statistics of kept_columns are
 * stored, and some are rounded. */
int history_pack_stats(struct history *h, const struct column_stats *stats, size_t n, bool own,
	struct arena *arena, struct packed_run *ret, struct err *e);
/* Reads the statistics of a run into `ret`. `like` is a run that was read before, or NULL. To save
 * memory, `ret` uses the column names of `like` where they are equal. `like` must therefore live as
 * long as `ret`. */
int history_unpack_stats(struct history *h, int64_t run, const struct packed_run *packed,
	const struct run *like, struct arena *arena, struct run *ret, struct err *e);
/* Binds these four columns of the table `run`: circumstances, stats_form, stats,
 * memory_peak_bytes. */
void sql_put_packed_run(struct sql *q, int64_t circumstances, const struct packed_run *packed);
/* Reads the columns stats_form and stats. */
struct packed_run sql_packed_run(struct sql *q, struct arena *arena);
/* Rewrites a run that was written with schema 13 or older: packs its statistics, and moves its
 * texts to the table circumstances. */
int history_pack_run(struct history *h, int64_t run, struct err *e);

/* ---- series.c ---- */
/* Computes the statistics of a run from its samples. The result is in `arena`. To limit the memory
 * that is used, computes only some columns at a time, and reads the samples again for the next
 * columns. */
int history_stats(struct history *h, int64_t run, struct arena *arena, struct column_stats **ret,
	size_t *ret_n, struct err *e);

struct sample_count {
	uint64_t samples; /* number of measured samples; samples that were thinned still count */
	double duration;
};
int history_count(struct history *h, int64_t run, struct sample_count *ret, struct err *e);

struct found_run {
	int64_t id, job;
	enum outcome outcome;
	double started_at, interval_seconds;
	int64_t circumstances; /* 0 = none yet */
};
int history_find(struct history *h, const char *run_id, struct found_run *ret,
	struct err *e); /* 1 = found, 0 = not found */
/* Finds the last sample of a run. Returns 1 when there is one. Returns 0 and leaves *id and *at
 * unchanged when the run has no sample. */
int history_last_sample(struct history *h, int64_t run, int64_t *id, double *at, struct err *e);

/* ---- shared_settings.c ---- */
/* Makes all exporters that use the file enforce the same limits:
 * - stores the limits of this exporter in the file, if it is a server (l->serves)
 * - stores the addresses to which this exporter sends runs: a run is kept until it is sent
 * - replaces each limit that the user did not set (a bit in l->defaults) by the stored limit, if
 *   there is one
 *
 * On return, `l` contains the limits to enforce (see struct history_limits). */
int history_agree(struct history *h, struct history_limits *l, double now, struct err *e);

/* ---- downsample.c ---- */
/* Both functions thin samples (merge them into buckets). A call does one step. It returns 1 when
 * there may be more to do, and 0 when there was nothing to do. history_thin thins samples that are
 * older than full_rate_seconds, and the oldest samples of very long open runs. */
int history_thin(struct history *h, double full_rate_seconds, double now, struct err *e);
/* Thins all samples of open runs, except the newest `keep` samples of each run. */
int history_thin_open(struct history *h, int64_t keep, struct err *e);

/* Copies `size` bytes of `rows` into the arena. */
void *history_keep(struct arena *arena, const void *rows, size_t size);

#endif
