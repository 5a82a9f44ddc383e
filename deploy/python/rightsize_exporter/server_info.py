"""The processors, memory and GPUs of this machine."""
import glob
import os
from collections import Counter
from typing import Any, Dict, List, Tuple


def get_total_memory_mib() -> float:
    """The memory of the machine in MiB; 0 where /proc/meminfo cannot be read."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            kib = next(int(line.split()[1]) for line in file if line.startswith("MemTotal:"))
    except (OSError, StopIteration, ValueError):
        return 0
    return round(kib / 1024, 2)


def _gpus() -> Tuple[List[str], float]:
    """Names of the NVIDIA GPUs and their memory together in MiB. Starts nvidia-smi only where the driver is loaded."""
    if not glob.glob("/proc/driver/nvidia/gpus/*"):
        return [], 0
    import subprocess
    try:
        answer = subprocess.run(["nvidia-smi", "--query-gpu=gpu_name,memory.total", "--format=csv,noheader,nounits"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                universal_newlines=True, timeout=10, check=True)
        rows = [line.rsplit(",", 1) for line in answer.stdout.splitlines() if "," in line]
        return [name.strip() for name, _ in rows], sum(float(mib) for _, mib in rows)
    except (OSError, ValueError, subprocess.SubprocessError):
        return [], 0


def get_server_info() -> Dict[str, Any]:
    """Describes this machine.

    os: the operating system; vcpus: processors; memory_mib: memory in MiB; gpu_count: number of NVIDIA GPUs; gpu_names:
    their names; gpu_name: the most frequent one; gpu_memory_mib: the memory of all of them in MiB.
    """
    names, memory = _gpus()
    return {"os": os.uname().sysname, "vcpus": os.cpu_count(), "memory_mib": get_total_memory_mib(),
            "gpu_count": len(names), "gpu_names": names,
            "gpu_name": Counter(names).most_common(1)[0][0] if names else "", "gpu_memory_mib": memory}
