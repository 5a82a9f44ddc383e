/* Creates and migrates the tables of the history. Adds a column to the table `sample` for each
 * metric that the history stores. */
#include "exporter/history/tables.h"

#include <errno.h>
#include <string.h>

/* Stored in the header of a database file, to recognise the files of this program. */
#define APPLICATION_ID  0x52534558
#define SQL_MAX         (1u << 20)
#define COLUMN_NAME_MAX 63

/* Entry i migrates the file from schema version i to version i + 1. Never change an entry that was
 * released. Add a new entry instead. */
static const char *const migrations[] = {
	/* job.runs and job_outcome count all runs ever, including removed runs. */
	"CREATE TABLE job(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, runs INTEGER NOT "
	"NULL) STRICT;"
	"CREATE TABLE job_outcome(job INTEGER NOT NULL REFERENCES job(id), outcome TEXT NOT NULL,"
	" runs INTEGER NOT NULL, PRIMARY KEY(job, outcome)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE run(id INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE,"
	" job INTEGER NOT NULL REFERENCES job(id), host TEXT, started_at REAL NOT NULL, ended_at "
	"REAL,"
	" duration_seconds REAL, outcome TEXT NOT NULL DEFAULT 'running', exit_code REAL, "
	"exit_signal REAL,"
	" cpu_source TEXT, cpu_missed_seconds REAL, memory_source TEXT, samples INTEGER NOT NULL "
	"DEFAULT 0, "
	"interval_seconds REAL,"
	" requested_cpu_cores REAL, requested_memory_bytes REAL, memory_limit_bytes REAL, "
	"input_bytes REAL,"
	" attempt REAL, pid INTEGER, start_ticks INTEGER, reaper_pid INTEGER, reaper_start_ticks "
	"INTEGER,"
	" pid_namespace INTEGER, boot_id TEXT, owner_pid INTEGER, owner_start_ticks INTEGER,"
	/* minutes_until: id of the last sample that was thinned to minutes. hours_until: id of the
	 * last sample that was thinned to hours. */
	" minutes_until INTEGER NOT NULL DEFAULT 0, hours_until INTEGER NOT NULL DEFAULT 0) STRICT;"
	"CREATE INDEX run_by_job ON run(job, started_at);"
	"CREATE INDEX run_open ON run(job) WHERE outcome = 'running';"
	"CREATE TABLE run_stat(run INTEGER NOT NULL REFERENCES run(id), \"column\" TEXT NOT NULL,"
	" n INTEGER NOT NULL, mean REAL, min REAL, max REAL, p50 REAL, p95 REAL, p99 REAL, sum "
	"REAL,"
	" PRIMARY KEY(run, \"column\")) STRICT, WITHOUT ROWID;"
	"CREATE TABLE metric_column(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, fold TEXT "
	"NOT NULL,"
	" unit TEXT) STRICT;"
	/* The program later adds one REAL column to this table for each row of the table
	 * metric_column. */
	"CREATE TABLE sample(id INTEGER PRIMARY KEY, at REAL NOT NULL, duration REAL NOT NULL,"
	" kind INTEGER NOT NULL DEFAULT 0, samples INTEGER NOT NULL DEFAULT 1) STRICT;",
	/* forwarded_at is the time when the run was forwarded to another exporter. */
	"ALTER TABLE run ADD COLUMN forwarded_at REAL;"
	"CREATE INDEX run_unforwarded ON run(ended_at) WHERE forwarded_at IS NULL AND outcome <> "
	"'running';",
	/* Adds the machine of a run, and the source of the run's network numbers. */
	"ALTER TABLE run ADD COLUMN network_source TEXT;"
	"ALTER TABLE run ADD COLUMN architecture TEXT;"
	"ALTER TABLE run ADD COLUMN vendor TEXT;"
	"ALTER TABLE run ADD COLUMN instance_type TEXT;"
	"ALTER TABLE run ADD COLUMN region TEXT;"
	"ALTER TABLE run ADD COLUMN zone TEXT;"
	"ALTER TABLE run ADD COLUMN allocation TEXT;",
	/* Adds the batch or workflow system that named a run, the number of the run in that system,
	 * and its labels as JSON. */
	"ALTER TABLE run ADD COLUMN system TEXT;"
	"ALTER TABLE run ADD COLUMN system_run TEXT;"
	"ALTER TABLE run ADD COLUMN labels TEXT;",
	/* Adds indexes, so that upkeep finds a few runs among many without reading all. */
	"CREATE INDEX run_ended ON run(job, started_at, id, outcome) WHERE outcome <> 'running';"
	"CREATE INDEX run_oldest ON run(started_at, id, job, ended_at, outcome) WHERE outcome <> "
	"'running';"
	"CREATE INDEX run_to_minutes ON run(started_at) WHERE minutes_until < (id << 32) | "
	"4294967295;"
	"CREATE INDEX run_to_hours ON run(started_at) WHERE hours_until < minutes_until;",
	/* Adds the CPU level that a run's programs need at least, such as x86-64-v3. */
	"ALTER TABLE run ADD COLUMN cpu_level TEXT;",
	/* Totals of all jobs that were removed because the file was full. The counts of such a job
	 * are removed, too. */
	("CREATE TABLE forgotten(jobs INTEGER NOT NULL, activity INTEGER NOT NULL) STRICT;"
	 "INSERT INTO forgotten VALUES(0, 0);"),
	/* forgotten.runs counts runs that were removed before they were forwarded. The table note
	 * has one row with settings that all exporters with this file share (shared_settings.c). */
	("ALTER TABLE forgotten ADD COLUMN runs INTEGER NOT NULL DEFAULT 0;"
	 "CREATE TABLE note(forwards_at REAL, serves_at REAL, runs_per_job INTEGER, "
	 "retention_seconds REAL,"
	 " max_bytes INTEGER, full_rate_seconds REAL) STRICT;"
	 "INSERT INTO note DEFAULT VALUES;"),
	/* Adds the state of the clock of age_clock.h. In a file that already has runs, the clock
	 * begins at the time of the newest run. */
	("CREATE TABLE age_clock(boot_id TEXT, agreed_wall REAL, agreed_mono REAL, doubted_wall "
	 "REAL, doubted_mono REAL)"
	 " STRICT;"
	 "INSERT INTO age_clock(agreed_wall) SELECT max(coalesce(ended_at, started_at)) FROM run;"),
	/* Adds data about the measurements of a run: they show whether its numbers are correct. */
	"ALTER TABLE run ADD COLUMN cpu_foreign_seconds REAL;"
	"ALTER TABLE run ADD COLUMN machine_cpus REAL;"
	"ALTER TABLE run ADD COLUMN machine_memory_bytes REAL;"
	"ALTER TABLE run ADD COLUMN disk_source TEXT;"
	"ALTER TABLE run ADD COLUMN not_measured TEXT;",
	/* Adds to the indexes all columns that STATEMENT_MEMORY_RUNS reads. It then need not read
	 * the long rows of runs and statistics, which would take longer. */
	("DROP INDEX run_ended;"
	 "CREATE INDEX run_ended ON run(job, started_at, id, outcome, not_measured, "
	 "duration_seconds, input_bytes, memory_limit_bytes) WHERE outcome <> 'running';"
	 "CREATE INDEX run_peak ON run_stat(run, max) WHERE \"column\" = 'memory_peak_bytes';"),
	/* The columns are explained in collectors/followed/run_addresses.h. */
	"ALTER TABLE run ADD COLUMN address_limit_bytes REAL;"
	"ALTER TABLE run ADD COLUMN address_peak_bytes REAL;",
	"ALTER TABLE run ADD COLUMN end_reason TEXT;",
	/* Stores a run in fewer bytes: its statistics as one blob, and texts that many runs have in
	 * common, such as the server, once in `circumstances`. history_prune later rewrites the runs
	 * that are already in the file, at most 64 at a time. job.kept is the number of ended runs
	 * of the job in the file. */
	("CREATE TABLE stats_form(id INTEGER PRIMARY KEY, columns TEXT NOT NULL UNIQUE) STRICT;"
	 "CREATE TABLE circumstances(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, runs INTEGER NOT NULL,"
	 " vendor TEXT, instance_type TEXT, region TEXT, zone TEXT, allocation TEXT, system TEXT, labels TEXT,"
	 " architecture TEXT, cpu_level TEXT, cpu_source TEXT, memory_source TEXT, network_source TEXT,"
	 " disk_source TEXT) STRICT;"
	 "CREATE INDEX circumstances_by_hash ON circumstances(hash);"
	 "ALTER TABLE run ADD COLUMN circumstances INTEGER;"
	 "ALTER TABLE run ADD COLUMN stats_form INTEGER;"
	 "ALTER TABLE run ADD COLUMN stats BLOB;"
	 "ALTER TABLE run ADD COLUMN memory_peak_bytes REAL;"
	 "ALTER TABLE job ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;"
	 "UPDATE job SET kept = (SELECT count(*) FROM run r WHERE r.job = job.id AND r.outcome <> 'running');"
	 "CREATE INDEX job_kept ON job(kept);"
	 "DROP INDEX run_by_job; DROP INDEX run_ended; DROP INDEX run_peak; DROP INDEX run_oldest;"
	 "DROP INDEX run_to_minutes;"
	 "CREATE INDEX run_by_job ON run(job, started_at, id, outcome, not_measured, duration_seconds,"
	 " input_bytes, memory_limit_bytes, memory_peak_bytes);"
	 "CREATE INDEX run_oldest ON run(started_at, id) WHERE outcome <> 'running';"
	 "CREATE INDEX run_to_minutes ON run(started_at) WHERE minutes_until >= 0"
	 " AND minutes_until < (id << 32) | 4294967295;"),
	/* Adds the page of the newest server, and the process of this server
	 * (shared_settings.c). */
	"ALTER TABLE note ADD COLUMN page_url TEXT;"
	"ALTER TABLE note ADD COLUMN page_address TEXT;"
	"ALTER TABLE note ADD COLUMN server_pid INTEGER;"
	"ALTER TABLE note ADD COLUMN server_start_ticks INTEGER;"
	"ALTER TABLE note ADD COLUMN server_pid_namespace INTEGER;"
	"ALTER TABLE note ADD COLUMN server_boot_id TEXT;",
	/* job.name becomes the key of the job (collectors/base/job_key.h), which also contains the
	 * namespace. The namespace comes from the labels of the job's runs. A job whose runs have
	 * several namespaces is split into one job for each namespace. The original job then has no
	 * namespace. It keeps the runs without a namespace, and the counts of removed runs. */
	("CREATE TABLE place(run INTEGER PRIMARY KEY, job INTEGER NOT NULL, space TEXT NOT NULL) STRICT;"
	 "INSERT INTO place SELECT id, job, json_extract(labels, '$.namespace') FROM (SELECT r.id, r.job,"
	 " coalesce(c.labels, r.labels) AS labels FROM run r LEFT JOIN circumstances c ON c.id = r.circumstances)"
	 " WHERE CASE WHEN json_valid(labels) THEN json_type(labels, '$.namespace') = 'text' END;"
	 "CREATE INDEX place_by_job ON place(job, space);"
	 "UPDATE job SET name = name || char(31) || (SELECT min(p.space) FROM place p WHERE p.job = job.id)"
	 " WHERE id IN (SELECT job FROM place GROUP BY job HAVING min(space) = max(space));"
	 "DELETE FROM place WHERE job IN (SELECT job FROM place GROUP BY job HAVING min(space) = max(space));"
	 "INSERT INTO job(name, runs, kept) SELECT j.name || char(31) || p.space, count(*),"
	 " sum(r.outcome <> 'running') FROM place p JOIN job j ON j.id = p.job JOIN run r ON r.id = p.run GROUP BY 1;"
	 "UPDATE job SET runs = runs - (SELECT count(*) FROM place p WHERE p.job = job.id),"
	 " kept = kept - (SELECT count(*) FROM place p JOIN run r ON r.id = p.run WHERE p.job = job.id"
	 " AND r.outcome <> 'running') WHERE id IN (SELECT job FROM place);"
	 "UPDATE job_outcome SET runs = runs - (SELECT count(*) FROM place p JOIN run r ON r.id = p.run"
	 " WHERE p.job = job_outcome.job AND r.outcome = job_outcome.outcome) WHERE job IN (SELECT job FROM place);"
	 "UPDATE run SET job = (SELECT n.id FROM place p JOIN job j ON j.id = p.job JOIN job n"
	 " ON n.name = j.name || char(31) || p.space WHERE p.run = run.id) WHERE id IN (SELECT run FROM place);"
	 "INSERT INTO job_outcome SELECT job, outcome, count(*) FROM run WHERE id IN (SELECT run FROM place)"
	 " AND outcome <> 'running' GROUP BY 1, 2;"
	 "DROP TABLE place;"),
	/* written_at is the time when the run was written to a Prometheus-compatible store. */
	"ALTER TABLE run ADD COLUMN written_at REAL;"
	"CREATE INDEX run_unwritten ON run(ended_at) WHERE written_at IS NULL AND outcome <> "
	"'running';"
	"ALTER TABLE note ADD COLUMN writes_at REAL;",
	/* Adds copies of facts of a job's newest run to the row of the job (history_set_last_run).
	 * A list of all jobs then needs no row of a run. The copies are NULL for a job without
	 * runs. */
	("ALTER TABLE job ADD COLUMN last_started_at REAL;"
	 "ALTER TABLE job ADD COLUMN last_outcome TEXT;"
	 "ALTER TABLE job ADD COLUMN last_requests INTEGER;"
	 "UPDATE job SET (last_started_at, last_outcome, last_requests) = (SELECT n.started_at, n.outcome,"
	 " n.requested_cpu_cores NOTNULL OR n.requested_memory_bytes NOTNULL FROM run n WHERE n.job = job.id"
	 " ORDER BY n.started_at DESC, n.id DESC LIMIT 1);"),
	/* Adds the GPUs that a run used (struct run). */
	"ALTER TABLE circumstances ADD COLUMN gpu_manufacturer TEXT;"
	"ALTER TABLE circumstances ADD COLUMN gpu_model TEXT;",
};

