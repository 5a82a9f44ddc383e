"""What this extension adds to Metaflow: the decorators and the command `python flow.py rightsize`."""
from importlib.util import find_spec


def _has_resource_tracker() -> bool:
    try:
        return find_spec("metaflow_extensions.resource_tracker.plugins.mfextinit_resource_tracker") is not None
    except ImportError:
        return False


STEP_DECORATORS_DESC = [("rightsize", ".rightsize.decorator.RightsizeDecorator")]
if not _has_resource_tracker():
    STEP_DECORATORS_DESC.append(("track_resources", ".rightsize.decorator.TrackResourcesDecorator"))
CLIS_DESC = [("rightsize", ".rightsize.cli.cli")]
