"""The kernel's own account of a container. The tests compare the exporter's numbers with it."""
import copy
import pathlib


class Group:
    def __init__(self, pid):
        lines = pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines()
        self.paths = {name: path for _, names, path in (line.split(":", 2) for line in lines)
                      for name in names.split(",")}
        self.v1 = "memory" in self.paths

    def parent(self):
        """The group of the pod, whose account keeps the usage of containers that have ended."""
        above = copy.copy(self)
        above.paths = {name: str(pathlib.PurePosixPath(path).parent) for name, path in self.paths.items()}
        return above

    def folder(self, controller):
        path = f"{controller}{self.paths[controller]}" if self.v1 else self.paths[""]
        return pathlib.Path(f"/sys/fs/cgroup/{path}")

    def exists(self):
        return self.folder("cpu").exists()

    def read(self, controller, file):
        return (self.folder(controller) / file).read_text()

    def keys(self, controller, file):
        return {k: int(v) for k, v in (line.split() for line in self.read(controller, file).splitlines())}

    def account(self):
        cpu = self.keys("cpu", "cpu.stat")
        return {
            "CPU time, s": int(self.read("cpuacct", "cpuacct.usage")) / 1e9 if self.v1 else cpu["usage_usec"] / 1e6,
            "throttled periods": cpu["nr_throttled"],
            "throttled, s": cpu["throttled_time"] / 1e9 if self.v1 else cpu["throttled_usec"] / 1e6,
        }

    def working_set(self):
        """The memory that counts against the limit, minus the memory that the kernel drops first."""
        stat = self.keys("memory", "memory.stat")
        usage = int(self.read("memory", "memory.usage_in_bytes" if self.v1 else "memory.current"))
        return usage - stat["total_inactive_file" if self.v1 else "inactive_file"]