#define SCHEMA_VERSION ((int64_t)ARRAY_LEN(migrations))

static const char *const fold_names[] = {
	[FOLD_NONE] = "none",
	[FOLD_VALUE] = "value",
	[FOLD_DELTA] = "delta",
	[FOLD_PEAK] = "peak",
};

/* Returns the fold (enum metric_fold) with this name. A newer version of the program may have
 * stored a fold that this version does not know; the values of the column are then treated as plain
 * values. */
static enum metric_fold fold_of(const char *name)
{
	for (unsigned i = 0; name && i < ARRAY_LEN(fold_names); i++)
		if (strcmp(name, fold_names[i]) == 0)
			return (enum metric_fold)i;
	return FOLD_VALUE;
}

void history_add_name(struct buf *b, const char *name)
{
	buf_addc(b, '"');
	for (const char *p = name; *p; p++) {
		if (*p == '"')
			buf_addc(b, '"');
		buf_addc(b, *p);
	}
	buf_addc(b, '"');
}

int history_check_version(struct history *h, int64_t *ret, struct err *e)
{
	AUTO(sql_done)
	struct sql q = sql_prepare(&h->file,
		"SELECT application_id, user_version,"
		" (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, "
		"pragma_user_version",
		e);
	int code = sql_row(&q, e);

	if (code < 0)
		return code;
	int64_t application = sql_int(&q), version = sql_int(&q), tables = sql_int(&q);

	if (application == 0 && version == 0 && tables == 0) {
		*ret = 0;
		return 0;
	}
	if (application != APPLICATION_ID)
		return err_set(e, -ENOTSUP, "history %s: it is a database of another program",
			h->path);
	if (version > SCHEMA_VERSION)
		return err_set(e, -ENOTSUP,
			"history %s: it was written by a newer version"
			" (schema %lld, this one knows up to %lld)",
			h->path, (long long)version, (long long)SCHEMA_VERSION);
	if (version < 0)
		return err_set(e, -EBADMSG, "history %s: it is damaged (schema %lld)", h->path,
			(long long)version);
	*ret = version;
	return 0;
}

