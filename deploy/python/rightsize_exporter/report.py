"""The page of a run as a text that can be saved and opened."""
import math
from typing import Union


class Report(str):
    """An HTML text that needs no other file."""

    def save(self, filepath: str) -> "Report":
        """Writes the page to a file."""
        with open(filepath, "w", encoding="utf-8") as file:
            file.write(self)
        return self

    def browse(self) -> "Report":
        """Opens the page in the browser of this machine, from a temporary file."""
        import tempfile
        import webbrowser
        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
            file.write(self)
        webbrowser.open(f"file://{file.name}")
        return self

    def _repr_html_(self) -> str:
        from html import escape
        return f'<iframe srcdoc="{escape(self, quote=True)}" width="100%" height="720" frameborder="0"></iframe>'


def round_memory(mib: Union[int, float]) -> int:
    """Rounds MiB up: to 128, 256, 512, 1024 or 2048, above to whole GiB."""
    if mib > 2048:
        return 1024 * math.ceil(mib / 1024)
    return next(step for step in (128, 256, 512, 1024, 2048) if mib <= step)
