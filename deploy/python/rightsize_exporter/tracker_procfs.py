"""One reading of a process or of the machine from /proc, without the program: totals, of which a caller takes differences."""
import os
import time
from typing import Any, Dict, Iterator, List

from .column_maps import MIB

TICKS = os.sysconf("SC_CLK_TCK")
SECTOR = 512  # bytes, in /proc/diskstats
NO_DISKS = ("loop", "ram", "zram", "dm-", "md")
REAL_FILE_SYSTEMS = ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "vfat", "f2fs", "overlay")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _gpu() -> Dict[str, Any]:
    """No GPU: none is used. With one the values are unknown here; ResourceTracker has them."""
    value = None if os.path.exists("/dev/nvidia0") else 0
    return {"gpu_usage": value, "gpu_vram_mib": value, "gpu_utilized": value}


def _with_descendants(pid: int) -> Iterator[int]:
    yield pid
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        for child in _read(f"/proc/{pid}/task/{thread}/children").split():
            yield from _with_descendants(int(child))


def _numbers(text: str) -> Dict[str, int]:
    """Lines such as "Pss:  12 kB" or "read_bytes: 12", the last word that is a number."""
    result: Dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            result.setdefault(name, int(words[0]))
    return result


def get_process_stats(pid: int, children: bool = True) -> Dict[str, Any]:
    """Totals of a process and all below it.

    timestamp: seconds since 1970; children: processes below; utime, stime: CPU seconds; memory_mib: PSS now, in MiB;
    disk_read_bytes, disk_write_bytes: bytes; gpu_usage, gpu_vram_mib, gpu_utilized: 0 without a GPU, None with one.
    """
    pids: List[int] = list(_with_descendants(pid)) if children else [pid]
    total = {"utime": 0.0, "stime": 0.0, "memory_mib": 0.0, "disk_read_bytes": 0, "disk_write_bytes": 0}
    for one in pids:
        fields = _read(f"/proc/{one}/stat").rpartition(")")[2].split()
        if len(fields) < 13:
            continue
        total["utime"] += int(fields[11]) / TICKS
        total["stime"] += int(fields[12]) / TICKS
        total["memory_mib"] += _numbers(_read(f"/proc/{one}/smaps_rollup")).get("Pss", 0) / 1024
        io = _numbers(_read(f"/proc/{one}/io"))
        total["disk_read_bytes"] += io.get("read_bytes", 0)
        total["disk_write_bytes"] += io.get("write_bytes", 0)
    return {"timestamp": time.time(), "pid": pid, "children": len(pids) - 1, **total, **_gpu()}


def _disk_stats() -> Dict[str, Dict[str, int]]:
    disks = {}
    for line in _read("/proc/diskstats").splitlines():
        fields = line.split()
        if len(fields) > 9 and not fields[2].startswith(NO_DISKS) and os.path.isdir(f"/sys/block/{fields[2]}"):
            disks[fields[2]] = {"read_bytes": int(fields[5]) * SECTOR, "write_bytes": int(fields[9]) * SECTOR}
    return disks


def _disk_spaces() -> Dict[str, Dict[str, int]]:
    """Bytes of each file system, once for each device."""
    spaces, seen = {}, set()
    for line in _read("/proc/mounts").splitlines():
        device, mount, kind = line.split()[:3]
        if kind not in REAL_FILE_SYSTEMS or device in seen:
            continue
        try:
            info = os.statvfs(mount)
        except OSError:
            continue
        seen.add(device)
        spaces[mount] = {"total": info.f_blocks * info.f_frsize, "used": (info.f_blocks - info.f_bfree) * info.f_frsize,
                         "free": info.f_bavail * info.f_frsize}
    return spaces


def get_system_stats() -> Dict[str, Any]:
    """Totals of the machine.

    timestamp: seconds since 1970; processes; utime, stime: CPU seconds since the start of the machine; memory_*_mib:
    MiB now; disk_stats, disk_spaces: bytes by device and by mount; net_recv_bytes, net_sent_bytes: bytes, without
    loopback; GPU values as of get_process_stats.
    """
    cpu = [int(word) / TICKS for word in _read("/proc/stat").split("\n", 1)[0].split()[1:]]
    memory = _numbers(_read("/proc/meminfo"))
    received = sent = 0
    for line in _read("/proc/net/dev").splitlines()[2:]:
        name, _, rest = line.partition(":")
        if name.strip() != "lo":
            received, sent = received + int(rest.split()[0]), sent + int(rest.split()[8])

    def mib(*names: str) -> float:
        return sum(memory.get(name, 0) for name in names) * 1024 / MIB
    free, buffers, cached = mib("MemFree"), mib("Buffers"), mib("Cached", "SReclaimable")
    return {"timestamp": time.time(), "processes": sum(1 for name in os.listdir("/proc") if name.isdigit()),
            "utime": cpu[0] + cpu[1], "stime": cpu[2], "memory_free_mib": free,
            "memory_used_mib": mib("MemTotal") - free - buffers - cached, "memory_buffers_mib": buffers,
            "memory_cached_mib": cached, "memory_active_mib": mib("Active"), "memory_inactive_mib": mib("Inactive"),
            "disk_stats": _disk_stats(), "disk_spaces": _disk_spaces(), "net_recv_bytes": received,
            "net_sent_bytes": sent, **_gpu()}
