"""Watches a Python job and says what to request for it next time.

    import rightsize_exporter as rightsize

    with rightsize.track("etl/load") as run:
        ...
    print(run.recommendation()["summary"])

ResourceTracker, ProcessTracker, SystemTracker, get_cloud_info and get_server_info have the interface of resource-tracker.
Everything is measured by the program rightsize-exporter, which path() finds. Nothing depends on another package.
"""
from ._program import NotInstalled, path
from .cloud_info import get_cloud_info
from .server_info import get_server_info
from .tiny_data_frame import StatSpec, TinyDataFrame
from .track import Track, track
from .tracker import PidTracker, ProcessTracker, ResourceTracker, SystemTracker
from .watch import Watch

__version__ = "0.1.0"
__all__ = ["NotInstalled", "PidTracker", "ProcessTracker", "ResourceTracker", "StatSpec", "SystemTracker", "TinyDataFrame",
           "Track", "Watch", "get_cloud_info", "get_server_info", "path", "track"]


def load_ipython_extension(shell: object) -> None:
    """%load_ext rightsize_exporter: %%rightsize shows the run of a cell below it."""
    from ._notebook import register
    register(shell)
