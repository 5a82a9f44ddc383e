"""The cloud server that this machine is."""
import json
import time
from typing import Any, Dict

from . import _program


def get_cloud_info() -> Dict[str, Any]:
    """Names the cloud server, as its metadata service says.

    vendor, instance_type, region: unknown where the machine is no cloud server of a known vendor; zone, allocation
    (ondemand or spot): None where unknown; discovery_time: seconds that it took, at most a few where nothing answers.
    """
    import subprocess
    began = time.perf_counter()
    answer = subprocess.run([_program.path(), "server", "--format=json"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    try:
        known = json.loads(answer.stdout)
    except ValueError:
        known = {}
    return {"vendor": known.get("vendor_id") or "unknown", "instance_type": known.get("instance_type") or "unknown",
            "region": known.get("region") or "unknown", "zone": known.get("zone"), "allocation": known.get("allocation"),
            "discovery_time": time.perf_counter() - began}
