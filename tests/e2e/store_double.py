"""A Prometheus-compatible store in memory: takes remote write 1.0, and answers the three kinds of queries that the exporter sends.

To a wrong request, it gives the answer of Prometheus 3.5 (tests/remote/run.sh has the real one).
"""
import http.server
import json
import re
import struct
import threading
import time
import urllib.parse


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def unsnap(block):
    size, at = varint(block, 0)
    out = bytearray()
    while at < len(block):
        tag = block[at]
        at += 1
        if tag & 3 == 0:
            length = (tag >> 2) + 1
            if length > 60:
                n = length - 60
                length = int.from_bytes(block[at:at + n], "little") + 1
                at += n
            out += block[at:at + length]
            at += length
        else:
            assert tag & 3 == 2, "only copies with two bytes of offset are expected"
            offset = int.from_bytes(block[at:at + 2], "little")
            at += 2
            for _ in range((tag >> 2) + 1):
                out.append(out[-offset])
    assert len(out) == size
    return bytes(out)


def fields(message):
    """Yields (number, value) of each field of a protobuf message."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        if key & 7 == 2:
            size, at = varint(message, at)
            yield key >> 3, message[at:at + size]
            at += size
        elif key & 7 == 1:
            yield key >> 3, struct.unpack("<d", message[at:at + 8])[0]
            at += 8
        else:
            value, at = varint(message, at)
            yield key >> 3, value


def series_of(body):
    """Yields (labels, [(milliseconds, value)]) of each series of a request."""
    for _, series in fields(unsnap(body)):
        labels, samples = [], []
        for number, part in fields(series):
            one = dict(fields(part))
            if number == 1:
                labels.append((one[1].decode(), one[2].decode()))
            else:
                samples.append((one[2], one[1]))
        assert labels == sorted(labels) and len(dict(labels)) == len(labels) and all(text for _, text in labels), labels
        yield tuple(labels), samples


class Store:
    """answers: what to do with the next writes, before all others are taken: (status, body), "drop" (take it, but close the connection
    without a word) or "slow" (take it after a second).
    refuses: refuses(job_name) -> the text of the answer 400 to a request with a sample of this job, or None.
    half: of each run, keeps only half of the series until it is False.
    hold: an event that queries wait for.
    """

    def __init__(self, port=0):
        self.answers, self.refuses, self.half, self.hold = [], lambda job_name: None, False, None
        self.samples, self.requests, self.queries = {}, [], []
        self.lock = threading.Lock()
        store = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def send(self, status, text, **headers):
                body = text.encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/api/v1/query":
                    self.query(dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True)))
                    return
                do = store.next_answer(self.path, self.headers)
                if isinstance(do, tuple):
                    self.send(*do[:2], **(do[2] if len(do) > 2 else {}))
                    return
                if do == "slow":
                    time.sleep(1)
                refusal = store.take(body)
                if do == "drop":
                    self.close_connection = True
                elif refusal:
                    self.send(400, refusal)
                else:
                    self.send(204, "")

            def query(self, asked):
                with store.lock:
                    store.queries.append(asked["query"])
                if store.hold:
                    store.hold.wait(60)
                status, answer = store.answer(asked["query"], float(asked["time"]))
                self.send(status, json.dumps(answer))

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def next_answer(self, path, headers):
        with self.lock:
            self.requests.append((path, headers))
            return self.answers.pop(0) if self.answers else None

    def take(self, body):
        """All or nothing, as Prometheus does. Returns why it is refused."""
        got = list(series_of(body))
        with self.lock:
            for labels, samples in got:
                refusal = self.refuses(dict(labels)["job_name"])
                if refusal:
                    return refusal
                for at, value in samples:
                    if self.samples.get(labels, {}).get(at, value) != value:
                        return "duplicate sample for timestamp\n"
            for labels, samples in got:
                self.samples.setdefault(labels, {}).update(samples)
        return None

    def runs(self, job_name=None):
        """Returns {(job, outcome, milliseconds): {name: value}}."""
        ret = {}
        with self.lock:
            for labels, samples in self.samples.items():
                one = dict(labels)
                for at, value in samples.items():
                    if job_name in (None, one["job_name"]):
                        ret.setdefault((one["job_name"], one["outcome"], at), {})[one["__name__"]] = value
        return ret

    def answer(self, query, at):
        """Answers NAME{MATCHERS}[RANGE], and count_over_time of it, as sum or sum by."""
        form = re.fullmatch(r'(?:sum(?: by\(([a-z_,]*)\))?\(count_over_time\()?([a-z_]*)(?:\{(.*)\})?\[(\d+)ms\](\)\))?', query)
        assert form, query
        by, name, matchers, span, counts = form.groups()
        wanted = [("__name__", "=", name)] if name else []
        for label, operator, text in re.findall(r'([a-z_]+)(=~|=)"((?:[^"\\]|\\.)*)"', matchers or ""):
            wanted.append((label, operator, re.sub(r"\\(.)", r"\1", text)))
        found = []
        with self.lock:
            for labels, samples in self.samples.items():
                one = dict(labels)
                if not all(re.fullmatch(text, one.get(label, "")) if operator == "=~" else one.get(label, "") == text
                           for label, operator, text in wanted):
                    continue
                values = [[ms / 1000, repr(value)] for ms, value in sorted(samples.items()) if at - int(span) / 1000 < ms / 1000 <= at]
                if values and not (self.half and len(one["__name__"]) % 2):
                    found.append({"metric": one, "values": values})
        if not counts:
            return 200, {"status": "success", "data": {"resultType": "matrix", "result": found}}
        sums = {}
        for one in found:
            key = tuple((label, one["metric"][label]) for label in (by or "").split(",") if label in one["metric"])
            sums[key] = sums.get(key, 0) + len(one["values"])
        result = [{"metric": dict(key), "value": [at, str(count)]} for key, count in sums.items()]
        return 200, {"status": "success", "data": {"resultType": "vector", "result": result}}