int history_check_readable(const struct history *h, int64_t version, struct err *e)
{
	if (version == SCHEMA_VERSION)
		return 0;
	return err_set(e, -ENOTSUP,
		"history %s: it was written by an older version (schema %lld, this one reads %lld);"
		" serve or run of this version brings it up to date",
		h->path, (long long)version, (long long)SCHEMA_VERSION);
}

int history_read_columns(struct history *h, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_COLUMNS, e);
	size_t room = h->n_columns;
	int code;

	arena_reset(&h->names);
	h->n_columns = 0;
	while ((code = sql_row(&q, e)) > 0) {
		const char *name = sql_name(&q);

		GROW(h->column, h->n_columns, room);
		h->column[h->n_columns++] = (struct history_column){
			.name = arena_text(&h->names, name, strlen(name)),
			.fold = fold_of(sql_text(&q)),
		};
	}
	return code;
}

const struct history_column *history_find_column(const struct history *h, const char *name)
{
	for (size_t i = 0; i < h->n_columns; i++)
		if (strcmp(h->column[i].name, name) == 0)
			return &h->column[i];
	return NULL;
}

static bool up_to_date(const struct history *h)
{
	for (size_t i = 0; i < h->columns->n; i++) {
		const struct metric *m = h->columns->metric[i];
		const struct history_column *c = history_find_column(h, m->column);

		if (!c || c->fold != m->fold)
			return false;
	}
	return true;
}

