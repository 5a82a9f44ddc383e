"""Random ended runs as POST /runs takes them: jobs of several shapes, sizes and outcomes."""
import json
import pathlib
import random
import re

FOLDER = pathlib.Path(__file__).parents[2]
SAMPLE = json.loads((FOLDER / "tests/fixtures/run_message.json").read_text())
# All columns that a history keeps, also those of a control group and of GPUs, which that machine does not have.
COLUMNS = re.findall(r'\{"(\w+)", STATISTICS_', (FOLDER / "recommender/kept_statistics.c").read_text())
MI = 1 << 20


def distribution(made, name, peak, total):
    """Returns the statistics of a column in the order that the exporter asks for."""
    values = sorted(made.uniform(0, peak) for _ in range(5))
    ret = dict(zip(("min", "p50", "p95", "p99", "max"), values))
    ret.update(n=SAMPLE["columns"].get(name, SAMPLE["columns"]["memory_bytes"])["n"], mean=made.uniform(ret["min"], ret["max"]), sum=total)
    return ret


def columns(made, duration, cores, peak, gpus):
    ret = {}
    for name in COLUMNS:
        if made.random() < 0.05 and name not in ("cpu_seconds", "memory_peak_bytes"):
            continue
        if name.startswith("memory_") and name.endswith("_bytes"):
            share = 1 if name in ("memory_peak_bytes", "memory_cgroup_peak_bytes") else made.uniform(0.2, 1)
            pages = int(peak * share) // 4096 * 4096
            ret[name] = distribution(made, name, pages, pages)
            ret[name]["max"] = pages
        elif name in ("cpu_seconds", "cpu_user_seconds", "cpu_system_seconds"):
            ret[name] = distribution(made, name, cores, cores * duration * (1 if name == "cpu_seconds" else 0.4))
        elif name == "cpu_cores":
            ret[name] = distribution(made, name, cores * 1.5, None)
            ret[name]["mean"] = min(max(cores, ret[name]["min"]), ret[name]["max"])
        elif name.endswith("_seconds"):
            ret[name] = distribution(made, name, 0.01, made.choice([0, duration * made.uniform(0, 0.2)]))
        elif name.startswith("gpu"):
            ret[name] = distribution(made, name, gpus, None)
            if name == "gpus_used":
                ret[name]["max"] = gpus
        elif name.startswith("vram"):
            ret[name] = distribution(made, name, gpus * (20 << 30), None)
            ret[name]["max"] = int(ret[name]["max"]) // MI * MI  # a driver counts whole pages
        elif name in ("pids_limit", "pids_peak"):
            most = made.choice([1000, 2000] if name == "pids_limit" else [10, 900])
            ret[name] = dict(distribution(made, name, most, None), max=most)
        elif name.endswith("events") or name == "oom_kills" or name == "pids_refused":
            ret[name] = distribution(made, name, 0, made.choice([0, 0, 0, 3]))
        else:
            ret[name] = distribution(made, name, 1e6, made.randrange(10**7))
    return ret


def run(made, job, number, end):
    duration = job["duration"] * made.lognormvariate(0, 0.2)
    container = made.randrange(len(job["labels"]))
    peak = min(job["peak"] / (1 + 9 * container) * made.lognormvariate(0, 0.15), 30 << 30)
    outcome = made.choices(["succeeded", "failed", "oom_killed", "interrupted"], [20, 2, 1, 1])[0]
    ret = dict(SAMPLE, run_id=f"{job['name']}-{number}-{made.randrange(10**9)}", job_name=job["name"], namespace=job["namespace"], labels=job["labels"][container],
               host=None, zone=None, system_run=None, outcome=outcome, exit_code={"succeeded": 0, "failed": 1}.get(outcome),
               exit_signal=9 if outcome == "oom_killed" else None, duration_seconds=duration, started_at=end - duration, ended_at=end,
               requested_cpu_cores=job["cores"] * 2, requested_memory_bytes=job["limit"], memory_limit_bytes=job["limit"],
               machine_cpus=64, machine_memory_bytes=256 << 30, input_bytes=made.choice([None, int(peak * 3)]), attempt=made.choice([1, 1, 2]),
               memory_source=made.choice(["vmhwm", "cgroup"]), instance_type=job["type"],
               columns=columns(made, duration, job["cores"] * made.uniform(0.7, 1.3), peak, job["gpus"]))
    if made.random() < 0.03:
        ret.update(not_measured="no process of the run was seen", columns={})
    return ret


def jobs(seed, n_jobs, n_runs, now, days):
    """Yields the runs of the jobs, those that ended first first. Some runs of a job end in the same millisecond."""
    made = random.Random(seed)
    # Every second job has the name of the one before, in another namespace.
    made_jobs = [{"name": f"job-{i // 2:05d}", "namespace": "team.a" if i % 2 else None, "duration": made.uniform(5, 600), "cores": made.uniform(0.2, 16), "type": made.choice(
        ["m5.xlarge", "c5.2xlarge"]), "peak": made.uniform(20, 8000) * MI} for i in range(n_jobs)]
    for job in made_jobs:
        job["labels"] = made.choice([[None], ['{"app": "x", "container": "main"}'], ['{"container": "worker-2"}'],
                                     ['{"app": "x", "container": "main"}', '{"app": "x", "container": "sidecar"}']])
        job["gpus"] = made.choice([0, 0, 2])
        job["limit"] = int(job["peak"] * made.uniform(1.1, 4)) // MI * MI
    # Ends have milliseconds, as a store keeps no more.
    ends = sorted(round(now - made.uniform(1, days * 86400), 3) for _ in range(n_jobs * n_runs))
    last = {}
    for number, end in enumerate(ends):
        at = made.randrange(n_jobs)
        if made.random() < 0.01 and at in last:
            end = last[at]
        last[at] = end
        yield run(made, made_jobs[at], number, end)


def question(one):
    """Returns the parameters that name the job of a run."""
    return f"job_name={one['job_name']}" + (f"&namespace={one['namespace']}" if one["namespace"] else "")
