"""Makes histories to look at, written directly into the exporter's own SQLite file, like those of a thousand jobs. The
data is invented, but repeatable: the same seed gives the same file."""
import json
import math
import random
import sqlite3

MIB = 1024 ** 2
GIB = 1024 ** 3
HOSTILE = '<img src=x onerror=alert(1)>"\'&amp;\u202e\u05d0\u05d1\u05d2/' + "x" * 60 + "\u0627\u0644\u0639\u0631\u0628\u064a\u0629\u202c"


def hostile_name():
    """HTML, a switch to right-to-left, and 199 bytes, which is the maximum length of a name."""
    name = HOSTILE
    while len(name.encode()) < 199:
        name += "y"
    return name


class History:
    """An existing history file, made by the exporter itself."""

    def __init__(self, path, seed=7):
        self.db = sqlite3.connect(path)
        self.random = random.Random(seed)
        self.columns = [c for (c,) in self.db.execute("SELECT name FROM metric_column ORDER BY id")]
        self.last_run = self.db.execute("SELECT coalesce(max(id), 0) FROM run").fetchone()[0]

    def close(self):
        self.db.commit()
        self.db.close()

    def job(self, name):
        self.db.execute("INSERT INTO job(name, runs) VALUES(?, 0) ON CONFLICT DO NOTHING", (name,))
        return self.db.execute("SELECT id FROM job WHERE name = ?", (name,)).fetchone()[0]

    def run(self, job_name, started_at, seconds, memory, cores, outcome="succeeded", samples=0, **more):
        """Adds a run with its statistics. more: columns of the table run, and stats={column: (mean, max, sum)}."""
        job = self.job(job_name)
        stats = {
            "cpu_seconds": (None, None, cores * seconds),
            "cpu_cores": (cores, cores * 1.4, None),
            "memory_bytes": (memory * 0.7, memory, None),
            "memory_peak_bytes": (memory * 0.8, memory, None),
            "disk_read_bytes": (None, None, 3e8),
            "disk_written_bytes": (None, None, 1e8),
            "processes": (2, 3, None),
            "threads": (4, 9, None),
            "system_network_received_bytes": (None, None, 5e7),
            "system_network_sent_bytes": (None, None, 2e6),
            "system_disk_space_used_bytes": (4.1e10, 4.2e10, None),
        }
        stats.update(more.pop("stats", {}))
        self.last_run += 1
        row = {"id": self.last_run, "run_id": f"run-{self.last_run:08d}", "job": job, "host": "batch-7",
               "started_at": started_at, "ended_at": started_at + seconds, "duration_seconds": seconds,
               "outcome": outcome, "exit_code": 0 if outcome == "succeeded" else 1, "cpu_source": "rusage",
               "cpu_missed_seconds": 0, "memory_source": "proc", "samples": samples or int(seconds), "interval_seconds": 1,
               **more}
        if outcome == "running":
            row.update(ended_at=None, duration_seconds=None, exit_code=None)
        self.db.execute(f"INSERT INTO run({', '.join(row)}) VALUES({', '.join('?' * len(row))})", list(row.values()))
        self.db.execute("UPDATE job SET runs = runs + 1 WHERE id = ?", (job,))
        requests = any(more.get(key) is not None for key in ("requested_cpu_cores", "requested_memory_bytes"))
        self.db.execute("UPDATE job SET last_started_at = ?1, last_outcome = ?2, last_requests = ?3 WHERE id = ?4"
                        " AND (last_started_at IS NULL OR last_started_at <= ?1)", (started_at, outcome, requests, job))
        self.db.execute("INSERT INTO job_outcome(job, outcome, runs) VALUES(?, ?, 1) ON CONFLICT(job, outcome)"
                        " DO UPDATE SET runs = runs + 1", (job, outcome))
        self.db.executemany(
            'INSERT INTO run_stat(run, "column", n, mean, min, max, p50, p95, p99, sum) VALUES(?,?,?,?,0,?,?,?,?,?)',
            [(self.last_run, c, 10, mean, top, mean, top, top, total) for c, (mean, top, total) in sorted(stats.items())])
        return row["run_id"]

    def samples(self, run_id, n, interval, value):
        """Adds n samples. value(i, share of the run) returns {column: number}."""
        run, started_at = self.db.execute("SELECT id, started_at FROM run WHERE run_id = ?", (run_id,)).fetchone()
        names = list(value(0, 0.0))
        unknown = set(names) - set(self.columns)
        if unknown:
            raise ValueError(f"no such columns: {unknown}")
        quoted = "".join(f', "{c}"' for c in names)
        self.db.executemany(
            f"INSERT INTO sample(id, at, duration{quoted}) VALUES(?, ?, ?{', ?' * len(names)})",
            (((run << 32) + i + 1, started_at + (i + 1) * interval, interval, *value(i, i / n).values()) for i in range(n)))

    def many_jobs(self, n, now, runs=12, first=0):
        teams = ["etl", "train", "report", "backup", "sync", "score", "index", "export"]
        for k in range(first, first + n):
            name = f"{teams[k % len(teams)]}/{self.random.choice(['load', 'daily', 'users', 'clicks', 'orders'])}-{k:04d}"
            seconds, memory = self.random.lognormvariate(6, 1.5), self.random.lognormvariate(math.log(GIB), 1.2)
            cores, growth = self.random.uniform(0.2, 8), self.random.choice([0, 0, 0, 0.03, -0.02])
            asked = {}
            if k % 3 != 2:
                asked = {"requested_cpu_cores": math.ceil(cores * self.random.uniform(1, 3)),
                         "requested_memory_bytes": memory * self.random.uniform(1.1, 5)}
            for i in range(runs):
                drift = (1 + growth) ** i * self.random.uniform(0.9, 1.1)
                outcome = self.random.choices(["succeeded", "failed", "oom_killed"], [20, 2, 1])[0]
                self.run(name, now - (runs - i) * 86400 - k * 7, seconds * drift, memory * drift, cores, outcome, **asked)

    def story(self, name, now, runs=24):
        """A job whose memory shifts up, with an odd run, a failure and an OOM kill."""
        for i in range(runs):
            level = 1.1 * GIB if i < 14 else 2.3 * GIB
            seconds = 1260 * self.random.uniform(0.94, 1.06) * (2.4 if i == 19 else 1)
            outcome = {6: "failed", 13: "oom_killed"}.get(i, "succeeded")
            more = {"exit_signal": 9, "exit_code": None} if outcome == "oom_killed" else {}
            self.run(name, now - (runs - i) * 86400, seconds, level * self.random.uniform(0.95, 1.05), 2.6, outcome,
                     requested_cpu_cores=8, requested_memory_bytes=8 * GIB, memory_limit_bytes=8 * GIB, **more)
        return self.phased(name, now - 7200, 5400, 1)

    def mixed(self, name, now, runs=20):
        """Two jobs under one name, which a label tells apart. They wait for a CPU, and hardly use their GPU."""
        for i in range(runs):
            customer, memory = ("acme", 0.5 * GIB) if i % 2 else ("zoo", 4 * GIB)
            self.run(name, now - (runs - i) * 3600, 600, memory * self.random.uniform(0.98, 1.02), 1.5,
                     labels=json.dumps({"customer": customer}), stats={
                         "cpu_wait_seconds": (None, None, 400), "gpu_usage": (0.3, 1, None), "gpus_used": (1, 1, None)})

    def phased(self, name, started_at, seconds, interval, outcome="succeeded"):
        """Loads on one core, then trains on a GPU and four cores, then writes."""
        n = int(seconds / interval)
        run = self.run(name, started_at, seconds, 6.1 * GIB, 2.9, outcome, n, requested_cpu_cores=8,
                       requested_memory_bytes=8 * GIB, memory_limit_bytes=8 * GIB, stats={
                           "gpu_usage": (0.6, 0.98, None), "gpus_used": (0.7, 1, None),
                           "vram_bytes": (9 * GIB, 14 * GIB, None), "vram_peak_bytes": (9 * GIB, 14.2 * GIB, None)})
        noise = self.random.gauss
        state = {"peak": 0.0, "vram": 0.0}

        def value(i, share):
            loading, writing = share < 0.22, share > 0.9
            memory = (0.4 + 5.2 * share / 0.22 if loading else 3.1 + 0.3 * math.sin(i / 300) if not writing else 5.4) * GIB
            memory *= 1 + noise(0, 0.01)
            if i == int(n * 0.6) or i == int(n * 0.6) + 1:
                memory = 6.05 * GIB
            state["peak"] = max(state["peak"], memory)
            busy = 0 if loading or writing else max(0.0, min(1.0, 0.9 + noise(0, 0.06)))
            vram = 0 if loading else 14 * GIB if not writing else 2 * GIB
            state["vram"] = max(state["vram"], vram)
            cores = (0.97 + noise(0, 0.02) if loading else 3.6 + noise(0, 0.25) if not writing else 1.4 + noise(0, 0.1))
            cores = max(0.0, cores)
            return {
                "cpu_seconds": cores * interval, "system_cpu_usage_cores": cores + abs(noise(0.3, 0.1)),
                "memory_bytes": memory, "memory_peak_bytes": state["peak"], "memory_swap_bytes": 0,
                "disk_read_bytes": abs(noise(8e7 if loading else 1e5, 1e7)) * interval,
                "disk_written_bytes": abs(noise(1e5 if not writing else 1.2e8, 1e6)) * interval,
                "processes": 3 if loading else 6, "threads": 9 if loading else 31,
                "gpu_usage": busy, "gpus_used": 0 if loading else 1, "vram_bytes": vram, "vram_peak_bytes": state["vram"],
                "system_memory_used_bytes": memory + 3 * GIB,
                "system_disk_space_used_bytes": 4.1e10 + 2e9 * share,
                "system_network_received_bytes": abs(noise(4e7 if loading else 2e4, 1e6)) * interval,
                "system_network_sent_bytes": abs(noise(2e5, 1e4)) * interval,
            }
        self.samples(run, n, interval, value)
        return run