static int check_names(const struct columns *columns, struct err *e)
{
	static const char *const taken[] = {"id", "at", "duration", "kind", "samples"};

	for (size_t i = 0; i < columns->n; i++) {
		const char *name = columns->metric[i]->column;
		size_t len = strlen(name);

		if (len == 0 || len > COLUMN_NAME_MAX ||
			strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != len)
			return err_set(e, -EINVAL,
				"history column \"%s\": accepted are 1 to %d of a-z, 0-9 and _",
				name, COLUMN_NAME_MAX);
		for (size_t t = 0; t < ARRAY_LEN(taken); t++)
			if (strcmp(name, taken[t]) == 0)
				return err_set(e, -EINVAL,
					"history column \"%s\": the name is taken", name);
	}
	return 0;
}

static int note_columns(struct history *h, struct err *e)
{
	AUTO(sql_done)
	struct sql q = sql_prepare(&h->file,
		"INSERT INTO metric_column(name, fold, unit) VALUES(?, ?, ?)"
		" ON CONFLICT(name) DO UPDATE SET fold = excluded.fold, unit = excluded.unit",
		e);
	int code = q.code;

	for (size_t i = 0; i < h->columns->n && code == 0; i++) {
		const struct metric *m = h->columns->metric[i];

		sql_again(&q);
		sql_put_text(&q, m->column);
		sql_put_text(&q, fold_names[m->fold]);
		sql_put_text(&q, m->unit);
		code = sql_run(&q, e);
	}
	return code;
}

