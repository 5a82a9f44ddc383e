"""Names and units of the columns of the metrics."""
from typing import Dict

MIB, GB = 1 << 20, 10 ** 9

# Name for people of each column, without its prefix.
HUMAN_NAMES_MAPPING: Dict[str, str] = {
    "timestamp": "Timestamp",
    "processes": "processes",
    "utime": "CPU time (user)",
    "stime": "CPU time (system)",
    "cpu_usage": "CPU usage",
    "memory_free_mib": "free memory",
    "memory_used_mib": "used memory",
    "memory_buffers_mib": "memory buffers",
    "memory_cached_mib": "memory page/file cached",
    "memory_active_mib": "active memory",
    "memory_inactive_mib": "inactive memory",
    "disk_read_bytes": "disk read",
    "disk_write_bytes": "disk write",
    "disk_space_total_gb": "disk space total",
    "disk_space_used_gb": "disk space used",
    "disk_space_free_gb": "disk space free",
    "net_recv_bytes": "inbound network traffic",
    "net_sent_bytes": "outbound network traffic",
    "gpu_usage": "GPU usage",
    "gpu_vram_mib": "VRAM used",
    "gpu_utilized": "GPUs in use",
    "pid": "PID",
    "children": "children",
    "memory_mib": "memory usage",
}

# Bytes of one unit of each column that is not in bytes already.
BYTE_MAPPING: Dict[str, int] = {
    name: MIB if name.endswith("_mib") else GB for name in HUMAN_NAMES_MAPPING if name.endswith(("_mib", "_gb"))}
