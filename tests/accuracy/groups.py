"""Control groups for the tests. The kernel's own account of a job is the truth, and our account is compared with it."""
import contextlib
import errno
import mmap
import os
import pathlib
import struct
import time

NAME = f"accuracy-{os.getpid()}"
ROOT = pathlib.Path("/sys/fs/cgroup")
# Makes a cgroup namespace and mounts the hierarchies again, so that the caller's group is their root. Then runs the
# rest.
CONTAINED = """
awk '$3 ~ /^cgroup/ && $2 !~ /systemd$/ { print $3, $2 }' /proc/self/mounts | while read -r type folder; do
    case $type in
    cgroup) umount "$folder" && mount -t cgroup -o "${folder##*/}" cgroup "$folder" ;;
    cgroup2) umount "$folder" && mount -t cgroup2 cgroup2 "$folder" ;;
    esac
done
exec "$@"
"""


def remove_when_left(folder, seconds=60):
    """Removes a group. A killed process stays in its group until the kernel has removed it, even after wait(2)
    returned."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return folder.rmdir()
        except OSError as e:
            if e.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


class Group:
    """A group in one hierarchy, or in two hierarchies if CPU time and quota are separate (v1). It is removed at the
    end."""

    def __init__(self, usage, cpu, version):
        self.usage_folder, self.cpu_folder, self.version = usage, cpu, version

    @property
    def folders(self):
        return list(dict.fromkeys(filter(None, (self.usage_folder, self.cpu_folder))))

    def usage(self):
        """Returns the CPU seconds of all processes that ever were in the group or below it."""
        if self.version == 1:
            return int((self.usage_folder / "cpuacct.usage").read_text()) / 1e9
        for line in (self.usage_folder / "cpu.stat").read_text().splitlines():
            if line.startswith("usage_usec "):
                return int(line.split()[1]) / 1e6
        raise AssertionError("no usage_usec")

    def enter(self, folders=None):
        for folder in self.folders if folders is None else folders:
            (folder / "cgroup.procs").write_text("0")

    def below(self, name):
        group = Group(*(folder and folder / name for folder in (self.usage_folder, self.cpu_folder)), self.version)
        for folder in group.folders:
            folder.mkdir()
        return group

    def set_quota(self, cores):
        """Sets the quota. Returns False if the controller is not available."""
        with contextlib.suppress(OSError, TypeError):
            if self.version == 1:
                (self.cpu_folder / "cpu.cfs_quota_us").write_text(str(int(cores * 100000)))
            else:
                (self.usage_folder / "cpu.max").write_text(f"{int(cores * 100000)} 100000")
            return True
        return False

    def throttled(self):
        """Returns the seconds for which the quota stopped the group. On a busy machine, other processes may stop it
        before the quota does."""
        folder, key, unit = (self.cpu_folder, "throttled_time", 1e9) if self.version == 1 else (
            self.usage_folder, "throttled_usec", 1e6)
        lines = (line.split() for line in (folder / "cpu.stat").read_text().splitlines())
        return next(int(number) / unit for name, number in lines if name == key)

    def wait_until_empty(self, seconds=60):
        deadline = time.monotonic() + seconds
        while any(p.read_text() for folder in self.folders for p in folder.glob("**/cgroup.procs")):
            if time.monotonic() > deadline:
                raise AssertionError("somebody stays in the group")
            time.sleep(0.01)

    def remove(self):
        for folder in self.folders:
            for path in sorted(folder.glob("**/"), reverse=True):
                with contextlib.suppress(OSError):
                    remove_when_left(path, seconds=5)


class Entry:
    """For preexec_fn: enters a group, and stores the CPU time that the process had used before. That time is not part
    of the group's."""

    def __init__(self, group):
        self.group = group
        self.shared = mmap.mmap(-1, mmap.PAGESIZE)

    def __call__(self):
        # The kernel charges CPU time since its last update to the group that is entered. Reading the clock makes the
        # kernel update.
        time.process_time()
        self.group.enter(self.group.folders[:1])
        struct.pack_into("d", self.shared, 0, time.process_time())
        self.group.enter(self.group.folders[1:])

    @property
    def seconds_before(self):
        return struct.unpack_from("d", self.shared)[0]


def make(number):
    """Returns a new group, or the reason why none can be made, as text."""
    if (ROOT / "cpuacct" / "cpuacct.usage").exists():
        cpu = ROOT / "cpu" if (ROOT / "cpu" / "cpu.cfs_quota_us").exists() else None
        if cpu is None and (ROOT / "cpu").is_dir():
            cpu = ROOT / "cpu"
        parents = (ROOT / "cpuacct", cpu, 1)
    elif (ROOT / "cgroup.controllers").exists():
        parents = (ROOT, None, 2)
    else:
        return "there are no control groups here that count CPU time"
    group = Group(*(parent and parent / f"{NAME}-{number}" for parent in parents[:2]), parents[2])
    try:
        for folder in group.folders:
            folder.mkdir()
    except OSError as e:
        group.remove()
        return f"no control group may be made here: {e}"
    return group


@contextlib.contextmanager
def limited(controller, files, number, limit):
    """Returns the folder of a new group with a limit of a controller, or the reason why none can be made, as text.
    `files` has the name of the limit's file in v1 and v2."""
    # All v1 groups have this file, and no v2 group has it.
    v1 = (ROOT / controller / "tasks").exists()
    folder = (ROOT / controller if v1 else ROOT) / f"{NAME}-{number}"
    try:
        folder.mkdir()
        (folder / files[0 if v1 else 1]).write_text(str(limit))
    except OSError as e:
        with contextlib.suppress(OSError):
            folder.rmdir()
        yield f"no control group with a limit of {controller} may be made here: {e}"
        return
    try:
        yield folder
    finally:
        remove_when_left(folder)


def limited_memory(number, limit):
    """Same as limited(), with a memory limit of so many bytes."""
    return limited("memory", ("memory.limit_in_bytes", "memory.max"), number, limit)