static void add_definitions(struct buf *b, const struct history *h, const char *before)
{
	for (size_t i = 0; i < h->columns->n; i++) {
		const char *name = h->columns->metric[i]->column;

		if (history_find_column(h, name))
			continue;
		buf_adds(b, before);
		history_add_name(b, name);
		buf_adds(b, " REAL");
	}
}

/* Writes to `b` the statements that add the missing columns to the table `sample`. If the table has
 * no rows, it is dropped and created with all columns. This is faster: SQLite reads the whole
 * schema again after each ALTER TABLE, which takes 11 ms for all columns of a new file. */
static int describe_columns(struct history *h, struct buf *b, struct err *e)
{
	AUTO(sql_done)
	struct sql q = sql_prepare(&h->file,
		"SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'sample'"
		" AND NOT EXISTS(SELECT 1 FROM sample)",
		e);
	int code = sql_row(&q, e);

	if (code == 0)
		add_definitions(b, h, "; ALTER TABLE sample ADD COLUMN ");
	if (code <= 0)
		return code;
	const char *text = sql_name(&q), *end = strrchr(text, ')');

	if (!end)
		return err_set(e, -EBADMSG, "history %s: it is damaged (table sample)", h->path);
	buf_adds(b, "DROP TABLE sample; ");
	buf_add(b, text, (size_t)(end - text));
	add_definitions(b, h, ", ");
	buf_adds(b, end);
	return 0;
}

