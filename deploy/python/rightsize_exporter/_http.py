"""One HTTP request to an exporter over a Unix socket or TCP, without the import time of http.client."""
import json
import os
import socket
import time
from typing import Any, Dict, Optional, Tuple

TIMEOUT = 10.0  # seconds, for one answer
TimedOut = socket.timeout  # an OSError
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Refused(RuntimeError):
    """The exporter answered with an error. `status`: HTTP status; `code`: its word, such as not_allowed."""

    def __init__(self, status: int, code: str, message: str):
        super().__init__(message)
        self.status, self.code = status, code


class Address:
    """The address of an exporter: `unix:/path`, a path, or `http://host:port` (https as well). OSError: it is none."""

    def __init__(self, url: str):
        self.url = url
        self.socket_path = url[len("unix:"):] if url.startswith("unix:") else url if url.startswith("/") else None
        self.parts: Any = None  # a SplitResult; a job at a socket does not wait for the import
        self.host, self.port = "localhost", 9877
        if self.socket_path is None:
            from urllib.parse import urlsplit
            try:
                self.parts = urlsplit(url if "://" in url else f"http://{url}")
                self.host = self.parts.hostname or self.host
                self.port = self.parts.port or (443 if self.parts.scheme == "https" else self.port)
            except ValueError as error:
                raise OSError(f"{url} is no address of an exporter: {error}") from error

    @property
    def is_here(self) -> bool:
        """True if the exporter is on this machine, so that it knows the process ids of this one."""
        return self.socket_path is not None or self.host in LOOPBACK

    def _connect(self, timeout: float) -> socket.socket:
        if self.socket_path is None:
            plain = socket.create_connection((self.host, self.port), timeout)
            if self.parts.scheme != "https":
                return plain
            import ssl
            return ssl.create_default_context().wrap_socket(plain, server_hostname=self.host)
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(timeout)
        try:
            connection.connect(self.socket_path)
        except OSError:
            connection.close()
            raise
        return connection

    def _authorization(self) -> str:
        token = os.environ.get("RIGHTSIZE_WEB_CHANGES_TOKEN_FILE")
        if token and self.socket_path is None and os.path.exists(token):
            with open(token, encoding="utf-8") as file:
                return f"Authorization: Bearer {file.read().strip()}\r\n"
        if self.parts and self.parts.username:
            from base64 import b64encode
            pair = f"{self.parts.username}:{self.parts.password or ''}"
            return f"Authorization: Basic {b64encode(pair.encode()).decode()}\r\n"
        return ""

    def request(self, method: str, route: str, body: Any = None, timeout: float = TIMEOUT) -> Tuple[int, bytes]:
        """Returns the status and the body. OSError: no exporter answers; TimedOut: not within `timeout` seconds."""
        until = time.monotonic() + timeout
        data = b"" if body is None else json.dumps(body).encode()
        head = (f"{method} {self.parts.path.rstrip('/') if self.parts else ''}{route} HTTP/1.0\r\n"
                f"Host: {self.host}\r\n{self._authorization()}")
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        with self._connect(timeout) as connection:
            connection.sendall(head.encode() + b"\r\n" + data)
            received = b"".join(iter(lambda: _receive(connection, until), b""))
        top, gap, content = received.partition(b"\r\n\r\n")
        if not gap:
            raise OSError(f"{self.url} gave no answer")
        return int(top.split(None, 2)[1]), content

    def ask(self, method: str, route: str, body: Any = None, timeout: float = TIMEOUT) -> bytes:
        """Like request(); raises Refused for a status of 400 or more."""
        status, content = self.request(method, route, body, timeout)
        if status < 400:
            return content
        try:
            error = json.loads(content)["error"]
        except (ValueError, KeyError, TypeError):
            error = {"code": "", "message": content.decode("utf-8", "replace").strip()}
        raise Refused(status, error["code"], error["message"])


def _receive(connection: socket.socket, until: float) -> bytes:
    """The next part of an answer. A service that sends a byte now and then keeps nobody waiting."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimedOut("timed out")
    connection.settimeout(left)
    return connection.recv(1 << 16)


def with_parameters(route: str, parameters: Dict[str, Optional[object]]) -> str:
    """Returns the route with its parameters; None leaves one out."""
    words = {name: str(value) for name, value in parameters.items() if value is not None}
    if not words:
        return route
    from urllib.parse import quote, urlencode
    return f"{route}?{urlencode(words, quote_via=quote)}"
