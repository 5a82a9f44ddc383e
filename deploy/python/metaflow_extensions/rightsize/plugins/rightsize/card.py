"""Saves the page of a run as a card of its task, while the task runs and when it has ended.

The card is written by the task itself. `card create`, which Metaflow starts for each card, is another Python process
that would be part of what the task uses.
"""
import base64
import hashlib
import html
import threading
import time
import uuid
from types import SimpleNamespace
from typing import Any, Callable, Dict, List, Optional

from metaflow.plugins.cards.card_datastore import CardDatastore
from metaflow.plugins.cards.exception import CardNotPresentException

TYPE = "rightsize"
FINAL = "final"  # the token that ends the reloading of a card in Metaflow's viewers
COST_MOST = 100  # the thread waits this many times as long as a card takes


def card_uuid(pathspec: str, attempt: int) -> str:
    """The id of the card of an attempt: the scheduler names the card of a task that was killed as the task did."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"rightsize:{pathspec}:{attempt}").hex


def _with_element(page: str, directive: str, tag: str, content: str) -> str:
    """The page with a script or a style, which its policy then takes."""
    known = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    page = page.replace(f"{directive} ", f"{directive} 'sha256-{known}' ", 1)
    return page.replace("</head>", f"<{tag}>{content}</{tag}>\n</head>", 1)


def with_token(page: str, token: str) -> str:
    """The page with the variable by which Metaflow's viewers see that a card is new."""
    return _with_element(page, "script-src", "script", f'var METAFLOW_RELOAD_TOKEN="{token}";')


def with_lines(page: str, title: str, lines: List[str]) -> str:
    """The page with lines of text before its content."""
    if not lines:
        return page
    style = (".metaflow { width: 100%; max-width: 1080px; margin: 0 auto; padding: 16px 20px 0; } "
             "@media screen and (max-width: 640px) { .metaflow { padding: 16px 12px 0; } }")
    items = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    text = f'<aside class="metaflow"><ul class="alerts"><li class="alert plain"><b>{title}</b><div>{items}</div></li></ul></aside>'
    return _with_element(page, "style-src", "style", style).replace("<main ", f"{text}\n<main ", 1)


def plain_page(title: str, lines: List[str]) -> str:
    """A page without a run."""
    empty = '<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body><main ></main></body></html>'
    return with_lines(empty, title, lines)


class Card:
    """The card of one attempt of a task. pathspec: flow/run/step/task."""

    def __init__(self, flow_datastore: Any, pathspec: str, attempt: int):
        storage = type(flow_datastore._storage_impl)
        root = CardDatastore.get_storage_root(flow_datastore.TYPE)
        reached = SimpleNamespace(_storage_impl=storage(root), flow_name=pathspec.split("/")[0])
        self._datastore = CardDatastore(reached, pathspec=pathspec)
        self.uuid = card_uuid(pathspec, attempt)
        self._seq = 0
        self._lock = threading.Lock()
        self._is_final = False

    def save(self, page: str, final: bool = False) -> None:
        """Writes the page over the last one. After the final one, others are left out."""
        with self._lock:
            if self._is_final:
                return
            self._is_final = final
            self._seq += 1
            token = FINAL if final else f"render-seq-{self._seq}"
            self._datastore.save_card(self.uuid, TYPE, with_token(page, token))
            self._datastore.save_data(self.uuid, TYPE, {"reload_token": token, "data": {}, "created_on": time.time()})

    def stored(self) -> Optional[str]:
        """The page that was saved last, by whichever process; None = there is none."""
        try:
            paths = self._datastore.extract_card_paths(card_type=TYPE, card_hash=self.uuid)
        except CardNotPresentException:  # no attempt of the task has one
            paths = []
        page: Optional[str] = self._datastore.get_card_html(paths[0]) if paths else None
        return page

    def info(self) -> Dict[str, Any]:
        """Returns the metadata of the card; Metaflow's own cards have the same keys."""
        return {"card_uuid": self.uuid, "rank": None, "type": TYPE, "options": {}, "is_editable": False,
                "is_runtime_card": True, "refresh_interval": 5, "customize": False, "id": None}


class LiveCard(threading.Thread):
    """Saves the card again and again while the task runs. `page` gives the page, or None while there is none."""

    def __init__(self, card: Card, page: Callable[[], Optional[str]], seconds: float):
        super().__init__(name="rightsize-card", daemon=True)
        self._card, self._page, self._seconds = card, page, seconds
        self._ended = threading.Event()

    def run(self) -> None:
        """Saves the first card after a second, so that a task that is killed soon has one."""
        pause = min(1.0, self._seconds)
        while not self._ended.wait(pause):
            began = time.monotonic()
            try:
                page = self._page()
                if page and not self._ended.is_set():
                    self._card.save(page)
            except Exception:  # pylint: disable=broad-except
                pass  # the next card may succeed, and the final one says what is wrong
            pause = max(self._seconds, COST_MOST * (time.monotonic() - began))

    def end(self) -> None:
        """Ends the thread; does not wait for a card that is being saved."""
        self._ended.set()
