"""The verdict of each cell, which follows from the kernel's rules. The first row that matches decides.

exact: cpu_seconds is within 2 % or 20 ms of the truth, and neither bound is wide. bounded: the truth is within
cpu_seconds - cpu_foreign_seconds and cpu_seconds + cpu_missed_seconds, and neither bound is wide. uncertain: the
bounds hold, and the run itself refuses its CPU time as too uncertain to size cores. refused: no CPU numbers, and the reason. A bound
is wide if it is more than three times the real error plus 0.1 s. A wide bound of a run that does not call itself uncertain is always
a fault."""
PLACES = ("plain", "hidepid=1", "hidepid=2", "pid", "pid, outer /proc", "user", "nested", "podman", "host pid", "gvisor")
WATCHERS = ("wrapper", "wrapper 65534", "serve", "serve 65534")
GROUPS = ("own", "shared", "root")
JOBS = ("waited", "unwaited")
ANY = None
SERVE = ("serve", "serve 65534")

# places, watchers, groups, jobs, verdict, and the reason. Each of the first four is ANY, one, or several.
TABLE = (
    (ANY, ("wrapper", "wrapper 65534"), ANY, "waited", "exact",
     "wait4(2) adds the whole time of a child that was waited for, down the tree, whoever sees what"),
    ("podman", ("wrapper", "wrapper 65534"), ANY, "unwaited", "uncertain",
     "the groups belong to another user, seccomp refuses perf_event_open(2), and release_task() adds the child to nobody"),
    ("gvisor", ("wrapper", "wrapper 65534"), ANY, "unwaited", "uncertain",
     "no group is known without /proc/self/cgroup. An inherited perf counter counts all children, but also what the host stole, "
     "which this /proc/stat does not tell"),
    (ANY, "wrapper", ANY, "unwaited", "exact",
     "the owner of the cpuacct hierarchy makes a group for the job, which counts whoever was in it"),
    (ANY, "wrapper 65534", ANY, "unwaited", "exact",
     "no group may be made, but inherited perf events count all children but their exit, and the number of exits"),

    ("pid, outer /proc", "serve 65534", ANY, ANY, "refused",
     "NSpid tells numbers of an inner namespace, but of which one tells the link ns/pid, which takes the right to ptrace"),
    (("hidepid=1", "hidepid=2"), "serve 65534", ANY, ANY, "refused",
     "hidepid shows /proc/PID of other users only to who may ptrace them"),
    ("gvisor", SERVE, ANY, ANY, "uncertain",
     "no group is known, and no number of a thread; times in /proc/PID/stat end with the last look"),
    (("plain", "hidepid=1", "hidepid=2", "host pid", "pid, outer /proc"), SERVE, "own", ANY, "exact",
     "anybody may read cpuacct.usage, and cgroup.procs tells that the group has only the job"),
    (("pid", "user", "nested", "podman"), SERVE, "own", ANY, "exact",
     "cgroup.procs leaves out processes of outer PID namespaces, but pids.current counts them: the group has only the job"),
    (("plain", "hidepid=1", "hidepid=2", "host pid"), "serve", ANY, ANY, "exact",
     "taskstats tells CAP_NET_ADMIN in the initial PID namespace how each process ended"),
    ("podman", SERVE, ANY, ANY, "uncertain",
     "seccomp refuses perf_event_open(2), taskstats answers only the initial user namespace, and what ends leaves no trace"),
    (("pid", "pid, outer /proc", "user", "nested"), "serve", ANY, ANY, "exact",
     "an inherited perf counter may be attached to a process that may be traced, and counts its later children"),
    ("user", "serve 65534", ANY, ANY, "exact",
     "the job is of the same user: an inherited perf counter may be attached to it"),
    (("plain", "host pid"), "serve 65534", ANY, ANY, "bounded",
     "taskstats takes CAP_NET_ADMIN, a perf counter the right to trace; process events of Linux 6.6 tell anybody in the initial "
     "namespaces when each process of the job began and ended, and CPU clocks are for anybody: unknown is what it used in between"),
    (("pid", "nested"), "serve 65534", ANY, ANY, "uncertain",
     "process events are for the initial PID namespace only; times in /proc/PID/stat end with the last look"),
)


def matches(value, row):
    return row is ANY or value == row or (isinstance(row, tuple) and value in row)


def expected(cell):
    """Returns (verdict, reason) of (place, watcher, group, job)."""
    for *row, verdict, why in TABLE:
        if all(map(matches, cell, row)):
            return verdict, why
    raise AssertionError(f"no row for {cell}")
