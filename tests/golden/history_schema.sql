CREATE TABLE job(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, runs INTEGER NOT NULL) STRICT;
CREATE TABLE job_outcome(job INTEGER NOT NULL REFERENCES job(id), outcome TEXT NOT NULL, runs INTEGER NOT NULL, PRIMARY KEY(job, outcome)) STRICT, WITHOUT ROWID;
CREATE TABLE run(id INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, job INTEGER NOT NULL REFERENCES job(id), host TEXT, started_at REAL NOT NULL, ended_at REAL, duration_seconds REAL, outcome TEXT NOT NULL DEFAULT 'running', exit_code REAL, exit_signal REAL, cpu_source TEXT, cpu_missed_seconds REAL, memory_source TEXT, samples INTEGER NOT NULL DEFAULT 0, interval_seconds REAL, requested_cpu_cores REAL, requested_memory_bytes REAL, memory_limit_bytes REAL, input_bytes REAL, attempt REAL, pid INTEGER, start_ticks INTEGER, reaper_pid INTEGER, reaper_start_ticks INTEGER, pid_namespace INTEGER, boot_id TEXT, owner_pid INTEGER, owner_start_ticks INTEGER, minutes_until INTEGER NOT NULL DEFAULT 0, hours_until INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX run_by_job ON run(job, started_at);
CREATE INDEX run_open ON run(job) WHERE outcome = 'running';
CREATE TABLE run_stat(run INTEGER NOT NULL REFERENCES run(id), "column" TEXT NOT NULL, n INTEGER NOT NULL, mean REAL, min REAL, max REAL, p50 REAL, p95 REAL, p99 REAL, sum REAL, PRIMARY KEY(run, "column")) STRICT, WITHOUT ROWID;
CREATE TABLE metric_column(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, fold TEXT NOT NULL, unit TEXT) STRICT;
CREATE TABLE sample(id INTEGER PRIMARY KEY, at REAL NOT NULL, duration REAL NOT NULL, kind INTEGER NOT NULL DEFAULT 0, samples INTEGER NOT NULL DEFAULT 1, "cpu_seconds" REAL, "memory_bytes" REAL, "memory_peak_bytes" REAL, "disk_read_bytes" REAL, "system_load1" REAL) STRICT;
PRAGMA user_version = 1;
