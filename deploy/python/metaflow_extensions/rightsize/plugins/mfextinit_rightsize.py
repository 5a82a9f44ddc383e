"""What this extension adds to Metaflow: the decorators and the command `python flow.py rightsize`."""
from importlib.util import find_spec

STEP_DECORATORS_DESC = [("rightsize", ".rightsize.decorator.RightsizeDecorator")]
if find_spec("metaflow_extensions.resource_tracker") is None:
    STEP_DECORATORS_DESC.append(("track_resources", ".rightsize.decorator.TrackResourcesDecorator"))
CLIS_DESC = [("rightsize", ".rightsize.cli.cli")]
__mf_promote_submodules__ = ["rightsize"]
