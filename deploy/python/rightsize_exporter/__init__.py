"""Watches a Python job and says what to request for it next time.

    import rightsize_exporter as rightsize

    with rightsize.track("etl/load") as run:
        ...
    print(run.recommendation()["summary"])

ResourceTracker, ProcessTracker, SystemTracker, get_cloud_info and get_server_info have the interface of resource-tracker.
Everything is measured by the program rightsize-exporter, which path() finds. Nothing depends on another package.
"""
from typing import TYPE_CHECKING, Any

from ._program import NotInstalled, path
from .track import Track, track
from .watch import Watch

if TYPE_CHECKING:
    from .cloud_info import get_cloud_info
    from .server_info import get_server_info
    from .tiny_data_frame import StatSpec, TinyDataFrame
    from .tracker import PidTracker, ProcessTracker, ResourceTracker, SystemTracker

__version__ = "0.1.0"
METAFLOW_PACKAGE_POLICY = "include"  # Metaflow puts the module into code packages, since its extension needs it there
__all__ = ["NotInstalled", "PidTracker", "ProcessTracker", "ResourceTracker", "StatSpec", "SystemTracker", "TinyDataFrame",
           "Track", "Watch", "get_cloud_info", "get_server_info", "path", "track"]


# A tracked block needs none of these modules. They are imported at the first use of a name.
_LATER = {"get_cloud_info": "cloud_info", "get_server_info": "server_info", "StatSpec": "tiny_data_frame",
          "TinyDataFrame": "tiny_data_frame", "PidTracker": "tracker", "ProcessTracker": "tracker",
          "ResourceTracker": "tracker", "SystemTracker": "tracker"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)


def load_ipython_extension(shell: object) -> None:
    """%load_ext rightsize_exporter: %%rightsize shows the run of a cell below it."""
    from ._notebook import register
    register(shell)
