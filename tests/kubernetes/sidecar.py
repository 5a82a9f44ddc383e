"""Results that a sidecar's pod must show on any node: in Prometheus, in the run's history, and at its end."""
import contextlib
import datetime
import json
import platform
import re

from node import HUNGRY, KILLED, MIB, SLOW, TOOLS, WORK, Group, get, sh, show, wait_until

CPU_LIMIT = 0.1
PORT = 9877
# Since Linux 6.15 the kernel reports how a process of another parent ended (PIDFD_GET_INFO). On older kernels it is
# unknown, and not guessed.
KERNEL = tuple(map(int, re.match(r"(\d+)\.(\d+)", platform.release()).groups()))
ENDED_WELL = "succeeded" if KERNEL >= (6, 15) else "unknown"


def seconds_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class SidecarCases:
    """
    Tests. A class that uses them defines
      self.prometheus
      self.play(name, script, memory, flags)   starts a pod with our manifest's sidecar, flags added to its own, and has
                                               it scraped
      self.pod(name)                           the pod as Kubernetes tells it, with its status; None when there is none
    """

    def address(self, name):
        address = wait_until(lambda: (self.pod(name) or {}).get("status", {}).get("podIP"), f"the address of {name}", SLOW)
        return f"{address}:{PORT}"

    def scrape(self, name):
        self.prometheus.targets(self.address(name))

    def containers(self, name):
        pod = self.pod(name)
        return {c["name"]: c for c in pod["status"].get("containerStatuses", [])} if pod else {}

    def running(self, name, container):
        status = wait_until(lambda: self.containers(name).get(container, {}).get("state", {}).get("running") and
                            self.containers(name)[container], f"{container} of {name} to run", SLOW)
        return status["containerID"].split("//")[1]

    def group(self, name, container):
        identity = self.running(name, container)
        tasks = sh(TOOLS / "usr/bin/ctr", "--namespace", "k8s.io", "tasks", "ls").split("\n")
        return Group(next(line.split()[1] for line in tasks if line.startswith(identity)))

    def ended(self, name, container):
        return wait_until(lambda: self.containers(name).get(container, {}).get("state", {}).get("terminated"),
                          f"{container} of {name} to end", SLOW)

    def most_cpu(self, name, job, sidecar):
        """Waits for both ends, and returns the most CPU time that the job may have used: the pod's usage after the
        job's end, minus the sidecar's so far. The quota is not a bound, because the kernel lets each period exceed it
        by less than its clock can measure."""
        pod, others, most = job.parent(), 0, []

        def job_ended():
            nonlocal others
            over = not job.exists()
            with contextlib.suppress(OSError):
                others = sidecar.account()["CPU time, s"]
            with contextlib.suppress(OSError):
                used = pod.account()["CPU time, s"]
                if over:
                    most.append(used - others)
            return over
        wait_until(job_ended, f"the job of {name} to end", SLOW)
        ended = {c: self.ended(name, c) for c in ("main", "rightsize")}
        self.assertTrue(most, "the pod's account after the job's end")
        return most[0], ended

    def value(self, query, least=0):
        """Returns the first value that is at least this large."""
        return wait_until(lambda: (v := self.prometheus.ask(query)) is not None and v >= least and (v,), query, SLOW)[0]

    def newest_run(self, name):
        """Returns the run from the sidecar's own history, after the sidecar has ended."""
        address = self.address(name)

        def run():
            body = get(f"http://{address}/runs?job_name={name}&namespace=default&details=1")
            runs = json.loads(body)["runs"] if body else []
            return runs and runs[0]["outcome"] != "running" and runs[0]
        return wait_until(run, f"the run of {name} to end", SLOW)

    def test_the_job_arrives_in_prometheus_and_the_pod_completes(self):
        self.play("load", WORK, "128Mi", ["--exit-with-job"])
        job, sidecar = self.group("load", "main"), self.group("load", "rightsize")
        address = self.address("load")
        named = 'job_name="load"'
        self.value(f"rightsize_job_cpu_seconds_total{{{named}}}", 0.5)
        wait_until(lambda: job.account()["throttled periods"] > 0, "the kernel to hold the job back", SLOW)
        kernel, pages = job.account(), sidecar.working_set()
        most_cpu, ended = self.most_cpu("load", job, sidecar)
        took = seconds_of(ended["main"]["finishedAt"]) - seconds_of(ended["main"]["startedAt"]) + 2
        queries = (  # text, query, minimum, maximum
            ("CPU time, s", f"max_over_time(rightsize_job_cpu_seconds_total{{{named}}}[1h])",
             kernel["CPU time, s"], most_cpu),
            ("throttled periods", f"max_over_time(rightsize_job_cpu_throttled_periods_total{{{named}}}[1h])",
             kernel["throttled periods"], 10 * took),
            ("throttled, s", f"max_over_time(rightsize_job_cpu_throttled_seconds_total{{{named}}}[1h])",
             kernel["throttled, s"], 64 * took),
            ("memory peak, MiB", f"max_over_time(rightsize_job_memory_peak_bytes{{{named}}}[1h]) / {MIB}", 60, 128),
            ("memory limit, MiB", f"max_over_time(rightsize_job_memory_limit_bytes{{{named}}}[1h]) / {MIB}", 128, 128),
            ("CPU limit, cores", f"max_over_time(rightsize_job_cpu_limit_cores{{{named}}}[1h])", CPU_LIMIT, CPU_LIMIT),
            (f"runs, {ENDED_WELL}", f'max_over_time(rightsize_job_runs_total{{{named},outcome="{ENDED_WELL}"}}[1h])', 1, 1),
        )
        rows = []
        for what, query, least, most in queries:
            value = self.value(query)
            self.assertTrue(least <= value <= most, f"{what}: {value} is not between {least} and {most}")
            rows.append((f"{what:20}{value:9.3f}  {query}", f"(kernel, earlier: {kernel[what]:.3f})" if what in kernel
                         else ""))
        rows.append((f"{'at most, s':20}{most_cpu:9.3f}  by the kernel's account of the pod, less the sidecar's",))
        query = 'max_over_time(process_resident_memory_bytes[1h])'
        rows.append((f"{'sidecar, RSS MiB':20}{self.value(query) / MIB:9.3f}  {query}",))
        rows.append((f"{'sidecar, set MiB':20}{pages / MIB:9.3f}  its cgroup's usage - inactive_file",))
        scrapes = self.prometheus.results(f'up{{instance="{address}"}}[1h]')[0]["values"]
        first = min(at for at, up in scrapes if up == "1")
        began = seconds_of(ended["rightsize"]["startedAt"])
        rows.append((f"{'first scrape, s':20}{first - began:9.3f}  after the container's start, which is known to the second",))
        for container, state in ended.items():
            rows.append((f"{container:20}{state['reason']} {state['exitCode']}, {state['startedAt']} to "
                         f"{state['finishedAt']}",))
            self.assertEqual(state["exitCode"], 0, container)
        self.assertGreaterEqual(ended["rightsize"]["finishedAt"], ended["main"]["finishedAt"])
        show("a job and its sidecar", rows)

    def killed_for_memory(self, name, script):
        self.play(name, script, "64Mi", [])
        run = self.newest_run(name)
        rows = [("the run", {k: run[k] for k in ("outcome", "memory_limit_bytes", "memory_peak_bytes", "exit_code")}),
                ("Kubernetes", self.ended(name, "main"))]
        for query in (f'max_over_time(rightsize_job_oom_kills_total{{job_name="{name}"}}[1h])',
                      f'max_over_time(rightsize_job_runs_total{{job_name="{name}",outcome="oom_killed"}}[1h])',
                      f'max_over_time(rightsize_job_memory_limit_bytes{{job_name="{name}"}}[1h])'):
            rows.append((f"{self.value(query, 1):12.0f}  {query}",))
        show(f"killed for memory: {script}", rows)
        self.assertEqual(run["outcome"], "oom_killed")
        self.assertEqual(run["memory_limit_bytes"], 64 * MIB)

    def test_the_kill_of_a_child_for_memory_is_the_runs_outcome(self):
        self.killed_for_memory("hungry", HUNGRY)

    def test_the_kill_of_the_container_for_memory_is_the_runs_outcome(self):
        self.killed_for_memory("killed", KILLED)