static int add_columns(struct history *h, struct err *e)
{
	struct buf b AUTO(buf_done) = BUF_MAX(SQL_MAX);
	int code = describe_columns(h, &b, e);

	if (code == 0)
		code = sql_exec(&h->file, buf_text(&b), "add columns", e);
	return code ? code : note_columns(h, e);
}

/* Migrates the file to the current schema, within a transaction of the caller. Reads the schema
 * version inside the transaction: another exporter may have migrated the file just before. */
static int bring_up_to_date(struct history *h, struct err *e)
{
	char text[80];
	int64_t version = 0;
	int code = history_check_version(h, &version, e);

	for (int64_t i = version; code == 0 && i < SCHEMA_VERSION; i++)
		code = sql_exec(&h->file, migrations[i], "create its tables", e);
	snprintf(text, sizeof text, "PRAGMA application_id = %d; PRAGMA user_version = %lld",
		APPLICATION_ID, (long long)SCHEMA_VERSION);
	if (code == 0 && version < SCHEMA_VERSION)
		code = sql_exec(&h->file, text, "create its tables", e);
	if (code == 0)
		code = history_read_columns(h, e);
	if (code == 0 && !up_to_date(h))
		code = add_columns(h, e);
	return code ? code : history_read_columns(h, e);
}

/* Prepares the statement that inserts a sample. INSERT ... SELECT from the same table would be
 * slower, because SQLite would first copy all rows into a temporary table. */
static int prepare_add_sample(struct history *h, struct err *e)
{
	struct buf b = BUF_MAX(SQL_MAX);

	buf_adds(&b, "INSERT INTO sample(id, at, duration");
	for (size_t i = 0; i < h->columns->n; i++) {
		buf_adds(&b, ", ");
		history_add_name(&b, h->columns->metric[i]->column);
	}
	buf_adds(&b, ") VALUES(?, ?, ?");
	for (size_t i = 0; i < h->columns->n; i++)
		buf_adds(&b, ", ?");
	buf_adds(&b, ")");
	sqlite3_finalize(h->add_sample);
	h->add_sample = NULL;

	int code = sql_reuse(&h->file, &h->add_sample, buf_text(&b), e).code;

	buf_done(&b);
	return code;
}

/* Prepares all statements. This shows at once, when the file is opened, whether a table is missing
 * or has other columns. */
static int prepare_all(struct history *h, struct err *e)
{
	int code = prepare_add_sample(h, e);

	for (unsigned i = 0; i < STATEMENT_COUNT && code == 0; i++)
		code = sql_use(h, (enum history_statement)i, e).code;
	return code;
}

int history_migrate(struct history *h, struct err *e)
{
	int64_t version = 0;
	int code = check_names(h->columns, e);

	if (code == 0)
		code = history_check_version(h, &version, e);
	if (code == 0 && version == SCHEMA_VERSION)
		code = history_read_columns(h, e);
	if (code == 0 && (version < SCHEMA_VERSION || !up_to_date(h))) {
		code = history_transaction(h, e);
		if (code == 0)
			code = history_end(h, bring_up_to_date(h, e), e);
	}
	if (code == 0)
		code = prepare_all(h, e);
	/* Here the file has the current schema version, so all statements should be valid. An SQL
	 * error (-EPROTO) therefore means that the tables are damaged. */
	if (code == -EPROTO && e)
		e->code = -EBADMSG;
	return code == -EPROTO ? -EBADMSG : code;
}
