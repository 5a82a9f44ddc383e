"""This extension adds to Metaflow: the decorators and the command `python flow.py rightsize`."""
from importlib.util import find_spec


def _has(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


STEP_DECORATORS_DESC = []
CLIS_DESC = []
# A plugin that cannot be imported would take all others away, so without the module there is none.
if _has("rightsize_exporter"):
    STEP_DECORATORS_DESC.append(("rightsize", ".rightsize.decorator.RightsizeDecorator"))
    CLIS_DESC.append(("rightsize", ".rightsize.cli.cli"))
    if not _has("metaflow_extensions.resource_tracker.plugins.mfextinit_resource_tracker"):
        STEP_DECORATORS_DESC.append(("track_resources", ".rightsize.decorator.TrackResourcesDecorator"))
