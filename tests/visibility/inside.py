"""Runs in the place whose visibility is tested: starts the watcher and the job, and prints one JSON object.

Usage: inside.py SPEC, a JSON object: the keys are read in main(). Needs nothing but Python, because a container may
hold nothing else. Descriptors of cgroup.procs come from outside: the kernel checks the rights of the process that
opened them.
"""
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

PYTHON = "/usr/bin/python3"
DEADLINE = 20
# Waits for a line on stdin if there is a second argument. The child says how much CPU time it used, because the kernel
# adds the time of a child that nobody waits for to no other process.
JOB = """
import json, os, resource, signal, sys, time
waited = sys.argv[1] == "waited"
if len(sys.argv) > 2:
    print("ready", flush=True)
    sys.stdin.readline()
if not waited:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    while time.process_time() < 0.3:
        pass
    os.write(writer, str(time.process_time()).encode())
    os._exit(0)
os.close(writer)
seconds = float(os.read(reader, 100))
try:
    os.waitpid(child, 0)
except ChildProcessError:
    pass
own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
if waited:
    seconds = children.ru_utime + children.ru_stime
print(json.dumps(own.ru_utime + own.ru_stime + seconds), flush=True)
os._exit(0)
"""


def job(spec, *gate):
    return [PYTHON, "-S", "-E", "-c", JOB, spec["job"], *gate]


def options(spec, enters):
    """Returns how a process is started: in the job's group, or as the watcher's user, or both."""
    def enter():
        # The kernel charges CPU time since its last update to the group that is entered. Reading the clock makes the
        # kernel update.
        time.process_time()
        for descriptor in spec["group"] if enters else ():
            os.write(descriptor, b"0")
    user = spec["user"] if enters != "job" else None
    more = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    return {"preexec_fn": enter, "stdout": subprocess.PIPE, "text": True, **more}


def wrapped(spec):
    wrapper = subprocess.Popen([spec["exporter"], "run", "--job-name=job", "--quiet", *spec["flags"], "--", *job(spec)],
                               stdin=subprocess.DEVNULL, **options(spec, "wrapper"))
    output, _ = wrapper.communicate(timeout=DEADLINE)
    return {"code": wrapper.returncode, "seconds": json.loads(output)}


class Server:
    def __init__(self, spec):
        self.process = subprocess.Popen(
            [spec["exporter"], "serve", "--web.listen-address=127.0.0.1:0", "--web.allow-changes", "--no-jobs.recognise",
             *spec["flags"]],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **options(spec, None))
        said = []
        for line in self.process.stderr:
            said.append(line)
            found = re.search(r"listening.*?127\.0\.0\.1:(\d+)", line)
            if found:
                break
        else:
            raise RuntimeError("".join(said))
        self.port = int(found[1])
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())

    def wait_for_end(self):
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            status, answer = self.ask("GET", "/runs?job_name=job")
            if status == 200 and answer["runs"] and answer["runs"][0]["outcome"] != "running":
                return
            time.sleep(0.05)
        raise RuntimeError("the run does not end")


def served(spec):
    server = Server(spec)
    process = subprocess.Popen(job(spec, "gate"), stdin=subprocess.PIPE, **options(spec, "job"))
    process.stdout.readline()
    status, answer = server.ask("POST", "/jobs", {"job_name": "job", "pid": process.pid})
    result = {"error": answer.get("error")}
    output, _ = process.communicate("go\n", timeout=DEADLINE)
    result["seconds"] = json.loads(output)
    if status < 300:
        server.wait_for_end()
    server.process.send_signal(signal.SIGTERM)
    result["code"] = server.process.wait(DEADLINE)
    return result


def main():
    spec = json.loads(sys.argv[1])
    print(json.dumps((wrapped if spec["watcher"] == "wrapper" else served)(spec)))


if __name__ == "__main__":
    main()
