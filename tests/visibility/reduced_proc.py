"""Serves a /proc as reduced as that of gVisor, as a FUSE file system: reduced_proc.py FOLDER, until it is unmounted. It
lacks the lines NSpid and alike of status, the files cgroup, children and smaps_rollup. /proc/stat has zeros for CPUs
and processes, as pkg/sentry/fsimpl/proc/tasks_files.go of gVisor writes it."""
import errno
import os
import re
import stat
import sys

import fusepy

LEFT_OUT = {"cgroup", "children", "smaps_rollup", "cpuset", "schedstat", "sched", "timerslack_ns", "wchan", "syscall",
            "stack", "pagemap", "numa_maps", "map_files", "timens_offsets", "pressure"}
STATUS_LINES = re.compile(rb"^(NSpid|NStgid|NSpgid|NSsid|RssAnon|RssFile|RssShmem|HugetlbPages|VmHWM|VmSwap):.*\n", re.M)


def reduced(path, text):
    if path.endswith("/status"):
        return STATUS_LINES.sub(b"", text)
    if path == "/stat":
        text = re.sub(rb"^(cpu\d*) .*$", rb"\1 0 0 0 0 0 0 0 0 0 0", text, flags=re.M)
        return re.sub(rb"^(ctxt|processes) .*$", rb"\1 0", text, flags=re.M)
    return text


class ReducedProc(fusepy.Operations):
    def __init__(self):
        self.open_files = {}
        self.next = 1

    def real(self, path):
        if LEFT_OUT & set(path.split("/")):
            raise fusepy.FuseOSError(errno.ENOENT)
        if re.match(r"/(self|thread-self)(/|$)", path):
            rest = path.split("/", 2)[2:]
            path = "/".join([f"/{fusepy.fuse_get_context()[2]}", *rest])
        return "/proc" + path

    def call(self, function, *arguments):
        try:
            return function(*arguments)
        except OSError as e:
            raise fusepy.FuseOSError(e.errno) from e

    def getattr(self, path, fh=None):
        if path == "/self":
            return {"st_mode": stat.S_IFLNK | 0o777, "st_nlink": 1, "st_size": 0}
        found = self.call(os.lstat, self.real(path))
        return {name: getattr(found, name) for name in
                ("st_mode", "st_nlink", "st_size", "st_uid", "st_gid", "st_atime", "st_mtime", "st_ctime")}

    def readdir(self, path, fh):
        return [".", "..", *(name for name in self.call(os.listdir, self.real(path)) if name not in LEFT_OUT)]

    def readlink(self, path):
        if path == "/self":
            return str(fusepy.fuse_get_context()[2])
        return self.call(os.readlink, self.real(path))

    def open(self, path, flags):
        def content(name):
            with open(name, "rb") as file:
                return file.read()
        self.next += 1
        self.open_files[self.next] = path, reduced(path, self.call(content, self.real(path)))
        return self.next

    def read(self, path, size, offset, fh):
        # A file that stays open is read again from its start, and gives the current values.
        path, text = self.open_files[fh]
        if offset == 0:
            again = self.open(path, os.O_RDONLY)
            text = self.open_files.pop(again)[1]
            self.open_files[fh] = path, text
        return text[offset:offset + size]

    def release(self, path, fh):
        del self.open_files[fh]


if __name__ == "__main__":
    fusepy.FUSE(ReducedProc(), sys.argv[1], foreground=True, nothreads=True, direct_io=True, ro=True, allow_other=True,
                default_permissions=True, attr_timeout=0, entry_timeout=0)
