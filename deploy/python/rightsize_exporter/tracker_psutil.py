"""The functions of tracker_procfs under the name that code of resource-tracker may import; psutil is not needed."""
from .tracker_procfs import get_process_stats, get_system_stats

__all__ = ["get_process_stats", "get_system_stats"]
